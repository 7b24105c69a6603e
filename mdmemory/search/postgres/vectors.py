"""Vectors in PostgreSQL: by pgvector where the server has it, else kept there and compared here.

Each question looks at all of them, so that what is nearest is found for certain.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from mdmemory.search.database import KEPT_QUERIES, Row, of_queries
from mdmemory.search.postgres.finding import ROW
from mdmemory.search.postgres.server import Connected

_WIDTH = 4  # bytes of a number
_OF_SOURCE = (
    "vectors v JOIN chunks c ON c.id = v.chunk"
    " JOIN embeddings e ON e.hash = v.hash AND e.model = v.model"
    " WHERE v.model = %(model)s AND c.source = %(source)s"
)


class PostgresVectors(Connected):
    """The part of a Database that knows of vectors."""

    def _vector_type(self) -> str:
        """The type for vectors on this server: pgvector's, which is set up where that may be."""
        import psycopg

        if not self._extension():
            try:
                with self._database.transaction():
                    self._run("CREATE EXTENSION vector SCHEMA public")
            except psycopg.Error:
                return "bytea"
        return f"{self._extension()}.vector"

    def _extension(self) -> str:
        """The schema that holds pgvector, or ""."""
        query = "SELECT quote_ident(n.nspname) FROM pg_extension e"
        query += " JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
        found = self._rows(query)
        return str(found[0][0]) if found else ""

    def _place(self) -> str:
        """The schema of pgvector if the vectors here are kept as its type, or ""."""
        query = (
            "SELECT quote_ident(n.nspname) FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid"
            " JOIN pg_namespace n ON n.oid = t.typnamespace WHERE a.attname = 'vector'"
            " AND a.attrelid = to_regclass('embeddings') AND t.typname = 'vector'"
        )
        found = self._rows(query)
        return str(found[0][0]) if found else ""

    def without_vector(self, source: str, model: str) -> int:
        query = (
            "SELECT count(*) FROM chunks c WHERE c.source = %s AND NOT EXISTS"
            " (SELECT FROM vectors v WHERE v.chunk = c.id AND v.model = %s)"
        )
        with self._reading() as rows:
            return int(rows(query, (source, model))[0][0])

    def next_without_vector(self, source: str, model: str, limit: int) -> dict[int, Row]:
        query = (
            f"SELECT c.id, {ROW} FROM chunks c JOIN files f ON c.file = f.id WHERE c.source = %s"
            " AND NOT EXISTS (SELECT FROM vectors v WHERE v.chunk = c.id AND v.model = %s)"
            " ORDER BY c.id LIMIT %s"
        )
        with self._reading() as rows:
            return {number: Row(*row) for number, *row in rows(query, (source, model, limit))}

    def known_texts(self, model: str, hashes: Collection[bytes]) -> set[bytes]:
        query = "SELECT hash FROM embeddings WHERE model = %s AND hash = ANY(%s)"
        with self._reading() as rows:
            return {bytes(hash) for (hash,) in rows(query, (model, [*hashes]))}

    def put_vectors(
        self, model: str, vectors: Mapping[bytes, bytes], chunks: Mapping[int, bytes]
    ) -> None:
        with self._writing():
            self._touch()
            place = self._place()
            kept = [_written(each) if place else each for each in vectors.values()]
            kind = f"{place}.vector" if place else "bytea"
            self._run(
                "INSERT INTO embeddings SELECT n.hash, %s, n.vector"
                f" FROM unnest(%s::bytea[], %s::{'text' if place else 'bytea'}[]::{kind}[])"
                " AS n (hash, vector)"
                " ON CONFLICT (hash, model) DO UPDATE SET vector = excluded.vector",
                (model, [*vectors], kept),
            )
            self._run(
                "INSERT INTO vectors SELECT c.id, %s, n.hash FROM unnest(%s::bigint[], %s::bytea[])"
                " AS n (chunk, hash) JOIN chunks c ON c.id = n.chunk"
                " ON CONFLICT (chunk, model) DO UPDATE SET hash = excluded.hash",
                (model, [*chunks], [*chunks.values()]),
            )

    def forget_vectors(self, model: str) -> None:
        with self._writing():
            self._touch()
            self._run("DELETE FROM vectors WHERE model <> %s", (model,))
            self._run(
                "DELETE FROM embeddings e WHERE e.model <> %s AND (e.model <> %s OR NOT EXISTS"
                " (SELECT FROM vectors v WHERE v.hash = e.hash AND v.model = e.model))",
                (of_queries(model), model),
            )

    def query_vector(self, model: str, hash: bytes) -> bytes | None:
        with self._reading() as rows:
            kept = "vector::text" if (is_typed := bool(self._place())) else "vector"
            query = f"SELECT {kept} FROM embeddings WHERE hash = %s AND model = %s"
            found = rows(query, (hash, of_queries(model)))
        if not found:
            return None
        return array("f", json.loads(found[0][0])).tobytes() if is_typed else bytes(found[0][0])

    def keep_query(self, model: str, hash: bytes, vector: bytes) -> None:
        kept = of_queries(model)
        with self._writing():
            query = "SELECT count(*) FROM embeddings WHERE model = %s"
            if self._rows(query, (kept,))[0][0] >= KEPT_QUERIES:
                self._run("DELETE FROM embeddings WHERE model = %s", (kept,))
            place = self._place()
            value = f"%s::text::{place}.vector" if place else "%s"
            self._run(
                f"INSERT INTO embeddings (hash, model, vector) VALUES (%s, %s, {value})"
                " ON CONFLICT (hash, model) DO NOTHING",
                (hash, kept, _written(vector) if place else vector),
            )

    def nearest(
        self, source: str, model: str, vector: bytes, limit: int, also: Collection[int] = ()
    ) -> tuple[dict[int, float], float]:
        with self._reading() as rows:
            place = self._place()
            if not place:
                return self._compared_here(source, model, vector, limit, also)
            numbers = len(vector) // _WIDTH
            asked = {"source": source, "model": model, "vector": _written(vector),
                     "numbers": numbers, "limit": limit, "also": [*also]}  # fmt: skip
            found = rows(_exact(place), asked)
        return {chunk: cosine for chunk, cosine, _ in found}, found[0][2] if found else 0.0

    def _compared_here(
        self, source: str, model: str, vector: bytes, limit: int, also: Collection[int]
    ) -> tuple[dict[int, float], float]:
        from mdmemory.search import vectors  # numpy

        def read() -> vectors.Space:
            query = f"SELECT v.chunk, e.vector FROM {_OF_SOURCE} AND length(e.vector) = %(size)s"
            values = {"model": model, "source": source, "size": len(vector)}
            found = self._rows(f"{query} ORDER BY v.chunk", values)
            data = b"".join(each for _, each in found)
            return vectors.space([chunk for chunk, _ in found], data, len(vector) // _WIDTH)

        word = "The PostgreSQL server has no pgvector: vectors are compared here, and slowly."
        if word not in self.said:
            self.said.append(word)
        state = self._rows("SELECT value FROM meta WHERE key = 'touched'")
        place = f"{self._schema} {source}"
        space = vectors.kept(place, (state and state[0][0], model, len(vector)), read)
        return space.nearest(vector, limit, also)


def _exact(place: str) -> str:
    """Every vector compared; of the nearest, and of those that are wanted beside, the cosine, with
    the least of all."""
    cosine = f"-(e.vector OPERATOR({place}.<#>) %(vector)s::{place}.vector)"
    return (
        f"WITH a AS MATERIALIZED (SELECT v.chunk, {cosine} AS cosine FROM {_OF_SOURCE}"
        f" AND {place}.vector_dims(e.vector) = %(numbers)s),"
        " near AS (SELECT * FROM a ORDER BY cosine DESC, chunk LIMIT %(limit)s)"
        " SELECT chunk, cosine, (SELECT min(cosine) FROM a) FROM"
        " (SELECT 0 AS part, * FROM near UNION ALL SELECT 1, * FROM a"
        " WHERE chunk = ANY(%(also)s) AND chunk NOT IN (SELECT chunk FROM near)) b"
        " ORDER BY part, cosine DESC, chunk"
    )


def _written(vector: bytes) -> str:
    """A vector as pgvector reads it."""
    numbers: Sequence[Any] = array("f", vector)
    return f"[{','.join(map('{:.9g}'.format, numbers))}]"
