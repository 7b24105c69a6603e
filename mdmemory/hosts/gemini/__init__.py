"""Gemini CLI: its wiring."""
