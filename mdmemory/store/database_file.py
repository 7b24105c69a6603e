"""Whose a database file in `.mdmemory/` is: seen in its bytes, before SQLite may change any.

SQLite itself would follow a link, and make a folder's worth of files beside whatever it opens.
"""

from __future__ import annotations

import os
import stat
import struct
from pathlib import Path

from mdmemory.errors import NoState
from mdmemory.git.private_folder import away, check, opened, refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

FREE, OURS, BROKEN = "free", "ours", "broken"
_MAGIC = b"SQLite format 3\0"
_VERSION, _MARK = 60, 68  # where the header says user_version and application_id
_SIDES = ("-wal", "-shm", "-journal")


def examined(path: Path, mark: int) -> str:
    """What lies at `path`: FREE (nothing, or nothing in it), OURS or BROKEN.

    `mark` is our application_id. BROKEN is no database at all. Raises NoState for a database of
    another program, and for a link, a folder, a pipe. Nothing is changed.
    """
    from mdmemory.store.connections import close_handle  # sqlite3, which only follows from here

    check(path.parent)
    try:
        _check_sides(path)
        handle = opened(path, os.O_RDONLY)
    except FileNotFoundError:
        return FREE
    except OSError as problem:
        raise _other(path, problem) from problem
    try:
        header, status = os.pread(handle, 100, 0), os.fstat(handle)
    finally:
        close_handle(path, handle)
    if status.st_nlink > 1:
        raise NoState(str(path), "has another name elsewhere", away(path))
    if not header:
        return FREE
    if len(header) < 100 or not header.startswith(_MAGIC):
        return BROKEN
    found: int = struct.unpack_from(">i", header, _MARK)[0]
    if found == mark:
        return OURS
    if found == 0 and _is_empty(path):
        return FREE
    raise NoState(str(path), "is a database of another program", away(path))


def _check_sides(path: Path) -> None:
    """What SQLite writes beside a database: it would follow links there, too."""
    for side in _SIDES:
        beside = path.with_name(path.name + side)
        try:
            status = os.lstat(beside)
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise NoState(str(beside), "is not a file of ours", away(beside))


def _other(path: Path, problem: OSError) -> NoState:
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return refused(path, problem)
    if stat.S_ISREG(mode):
        return refused(path, problem)
    kind = "a symbolic link, and links are not followed" if stat.S_ISLNK(mode) else "not a file"
    return NoState(str(path), f"is {kind}", away(path))


def _is_empty(path: Path) -> bool:
    """Whether a database without a mark has no table, so that it is nobody's."""
    import sqlite3
    from contextlib import closing

    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as database:
            database.execute("PRAGMA trusted_schema = OFF")
            (version,) = database.execute("PRAGMA user_version").fetchone()
            return not version and not database.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError:
        return False


def mark(database: sqlite3.Connection, mark: int) -> None:
    """Put our mark on a database that was `examined`. Before WAL, so that the file itself says it
    from its first byte on."""
    if database.execute("PRAGMA application_id").fetchone()[0] == mark:
        return
    database.execute("BEGIN IMMEDIATE")
    database.execute(f"PRAGMA application_id = {mark}")
    database.execute("COMMIT")
