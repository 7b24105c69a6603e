"""A SQLite file, or one in memory, with our tables; what it complains of, in our words.

Writers take the lock before they read (BEGIN IMMEDIATE); readers never wait (WAL).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mdmemory.errors import NoState
from mdmemory.search import schema
from mdmemory.search.database import BrokenError, LockedError, UnusableError
from mdmemory.search.tables import Tables, numbers
from mdmemory.store import database_file

MARK = int.from_bytes(b"mdmF", "big")  # our application_id
PATIENCE = 5.0  # seconds to wait for another process that writes; it takes milliseconds
CACHE = 8_000  # KiB of pages


class SQLiteFile(Tables):
    """A file with our tables. Opening it makes them where they are missing or of another stamp."""

    def __init__(self, path: Path | None, stamp: str, *, anew: bool = False) -> None:
        if path is not None:
            _check(path)
        self._path = path
        self._counted: dict[str, tuple[tuple[int, ...], int]] = {}  # by source: of which state
        with told():
            self._database = database_file.connection(path, timeout=PATIENCE, isolation_level=None)
        try:
            self._open_patiently(stamp, anew)
        except BaseException:
            self._database.close()
            raise

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def _open_patiently(self, stamp: str, anew: bool) -> None:
        """Open it, again where it is locked: SQLite does not wait to change a file's journal."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                with told(self._checked):
                    return self._open(stamp, anew)
            except LockedError:
                if time.monotonic() >= end:
                    raise
            time.sleep(0.02)

    def _open(self, stamp: str, anew: bool) -> None:
        run = self._database.execute
        database_file.put_mark(self._database, MARK)
        # the file may have come with somebody else's repository
        for pragma in ("trusted_schema = OFF", "secure_delete = ON", "journal_mode = WAL",
                       "synchronous = NORMAL", f"cache_size = -{CACHE}",
                       "foreign_keys = ON"):  # fmt: skip
            run(f"PRAGMA {pragma}")
        self._make(stamp, schema.NAMES, anew=anew)

    def _statements(self) -> Iterable[str]:
        return schema.statements()

    @property
    def _place(self) -> str:
        return str(self._path or "")

    def _stamp(self) -> str | None:
        if not self._rows("SELECT 1 FROM sqlite_master WHERE name = 'meta' AND type = 'table'"):
            return None
        found = self._rows("SELECT value FROM meta WHERE key = 'stamp'")
        return found[0][0] if found else None

    def _checked(self) -> bool:
        """Whether what there is can be read at all; a bad schema is as bad as a bad page."""
        import sqlite3

        try:
            return bool(self._database.execute("PRAGMA quick_check").fetchone() == ("ok",))
        except sqlite3.DatabaseError:
            return False

    def _run(self, query: str, values: Sequence[object] = ()) -> Any:
        return self._database.execute(query, values)

    def _run_many(self, query: str, rows: Iterable[Sequence[object]]) -> None:
        self._database.executemany(query, rows)

    @contextmanager
    def _reading(self) -> Iterator[Callable[..., list[Any]]]:
        with told(self._checked):
            yield self._rows

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with told(self._checked):
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                with suppress(Exception):
                    self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")

    @property
    def lasting(self) -> bool:
        return self._path is not None

    def count(self, source: str) -> int:
        with self._reading() as rows:
            # each query asks for it, and the chunks lie in many pages with their texts: the
            # full-text table has a short row for each, in few
            state = (rows("PRAGMA data_version")[0][0], self._database.total_changes)
            if self._counted.get(source, ((), 0))[0] != state:
                query = "SELECT count(*) FROM words_docsize WHERE id BETWEEN ? AND ?"
                self._counted[source] = (state, int(rows(query, numbers(source))[0][0]))
        return self._counted[source][1]


def _check(path: Path) -> None:
    """Nothing is changed in a file that is not ours: the notes may have come with a stranger's."""
    try:
        if database_file.is_broken(path, MARK):
            raise BrokenError("is no database")
    except NoState as problem:
        raise UnusableError(problem.what) from problem


@contextmanager
def told(checked: Callable[[], bool] | None = None) -> Iterator[None]:
    """What SQLite complains of, as one of our three."""
    import sqlite3

    try:
        yield
    except sqlite3.OperationalError as problem:
        said = str(problem)
        if "locked" in said or "busy" in said:
            raise LockedError("is being written by another process") from problem
        if "readonly" in said or "unable to open" in said:
            raise UnusableError("cannot be written") from problem
        if "no such" in said or "vtable" in said or not (checked is None or checked()):
            raise BrokenError(said) from problem
        raise UnusableError(f"cannot be used ({said})") from problem
    except sqlite3.DatabaseError as problem:
        raise BrokenError(str(problem)) from problem
