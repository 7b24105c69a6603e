"""Hosts whose hooks are commands: Claude Code, Codex, Gemini CLI."""
