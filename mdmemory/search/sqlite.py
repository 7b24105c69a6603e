"""The search database in SQLite: `.mdmemory/search.db`, or one in memory.

Writers take the lock before they read (BEGIN IMMEDIATE); readers never wait (WAL).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from mdmemory.errors import Busy, NoState, Unwritable
from mdmemory.search import database as databases
from mdmemory.search.database import BrokenError, Database, LockedError, Row, UnusableError
from mdmemory.search.query import Term
from mdmemory.store import database_file

T = TypeVar("T")

MARK = int.from_bytes(b"mdmF", "big")  # our application_id
PATIENCE = 5.0  # seconds to wait for another process that writes; it takes milliseconds
CACHE = 8_000  # KiB of pages
_BROKEN = (0, 1, 11, 26)  # codes: no UTF-8, other tables than ours, a bad page, no database
# `vectors` was one in earlier versions
NAMES = ("vocabulary", "words", "vectors", "chunks", "files", "meta")
# `words` keeps no text of its own: a row is taken out by giving it the very words that went in,
# which `row_fields` makes again from the other two tables. These go in as stems: the table only has
# to find the spaces between them.
_TABLES = (
    f"CREATE VIRTUAL TABLE words USING fts5 ({', '.join(databases.WEIGHTS)}, content = '',"
    " tokenize = 'unicode61 remove_diacritics 0')",
    "INSERT INTO words (words, rank) VALUES"
    f" ('rank', 'bm25({', '.join(map(str, databases.WEIGHTS.values()))})')",
    "CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row)",
)


def use_file(
    path: Path | None, stamp: str, job: Callable[[SQLite], T], *, must: bool = False,
    anew: bool = False,
) -> tuple[T, list[str]]:  # fmt: skip
    """What `job` gives, done with the database at `path`, and what there is to say about that.

    A database that is broken is moved aside and made anew; where there can be none (or `path` is
    None), the job is done with one in memory, which it fills first. A job may so be done twice.
    With `must` only the file will do: raises Busy or Unwritable. `anew` empties it first.
    """
    sentences: list[str] = []
    for _ in range(2 if path else 0):
        assert path is not None
        try:
            with closing(SQLite(path, stamp, anew=anew)) as database:
                return job(database), sentences
        except BrokenError:
            aside = _move_aside(path)
            sentences.append(
                f"{path.name} was broken: it is made anew, and the old one is {aside}."
            )
        except UnusableError as problem:
            if must and isinstance(problem, LockedError):
                raise Busy(f"{path} {problem}.", "Try again in a moment.") from problem
            if must:
                sentence = f"{path} {problem}."
                raise Unwritable(sentence, "Check the file and its folder.") from problem
            sentences.append(f"{path} {problem}: everything is read anew for this search.")
            break
    with closing(SQLite(None, stamp)) as database:
        return job(database), sentences


def _move_aside(path: Path) -> str:
    aside = path.with_name(f"{path.name}.aside")  # one is enough: there is nothing to save in it
    with suppress(OSError):
        os.replace(path, aside)
    for suffix in ("-wal", "-shm"):
        with suppress(OSError):
            os.unlink(f"{path}{suffix}")
    return aside.name


class SQLite(Database):
    """A `Database`. Opening it makes our tables where they are missing or of another stamp."""

    def __init__(self, path: Path | None, stamp: str, *, anew: bool = False) -> None:
        # nothing is changed in a file that is not ours: the notes may have come with a stranger's
        try:
            if path is not None and database_file.is_broken(path, MARK):
                raise BrokenError("is no database")
        except NoState as problem:
            raise UnusableError(problem.what) from problem
        self.lasting, self._place = path is not None, str(path or "")
        self._counted: dict[str, tuple[tuple[int, ...], int]] = {}  # by source: of which state
        with translate_errors():
            self._database = database_file.open_connection(
                path, timeout=PATIENCE, isolation_level=None
            )
        try:
            self._open(stamp, anew)
        except BaseException:
            self._database.close()
            raise

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def _open(self, stamp: str, anew: bool) -> None:
        """Open it, again where it is locked: SQLite does not wait to change a file's journal."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                with self._translated():
                    database_file.put_mark(self._database, MARK)
                    # the file may have come with somebody else's repository
                    for pragma in ("trusted_schema = OFF", "secure_delete = ON",
                                   "journal_mode = WAL", "synchronous = NORMAL",
                                   f"cache_size = -{CACHE}", "foreign_keys = ON"):  # fmt: skip
                        self._run(f"PRAGMA {pragma}")
                    return self._make(stamp, NAMES, anew=anew)
            except LockedError:
                if time.monotonic() >= end:
                    raise
            time.sleep(0.02)

    def _statements(self) -> Iterable[str]:
        words = {"number": "INTEGER", "bytes": "BLOB", "keyed": " WITHOUT ROWID"}
        return [*databases.shared_tables(**words), *_TABLES]

    def _stamp(self) -> str | None:
        if not self._rows("SELECT 1 FROM sqlite_master WHERE name = 'meta' AND type = 'table'"):
            return None
        rows = self._rows("SELECT value FROM meta WHERE key = 'stamp'")
        return rows[0][0] if rows else None

    def _run(self, query: str, values: Sequence[object] = ()) -> Any:
        return self._database.execute(query, values)

    def _run_many(self, query: str, rows: Iterable[Sequence[object]]) -> None:
        self._database.executemany(query, rows)

    def _translated(self) -> AbstractContextManager[object]:
        return translate_errors()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._translated(), database_file.write_transaction(self._database):
            yield

    def count(self, source: str) -> int:
        # each query asks for it, and the chunks lie in many pages with their texts: the full-text
        # table has a short row for each, in few
        state = (self._rows("PRAGMA data_version")[0][0], self._database.total_changes)
        if self._counted.get(source, ((), 0))[0] != state:
            query = "SELECT count(*) FROM words_docsize WHERE id BETWEEN ? AND ?"
            self._counted[source] = (state, int(self._rows(query, self._range(source))[0][0]))
        return self._counted[source][1]

    def _index_words(
        self, source: str, chunks: Mapping[int, Row], *, is_removal: bool = False
    ) -> None:
        command, value = ("words, ", "'delete', ") if is_removal else ("", "")
        self._run_many(
            f"INSERT INTO words ({command}rowid, {', '.join(databases.WEIGHTS)})"
            f" VALUES ({value}?, ?, ?, ?, ?, ?)",
            ((number, *databases.row_fields(row)) for number, row in chunks.items()),
        )

    def tidy(self) -> None:
        with self._writing():
            self._run("INSERT INTO words (words) VALUES ('optimize')")
        self._rows("VACUUM")  # a third of the file is free pages by then

    # finding

    def held(self, term: Term, source: str) -> int:
        query = "SELECT count(*) FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
        return int(self._rows(query, (_quote_term(term), *self._range(source)))[0][0])

    def holding(self, term: Term, source: str, limit: int) -> set[int]:
        query = "SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?"
        rows = self._rows(query, (_quote_term(term), *self._range(source), limit))
        return {number for (number,) in rows}

    def having(self, term: Term, among: Collection[int]) -> set[int]:
        # the plus sign has all chunks with the term read once, and not the table asked for each
        query = f"SELECT rowid FROM words WHERE words MATCH ? AND +rowid IN ({self._marks(among)})"
        rows = self._rows(query, (f"- links : {_quote_term(term)}", *among))
        return {number for (number,) in rows}

    def best(
        self, terms: Sequence[Term], phrases: Sequence[Term], source: str, limit: int
    ) -> dict[int, float]:
        match = " OR ".join(map(_quote_term, (*terms, *phrases)))
        for phrase in phrases:
            match = f"({match}) AND {_quote_term(phrase)}"
        query = (
            "SELECT rowid, -rank FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
            " ORDER BY rank, rowid LIMIT ?"
        )
        return dict(self._rows(query, (match, *self._range(source), limit)))

    def similar(self, word: str) -> tuple[str, ...]:
        from mdmemory.text.similarity import nearest_known

        query = "SELECT term FROM vocabulary WHERE term >= ? AND term < ?"
        # hardly anybody misspells the first letter, and it spares reading all the others
        known = self._rows(query, (word[0], chr(ord(word[0]) + 1)))
        return nearest_known(word, [term for (term,) in known])


def _quote_term(term: Term) -> str:
    """A term in the words of the full-text table: in quotes, so that nothing in it is syntax."""
    ways = [f'"{" ".join(way)}"' for way in term.ways]
    if term.prefix:
        ways[-1] += " *"
    return f"({' OR '.join(ways)})"


@contextmanager
def translate_errors() -> Iterator[None]:
    """What SQLite complains of, as one of our three."""
    import sqlite3

    try:
        yield
    except sqlite3.DatabaseError as problem:
        message, code = str(problem), getattr(problem, "sqlite_errorcode", 0) & 0xFF
        if not isinstance(problem, sqlite3.OperationalError) or code in _BROKEN:
            raise BrokenError(message) from problem
        if "locked" in message or "busy" in message:
            raise LockedError("is being written by another process") from problem
        if "readonly" in message or "unable to open" in message:
            raise UnusableError("cannot be written") from problem
        raise UnusableError(f"cannot be used ({message})") from problem
