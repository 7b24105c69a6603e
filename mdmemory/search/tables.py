"""What search databases do alike, in SQL that SQLite and PostgreSQL both read: files, chunks, seals
and vectors. How words are kept and found is each one's own.

In a query `?` stands for a value.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from mdmemory.search import schema
from mdmemory.search.database import KEPT_QUERIES, Row, of_queries
from mdmemory.search.results import SOURCES

RANGE = 1 << 40  # numbers of chunks that one source has, so that a search can keep to it
_ROW = (
    "c.id, f.source, f.file, f.name, f.title, f.description, f.date, f.status, f.aliases,"
    ' f.session, f.days, f.cites, c.start, c."end", c.text FROM chunks c JOIN files f'
    " ON c.file = f.id"
)


def number_range(source: str) -> tuple[int, int]:
    """The least and the greatest number that a chunk of a source may have."""
    low = SOURCES.index(source) * RANGE + 1
    return low, low + RANGE - 2


def value_marks(values: Collection[object]) -> str:
    """A `?` for each value."""
    return ", ".join("?" * len(values))


class Tables(ABC):
    """The part of a `Database` that knows no words."""

    @property
    @abstractmethod
    def _place(self) -> str:
        """What tells this database from all others; "" for one that is not kept."""

    @abstractmethod
    def _run(self, query: str, values: Sequence[object] = ()) -> Any:
        """A cursor with what comes of a query."""

    @abstractmethod
    def _run_many(self, query: str, rows: Iterable[Sequence[object]]) -> None:
        """Run a query for each of these rows."""

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Callable[..., list[Any]]]:
        """What reads rows; what the database complains of comes in our words."""

    @abstractmethod
    def _writing(self) -> AbstractContextManager[object]:
        """While this lasts nobody else writes, and all is written or nothing."""

    @abstractmethod
    def _take_out(self, source: str, files: Sequence[str]) -> None:
        """Take files out."""

    @abstractmethod
    def _stamp(self) -> str | None:
        """The stamp of the tables, None where there are none."""

    @abstractmethod
    def _statements(self) -> Iterable[str]:
        """What makes the tables."""

    @abstractmethod
    def count(self, source: str) -> int:
        """See Database."""

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        rows: list[Any] = self._run(query, values).fetchall()
        return rows

    def _make(self, stamp: str, names: Sequence[str], *, anew: bool) -> None:
        """Make the tables where they are missing or of another stamp, in place of those that are
        named; what outlives them goes only where all is made `anew`."""
        if self._stamp() == stamp and not anew:
            return
        with self._writing():
            if self._stamp() == stamp and not anew:
                return  # another process was quicker
            # dropped, not deleted as a file: another process may have it open
            for name in (*names, *(schema.OUTLIVING if anew else ())):
                self._run(f"DROP TABLE IF EXISTS {name}")
            for statement in self._statements():
                self._run(statement)
            self._run("INSERT INTO meta VALUES ('stamp', ?)", (stamp,))

    # what is in

    def _remember_value(self, key: str, value: str) -> None:
        query = "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE"
        self._run(f"{query} SET value = excluded.value", (key, value))

    def _recall_value(self, key: str) -> str:
        with self._reading() as rows:
            rows_found = rows("SELECT value FROM meta WHERE key = ?", (key,))
        return str(rows_found[0][0]) if rows_found else ""

    def _touch_tables(self) -> None:
        """Say that the chunks or vectors are others now."""
        self._remember_value("touched", os.urandom(8).hex())

    def touched(self) -> str:
        return self._recall_value("touched")

    def seal(self, source: str) -> str:
        return self._recall_value(f"seal {source}")

    def set_seal(self, source: str, seal: str) -> None:
        with self._writing():
            self._remember_value(f"seal {source}", seal)

    def prints(self, source: str) -> dict[str, tuple[str, str]]:
        with self._reading() as rows:
            rows_found = rows("SELECT file, print, digest FROM files WHERE source = ?", (source,))
        return {file: (print, digest.hex()) for file, print, digest in rows_found}

    def reprint(self, source: str, prints: Mapping[str, str]) -> None:
        values = [(print, source, file) for file, print in prints.items()]
        with self._writing():
            self._run_many("UPDATE files SET print = ? WHERE source = ? AND file = ?", values)

    def remove(self, source: str, files: Iterable[str]) -> None:
        with self._writing():
            self._touch_tables()
            self._take_out(source, [*files])

    def _last_number(self, source: str) -> int:
        """The number of the last chunk of a source."""
        low, high = number_range(source)
        query = "SELECT coalesce(max(id), ?) FROM chunks WHERE id BETWEEN ? AND ?"
        return int(self._rows(query, (low - 1, low, high))[0][0])

    def rows(self, chunks: Collection[int]) -> dict[int, Row]:
        if not chunks:
            return {}
        with self._reading() as rows:
            rows_found = rows(f"SELECT {_ROW} WHERE c.id IN ({value_marks(chunks)})", [*chunks])
        return {number: Row(*row) for number, *row in rows_found}

    def texts(self, source: str) -> Iterable[tuple[str, str, str]]:
        query = (
            "SELECT f.file, f.description, c.text FROM chunks c JOIN files f ON c.file = f.id"
            " WHERE c.id BETWEEN ? AND ? ORDER BY c.id"
        )
        with self._reading():  # one after the other: all of them are much
            yield from self._run(query, number_range(source))

    # vectors

    def without_vector(self, source: str, model: str) -> int:
        query = "SELECT count(*) FROM vectors WHERE model = ? AND chunk BETWEEN ? AND ?"
        with self._reading() as rows:
            have = rows(query, (model, *number_range(source)))[0][0]
        return self.count(source) - int(have)

    def next_without_vector(self, source: str, model: str, limit: int) -> dict[int, Row]:
        query = (
            f"SELECT {_ROW} WHERE c.id BETWEEN ? AND ? AND NOT EXISTS"
            " (SELECT 1 FROM vectors v WHERE v.chunk = c.id AND v.model = ?) ORDER BY c.id LIMIT ?"
        )
        with self._reading() as rows:
            rows_found = rows(query, (*number_range(source), model, limit))
        return {number: Row(*row) for number, *row in rows_found}

    def known_texts(self, model: str, hashes: Collection[bytes]) -> set[bytes]:
        query = f"SELECT hash FROM embeddings WHERE model = ? AND hash IN ({value_marks(hashes)})"
        with self._reading() as rows:
            return {bytes(hash) for (hash,) in rows(query, (model, *hashes))} if hashes else set()

    def put_vectors(
        self, model: str, vectors: Mapping[bytes, bytes], chunks: Mapping[int, bytes]
    ) -> None:
        with self._writing():
            self._touch_tables()
            self._put_embeddings(model, vectors)
            self._run_many(
                "INSERT INTO vectors SELECT id, ?, ? FROM chunks WHERE id = ?"
                " ON CONFLICT (chunk, model) DO UPDATE SET hash = excluded.hash",
                [(model, hash, chunk) for chunk, hash in chunks.items()],
            )

    def _put_embeddings(self, model: str, vectors: Mapping[bytes, bytes]) -> None:
        self._run_many(
            "INSERT INTO embeddings VALUES (?, ?, ?)"
            " ON CONFLICT (hash, model) DO UPDATE SET vector = excluded.vector",
            [(hash, model, vector) for hash, vector in vectors.items()],
        )

    def forget_vectors(self, model: str) -> None:
        with self._writing():
            self._run("DELETE FROM vectors WHERE model <> ?", (model,))
            query = (
                "DELETE FROM embeddings WHERE model <> ?"
                " AND (model <> ? OR hash NOT IN (SELECT hash FROM vectors))"
            )
            self._run(query, (of_queries(model), model))

    def query_vector(self, model: str, hash: bytes) -> bytes | None:
        query = "SELECT vector FROM embeddings WHERE hash = ? AND model = ?"
        with self._reading() as rows:
            rows_found = rows(query, (hash, of_queries(model)))
        return bytes(rows_found[0][0]) if rows_found else None

    def keep_query(self, model: str, hash: bytes, vector: bytes) -> None:
        model_kept = of_queries(model)
        query = "SELECT count(*) FROM embeddings WHERE model = ?"
        with self._writing():
            if self._rows(query, (model_kept,))[0][0] >= KEPT_QUERIES:
                self._run("DELETE FROM embeddings WHERE model = ?", (model_kept,))
            self._put_embeddings(model_kept, {hash: vector})

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
            for chunk, blob in self._run(query, (model, *number_range(source), len(vector))):
                chunks.append(chunk)
                data += blob
            return vectors.make_space(chunks, data, len(vector) // vectors.WIDTH)

        with self._reading() as rows:
            state = rows("SELECT value FROM meta WHERE key = 'touched'")
            if not self._place or not state:
                return read().nearest(vector, limit, also)
            of = (state[0][0], model, len(vector))
            space = vectors.read_kept(f"{self._place} {source}", of, read)
        return space.nearest(vector, limit, also)
