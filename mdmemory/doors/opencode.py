"""Wires a store into OpenCode by its `instructions` setting alone: two files it reads by itself.

The configuration is a person's: only the list of instructions grows, every other byte stays.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mdmemory.doors import jsonc
from mdmemory.errors import MdmemoryError
from mdmemory.files import is_inside, read_regular, unwritable, write_atomic
from mdmemory.protocol import is_unedited, stamped

PROTOCOL_FILE = "PROTOCOL.md"
INDEX_FILE = "MEMORY.md"
SCHEMA = "https://opencode.ai/config.json"
# Of several configurations OpenCode merges all, and the earlier here wins (seen with 1.18.33).
IN_PROJECT = (
    ".opencode/opencode.jsonc", ".opencode/opencode.json", "opencode.jsonc", "opencode.json",
)
IN_CONFIG_FOLDER = ("opencode.jsonc", "opencode.json")
# In a relative entry these make a pattern of the folder's name; in an absolute one they do not.
_PATTERN = re.compile(r"[*?\[\]{}()!\\]")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where things go: in a project, or in the user's configuration folder."""

    project: Path
    store: Path
    config_folder: Path | None

    @property
    def root(self) -> Path:
        return self.config_folder or self.project

    @property
    def protocol(self) -> Path:
        folder = self.config_folder or self.project / ".opencode"
        return folder / "memory" / PROTOCOL_FILE

    @property
    def wanted(self) -> tuple[Path, Path]:
        """The files that OpenCode has to read."""
        return self.protocol, self.store / INDEX_FILE

    def configurations(self) -> list[Path]:
        """Those that exist, the one that wins first."""
        names = IN_CONFIG_FOLDER if self.config_folder else IN_PROJECT
        return [self.root / name for name in names if os.path.lexists(self.root / name)]

    def entry(self, file: Path) -> str:
        """How `file` is named in `instructions`.

        Relative in a project. In the user's configuration, outside the project, and where a
        relative one would be a pattern: below the home as `~/`, else absolute.
        """
        real = Path(os.path.realpath(file))
        base = Path(os.path.realpath(self.project))
        if self.config_folder is None and real.is_relative_to(base):
            relative = real.relative_to(base).as_posix()
            if not _PATTERN.search(relative):
                return relative
        home = Path(os.path.realpath(Path.home()))
        return f"~/{real.relative_to(home).as_posix()}" if real.is_relative_to(home) else str(real)

    def resolve(self, entry: str) -> str:
        """The file that an entry names when OpenCode is started in the project."""
        path = Path(entry).expanduser() if entry.startswith("~/") else self.project / entry
        return os.path.realpath(path)

    def name(self, path: Path) -> str:
        """`path` as a person reads it."""
        return path.relative_to(self.root).as_posix()


def install(
    project: Path, store: Path, protocol: str, *,
    config_folder: Path | None = None, dry_run: bool = False,
) -> list[str]:
    """Make OpenCode read `protocol` and the store's index; sentences on what was done.

    With `config_folder` (`~/.config/opencode`) the user's configuration is wired instead of the
    project's. An edited PROTOCOL.md is left alone and named. Everything is checked before the
    first byte is written. Raises MdmemoryError for a configuration that is a link, not valid, or
    has something else than a list under `instructions`.
    """
    place = _Place(project, store, config_folder)
    writes: list[tuple[Path, bytes]] = []
    said = _protocol_step(place, protocol, writes) + _configuration_step(place, writes)
    if not dry_run:
        for path, data in writes:
            _write(path, data)
    elif writes:
        said.append("Nothing was written: this was a dry run.")
    return said


def remove(project: Path, store: Path, *, config_folder: Path | None = None) -> list[str]:
    """Take back what `install` did; sentences on it, [] when nothing of ours is there.

    Only the entries as we write them go, and a PROTOCOL.md that nobody edited. Raises
    MdmemoryError as `install` does, before anything is changed.
    """
    place = _Place(project, store, config_folder)
    ours = [place.entry(file) for file in place.wanted]
    changes = [change for file in place.configurations() if (change := _shrunk(place, file, ours))]
    _refuse_links(place, place.protocol)
    said = []
    for file, data in changes:
        if data is None:
            file.unlink()
            said.append(f"Removed {place.name(file)}, which held nothing else.")
        else:
            _write(file, data)
            said.append(f"Took our entries out of the instructions in {place.name(file)}.")
    return said + _unprotocol(place) + _still_listed(place)


