"""Claude Code once per person: hooks and a permission in its settings, and an MCP server.

The hooks carry the index and hear what the person says; the server brings the tools. The plugin
does the same, so there is only one of the two.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from mdmemory.config import person
from mdmemory.hosts import jsonc, settings_files
from mdmemory.hosts.entries import ConfigEntry

_SERVER = "mdmemory"
PERMISSION = ConfigEntry(("permissions", "allow"), f"mcp__{_SERVER}", in_list=True)
TWICE = (
    "Claude Code has mdmemory as a plugin and by `mdmemory setup`, so each hook runs twice. Run "
    "`mdmemory setup claude --remove` or `claude plugin uninstall mdmemory`."
)


def claude_folder(environment: Mapping[str, str]) -> Path:
    """Where Claude Code keeps the person's settings."""
    return person.host_places(environment).claude.parent


def state_folder(environment: Mapping[str, str]) -> Path:
    """Where the one file lies that is not in that folder, unless a variable moved the folder."""
    return claude_folder(environment) if environment.get("CLAUDE_CONFIG_DIR") else Path.home()


def plugin_carrier(environment: Mapping[str, str]) -> str:
    """What carries the memory into Claude Code already: our plugin; "" where it is not on."""
    try:
        text = settings_files.read(claude_folder(environment) / "settings.json") or "{}"
        plugins = jsonc.parse(text).member("enabledPlugins")
    except ValueError:
        return ""
    enabled = plugins.data if plugins and isinstance(plugins.data, dict) else {}
    is_on = any(name.startswith(f"{_SERVER}@") and on is True for name, on in enabled.items())
    return "a plugin" if is_on else ""


def claude_findings(environment: Mapping[str, str], project: Path) -> Iterator[str]:
    """What Claude Code itself keeps from working, a sentence each."""
    text = settings_files.read(claude_folder(environment) / "settings.json") or "{}"
    switch = jsonc.parse(text).member("disableAllHooks")
    if switch is not None and switch.data is True:
        yield (
            f"{claude_folder(environment) / 'settings.json'} switches all hooks off "
            "(disableAllHooks), so Claude Code tells the memory nothing. Take that out."
        )
    if os.path.lexists(project / ".mcp.json"):
        yield from _in_project(project / ".mcp.json")


def _in_project(path: Path) -> Iterator[str]:
    """A server of the project's stands before the person's of the same name."""
    try:
        servers = jsonc.parse(settings_files.read(path) or "{}").member("mcpServers", _SERVER)
    except ValueError:
        return
    if servers:
        yield (
            f"{path} names a server {_SERVER!r}, which Claude Code uses in place of the one of "
            "`mdmemory setup`; its index comes a second time. Take it out."
        )
