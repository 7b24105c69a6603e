"""Vectors for what is searched: made once for each text, and again for no other reason.

Which texts there are the database tells; who makes their vectors is handed in.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

from mdmemory.errors import MdmemoryError
from mdmemory.search.database import Database, LockedError, pack_vectors, vector_text

Report = Callable[[int, int, str], None]  # done, of how many, what

BATCH = 100  # texts that go in together, at most
FIRST = 8  # texts of the first request: a model on a small machine may take seconds for each
QUICK = 5.0  # seconds: after a request that took less the next one is twice as large
_sizes: dict[str, int] = {}  # how many texts each model took at once
EACH_SEARCH = 2_000  # texts that one search waits for; the others come with the next ones
EACH_NEAR = 20  # texts that finding near notes makes vectors of: a hook waits for it
EACH_SEARCH_LOCAL = 200  # the same for a model in this process: 7 s at 35 ms a text
LONGEST = 8_000  # characters of a query
REFUSED = "refused"  # the code of a failure that lies in these texts, not in the server
_INSTRUCTION = "Instruct: Find the notes that answer the question\nQuery: "
_SEARCHING = "Represent this sentence for searching relevant passages: "
# What a model was trained to see before a query and before a text, as its authors say: the first
# row counts of which all words are in the model's name. Vectors are kept by the text alone: one
# that a model gets otherwise from now on needs another name of the model.
_BEFORE = (
    (("e5-", "instruct"), _INSTRUCTION, ""),
    (("qwen3-embedding",), _INSTRUCTION, ""),
    (("e5-",), "query: ", "passage: "),
    (("nomic-embed-text",), "search_query: ", "search_document: "),
    (("embeddinggemma",), "task: search result | query: ", "title: none | text: "),
    (("arctic-embed", "v2"), "query: ", ""),
    (("arctic-embed",), _SEARCHING, ""),
    (("mxbai-embed",), _SEARCHING, ""),
    (("bge-", "-en"), _SEARCHING, ""),
)


# Models of English alone have one of these in their names. Of other scripts they know single
# characters, and their vectors are worse than none.
_ENGLISH = ("all-minilm", "english", "nomic-embed-text-v1", "-en-", "-en ")


class Embedder(Protocol):
    """Who makes vectors. `model` names all on which they depend."""

    @property
    def model(self) -> str: ...
    def embed(self, texts: Sequence[str]) -> list[Any]:
        """A list of numbers for each of up to 100 texts. Raises MdmemoryError; what it gives is
        looked at by the caller."""


def fill_vectors(
    database: Database, source: str, embedder: Embedder, *, most: int | None = EACH_SEARCH,
    report: Report = lambda *_: None,
) -> int:  # fmt: skip
    """Make the vectors that are missing, up to `most`; how many are missing still.

    Raises MdmemoryError; what was made until then is in.
    """
    all_made = f"{source} vectors of {embedder.model}"
    if (state := database.touched()) and database.seal(all_made) == state:
        return 0  # to count them takes 10 ms among 10,000
    before = model_prefixes(embedder.model)[1]
    missing = database.without_vector(source, embedder.model)
    wanted, done = missing if most is None else min(missing, most), 0
    while done < wanted:
        limit = min(_sizes.get(embedder.model, FIRST), wanted - done)
        rows = database.next_without_vector(source, embedder.model, limit)
        if not rows:
            break  # another process made them meanwhile
        report(done, wanted, "texts for search by meaning")
        begun, size = time.monotonic(), len(rows)
        texts = [before + vector_text(row) for row in rows.values()]
        try:
            vectors = embed_texts(embedder, texts)
        except MdmemoryError:  # the server may have been too slow for so many texts
            _sizes[embedder.model] = max(1, size // 2)
            raise
        database.put_vectors(embedder.model, dict(zip(rows, vectors, strict=True)))
        if time.monotonic() - begun < QUICK:
            _sizes[embedder.model] = min(BATCH, max(size * 2, _sizes.get(embedder.model, FIRST)))
        done += size
    if done and done == missing:
        database.forget_vectors(embedder.model)
    if done == missing:
        with suppress(LockedError):  # another process writes: they are counted the next time, too
            database.set_seal(all_made, database.touched())
    return missing - done


def of_query(database: Database, embedder: Embedder, query: str) -> bytes:
    """The vector of a query, made once and then kept. Raises MdmemoryError and UnusableError."""
    text = model_prefixes(embedder.model)[0] + query[:LONGEST].strip()
    named = hashlib.sha256(text.encode("utf-8", "replace")).digest()
    if kept_vector := database.query_vector(embedder.model, named):
        return kept_vector
    vector = embed_texts(embedder, [text])[0]
    with suppress(LockedError):  # another process writes: the next time then
        database.keep_query(embedder.model, named, vector)
    return vector


def reads_script(model: str, text: str) -> bool:
    """Whether a model knows the script that most letters of a text are written in."""
    name = f"{model} ".casefold()
    if not any(word in name for word in _ENGLISH):
        return True
    letters = [sign for sign in text[:LONGEST] if sign.isalpha()]
    return sum(sign < "\u0250" for sign in letters) * 2 >= len(letters)


def model_prefixes(model: str) -> tuple[str, str]:
    """What a model wants before a query, and before a text."""
    name = model.casefold()
    fits = (row[1:] for row in _BEFORE if all(word in name for word in row[0]))
    return next(fits, ("", ""))


def embed_texts(embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
    """The vectors of texts, as they are kept. Raises MdmemoryError, also for what is none."""
    if not texts:
        return []
    try:
        return pack_vectors(embedder.embed(texts), len(texts))
    except ValueError as problem:
        raise MdmemoryError(
            f"The model of vectors ({embedder.model}) gave {problem}.",
            "Check search.embedding_model.",
        ) from None
