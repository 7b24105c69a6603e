"""Search by words and by meaning, with a local model."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

from bench.corpus import BadDataError, Corpus
from bench.retrieval import DEPTH, Finder, Hits, Question

from mdmemory.errors import MdmemoryError
from mdmemory.search import embeddings
from mdmemory.search.answer import Meaning, answer_query
from mdmemory.search.local_models import ENCODER, Encoder, Local
from mdmemory.search.sources import local_model
from mdmemory.search.sqlite import SQLite

MODEL = ENCODER
_CACHE = Path("~/.cache/mdmemory/models")


@cache
def model(name: str) -> Encoder | Local:
    """The model of `search.embedding_model`, loaded once. Raises BadDataError where it is not on
    this disk."""
    local = local_model("" if name == ENCODER else name, _CACHE.expanduser())
    try:
        local.embed(["a first text"])
    except MdmemoryError as problem:
        raise BadDataError(f"{problem.message} {problem.hint}") from None
    return local


@contextmanager
def hybrid(corpus: Corpus, name: str) -> Iterator[Finder]:
    """Search as with `search.embeddings` and this model."""
    embedder = model(name)
    with closing(SQLite(None, "bench")) as database:
        database.put(corpus.documents)
        source = corpus.documents[0].source
        embeddings.fill_vectors(database, source, embedder, most=None)

        def find(question: Question) -> Hits:
            meaning = None
            if embeddings.reads_script(embedder.model, question.text):
                vector = embeddings.of_query(database, embedder, question.text)
                meaning = Meaning(embedder.model, vector)
            found = answer_query(
                database, question.text, source=source, k=DEPTH, today=corpus.today, meaning=meaning
            )
            return Hits.of(found)

        yield find
