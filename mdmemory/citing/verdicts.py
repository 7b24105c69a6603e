"""`.mdmemory/citations.db`: what was found out about citations, so that nothing is compared twice.

Each row is true for ever: it names what was compared with what. The file may be deleted at any
moment; where it cannot be used, everything is worked out again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from mdmemory.citing.states import CitationVerdict
from mdmemory.citing.trails import Trail
from mdmemory.citing.versions import Version
from mdmemory.errors import NoState
from mdmemory.store import database_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from typing import Any

NAME = "citations.db"
_MARK = int.from_bytes(b"mdmC", "big")  # our application_id
_LAYOUT = 2  # raise it when a table, or the judgement of lines, takes another shape
_FEW = 300  # questions that are put one by one; for more a whole table is read
_MOST = 400_000  # rows; with more the file begins anew
_RACY = 2_000_000_000  # ns; a file changed so recently may change again under the same times
_PATIENCE = 2.0  # seconds to wait for another process that writes; it takes milliseconds
_TABLES = {
    "verdicts": "cite TEXT, against TEXT, state TEXT, now TEXT, diff TEXT, why TEXT,"
    " PRIMARY KEY (cite, against)",
    "trails": "cite TEXT PRIMARY KEY, tip TEXT, path TEXT, blob TEXT, first INTEGER, last INTEGER",
    "files": "path TEXT PRIMARY KEY, state TEXT, id TEXT, plain TEXT",
}


class Verdicts:
    """The file, as far as it can be used. Rows are written when `save` is called."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._database: sqlite3.Connection | None = None
        self._clock = 0  # the file system's own, in ns
        self._new: dict[str, list[tuple[object, ...]]] = {name: [] for name in _TABLES}

    @contextmanager
    def open(self) -> Iterator[None]:
        """Use the file for the block, and write into it at its end what was found out."""
        import sqlite3

        with suppress(NoState, sqlite3.Error, OSError):
            self._database = self._connected()
            os.utime(self._path)
            self._clock = os.stat(self._path).st_mtime_ns
        try:
            yield
            with suppress(sqlite3.Error):
                self._save()
        finally:
            if self._database is not None:
                self._database.close()
                self._database = None

    def _connected(self) -> sqlite3.Connection:
        from mdmemory.store import connections

        known = database_file.examined(self._path, _MARK)
        if known == database_file.BROKEN:
            self._path.unlink()
        database = connections.connect(self._path, timeout=_PATIENCE, isolation_level=None)
        try:
            database_file.mark(database, _MARK)
            for pragma in ("trusted_schema = OFF", "journal_mode = WAL", "synchronous = OFF"):
                database.execute(f"PRAGMA {pragma}")
            if database.execute("PRAGMA user_version").fetchone()[0] != _LAYOUT:
                self._begin(database)
        except BaseException:
            database.close()
            raise
        return database

    def _begin(self, database: sqlite3.Connection) -> None:
        database.execute("BEGIN IMMEDIATE")
        for name, columns in _TABLES.items():
            database.execute(f"DROP TABLE IF EXISTS {name}")
            database.execute(f"CREATE TABLE {name} ({columns}) WITHOUT ROWID")
        database.execute(f"PRAGMA user_version = {_LAYOUT}")
        database.execute("COMMIT")

    def _save(self) -> None:
        if self._database is None or not any(self._new.values()):
            return
        self._database.execute("BEGIN IMMEDIATE")
        for name, rows in self._new.items():
            if rows:
                places = ", ".join("?" * len(rows[0]))
                self._database.executemany(f"INSERT OR REPLACE INTO {name} VALUES ({places})", rows)
        for name in _TABLES:
            if self._rows(f"SELECT count(*) FROM {name}")[0][0] > _MOST:
                self._database.execute(f"DELETE FROM {name}")
        self._database.execute("COMMIT")

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        import sqlite3

        if self._database is None:
            return []
        with suppress(sqlite3.Error):
            return self._database.execute(query, values).fetchall()
        return []

    # --- what is known ---------------------------------------------------------------------------

    def verdicts(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], CitationVerdict]:
        """What is known of these citations, each against the version with an id."""
        query = "SELECT cite, against, state, now, diff, why FROM verdicts"
        if len(pairs) > _FEW:
            rows = self._rows(query)
        else:
            each = f"{query} WHERE cite = ? AND against = ?"
            rows = [row for pair in pairs for row in self._rows(each, pair)]
        wanted = {*pairs}
        return {key: CitationVerdict(*row[2:]) for row in rows if (key := row[:2]) in wanted}

    def trails(self, cites: Iterable[str]) -> dict[str, tuple[str, Trail]]:
        """Where these citations were last seen to stand, and in which commit that was."""
        query, wanted = "SELECT * FROM trails", {*cites}
        if len(wanted) > _FEW:
            rows = self._rows(query)
        else:
            rows = [
                row for cite in wanted for row in self._rows(f"{query} WHERE cite = ?", (cite,))
            ]
        return {
            cite: (tip, Trail(path, blob, (first, last) if first else None))
            for cite, tip, path, blob, first, last in rows
            if cite in wanted
        }

    def files(self, count: int) -> dict[str, tuple[str, str, str]]:
        """The states of files and their ids then; `count` of them are asked for."""
        if count <= _FEW // 10:
            return {}  # reading so few is quicker
        return {row[0]: row[1:] for row in self._rows("SELECT * FROM files")}

    # --- what is new -----------------------------------------------------------------------------

    def put(self, cite: str, against: str, verdict: CitationVerdict) -> None:
        """Remember a verdict."""
        self._new["verdicts"].append((cite, against, *verdict.values))

    def put_trail(self, cite: str, tip: str, trail: Trail) -> None:
        """Remember where a citation stands in a commit."""
        first, last = trail.lines or (0, 0)
        self._new["trails"].append((cite, tip, trail.path, trail.blob, first, last))

    def put_file(self, path: str, state: str, version: Version) -> None:
        """Remember the ids of a file in a state."""
        if int(state.split(" ")[1]) < self._clock - _RACY:
            self._new["files"].append((path, state, version.id, version.plain))
