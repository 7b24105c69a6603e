"""The note in a project's git directory that says where its store was moved to.

The commits of a project go on holding the old place until a person commits its removal, and old
branches for ever. Where this note leads to a store, what they hold is no store any more. Reads and
writes one file; no commit, no branch and no work tree has it.
"""

from __future__ import annotations

import os
from pathlib import Path

from mdmemory.config.table import PROJECT_FILE
from mdmemory.errors import MdmemoryError
from mdmemory.files import name_refusals, read_if_there, write_atomic
from mdmemory.git import private_folder
from mdmemory.git.private_folder import find_top

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FILE = "mdmemory/moved.json"
_LIMIT = 1024 * 1024  # bytes
_STORES, _LEAVING = "stores", "leaving"
_PLACES = 4  # that are remembered of one store


def moved_stores(start: Path) -> dict[Path, tuple[Path, bool]]:
    """The stores that were moved in or out of the work tree around `start`: by the folder that was
    their project root, where they are now, and whether that is in the project. What leads to no
    store is left out."""
    common, top = private_folder.common_dir(start), find_top(start)
    rows = _read(common / _FILE)[_STORES] if common else {}
    if common is None or top is None or not rows:
        return {}
    stores = {}
    for inside, places in rows.items():
        for named in places:  # the newest first; what was not finished leads nowhere
            folder = Path(os.path.normpath(common / named))
            if (folder / PROJECT_FILE).is_file():
                stores[top / inside] = (folder, not os.path.isabs(named))
                break
    return stores


def unfinished_moves(start: Path) -> dict[Path, Path]:
    """By project root, the stores whose old files may still be in their old folders."""
    common, top = private_folder.common_dir(start), find_top(start) or start
    rows = _read(common / _FILE)[_LEAVING] if common else {}
    return {top / inside: top / places[0] for inside, places in rows.items() if places}


def note_move(root: Path, store: Path, folder: Path) -> None:
    """Write down that `store`, of the project root `root`, is on its way to `folder`: as soon as
    that is there, it is the place, and until then the one before."""
    common, top = private_folder.common_dir(root), find_top(root)
    if common is None or top is None:
        return
    # one inside the project goes where the project is moved to
    named = os.path.relpath(folder, common) if folder.is_relative_to(top) else str(folder)
    rows, inside = _read(common / _FILE), root.relative_to(top).as_posix()
    before = [place for place in rows[_STORES].get(inside, []) if place != named]
    rows[_STORES][inside] = [named, *before][:_PLACES]
    rows[_LEAVING][inside] = [store.relative_to(top).as_posix()]
    _write(common, rows)


def finish_move(root: Path) -> None:
    """Nothing of the store is left in its old place, but what a person changed there since."""
    _drop_root(root, [_LEAVING])


def forget_move(root: Path) -> None:
    """The project root `root` has a store again, whatever was moved from there."""
    _drop_root(root, [_STORES, _LEAVING])


def _drop_root(root: Path, kinds: list[str]) -> None:
    common, top = private_folder.common_dir(root), find_top(root)
    if common is None or top is None:
        return
    rows, inside = _read(common / _FILE), root.relative_to(top).as_posix()
    if [rows[kind].pop(inside) for kind in kinds if inside in rows[kind]]:
        _write(common, rows)


def _write(common: Path, rows: dict[str, dict[str, list[str]]]) -> None:
    path = common / _FILE
    with name_refusals(path):
        path.parent.mkdir(mode=0o700, exist_ok=True)
    import json

    write_atomic(path, json.dumps(rows, indent=1).encode() + b"\n", mode=0o600)


def _read(path: Path) -> dict[str, dict[str, list[str]]]:
    try:
        if data := read_if_there(path, _LIMIT):
            import json  # few stores were ever moved

            kinds = json.loads(data)
            return {kind: _read_lists(kinds, kind) for kind in (_STORES, _LEAVING)}
    except (MdmemoryError, ValueError, RecursionError):
        pass
    return {_STORES: {}, _LEAVING: {}}


def _read_lists(value: Any, kind: str) -> dict[str, list[str]]:
    rows = value.get(kind) if isinstance(value, dict) else None
    lists = rows.items() if isinstance(rows, dict) else ()
    return {
        inside: [place for place in places if isinstance(place, str) and place]
        for inside, places in lists
        if isinstance(places, list)
    }
