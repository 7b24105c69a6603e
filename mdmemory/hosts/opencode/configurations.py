"""OpenCode's configurations, which are a person's: they are read, and never written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mdmemory.files import read_regular
from mdmemory.hosts import jsonc
from mdmemory.hosts.opencode.places import Place
from mdmemory.hosts.settings_files import invalid

SCHEMA = "https://opencode.ai/config.json"
LIST, SERVERS, SERVER = "instructions", "mcp", "mdmemory"


def new(instructions: Sequence[str], command: Sequence[str]) -> str:
    """The text of a configuration that lists `instructions`, and starts a server by `command`."""
    settings = {"$schema": SCHEMA, **_settings(instructions, command)}
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def by_hand(instructions: Sequence[str], command: Sequence[str]) -> str:
    """The same settings in one line, for a person to add; "" where there are none."""
    settings = _settings(instructions, command)
    return json.dumps(settings, ensure_ascii=False) if settings else ""


def _settings(instructions: Sequence[str], command: Sequence[str]) -> dict[str, Any]:
    settings: dict[str, Any] = {LIST: [*instructions]} if instructions else {}
    server = {"type": "local", "command": [*command, "mcp"], "enabled": True}
    return settings | ({SERVERS: {SERVER: server}} if command else {})


# --- reading


def require_valid(place: Place) -> None:
    """Raise MdmemoryError as `entries` does."""
    for file in place.configurations():
        _entries(place, file)


def entries(place: Place) -> Iterator[tuple[Path, str]]:
    """Each configuration with each of its instructions. Raises MdmemoryError where one is not
    valid, or has no list of strings under `instructions`."""
    for file in place.configurations():
        for entry in _entries(place, file):
            yield file, entry


def serving(place: Place) -> list[Path]:
    """The configurations that name an MCP server as ours is named."""
    return [file for file in place.configurations() if SERVER in _servers(place, file)]


def names_plugins(place: Place) -> bool:
    """Whether a configuration asks for plugins of its own."""
    return any(_root(place, file).get("plugin") for file in place.configurations())


def _entries(place: Place, file: Path) -> list[str]:
    listed = _root(place, file).get(LIST, [])
    if not isinstance(listed, list) or not all(isinstance(entry, str) for entry in listed):
        raise invalid(place.name(file), f'"{LIST}" is not a list of strings')
    return listed


def _servers(place: Place, file: Path) -> dict[str, Any]:
    servers = _root(place, file).get(SERVERS)
    return servers if isinstance(servers, dict) else {}


def _root(place: Place, file: Path) -> dict[str, Any]:
    text = _text(place, file)
    if not text.removeprefix(jsonc.BOM).strip():
        return {}
    try:
        root = jsonc.parse(text).data
    except jsonc.JsoncError as problem:
        raise invalid(place.name(file), problem) from problem
    if not isinstance(root, dict):
        raise invalid(place.name(file), "An object was expected")
    return root


def _text(place: Place, file: Path) -> str:
    try:
        return read_regular(os.path.realpath(file)).decode("utf-8")
    except UnicodeDecodeError as problem:
        raise invalid(place.name(file), "It is not UTF-8") from problem