def _shrunk(place: _Place, file: Path, ours: list[str]) -> tuple[Path, bytes | None] | None:
    """The configuration without our entries (None: it held nothing else), or None: no change."""
    before = _listed(place, file)
    mine = [entry for entry in before if entry in ours]
    if not mine:
        return None
    text = _text(place, file)
    if text == _new(mine):
        return file, None
    after = jsonc.shrink(text, "instructions", mine)
    kept = jsonc.data_without(text, "instructions") == jsonc.data_without(after, "instructions")
    root = jsonc.parse(after.removeprefix(jsonc.BOM)).data
    rest = [entry for entry in before if entry not in mine]
    if not kept or not isinstance(root, dict) or root["instructions"] != rest:
        raise MdmemoryError(
            f"{place.name(file)} could not be changed without touching other settings.",
            f"Take these out of its `instructions` by hand: {_and(mine)}.",
        )
    return file, after.encode()


def _unprotocol(place: _Place) -> list[str]:
    path, name = place.protocol, place.name(place.protocol)
    if not path.exists():
        return []
    if not is_unedited(read_regular(path)):
        return [f"Left {name} where it is: it was edited."]
    path.unlink()
    for folder in (path.parent, path.parent.parent):
        # only what is empty now goes, and never the folder of the configuration itself
        if folder != place.root and not any(folder.iterdir()):
            folder.rmdir()
    return [f"Removed {name}."]


def _still_listed(place: _Place) -> list[str]:
    """Entries for the same files that somebody wrote in their own way."""
    wanted = {os.path.realpath(file) for file in place.wanted}
    return [
        f"{place.name(file)} still lists {entry}, which is not how we write it."
        for file in place.configurations()
        for entry in _listed(place, file)
        if place.resolve(entry) in wanted
    ]


def check(project: Path, store: Path, *, config_folder: Path | None = None) -> list[str]:
    """What keeps OpenCode from reading this store's memory, one sentence each; [] when wired."""
    place = _Place(project, store, config_folder)
    try:
        listed = [entry for file in place.configurations() for entry in _listed(place, file)]
    except MdmemoryError as problem:
        return [problem.message]
    resolved = [place.resolve(entry) for entry in listed]
    findings = [
        f"OpenCode does not read {place.entry(file)}: no configuration lists it."
        for file in place.wanted if os.path.realpath(file) not in resolved
    ]
    findings += [
        f"OpenCode is told to read {place.entry(file)}, which is not there."
        for file in place.wanted if os.path.realpath(file) in resolved and not file.exists()
    ]
    return findings + _strangers(place, listed)


def findings(project: Path, store: Path) -> list[str]:
    """What `check` finds, for a project in which OpenCode is used at all."""
    used = (project / name for name in (".opencode", *IN_PROJECT))
    return check(project, store) if any(path.exists() for path in used) else []


def _strangers(place: _Place, listed: Iterable[str]) -> list[str]:
    """Indexes of other stores that are listed too."""
    own = os.path.realpath(place.store / INDEX_FILE)
    return [
        f"OpenCode also reads {entry}, which is not this store's index."
        for entry in dict.fromkeys(listed)
        if entry.rpartition("/")[2] == INDEX_FILE and place.resolve(entry) != own
    ]


def _protocol_step(
    place: _Place, protocol: str, writes: list[tuple[Path, bytes]]
) -> list[str]:
    path, name = place.protocol, place.name(place.protocol)
    _refuse_links(place, path)
    fresh = stamped(protocol)
    if not path.exists():
        writes.append((path, fresh))
        return [f"Installed {name}."]
    present = read_regular(path)
    if present.replace(b"\r\n", b"\n") == fresh:
        return []
    if not is_unedited(present):
        return [f"Left {name} as it is: it was edited. Delete it and run this again for ours."]
    writes.append((path, fresh))
    return [f"Updated {name}."]


