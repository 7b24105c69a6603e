"""Vectors for what is searched: made once for each text, and again for no other reason.

Which texts there are the database tells; who makes their vectors is handed in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from mdmemory.errors import MdmemoryError
from mdmemory.search.database import Database, Row
from mdmemory.search.results import MEMORY

if TYPE_CHECKING:
    from fastembed import TextEmbedding

Report = Callable[[int, int, str], None]  # done, of how many, what

BATCH = 100  # texts that go in together
EACH_SEARCH = 2_000  # texts that one search waits for; the others come with the next ones
LONGEST = 8_000  # characters of a query
REFUSED = "refused"  # the code of a failure that lies in these texts, not in the server
LOCAL_MODEL = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"


class Embedder(Protocol):
    """Who makes vectors. `model` names all on which they depend, `dimensions` how many numbers
    each must have (0: however many)."""

    @property
    def model(self) -> str: ...
    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """A list of numbers for each of up to 100 texts. Raises MdmemoryError; what it gives is
        looked at by the caller."""


def fill(
    database: Database, source: str, embedder: Embedder, *, most: int | None = EACH_SEARCH,
    report: Report = lambda *_: None,
) -> int:  # fmt: skip
    """Make the vectors that are missing, up to `most`; how many are missing still.

    Raises MdmemoryError; what was made until then is in.
    """
    missing = database.without_vector(source, embedder.model)
    wanted, done = missing if most is None else min(missing, most), 0
    while done < wanted:
        limit = min(BATCH, wanted - done)
        rows = database.next_without_vector(source, embedder.model, limit)
        if not rows:
            break  # another process made them meanwhile
        report(done, wanted, "texts for search by meaning")
        _put(database, embedder, rows)
        done += len(rows)
    if done and done == missing:
        database.forget_vectors(embedder.model)
    return missing - done


def _put(database: Database, embedder: Embedder, rows: dict[int, Row]) -> None:
    texts = {chunk: text_of(row) for chunk, row in rows.items()}
    hashes = {chunk: hashlib.sha256(text.encode()).digest() for chunk, text in texts.items()}
    known = database.known_texts(embedder.model, set(hashes.values()))
    fresh = {hashes[chunk]: text for chunk, text in texts.items() if hashes[chunk] not in known}
    vectors = embedded(embedder, [*fresh.values()])
    database.put_vectors(embedder.model, dict(zip(fresh, vectors, strict=True)), hashes)


def text_of(row: Row) -> str:
    """What the vector of a chunk is made from: its text, and what it belongs to."""
    about = f"{row.name}: {row.description}" if row.source == MEMORY else row.title
    text = row.text if row.text != row.description else ""
    return f"{about}\n{text}".encode("utf-8", "replace").decode().strip()


def of_query(embedder: Embedder, query: str) -> bytes:
    """The vector of a query. Raises MdmemoryError."""
    return embedded(embedder, [query[:LONGEST].strip()])[0]


def embedded(embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
    """The vectors of texts, as they are kept. Raises MdmemoryError, also for what is none."""
    from mdmemory.search import vectors  # numpy

    if not texts:
        return []
    try:
        return vectors.packed(embedder.embed(texts), len(texts), embedder.dimensions)
    except ValueError as problem:
        raise MdmemoryError(
            f"The model of vectors ({embedder.model}) gave {problem}.",
            "Check search.embedding_model and search.embedding_dimensions.",
        ) from None


@dataclass
class Local:
    """A model that runs in this process, by the package fastembed. It is loaded by its first
    text, and downloaded the first time of all."""

    name: str = LOCAL_MODEL
    dimensions: int = 0
    _loaded: TextEmbedding | None = None

    @property
    def model(self) -> str:
        return f"local {self.name}"

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """See Embedder."""
        try:
            if self._loaded is None:
                from fastembed import TextEmbedding  # seconds, and an extra

                self._loaded = TextEmbedding(self.name)
            return [vector.tolist() for vector in self._loaded.embed([*texts])]
        except ImportError as problem:
            raise MdmemoryError(
                "Local vectors need the package fastembed, which is not installed.",
                "Install it: `pip install 'mdmemory[local]'`, or set search.embeddings to off.",
            ) from problem
        except Exception as problem:  # whatever a model's own code raises
            raise MdmemoryError(
                f"The local model {self.name} gave no vectors ({type(problem).__name__}).",
                "Check search.embedding_model, and the network: a model is downloaded once.",
            ) from problem
