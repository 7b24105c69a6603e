"""The vectors of the search database in SQLite: one for each text and model, compared by numpy."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mdmemory.search.database import Row
from mdmemory.search.sqlite_file import ROW, SQLiteFile, numbers


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