def _configuration_step(place: _Place, writes: list[tuple[Path, bytes]]) -> list[str]:
    files = place.configurations()
    listed = {file: _listed(place, file) for file in files}
    known = {place.resolve(entry) for entries in listed.values() for entry in entries}
    missing = [place.entry(file) for file in place.wanted if os.path.realpath(file) not in known]
    if not missing:
        return []
    if not files:
        path = place.root / "opencode.json"
        writes.append((path, _new(missing).encode()))
        return [f"Wrote {place.name(path)}, which lists {_and(missing)}."]
    # A list that is there is where a person looks; of several files with none, the one that wins.
    path = next((file for file in files if listed[file]), files[0])
    writes.append((path, _grown(place, path, missing)))
    others = [place.name(file) for file in files if file != path]
    also = f" OpenCode merges it with {_and(others)}, left as found." if others else ""
    return [f"Added {_and(missing)} to the instructions in {place.name(path)}.{also}"]


def _listed(place: _Place, file: Path) -> list[str]:
    """The `instructions` of a configuration, which must be sound."""
    text = _text(place, file).removeprefix(jsonc.BOM)
    if not text.strip():
        return []
    try:
        root = jsonc.parse(text)
    except jsonc.JsoncError as problem:
        raise _unsound(place, file, str(problem)) from problem
    if not isinstance(root.data, dict):
        raise _unsound(place, file, "An object was expected")
    entries = root.data.get("instructions", [])
    if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        raise _unsound(place, file, '"instructions" is not a list of strings')
    return entries


def _grown(place: _Place, file: Path, missing: list[str]) -> bytes:
    """The configuration with `missing` in its instructions, proven to say the same otherwise."""
    text = _text(place, file)
    if not text.removeprefix(jsonc.BOM).strip():
        return _new(missing).encode()
    after = jsonc.grow(text, "instructions", missing)
    kept = jsonc.data_without(text, "instructions") == jsonc.data_without(after, "instructions")
    root = jsonc.parse(after.removeprefix(jsonc.BOM)).data
    if not kept or not isinstance(root, dict) or root["instructions"] != [
        *_listed(place, file), *missing
    ]:
        raise MdmemoryError(
            f"{place.name(file)} could not be changed without touching other settings.",
            f"Add these to its `instructions` by hand: {_and(missing)}.",
        )
    return after.encode()


def _text(place: _Place, file: Path) -> str:
    _refuse_links(place, file)
    try:
        return read_regular(file).decode("utf-8")
    except UnicodeDecodeError as problem:
        raise _unsound(place, file, "It is not UTF-8") from problem


def _unsound(place: _Place, file: Path, problem: str) -> MdmemoryError:
    return MdmemoryError(
        f"{place.name(file)} is not a valid configuration: {problem}.",
        "Correct it and run this again; nothing was written.",
        code="bad_configuration",
    )


def _refuse_links(place: _Place, path: Path) -> None:
    """A link may lead out of the project, or to a file that others share."""
    if path.is_symlink():
        raise MdmemoryError(
            f"{place.name(path)} is a symbolic link, and links are not written through.",
            f"Change what it points to by hand, or replace it by a file: {path}.",
        )
    if place.config_folder is None and not is_inside(path, place.project):
        raise MdmemoryError(
            f"{place.name(path)} lies outside the project, behind a symbolic link.",
            "Replace the linked folder by a real one.",
        )


def _new(entries: list[str]) -> str:
    settings = {"$schema": SCHEMA, "instructions": entries}
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def _and(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def _write(path: Path, data: bytes) -> None:
    """Keeps the permissions of a file that is there: a configuration may hold keys."""
    try:
        mode = path.stat().st_mode & 0o777
    except OSError:
        mode = 0o644
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise unwritable(path.parent, problem) from problem
    write_atomic(path, data, mode=mode)
