"""How our databases in `.mdmemory/` are opened: looked at before SQLite may change a byte, brought
up to date, and put out of the way where they are broken.

SQLite itself would follow a link, and make a folder's worth of files beside whatever it opens.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from mdmemory.errors import NoState
from mdmemory.git.private_folder import as_refusal, check, moving_step, open_file, prepare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PATIENCE = 5.0  # seconds for another process that writes; it takes milliseconds
_PAUSE = 0.02
_SHARED: dict[str, Any] = {"isolation_level": None, "check_same_thread": False}
_MAGIC = b"SQLite format 3\0"
_AT_MARK = 68  # where the header says application_id
_SIDES = ("-wal", "-shm", "-journal")
# What SQLite says of the disk or the file, by its primary codes; all else is a defect of ours.
_SAID = {
    3: ("may not be opened", "Check its permissions."),
    5: ("is being written by another process", "Try again in a moment."),
    6: ("is being written by another process", "Try again in a moment."),
    8: ("cannot be written", "Check its permissions, and those of its folder."),
    10: ("cannot be read or written", "Check the disk."),
    11: ("is corrupt", "The next command moves it aside."),
    13: ("cannot be written: the disk is full", "Free some space."),
    14: ("cannot be opened", "Check its permissions, and the room on the disk."),
    26: ("is corrupt", "The next command moves it aside."),
}
_BUSY, _CORRUPT = (5, 6), (11, 26)
_DAMAGED = (0, 1, *_CORRUPT)  # no UTF-8, other tables than ours


def is_broken(path: Path, mark: int) -> bool:
    """Whether what lies at `path` is no database at all. `mark` is our application_id.

    Raises NoState for a database of another program, and for a link, a folder, a pipe. Nothing is
    changed.
    """
    check(path.parent)
    try:
        # what SQLite writes beside a database: it would follow links there, too
        for beside in (path.with_name(path.name + side) for side in _SIDES):
            with suppress(FileNotFoundError):
                status = os.lstat(beside)
                if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
                    raise NoState(str(beside), "is not a file of ours", moving_step(beside))
        header, status = _read_head(path)
    except FileNotFoundError:
        return False
    except OSError as problem:
        with suppress(OSError):
            if not stat.S_ISREG(mode := os.lstat(path).st_mode):
                is_link = stat.S_ISLNK(mode)
                kind = "a symbolic link, and links are not followed" if is_link else "not a file"
                raise NoState(str(path), f"is {kind}", moving_step(path)) from problem
        raise as_refusal(path, problem) from problem
    if status.st_nlink > 1:
        raise NoState(str(path), "has another name elsewhere", moving_step(path))
    if len(header) < 100 or not header.startswith(_MAGIC):
        return bool(header)
    mark_there: int = struct.unpack_from(">i", header, _AT_MARK)[0]
    if mark_there == mark or (mark_there == 0 and _is_empty(path)):
        return False
    raise NoState(str(path), "is a database of another program", moving_step(path))


def _is_empty(path: Path) -> bool:
    """Whether a database without a mark has no table, so that it is nobody's."""
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as database:
            database.execute("PRAGMA trusted_schema = OFF")
            (version,) = database.execute("PRAGMA user_version").fetchone()
            return not version and not database.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError:
        return False


def put_mark(database: sqlite3.Connection, mark: int) -> None:
    """Put our mark on a database that was looked at. Before WAL, so that the file itself says it
    from its first byte on."""
    if database.execute("PRAGMA application_id").fetchone()[0] == mark:
        return
    with write_transaction(database):
        database.execute(f"PRAGMA application_id = {mark}")


def connect_file(
    path: Path, mark: int, migrations: Sequence[str], tell: Callable[[str], None] | None
) -> sqlite3.Connection:
    """The database at `path` with our mark and the newest tables. One that is broken is moved
    aside, of which `tell` hears. Without `tell` it is derived: it is not looked through, and goes.

    Raises NoState.
    """
    prepare(path.parent)
    for _ in range(2):
        trouble: str | None = "is corrupt"
        try:
            is_ours = not is_broken(path, mark)
        except NoState:
            if tell is not None:
                raise
            is_ours = False  # in place of what is derived nothing else is kept
        if is_ours:
            database, trouble = _open(path, mark, migrations, is_checked=tell is not None)
            if database is not None:
                return database
        number, aside = 1, None
        while tell and (aside := path.with_name(f"{path.name}.aside-{number}")).exists():
            number += 1
        remove_database(path, aside)
        if tell and aside:
            tell(f"{path.name} {trouble}; it was moved to {aside.name}.")
    raise NoState(str(path), "cannot be opened", moving_step(path))


def in_memory(migrations: Sequence[str], like: sqlite3.Connection | None = None,
              ) -> sqlite3.Connection:  # fmt: skip
    """A database that ends with the process, with what `like` holds as far as it can be read."""
    fresh = open_connection(None, **_SHARED)
    if like is not None:
        with suppress(sqlite3.Error):  # nothing is left of a copy that fails
            like.backup(fresh)
            return fresh
    _run_migrations(fresh, migrations)
    return fresh


