"""The place of OpenCode's files: a project, or the person's own configuration folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from mdmemory.errors import MdmemoryError
from mdmemory.files import is_inside

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
