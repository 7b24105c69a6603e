"""Whose a database file in `.mdmemory/` is: seen in its bytes, before SQLite may change any.

SQLite itself would follow a link, and make a folder's worth of files beside whatever it opens.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Callable, Collection
from pathlib import Path

from mdmemory.errors import NoState
from mdmemory.git.private_folder import away, check, opened, refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

FREE, OURS, UNMARKED, BROKEN = "free", "ours", "unmarked", "broken"
_MAGIC = b"SQLite format 3\0"
_VERSION, _MARK = 60, 68  # where the header says user_version and application_id
_SIDES = ("-wal", "-shm", "-journal")
_COPIED = 256 * 1024 * 1024  # bytes; what is larger and has no mark is not ours

Known = Callable[[Collection[str], int], bool]


def examined(path: Path, mark: int, is_known: Known) -> str:
    """What lies at `path`: FREE (nothing, or nothing in it), OURS, UNMARKED or BROKEN.

    `mark` is our application_id. Version 0.1.0 set none, so `is_known` says of tables (names) and
    a user_version whether they are its. BROKEN is no database at all. Raises NoState for what is
    neither, and for a link, a folder, a pipe. Nothing is changed.
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
    if found == 0 and (verdict := _unmarked(path, status.st_size, is_known)):
        return verdict
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


def _unmarked(path: Path, size: int, is_known: Known) -> str | None:
    """What a database without a mark is, by its tables; None where it is somebody's."""
    import sqlite3

    try:
        tables, version = _contents(path)
        if not is_known(tables, version) and size < _COPIED:
            # a process that was killed leaves what it wrote beside the file
            tables, version = _contents_of_copy(path)
    except (sqlite3.DatabaseError, OSError):
        return None
    if not tables and not version:
        return FREE
    return UNMARKED if is_known(tables, version) else None


def _contents(path: Path, how: str = "mode=ro&immutable=1") -> tuple[set[str], int]:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True)) as database:
        database.execute("PRAGMA trusted_schema = OFF")
        names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {name for (name,) in names}, database.execute("PRAGMA user_version").fetchone()[0]


def _contents_of_copy(path: Path) -> tuple[set[str], int]:
    import shutil
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        shutil.copyfile(path, copy)
        for side in ("-wal", "-journal"):
            beside = path.with_name(path.name + side)
            if beside.exists():
                shutil.copyfile(beside, copy.with_name(beside.name))
        return _contents(copy, "mode=rw")


def mark(database: sqlite3.Connection, mark: int) -> None:
    """Put our mark on a database that was `examined`. Before WAL, so that the file itself says it
    from its first byte on."""
    if database.execute("PRAGMA application_id").fetchone()[0] == mark:
        return
    database.execute("BEGIN IMMEDIATE")
    database.execute(f"PRAGMA application_id = {mark}")
    database.execute("COMMIT")
