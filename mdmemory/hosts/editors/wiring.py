"""Editors that speak MCP, by their own documentation; none of them was run here.

They have no hooks that carry an index into a prompt, so the server's instructions do.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mdmemory.hosts import launcher

SERVER: dict[str, Any] = {"command": "sh", "args": ["-c", launcher.shell_command("mcp")]}
# without a folder VS Code starts a person's server in the home folder
VSCODE_SERVER = {"type": "stdio", **SERVER, "cwd": "${workspaceFolder}"}


def cursor_folder(environment: Mapping[str, str]) -> Path:
    """Where Cursor keeps the person's settings."""
    return Path.home() / ".cursor"


def vscode_folder(environment: Mapping[str, str]) -> Path:
    """Where VS Code keeps the person's settings."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "Code" / "User"
    base = environment.get("XDG_CONFIG_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".config") / "Code" / "User"
