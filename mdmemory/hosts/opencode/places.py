"""The place of OpenCode's files: a project, or the person's own configuration folder."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from mdmemory.errors import MdmemoryError
from mdmemory.files import is_inside, unwritable, write_atomic

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
    """A project with its store; with `config_folder` the person's own configuration is wired, and
    `folders_record` is the file that names the folders made there."""

    project: Path
    store: Path
    config_folder: Path | None = None
    folders_record: Path | None = None

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
        return str(self.folder) if self.config_folder else self.name(self.folder)

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
        """`path` from the root, for messages."""
        return path.relative_to(self.root).as_posix()

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


def write(path: Path, data: bytes) -> None:
    """Write a file and keep its permissions: a configuration may hold keys."""
    try:
        mode = path.stat().st_mode & 0o777
    except OSError:
        mode = 0o644
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise unwritable(path.parent, problem) from problem
    write_atomic(path, data, mode=mode)


def drop(path: Path, place: Place, made: Collection[Path] | None = None) -> None:
    """Remove a file and its empty folders: those in `made`, else all below the place's root."""
    path.unlink()
    for folder in path.parents:
        stays = folder == place.root if made is None else folder not in made
        if stays or any(folder.iterdir()):
            return
        folder.rmdir()


def from_home(path: Path) -> str:
    """The real path of `path`: below the home as `~/`, else absolute."""
    real, home = Path(os.path.realpath(path)), Path(os.path.realpath(Path.home()))
    return f"~/{real.relative_to(home).as_posix()}" if real.is_relative_to(home) else str(real)
