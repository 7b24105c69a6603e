"""Editors that speak MCP: Cursor and VS Code."""
