"""Editors that speak MCP, by their own documentation; none of them was run here.

They have no hooks that carry an index into a prompt, so the server's instructions do.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mdmemory.hosts import launcher
from mdmemory.hosts.client_config import Configuration, Wiring
from mdmemory.hosts.entries import ConfigEntry

_COMMAND: dict[str, Any] = {"command": "sh", "args": ["-c", launcher.command("mcp")]}


def cursor_folder(environment: Mapping[str, str]) -> Path:
    """Where Cursor keeps the person's settings."""
    return Path.home() / ".cursor"


def cursor(environment: Mapping[str, str]) -> Wiring:
    """All that wires Cursor."""
    entry = ConfigEntry(("mcpServers", "mdmemory"), _COMMAND)
    file = Configuration(cursor_folder(environment) / "mcp.json", (entry,), mode=0o600)
    return Wiring((file,))


def vscode_folder(environment: Mapping[str, str]) -> Path:
    """Where VS Code keeps the person's settings."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "Code" / "User"
    base = environment.get("XDG_CONFIG_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".config") / "Code" / "User"


def vscode(environment: Mapping[str, str]) -> Wiring:
    """All that wires VS Code."""
    # else VS Code starts a person's server in the home folder
    server = {"type": "stdio", **_COMMAND, "cwd": "${workspaceFolder}"}
    entry = ConfigEntry(("servers", "mdmemory"), server)
    file = Configuration(vscode_folder(environment) / "mcp.json", (entry,), mode=0o600)
    return Wiring((file,))
