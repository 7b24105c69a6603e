"""The search database in SQLite: `.mdmemory/search.db`, or one in memory.

Writers take the lock before they read (BEGIN IMMEDIATE); readers never wait (WAL).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mdmemory.errors import Busy, MdmemoryError, Unwritable
from mdmemory.search import schema
from mdmemory.search.database import BrokenError, Document, LockedError, Row, UnusableError
from mdmemory.search.found import SOURCES
from mdmemory.search.query import Term

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")

PATIENCE = 5.0  # seconds to wait for another process that writes; it takes milliseconds
CACHE = 8_000  # KiB of pages
_RANGE = 1 << 40  # numbers of chunks that one source has, so that a search can keep to it
_ROW = "f.source, f.file, f.name, f.title, f.description, f.date, f.status, c.start, c.end, c.text"


def use(
    path: Path | None, stamp: str, job: Callable[[SQLite], T], *, must: bool = False,
    anew: bool = False,
) -> tuple[T, list[str]]:  # fmt: skip
    """What `job` gives, done with the database at `path`, and what there is to say about that.

    A database that is broken is moved aside and made anew; where there can be none (or `path` is
    None), the job is done with one in memory, which it fills first. A job may so be done twice.
    With `must` only the file will do: raises Busy or Unwritable. `anew` empties it first.
    """
    said: list[str] = []
    for _ in range(2 if path else 0):
        assert path is not None
        try:
            with closing(SQLite(path, stamp, anew=anew)) as database:
                return job(database), said
        except BrokenError:
            aside = _move_aside(path)
            said.append(f"{path.name} was broken: it is made anew, and the old one is {aside}.")
        except UnusableError as problem:
            if must:
                raise _refusal(path, problem) from problem
            said.append(f"{path} {problem}: everything is read anew for this search.")
            break
    with closing(SQLite(None, stamp)) as database:
        return job(database), said


def _refusal(path: Path, problem: UnusableError) -> MdmemoryError:
    if isinstance(problem, LockedError):
        return Busy(f"{path} {problem}.", "Try again in a moment.")
    return Unwritable(f"{path} {problem}.", "Check the file and its folder.")


def _move_aside(path: Path) -> str:
    aside = path.with_name(f"{path.name}.aside")  # one is enough: there is nothing to save in it
    with suppress(OSError):
        os.replace(path, aside)
    for suffix in ("-wal", "-shm"):
        with suppress(OSError):
            os.unlink(f"{path}{suffix}")
    return aside.name


class SQLite:
    """A `Database`. Opening it makes the tables where they are missing or of another stamp."""

    def __init__(self, path: Path | None, stamp: str, *, anew: bool = False) -> None:
        import sqlite3  # 6 ms, and only a search needs it here

        if path is not None and path.is_symlink():
            raise UnusableError("is a symbolic link, and links are not followed")
        self._path = path
        with _told():
            self._database = sqlite3.connect(
                str(path or ":memory:"), timeout=PATIENCE, isolation_level=None
            )
        self._counted: dict[str, tuple[tuple[int, ...], int]] = {}  # by source: of which state
        try:
            with _told(self._checked):
                self._open(stamp, anew)
        except BaseException:
            self._database.close()
            raise

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def _open(self, stamp: str, anew: bool) -> None:
        run = self._database.execute
        # the file may have come with somebody else's repository
        for pragma in ("trusted_schema = OFF", "secure_delete = ON", "journal_mode = WAL",
                       "synchronous = NORMAL", f"cache_size = -{CACHE}",
                       "foreign_keys = ON"):  # fmt: skip
            run(f"PRAGMA {pragma}")
        if self._stamp() == stamp and not anew:
            return
        with self._writing():
            if self._stamp() == stamp and not anew:
                return  # another process was quicker
            # dropped, not deleted as a file: another process may have it open
            for name in (*schema.NAMES, *(schema.OUTLIVING if anew else ())):
                run(f"DROP TABLE IF EXISTS {name}")
            for statement in schema.statements():
                run(statement)
            run("INSERT INTO meta VALUES ('stamp', ?)", (stamp,))

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

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        return self._database.execute(query, values).fetchall()

    @contextmanager
    def _reading(self) -> Iterator[Callable[..., list[Any]]]:
        with _told(self._checked):
            yield self._rows

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with _told(self._checked):
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
            except BaseException:
                with suppress(Exception):
                    self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")

    # what is in

    @property
    def lasting(self) -> bool:
        return self._path is not None

    def seal(self, source: str) -> str:
        with self._reading() as rows:
            found = rows("SELECT value FROM meta WHERE key = ?", (f"seal {source}",))
        return found[0][0] if found else ""

    def set_seal(self, source: str, seal: str) -> None:
        with self._writing() as database:
            database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"seal {source}", seal))

    def prints(self, source: str) -> dict[str, tuple[str, str]]:
        with self._reading() as rows:
            found = rows("SELECT file, print, digest FROM files WHERE source = ?", (source,))
        return {file: (print, digest.hex()) for file, print, digest in found}

    def count(self, source: str) -> int:
        with self._reading() as rows:
            # counting takes 14 ms for 100,000, and each query asks for it
            state = (rows("PRAGMA data_version")[0][0], self._database.total_changes)
            if self._counted.get(source, ((), 0))[0] != state:
                query = "SELECT count(*) FROM chunks WHERE id BETWEEN ? AND ?"
                self._counted[source] = (state, int(rows(query, _range(source))[0][0]))
        return self._counted[source][1]

    # putting in and taking out

    def put(self, documents: Sequence[Document]) -> None:
        with self._writing() as database:
            self._touch()
            for document in documents:
                self._take_out(document.source, document.file)
                row = _file_row(document)
                query = f"INSERT INTO files VALUES (NULL{', ?' * len(row)})"
                self._add_chunks(database.execute(query, row).lastrowid, document)

    def _add_chunks(self, file: int | None, document: Document) -> None:
        low, high = _range(document.source)
        query = "SELECT coalesce(max(id) + 1, ?) FROM chunks WHERE id BETWEEN ? AND ?"
        first = self._rows(query, (low, low, high))[0][0]
        for number, chunk in enumerate(document.chunks, first):
            self._database.execute(
                "INSERT INTO chunks VALUES (?, ?, ?, ?, ?)",
                (number, file, chunk.start, chunk.end, chunk.text),
            )
            row = Row(document.source, document.file, document.name, document.title,
                      document.description, document.date, document.status, chunk.start,
                      chunk.end, chunk.text)  # fmt: skip
            self._database.execute(
                "INSERT INTO words (rowid, name, description, body, links, dates)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (number, *schema.fields(row)),
            )

    def _take_out(self, source: str, file: str) -> None:
        found = self._rows("SELECT id FROM files WHERE source = ? AND file = ?", (source, file))
        if not found:
            return
        query = f"SELECT c.id, {_ROW} FROM chunks c JOIN files f ON c.file = f.id WHERE f.id = ?"
        for number, *row in self._rows(query, found[0]):
            self._database.execute(
                "INSERT INTO words (words, rowid, name, description, body, links, dates)"
                " VALUES ('delete', ?, ?, ?, ?, ?, ?)",
                (number, *schema.fields(Row(*row))),
            )
        self._database.execute("DELETE FROM files WHERE id = ?", found[0])

    def reprint(self, source: str, prints: Mapping[str, str]) -> None:
        with self._writing() as database:
            database.executemany(
                "UPDATE files SET print = ? WHERE source = ? AND file = ?",
                [(print, source, file) for file, print in prints.items()],
            )

    def remove(self, source: str, files: Iterable[str]) -> None:
        with self._writing():
            self._touch()
            for file in files:
                self._take_out(source, file)

    def tidy(self) -> None:
        with self._writing() as database:
            database.execute("INSERT INTO words (words) VALUES ('optimize')")
        with _told(self._checked):
            self._database.execute("VACUUM")  # a third of the file is free pages by then

    # finding

    def holding(
        self, term: Term, source: str, limit: int, among: Collection[int] | None = None
    ) -> set[int]:
        where, values = "rowid BETWEEN ? AND ?", _range(source)
        if among is not None:
            where, values = f"rowid IN ({', '.join('?' * len(among))})", (*among,)
        query = f"SELECT rowid FROM words WHERE words MATCH ? AND {where} LIMIT ?"
        with self._reading() as rows:
            return {number for (number,) in rows(query, (_said(term), *values, limit))}

    def best(
        self, terms: Sequence[Term], phrases: Sequence[Term], source: str, limit: int
    ) -> dict[int, float]:
        match = " OR ".join(map(_said, (*terms, *phrases)))
        for phrase in phrases:
            match = f"({match}) AND {_said(phrase)}"
        query = (
            "SELECT rowid, -rank FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
            " ORDER BY rank, rowid LIMIT ?"
        )
        with self._reading() as rows:
            return dict(rows(query, (match, *_range(source), limit)))

    def similar(self, word: str) -> tuple[str, ...]:
        from mdmemory.search.spelling import nearest

        query = "SELECT term FROM vocabulary WHERE term >= ? AND term < ?"
        with self._reading() as rows:
            word = self._stem(word)
            # hardly anybody misspells the first letter, and it spares reading all the others
            known = [term for (term,) in rows(query, (word[0], chr(ord(word[0]) + 1)))]
        return nearest(word, known)

    def _stem(self, word: str) -> str:
        """A word as the full-text table would keep it: asked of one that holds nothing else."""
        run = self._database.execute
        run(schema.STEMMING)
        run("CREATE VIRTUAL TABLE IF NOT EXISTS temp.stems USING fts5vocab (temp, stemming, row)")
        run("INSERT INTO temp.stemming (stemming) VALUES ('delete-all')")
        run("INSERT INTO temp.stemming (word) VALUES (?)", (word,))
        found = self._rows("SELECT term FROM temp.stems")
        return str(found[0][0]) if found else word

    def rows(self, chunks: Collection[int]) -> dict[int, Row]:
        marks = ", ".join("?" * len(chunks))
        query = f"SELECT c.id, {_ROW} FROM chunks c JOIN files f ON c.file = f.id WHERE c.id IN"
        with self._reading() as rows:
            found = rows(f"{query} ({marks})", [*chunks])
        return {number: Row(*row) for number, *row in found}

    # vectors

    def without_vector(self, source: str, model: str) -> int:
        query = "SELECT count(*) FROM vectors WHERE model = ? AND chunk BETWEEN ? AND ?"
        with self._reading() as rows:
            have = rows(query, (model, *_range(source)))[0][0]
        return self.count(source) - int(have)

    def next_without_vector(self, source: str, model: str, limit: int) -> dict[int, Row]:
        query = (
            f"SELECT c.id, {_ROW} FROM chunks c JOIN files f ON c.file = f.id"
            " WHERE c.id BETWEEN ? AND ? AND NOT EXISTS"
            " (SELECT 1 FROM vectors v WHERE v.chunk = c.id AND v.model = ?) ORDER BY c.id LIMIT ?"
        )
        with self._reading() as rows:
            found = rows(query, (*_range(source), model, limit))
        return {number: Row(*row) for number, *row in found}

    def known_texts(self, model: str, hashes: Collection[bytes]) -> set[bytes]:
        query = "SELECT 1 FROM embeddings WHERE hash = ? AND model = ?"
        with self._reading() as rows:
            return {hash for hash in hashes if rows(query, (hash, model))}

    def put_vectors(
        self, model: str, vectors: Mapping[bytes, bytes], chunks: Mapping[int, bytes]
    ) -> None:
        with self._writing() as database:
            self._touch()
            database.executemany(
                "INSERT OR REPLACE INTO embeddings VALUES (?, ?, ?)",
                [(hash, model, vector) for hash, vector in vectors.items()],
            )
            database.executemany(
                "INSERT OR REPLACE INTO vectors SELECT id, ?, ? FROM chunks WHERE id = ?",
                [(model, hash, chunk) for chunk, hash in chunks.items()],
            )

    def forget_vectors(self, model: str) -> None:
        with self._writing() as database:
            database.execute("DELETE FROM vectors WHERE model <> ?", (model,))
            query = "DELETE FROM embeddings WHERE model <> ? OR hash NOT IN"
            database.execute(f"{query} (SELECT hash FROM vectors)", (model,))

    def nearest(
        self, source: str, model: str, vector: bytes, limit: int, also: Collection[int] = ()
    ) -> tuple[dict[int, float], float]:
        from mdmemory.search import vectors  # numpy

        def read() -> vectors.Space:
            query = (
                "SELECT v.chunk, e.vector FROM vectors v JOIN embeddings e"
                " ON e.hash = v.hash AND e.model = v.model WHERE v.model = ?"
                " AND v.chunk BETWEEN ? AND ? AND length(e.vector) = ? ORDER BY v.chunk"
            )
            chunks, data = [], bytearray()
            values = (model, *_range(source), len(vector))
            for chunk, blob in self._database.execute(query, values):
                chunks.append(chunk)
                data += blob
            return vectors.space(chunks, data, len(vector) // vectors.WIDTH)

        with self._reading() as rows:
            state = rows("SELECT value FROM meta WHERE key = 'touched'")
            if self._path is None or not state:
                return read().nearest(vector, limit, also)
            place = f"{self._path} {source}"
            space = vectors.kept(place, (state[0][0], model, len(vector)), read)
        return space.nearest(vector, limit, also)

    def _touch(self) -> None:
        """Say that the chunks or vectors are others now."""
        query = "INSERT OR REPLACE INTO meta VALUES ('touched', ?)"
        self._database.execute(query, (os.urandom(8).hex(),))


def _range(source: str) -> tuple[int, ...]:
    low = SOURCES.index(source) * _RANGE + 1
    return low, low + _RANGE - 2


def _file_row(document: Document) -> tuple[object, ...]:
    return (
        document.source, document.file, document.print, bytes.fromhex(document.digest),
        document.name, document.title, document.description, document.date, document.status,
    )  # fmt: skip


def _said(term: Term) -> str:
    """A term in the words of the full-text table: in quotes, so that nothing in it is syntax."""
    ways = [f'"{" ".join(way)}"' for way in term.ways]
    if term.prefix:
        ways[-1] += " *"
    return f"({' OR '.join(ways)})"


@contextmanager
def _told(checked: Callable[[], bool] | None = None) -> Iterator[None]:
    """What SQLite complains of, as one of our three."""
    import sqlite3

    try:
        yield
    except sqlite3.OperationalError as problem:
        said = str(problem)
        if "locked" in said or "busy" in said:
            raise LockedError("is being written by another process") from problem
        if "no such" in said or "vtable" in said or not (checked is None or checked()):
            raise BrokenError(said) from problem
        raise UnusableError(f"cannot be used ({said})") from problem
    except sqlite3.DatabaseError as problem:
        raise BrokenError(str(problem)) from problem
