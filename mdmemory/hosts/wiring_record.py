"""What was done to a person's files to wire their clients: kept with our logs, so that it can be
taken back byte for byte.

It holds no text of the person's but the white space that ours replaced, and follows a home folder
that is copied or renamed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from mdmemory.config import person
from mdmemory.errors import MdmemoryError
from mdmemory.files import name_refusals, read_if_there, write_atomic
from mdmemory.hosts.entries import ConfigEdit

_OF_OPENCODE = "opencode-folders.json"  # where 0.2 kept the folders made for OpenCode


@dataclass(slots=True)
class WiringRecord:
    """What was done, file by file, and the folders and files that were not there before; `file`
    holds it on the disk."""

    file: Path
    written: dict[str, ConfigEdit] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)

    def note_missing(self, paths: Iterable[Path]) -> None:
        """Note which of these files, and of the folders above them, are not there yet."""
        every = {each for path in [*paths, self.file] for each in (path, *path.parents)}
        missing = {str(each) for each in every if not os.path.lexists(each)}
        self.made = sorted({*self.made, *missing})

    def save(self) -> None:
        """Write the record. Raises Unwritable."""
        data = {
            "home": str(Path.home()),
            "written": {name: asdict(each) for name, each in self.written.items()},
            "made": self.made,
        }
        with name_refusals(self.file.parent):
            self.file.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
        write_atomic(self.file, text.encode("utf-8"), mode=0o600)
        self.file.with_name(_OF_OPENCODE).unlink(missing_ok=True)

    def drop_empty_folders(self) -> None:
        """Remove the folders that were made and hold nothing, and forget all that is gone."""
        drop_empty(map(Path, self.made))
        self.made = [name for name in self.made if os.path.lexists(name)]

    def drop(self) -> None:
        """Remove the record itself, and what it then leaves empty."""
        for name in (self.file.name, _OF_OPENCODE):
            if os.path.lexists(path := self.file.with_name(name)):
                path.unlink()
        self.drop_empty_folders()


def drop_empty(folders: Iterable[Path]) -> None:
    """Remove those of the folders that hold nothing, the inner ones first."""
    for folder in sorted(folders, key=lambda each: len(each.parts), reverse=True):
        if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
            folder.rmdir()


def read(environment: Mapping[str, str]) -> WiringRecord:
    """The record of all clients; an empty one where it is lost or was not written by us."""
    file = person.state_folder(environment) / "wiring.json"
    record = WiringRecord(file)
    try:
        data = json.loads(read_if_there(file) or b"{}")
        here = partial(person.in_this_home, home=str(data.get("home", "")))
        written = {here(name): _as_edit(each) for name, each in data["written"].items()}
        record = WiringRecord(file, written, [here(str(name)) for name in data["made"]])
    except (ValueError, LookupError, TypeError, AttributeError, MdmemoryError):
        pass
    record.made += [name for name in _older_folders(file) if name not in record.made]
    return record


def _older_folders(file: Path) -> list[str]:
    try:
        made = json.loads(read_if_there(file.with_name(_OF_OPENCODE)) or b"[]")
    except (ValueError, MdmemoryError):
        return []
    return [each for each in made if isinstance(each, str)] if isinstance(made, list) else []


def _as_edit(data: dict[str, Any]) -> ConfigEdit:
    splices = [(int(at), str(put), str(old)) for at, put, old in data["splices"]]
    made = [[str(key) for key in box] for box in data["made"]]
    return ConfigEdit(str(data["digest"]), splices, dict(data["values"]), made)
