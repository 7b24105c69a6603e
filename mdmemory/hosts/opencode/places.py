"""The place of OpenCode's files: a project, or the person's own configuration folder; and what the
configurations there say, which are a person's: they are read, and never written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mdmemory.errors import MdmemoryError
from mdmemory.files import is_inside, read_regular
from mdmemory.hosts import jsonc
from mdmemory.hosts.settings_files import invalid_file, name_file, table_of

PROTOCOL_FILE = "PROTOCOL.md"
INDEX_FILE = "MEMORY.md"
# OpenCode merges all of these; the earlier one wins (seen with 1.18.33).
IN_PROJECT = (
    ".opencode/opencode.jsonc",
    ".opencode/opencode.json",
    "opencode.jsonc",
    "opencode.json",
)
IN_CONFIG_FOLDER = ("opencode.jsonc", "opencode.json")
SCHEMA = "https://opencode.ai/config.json"
LIST, SERVERS, SERVER = "instructions", "mcp", "mdmemory"


@dataclass(frozen=True, slots=True)
class Place:
    """A project with its store; with `config_folder` the person's own configuration is wired."""

    project: Path
    store: Path
    config_folder: Path | None = None

    @property
    def root(self) -> Path:
        return self.config_folder or self.project

    @property
    def folder(self) -> Path:
        """The folder in which OpenCode looks for plugins, commands and skills."""
        return self.config_folder or self.project / ".opencode"

    @property
    def shown_folder(self) -> str:
        """The name of `folder` in messages."""
        return self.name(self.folder)

    @property
    def protocol(self) -> Path:
        return self.folder / "memory" / PROTOCOL_FILE

    @property
    def wanted(self) -> tuple[Path, Path]:
        """The files that OpenCode has to read."""
        return self.protocol, self.store / INDEX_FILE

    def configurations(self) -> list[Path]:
        """The configurations that exist, in their order of precedence."""
        names = IN_CONFIG_FOLDER if self.config_folder else IN_PROJECT
        return [self.root / name for name in names if (self.root / name).exists()]

    def resolve(self, entry: str) -> str:
        """The real path of an instruction when OpenCode is started in the project."""
        path = Path(entry).expanduser() if entry.startswith("~/") else self.project / entry
        return os.path.realpath(path)

    def name(self, path: Path) -> str:
        """`path` for messages: from a project's root, or whole."""
        return str(path) if self.config_folder else path.relative_to(self.root).as_posix()

    def shown(self, path: Path) -> str:
        """`path` from the root of the project where it lies in it, else from the home."""
        root = os.path.realpath(self.project)
        if self.config_folder is None and is_inside(path, self.project):
            return os.path.relpath(os.path.realpath(path), root)
        return from_home(path)

    def refuse_links(self, path: Path) -> None:
        """Raise MdmemoryError if writing to `path` would follow a link."""
        if path.is_symlink():
            raise MdmemoryError(
                f"{self.name(path)} is a symbolic link, and links are not written through.",
                f"Change what it points to by hand, or replace it by a file: {path}.",
            )
        if self.config_folder is None and not is_inside(path, self.project):
            raise MdmemoryError(
                f"{self.name(path)} lies outside the project, behind a symbolic link.",
                "Replace the linked folder by a real one.",
            )


def from_home(path: Path) -> str:
    """The real path of `path`: below the home as `~/`, else absolute."""
    real, home = Path(os.path.realpath(path)), Path(os.path.realpath(Path.home()))
    return f"~/{real.relative_to(home).as_posix()}" if real.is_relative_to(home) else str(real)


def new_configuration(paths: Sequence[str], command: Sequence[str]) -> str:
    """The text of a configuration that lists the `paths`, and starts a server by `command`."""
    settings = {"$schema": SCHEMA, **_config_settings(paths, command)}
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def settings_by_hand(paths: Sequence[str], command: Sequence[str]) -> str:
    """The same settings in one line, for a person to add; "" where there are none."""
    settings = _config_settings(paths, command)
    return json.dumps(settings, ensure_ascii=False) if settings else ""


def _config_settings(paths: Sequence[str], command: Sequence[str]) -> dict[str, Any]:
    settings: dict[str, Any] = {LIST: [*paths]} if paths else {}
    server = {"type": "local", "command": [*command, "mcp"], "enabled": True}
    return settings | ({SERVERS: {SERVER: server}} if command else {})


def require_valid_configurations(place: Place) -> None:
    """Raise MdmemoryError as `all_instructions` does."""
    for file in place.configurations():
        _listed_instructions(place, file)


def all_instructions(place: Place) -> Iterator[tuple[Path, str]]:
    """Each configuration with each of its instructions. Raises MdmemoryError where one is not
    valid, or has no list of strings under `instructions`."""
    for file in place.configurations():
        for entry in _listed_instructions(place, file):
            yield file, entry


def serving_configurations(place: Place) -> list[Path]:
    """The configurations that name an MCP server as ours is named."""
    return [
        file
        for file in place.configurations()
        if SERVER in table_of(_root_object(place, file), SERVERS)
    ]


def names_plugins(place: Place) -> bool:
    """Whether a configuration asks for plugins of its own."""
    return any(_root_object(place, file).get("plugin") for file in place.configurations())


def _listed_instructions(place: Place, file: Path) -> list[str]:
    listed = _root_object(place, file).get(LIST, [])
    if not isinstance(listed, list) or not all(isinstance(entry, str) for entry in listed):
        raise invalid_file(place.name(file), f'"{LIST}" is not a list of strings')
    return listed


def _root_object(place: Place, file: Path) -> dict[str, Any]:
    text = _read_text(place, file)
    if not text.removeprefix(jsonc.BOM).strip():
        return {}
    with name_file(place.name(file)):
        root = jsonc.parse(text).data
    if not isinstance(root, dict):
        raise invalid_file(place.name(file), "An object was expected")
    return root


def _read_text(place: Place, file: Path) -> str:
    try:
        return read_regular(os.path.realpath(file)).decode("utf-8")
    except UnicodeDecodeError as problem:
        raise invalid_file(place.name(file), "It is not UTF-8") from problem
