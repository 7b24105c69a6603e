"""What was done to a person's files to wire their clients: kept with our logs, so that it can be
taken back byte for byte.

It holds no text of the person's but the white space that ours replaced, and follows a home folder
that is copied or renamed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from mdmemory.config import person
from mdmemory.errors import MdmemoryError
from mdmemory.files import read_if_there, write_atomic, writing
from mdmemory.hosts.entries import ConfigEdit


@dataclass(slots=True)
class WiringRecord:
    """What was done, file by file, and the folders and files that were not there before."""

    written: dict[str, ConfigEdit] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)


def place(environment: Mapping[str, str]) -> Path:
    """Where the record of all clients lies."""
    return person.state_folder(environment) / "wiring.json"


def read(path: Path) -> WiringRecord:
    """The record; an empty one where it is lost or was not written by us."""
    try:
        data = json.loads(read_if_there(path) or b"{}")
        here = partial(person.in_this_home, home=str(data.get("home", "")))
        written = {here(name): _as_written(each) for name, each in data["written"].items()}
        return WiringRecord(written, [here(str(name)) for name in data["made"]])
    except (ValueError, LookupError, TypeError, AttributeError, MdmemoryError):
        return WiringRecord()


def keep(path: Path, record: WiringRecord) -> None:
    """Write the record. Raises Unwritable."""
    data = {
        "home": str(Path.home()),
        "written": {name: asdict(each) for name, each in record.written.items()},
        "made": record.made,
    }
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
    write_atomic(path, text.encode("utf-8"), mode=0o600)


def _as_written(data: dict[str, Any]) -> ConfigEdit:
    splices = [(int(at), str(put), str(old)) for at, put, old in data["splices"]]
    made = [[str(key) for key in box] for box in data["made"]]
    return ConfigEdit(str(data["digest"]), splices, dict(data["values"]), made)
