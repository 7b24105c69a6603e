"""Codex: its wiring."""
