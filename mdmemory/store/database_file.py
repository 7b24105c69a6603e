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
from contextlib import ExitStack, closing, contextmanager, suppress
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


class DatabaseFile:
    """A database at `path`, opened; or one in memory where that is None, or the file is not to be
    had, now or in the middle of work.

    `tell` hears in sentences what became of the file. Without it what the file holds is derived: it
    is not looked through, and what is damaged goes. `trouble` says why there is no file: then
    nothing that is put in outlives this object.
    """

    def __init__(
        self, path: Path | None, mark: int, migrations: Sequence[str],
        tell: Callable[[str], None] | None = None,
    ) -> None:  # fmt: skip
        self.trouble: NoState | None = None
        self.lasts = path is not None  # whether what is put in outlives this object
        self._place, self._migrations, self._tell = path, migrations, tell
        try:
            if path is not None:
                self.connection = _connect_file(path, mark, migrations, tell)
        except NoState as problem:
            self._lose_file(problem)
        if path is None or self.trouble:
            self._begin_in_memory()

    def close(self) -> None:
        """Let go of the file."""
        if connection := self.__dict__.get("connection"):
            connection.close()

    # with whoever had it last: a connection holds itself in a circle
    __del__ = close

    def leave_file(self, problem: Exception) -> None:
        """Go on without a file that fails, with what can still be read of it; of one that is
        derived and damaged nothing counts. Raises a defect of ours."""
        reason = _failure_state(self._place, problem) if self._place else None
        is_damaged = self._tell is None and _error_code(problem) in _DAMAGED
        if not self.lasts or not (reason or is_damaged):
            raise problem
        before = self.connection
        if is_damaged and self._place:
            with suppress(NoState):
                remove_database(self._place)
        self._begin_in_memory(None if is_damaged else before)
        before.close()
        self._lose_file(reason or NoState(str(self._place), *_SAID[_CORRUPT[0]]))

    def _lose_file(self, problem: NoState) -> None:
        self.trouble, self.lasts = problem, False
        if self._tell:
            self._tell(problem.told())

    def _begin_in_memory(self, like: sqlite3.Connection | None = None) -> None:
        """A database that ends with the process, with what can be read of `like`."""
        self.connection = open_connection(None, **_SHARED)
        if like is not None:
            with suppress(sqlite3.Error):  # nothing is left of a copy that fails
                like.backup(self.connection)
                return
        _run_migrations(self.connection, self._migrations)


def _connect_file(
    path: Path, mark: int, migrations: Sequence[str], tell: Callable[[str], None] | None
) -> sqlite3.Connection:
    """The database at `path` with our mark and the newest tables. One that is broken is moved
    aside, of which `tell` hears. Without `tell` it goes. Raises NoState."""
    prepare(path.parent)
    for _ in range(2):
        trouble = "is corrupt"
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


def _failure_state(path: Path, problem: Exception) -> NoState | None:
    """What kept SQLite from the file, in words; None for what is a defect of ours."""
    reason = _SAID.get(_error_code(problem))
    return NoState(str(path), *reason) if reason else None


def _open(
    path: Path, mark: int, migrations: Sequence[str], is_checked: bool
) -> tuple[sqlite3.Connection | None, str]:
    """Opened and brought up to date, or why it has to make room."""
    deadline = time.monotonic() + PATIENCE
    while True:
        with ExitStack() as failing:
            try:
                database = open_connection(path, timeout=PATIENCE, **_SHARED)
                failing.callback(database.close)
                database.execute("PRAGMA trusted_schema = OFF")
                (version,) = database.execute("PRAGMA user_version").fetchone()
                if version > len(migrations):
                    return None, "was written by a newer mdmemory"  # and nothing in it is touched
                if is_checked and database.execute("PRAGMA quick_check").fetchone() != ("ok",):
                    return None, "is corrupt"
                put_mark(database, mark)
                database.execute("PRAGMA journal_mode = WAL")
                if not is_checked:
                    database.execute("PRAGMA synchronous = NORMAL")
                    database.execute("PRAGMA secure_delete = ON")
                if version < len(migrations):
                    _run_migrations(database, migrations)
                failing.pop_all()
                return database, ""
            except sqlite3.Error as problem:
                if _error_code(problem) in _CORRUPT:
                    return None, "is corrupt"
                if _error_code(problem) not in _BUSY or time.monotonic() >= deadline:
                    raise _failure_state(path, problem) or problem from problem
        time.sleep(_PAUSE)  # some steps of SQLite's own do not wait by themselves


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


def _error_code(problem: Exception) -> int:
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
