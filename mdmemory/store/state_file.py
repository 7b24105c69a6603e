"""How `state.db` is opened: looked at first, brought up to date, moved aside where it is broken.

Whoever cannot have it is given one in memory, which ends with the process.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from mdmemory.errors import NoState
from mdmemory.git.private_folder import away, prepare, refused
from mdmemory.store import connections, database_file

MARK = int.from_bytes(b"mdmS", "big")  # our application_id
PATIENCE = 5.0  # seconds for another process that writes; it takes milliseconds
_PAUSE = 0.02
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


def connect(
    path: Path, migrations: Sequence[str], tell: Callable[[str], None]
) -> sqlite3.Connection:
    """The database at `path`, with the newest tables. `tell` hears when one was moved aside.

    Raises NoState.
    """
    prepare(path.parent)
    for _ in range(2):
        verdict = database_file.examined(path, MARK)
        found = None if verdict == database_file.BROKEN else _open(path, migrations)
        if isinstance(found, sqlite3.Connection):
            return found
        tell(f"{path.name} {found or 'is corrupt'}; it was moved to {_move_aside(path).name}.")
    raise NoState(str(path), "cannot be opened", away(path))


def in_memory(migrations: Sequence[str], like: sqlite3.Connection | None = None,
              ) -> sqlite3.Connection:  # fmt: skip
    """A database that ends with the process, with what `like` holds as far as it can be read."""
    if like is not None:
        with suppress(sqlite3.Error):
            fresh = connections.connect(None, isolation_level=None)
            like.backup(fresh)
            return fresh
    fresh = connections.connect(None, isolation_level=None)
    _migrate(fresh, migrations)
    return fresh


def failure(path: Path, problem: sqlite3.Error) -> NoState | None:
    """What kept SQLite from the file, in words; None for what is a defect of ours."""
    said = _SAID.get(_code(problem))
    return NoState(str(path), *said) if said else None


def _open(path: Path, migrations: Sequence[str]) -> sqlite3.Connection | str:
    """Opened and brought up to date, or why it has to make room."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            database = connections.connect(path, timeout=PATIENCE, isolation_level=None)
        except sqlite3.Error as problem:
            raise failure(path, problem) or problem from problem
        trouble: str | None = None
        try:
            trouble = _brought_up(database, migrations)
        except sqlite3.Error as problem:
            database.close()
            if _code(problem) in _BUSY and time.monotonic() < deadline:
                time.sleep(_PAUSE)  # some steps of SQLite's own do not wait by themselves
                continue
            if _code(problem) not in _CORRUPT:
                raise failure(path, problem) or problem from problem
            return "is corrupt"
        if trouble:
            database.close()
        return trouble or database


def _brought_up(database: sqlite3.Connection, migrations: Sequence[str]) -> str | None:
    database.execute("PRAGMA trusted_schema = OFF")
    if database.execute("PRAGMA user_version").fetchone()[0] > len(migrations):
        return "was written by a newer mdmemory"  # and nothing in it is touched
    if database.execute("PRAGMA quick_check").fetchone() != ("ok",):
        return "is corrupt"
    database_file.mark(database, MARK)
    database.execute("PRAGMA journal_mode = WAL")
    _migrate(database, migrations)
    return None


def _migrate(database: sqlite3.Connection, migrations: Sequence[str]) -> None:
    if database.execute("PRAGMA user_version").fetchone()[0] == len(migrations):
        return
    # IMMEDIATE: another process may do the same at the same moment
    database.execute("BEGIN IMMEDIATE")
    try:
        version = database.execute("PRAGMA user_version").fetchone()[0]
        for at, script in enumerate(migrations[version:], version + 1):
            for statement in filter(str.strip, script.split(";")):
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {at}")
        database.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            database.execute("ROLLBACK")
        raise


def _move_aside(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.aside-{number}")).exists():
        number += 1
    try:
        path.rename(aside)
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
    except OSError as problem:
        raise refused(path, problem) from problem
    return aside


def _code(problem: sqlite3.Error) -> int:
    """SQLite's primary result code; 0 where there is none."""
    return int(getattr(problem, "sqlite_errorcode", 0) or 0) & 0xFF
