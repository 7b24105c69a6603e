"""What the search database costs: `python tests/bench/search_speed.py [--sizes 1000,10000]`.

What a command costs is told by run.py; here is what no command shows. Seconds of CPU against fixed
targets, a plain full-text table of the same notes in the same run, and known notes looked for among
all others. Exits 1 when a target is missed by more than 25 %, or a
known note is not among the first five.
"""

import argparse
import os
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import many_notes, plain
from bench.many_notes import SEED, by_name, described, question

from mdmemory import Memory
from mdmemory.search.answer import answer_query
from mdmemory.search.database import STAMP
from mdmemory.search.project import FILE, Search
from mdmemory.search.results import Found
from mdmemory.search.sqlite import SQLite

MARGIN = 1.25
SETTLE = 2.2  # seconds; younger files are read again
QUESTIONS = 200
KNOWN = 50
DEPTH = 5
VECTORS, DIMENSIONS = 10_000, 1536
STORE = "notes/memory"


@dataclass(frozen=True)
class Result:
    """One line of the table; `target` is None where a figure is only told."""

    what: str
    cost: float
    target: float | None
    unit: str

    @property
    def verdict(self) -> str:
        if self.target is None or self.cost <= self.target:
            return "" if self.target is None else "ok"
        return "over, within 25 %" if self.cost <= self.target * MARGIN else "OVER"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sizes", default="1000,10000", help="numbers of notes, by commas")
    words = options.parse_args().sizes.split(",")
    sizes = [int(word) if word.isdecimal() else 0 for word in words]
    if min(sizes) < QUESTIONS:
        options.error(f"--sizes wants numbers of {QUESTIONS} or more: each question is of one note")
    missed = 0
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="mdmemory-bench-") as name:
            os.environ |= {"HOME": name, "GIT_CONFIG_GLOBAL": "/dev/null"}
            for result in measured(Path(name) / "project", size):
                missed += result.verdict == "OVER"
                show(size, result)
    show(VECTORS, vectors := nearest())
    return 1 if missed or vectors.verdict == "OVER" else 0


def show(size: int, result: Result) -> None:
    target = "" if result.target is None else f"{result.target:9.2f}"
    line = f"{size:7}  {result.what:44} {result.cost:9.2f} {target:>9} "
    print(f"{line}{result.unit:5} {result.verdict}", flush=True)


def measured(root: Path, size: int) -> Iterator[Result]:
    """All figures of one store; of a very large one those of the database alone."""
    notes = many_notes.notes(size)
    root.mkdir(parents=True)
    Memory.init(root)
    for file, text in notes.items():
        (root / STORE / file).write_text(text, encoding="utf-8")
    many = size > 10_000
    memory = Memory.open(root)
    memory.index()  # the notes are judged before, so that the database alone is measured
    if not many:
        time.sleep(SETTLE)
        memory.index()
    refresher = memory.opened.refresher()
    full = cpu(lambda: Search(refresher).update(anew=True))
    yield Result("full index", full, 40 if many else 3, "s")
    files = (root / ".mdmemory").glob("search.db*")
    notes_size = sum(len(text.encode()) for text in notes.values())
    # empty pages, too, have a size, which few notes do not make up for
    share = sum(f.stat().st_size for f in files) / notes_size
    yield Result("database / notes", share, 2 if size >= 10_000 else None, "")
    queries = [question(text) for text in random.Random(SEED).sample([*notes.values()], QUESTIONS)]
    with asking(memory) as ask:
        yield from often("warm search", ask, queries, 60 if many else 10)
    with closing(sqlite3.connect(":memory:")) as table:
        plain.fill(table, notes.items())
        look = lambda query: plain.look(table, plain.terms(query), DEPTH)  # noqa: E731
        yield from often("plain table", look, queries)
    for what, query in (("name", by_name), ("description", described)):
        yield known(memory, notes, what, query, None if many else 0)


@contextmanager
def asking(memory: Memory) -> Iterator[Callable[[str], Found]]:
    """Questions to the database as it is, as a running process asks them."""
    today = date(2026, 6, 1)
    with closing(SQLite(memory.project.private / FILE, STAMP)) as database:
        yield lambda query: answer_query(database, query, source="memory", k=DEPTH, today=today)


def often(
    what: str, ask: Callable[[str], object], queries: list[str], target: float | None = None
) -> Iterator[Result]:
    """The median of many questions, without the look at the folder before each."""
    for query in queries[:5]:  # which nobody counts
        ask(query)
    every = [cpu(lambda q=query: ask(q)) * 1000 for query in queries]  # type: ignore[misc]
    yield Result(f"{what}, p50", statistics.median(every), target, "ms")
    yield Result(f"{what}, p95", statistics.quantiles(every, n=20)[-1], None, "ms")


def known(
    memory: Memory, notes: dict[str, str], what: str, query: Callable[[str, str], str],
    target: float | None,
) -> Result:  # fmt: skip
    """How many of some notes are not among the first five for words of their own."""
    chosen = random.Random(SEED).sample([*notes], KNOWN)
    with asking(memory) as ask:
        hits = {file: ask(query(file, notes[file])).hits for file in chosen}
    missed = [file for file in chosen if file not in {hit.file for hit in hits[file]}]
    return Result(f"known notes not found by their {what}", len(missed), target, f"of {KNOWN}")


def nearest() -> Result:
    """The nearest of many vectors, against nothing but the product that it takes."""
    import numpy

    from mdmemory.search import database

    dice = numpy.random.default_rng(SEED)
    rows = dice.standard_normal((VECTORS, DIMENSIONS), dtype=numpy.float32)
    rows /= numpy.linalg.norm(rows, axis=1, keepdims=True)
    space = database.make_space([*range(VECTORS)], rows.tobytes(), DIMENSIONS)
    asked, best = rows[7], [float("inf")] * 2
    data = asked.tobytes()
    for _ in range(15):  # in turn, as the machine is shared
        floor, cost = cpu(lambda: rows @ asked), cpu(lambda: space.nearest(data, 60))
        best = [min(best[0], floor), min(best[1], cost)]
    return Result("nearest vectors / one product", best[1] / best[0], 1.5, "")


def cpu(step: Callable[[], object]) -> float:
    """Seconds of CPU of this process."""
    before = time.process_time()
    step()
    return time.process_time() - before


if __name__ == "__main__":
    sys.exit(main())
