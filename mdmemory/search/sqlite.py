"""The search database in SQLite: `.mdmemory/search.db`, or one in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar

from mdmemory.errors import Busy, MdmemoryError, Unwritable
from mdmemory.search import schema
from mdmemory.search.database import (
    KEPT_QUERIES,
    BrokenError,
    Document,
    LockedError,
    Row,
    UnusableError,
    of_queries,
)
from mdmemory.search.query import Term
from mdmemory.search.sqlite_file import ROW, SQLiteFile, numbers, told

T = TypeVar("T")


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


class Vectors(SQLiteFile):
    """What a `Database` does with vectors."""

    def without_vector(self, source: str, model: str) -> int:
        query = "SELECT count(*) FROM vectors WHERE model = ? AND chunk BETWEEN ? AND ?"
        with self._reading() as rows:
            have = rows(query, (model, *numbers(source)))[0][0]
        return self.count(source) - int(have)

    def next_without_vector(self, source: str, model: str, limit: int) -> dict[int, Row]:
        query = (
            f"SELECT c.id, {ROW} FROM chunks c JOIN files f ON c.file = f.id"
            " WHERE c.id BETWEEN ? AND ? AND NOT EXISTS"
            " (SELECT 1 FROM vectors v WHERE v.chunk = c.id AND v.model = ?) ORDER BY c.id LIMIT ?"
        )
        with self._reading() as rows:
            found = rows(query, (*numbers(source), model, limit))
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
            query = (
                "DELETE FROM embeddings WHERE model <> ?"
                " AND (model <> ? OR hash NOT IN (SELECT hash FROM vectors))"
            )
            database.execute(query, (of_queries(model), model))

    def query_vector(self, model: str, hash: bytes) -> bytes | None:
        query = "SELECT vector FROM embeddings WHERE hash = ? AND model = ?"
        with self._reading() as rows:
            found = rows(query, (hash, of_queries(model)))
        return bytes(found[0][0]) if found else None

    def keep_query(self, model: str, hash: bytes, vector: bytes) -> None:
        kept = of_queries(model)
        query = "SELECT count(*) FROM embeddings WHERE model = ?"
        with self._writing() as database:
            if self._rows(query, (kept,))[0][0] >= KEPT_QUERIES:
                database.execute("DELETE FROM embeddings WHERE model = ?", (kept,))
            values = (hash, kept, vector)
            database.execute("INSERT OR REPLACE INTO embeddings VALUES (?, ?, ?)", values)

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
            values = (model, *numbers(source), len(vector))
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


class SQLite(Vectors):
    """A `Database`."""

    def seal(self, source: str) -> str:
        with self._reading() as rows:
            found = rows("SELECT value FROM meta WHERE key = ?", (f"seal {source}",))
        return found[0][0] if found else ""

    def set_seal(self, source: str, seal: str) -> None:
        with self._writing() as database:
            database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"seal {source}", seal))

    def touched(self) -> str:
        with self._reading() as rows:
            found = rows("SELECT value FROM meta WHERE key = 'touched'")
        return found[0][0] if found else ""

    def prints(self, source: str) -> dict[str, tuple[str, str]]:
        with self._reading() as rows:
            found = rows("SELECT file, print, digest FROM files WHERE source = ?", (source,))
        return {file: (print, digest.hex()) for file, print, digest in found}

    def put(self, documents: Sequence[Document]) -> None:
        with self._writing() as database:
            self._touch()
            for document in documents:
                self._take_out(document.source, document.file)
                row = (*document[:3], bytes.fromhex(document.digest), *document.about)
                query = f"INSERT INTO files VALUES (NULL{', ?' * len(row)})"
                self._add_chunks(database.execute(query, row).lastrowid, document)

    def _add_chunks(self, file: int | None, document: Document) -> None:
        low, high = numbers(document.source)
        query = "SELECT coalesce(max(id) + 1, ?) FROM chunks WHERE id BETWEEN ? AND ?"
        first = self._rows(query, (low, low, high))[0][0]
        for number, chunk in enumerate(document.chunks, first):
            self._database.execute(
                "INSERT INTO chunks VALUES (?, ?, ?, ?, ?)", (number, file, *chunk)
            )
            row = Row(*document[:2], *document.about, chunk.start, chunk.end, chunk.text)
            self._database.execute(
                "INSERT INTO words (rowid, name, description, body, links, dates)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (number, *schema.fields(row)),
            )

    def _take_out(self, source: str, file: str) -> None:
        found = self._rows("SELECT id FROM files WHERE source = ? AND file = ?", (source, file))
        if not found:
            return
        query = f"SELECT c.id, {ROW} FROM chunks c JOIN files f ON c.file = f.id WHERE f.id = ?"
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
        with told(self._checked):
            self._database.execute("VACUUM")  # a third of the file is free pages by then

    # finding

    def held(self, term: Term, source: str) -> int:
        query = "SELECT count(*) FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
        with self._reading() as rows:
            return int(rows(query, (_said(term), *numbers(source)))[0][0])

    def holding(self, term: Term, source: str, limit: int) -> set[int]:
        query = "SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?"
        with self._reading() as rows:
            return {number for (number,) in rows(query, (_said(term), *numbers(source), limit))}

    def having(self, term: Term, among: Collection[int], *, head: bool = False) -> set[int]:
        marks = ", ".join("?" * len(among))
        # the plus sign has all chunks with the term read once, and not the table asked for each
        query = f"SELECT rowid FROM words WHERE words MATCH ? AND +rowid IN ({marks})"
        where = "{name description}" if head else "- links"
        with self._reading() as rows:
            return {number for (number,) in rows(query, (f"{where} : {_said(term)}", *among))}

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
            return dict(rows(query, (match, *numbers(source), limit)))

    def similar(self, word: str) -> tuple[str, ...]:
        from mdmemory.text.similarity import nearest

        query = "SELECT term FROM vocabulary WHERE term >= ? AND term < ?"
        with self._reading() as rows:
            # hardly anybody misspells the first letter, and it spares reading all the others
            known = [term for (term,) in rows(query, (word[0], chr(ord(word[0]) + 1)))]
        return nearest(word, known)

    def rows(self, chunks: Collection[int]) -> dict[int, Row]:
        marks = ", ".join("?" * len(chunks))
        query = f"SELECT c.id, {ROW} FROM chunks c JOIN files f ON c.file = f.id WHERE c.id IN"
        with self._reading() as rows:
            found = rows(f"{query} ({marks})", [*chunks])
        return {number: Row(*row) for number, *row in found}

    def texts(self, source: str) -> Iterable[tuple[str, str, str]]:
        query = (
            "SELECT f.file, f.description, c.text FROM chunks c JOIN files f ON c.file = f.id"
            " WHERE c.id BETWEEN ? AND ? ORDER BY c.id"
        )
        with told(self._checked):  # one after the other: all of them are much
            yield from self._database.execute(query, numbers(source))


def _said(term: Term) -> str:
    """A term in the words of the full-text table: in quotes, so that nothing in it is syntax."""
    ways = [f'"{" ".join(way)}"' for way in term.ways]
    if term.prefix:
        ways[-1] += " *"
    return f"({' OR '.join(ways)})"