def failure_state(path: Path, problem: sqlite3.Error) -> NoState | None:
    """What kept SQLite from the file, in words; None for what is a defect of ours."""
    reason = _SAID.get(_error_code(problem))
    return NoState(str(path), *reason) if reason else None


def is_damage(problem: sqlite3.Error) -> bool:
    """Whether a file that was derived has to be made anew, for what it holds is not what we put."""
    return _error_code(problem) in _DAMAGED


def _open(
    path: Path, mark: int, migrations: Sequence[str], is_checked: bool
) -> tuple[sqlite3.Connection | None, str | None]:
    """Opened and brought up to date, or why it has to make room."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            database = open_connection(path, timeout=PATIENCE, **_SHARED)
        except sqlite3.Error as problem:
            raise failure_state(path, problem) or problem from problem
        trouble = None
        try:
            database.execute("PRAGMA trusted_schema = OFF")
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version > len(migrations):
                trouble = "was written by a newer mdmemory"  # and nothing in it is touched
            elif is_checked and database.execute("PRAGMA quick_check").fetchone() != ("ok",):
                trouble = "is corrupt"
            else:
                put_mark(database, mark)
                database.execute("PRAGMA journal_mode = WAL")
                if version < len(migrations):
                    _run_migrations(database, migrations)
        except sqlite3.Error as problem:
            database.close()
            if _error_code(problem) in _BUSY and time.monotonic() < deadline:
                time.sleep(_PAUSE)  # some steps of SQLite's own do not wait by themselves
                continue
            if _error_code(problem) not in _CORRUPT:
                raise failure_state(path, problem) or problem from problem
            return None, "is corrupt"
        if trouble:
            database.close()
            return None, trouble
        return database, None


def _run_migrations(database: sqlite3.Connection, migrations: Sequence[str]) -> None:
    with write_transaction(database):  # another process may have done the same by now
        version = database.execute("PRAGMA user_version").fetchone()[0]
        for at, script in enumerate(migrations[version:], version + 1):
            for statement in filter(str.strip, script.split(";")):
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {at}")


@contextmanager
def write_transaction(database: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Do all of it or none.

    IMMEDIATE: a transaction that reads first fails as soon as two processes write.
    """
    database.execute("BEGIN IMMEDIATE")
    try:
        yield database
        database.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            database.execute("ROLLBACK")
        raise


def remove_database(path: Path, aside: Path | None = None) -> None:
    """Remove a database (or move it `aside`), and what SQLite wrote beside it. Raises NoState."""
    try:
        if aside:
            path.rename(aside)
        for suffix in ("", *_SIDES):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
    except OSError as problem:
        raise as_refusal(path, problem) from problem


def _error_code(problem: sqlite3.Error) -> int:
    """SQLite's primary result code; 0 where there is none."""
    return int(getattr(problem, "sqlite_errorcode", 0) or 0) & 0xFF


# Connections, and the handles that must outlive them: POSIX drops all locks of a process on a file
# when it closes any handle to it, those of SQLite too. Another process would then take itself for
# the last one and remove what stands beside the file.

_guard = threading.RLock()  # a collection of garbage may close one while it is held
_counts: Counter[str] = Counter()  # connections of this process, by path
_late: dict[str, list[int]] = {}  # handles to close with the last of them


class _Counted(sqlite3.Connection):
    """A connection that is counted until it is closed."""

    place: str | None = None  # until it is open, and once it is closed

    def close(self) -> None:
        """Close it; with the last one to a file go the handles that waited for that."""
        with suppress(sqlite3.Error):
            super().close()
        with _guard:
            place, self.place = self.place, None
            if place is None:
                return
            _counts[place] -= 1
            if _counts[place] > 0:
                return
            del _counts[place]
            for handle in _late.pop(place, []):
                os.close(handle)

    # closed with whoever held it last: from 3.13 on Python warns where nobody does
    __del__ = close


def open_connection(path: Path | None, **options: Any) -> sqlite3.Connection:
    """An open connection to a file, or (None) to a database in memory; `options` are sqlite3's.
    Raises sqlite3.Error."""
    place = os.path.realpath(path) if path else ""
    with _guard:  # no handle may be closed between the opening and the counting
        made = sqlite3.connect(path or ":memory:", factory=_Counted, **options)
        assert isinstance(made, _Counted)
        made.place = place
        _counts[place] += 1
    return made


def _read_head(path: Path) -> tuple[bytes, os.stat_result]:
    """The first bytes of a file, and its state. Raises OSError."""
    place, handle = os.path.realpath(path), open_file(path, os.O_RDONLY)
    try:
        return os.pread(handle, 100, 0), os.fstat(handle)
    finally:
        with _guard:
            if place in _counts:
                _late.setdefault(place, []).append(handle)
            else:
                os.close(handle)
