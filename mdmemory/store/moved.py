"""The note in a project's git directory that says where its store was moved to.

The commits of a project go on holding the old place until a person commits its removal, and old
branches for ever. Where this note leads to a store, what they hold is no store any more. Reads and
writes one file; no commit, no branch and no work tree has it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from mdmemory.config.table import PROJECT_FILE
from mdmemory.errors import MdmemoryError
from mdmemory.files import read_if_there, write_atomic

_FILE = "moved.json"
_LIMIT = 1024 * 1024  # bytes


def target(root: Path) -> Path | None:
    """The folder of the store that once was the one of the project root `root`, or None.

    The work tree may be any of its repository. None, too, while nothing is where it leads.
    """
    place = _place(root)
    if place is None:
        return None
    common, inside = place
    named = _read(common / "mdmemory" / _FILE).get(inside)
    if not isinstance(named, str) or not named:
        return None
    folder = Path(os.path.normpath(common / named))
    return folder if (folder / PROJECT_FILE).is_file() else None


def note(root: Path, folder: Path) -> None:
    """Write down that the store of `root` is, or will be, in `folder`."""
    place = _place(root)
    if place is None:
        return
    common, inside = place
    room = common / "mdmemory"
    room.mkdir(mode=0o700, exist_ok=True)
    # a store inside the project moves with it
    is_inside = folder.is_relative_to(root)
    named = os.path.relpath(folder, common) if is_inside else str(folder)
    said = _read(room / _FILE) | {inside: named}
    write_atomic(room / _FILE, json.dumps(said, indent=1).encode() + b"\n", mode=0o600)


def _read(path: Path) -> dict[str, object]:
    try:
        found = json.loads(read_if_there(path, _LIMIT) or b"{}")
    except (MdmemoryError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _place(root: Path) -> tuple[Path, str] | None:
    """The common git directory around a project root, and the root's path in its work tree."""
    from mdmemory.git import identity

    for top in (root, *root.parents):
        if os.path.lexists(top / ".git"):
            common = identity.common_dir(top)
            return None if common is None else (common, root.relative_to(top).as_posix())
    return None
