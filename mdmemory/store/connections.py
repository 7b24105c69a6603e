"""Connections to our databases, and the handles that must outlive them.

POSIX drops all locks of a process on a file when it closes any handle to it, those of SQLite too:
another process would then take itself for the last one and remove what stands beside the file.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_guard = threading.Lock()
_open: Counter[str] = Counter()  # connections of this process, by path
_late: dict[str, list[int]] = {}  # handles to close with the last of them


class _Counted(sqlite3.Connection):
    """A connection that is counted until it is closed."""

    place = ""

    def close(self) -> None:
        """Close it; with the last one to a file go the handles that waited for that."""
        super().close()
        place, self.place = self.place, ""
        if place:
            _leave(place)

    def __del__(self) -> None:
        """Close it with whoever held it last: from 3.13 on Python warns where nobody does."""
        with suppress(sqlite3.Error):
            self.close()


def connect(path: Path | None, **options: Any) -> sqlite3.Connection:
    """An open connection to a file, or (None) to a database in memory; `options` are sqlite3's.
    Raises sqlite3.Error."""
    if path is None:
        memory: sqlite3.Connection = sqlite3.connect(":memory:", factory=_Counted, **options)
        return memory
    place = os.path.realpath(path)
    with _guard:  # before it is open: from then on no handle may be closed
        _open[place] += 1
    try:
        found = sqlite3.connect(path, factory=_Counted, **options)
    except BaseException:
        _leave(place)
        raise
    assert isinstance(found, _Counted)
    found.place = place
    return found


def close_handle(path: Path, handle: int) -> None:
    """Close a handle of ours to a database, but not before the connections to it."""
    place = os.path.realpath(path)
    with _guard:
        if _open[place] > 0:
            _late.setdefault(place, []).append(handle)
        else:
            os.close(handle)


def _leave(place: str) -> None:
    with _guard:
        _open[place] -= 1
        if _open[place] > 0:
            return
        del _open[place]
        for handle in _late.pop(place, []):
            os.close(handle)
