"""Which notes go along with a message, on messages of which it is known what they need.

`python tests/bench/recall.py [DATA] [--misses]`: DATA is a folder with `messages.jsonl` beside its
notes (tests/data/search/README.md), by itself the project's own. It prints one line for each bar,
so that what a stricter one gains and costs is seen, and at the bar in use one for each language:

- precision: of the notes that went along, how many were needed;
- recall: the mean share of the notes that a message needs that went along;
- quiet: of the messages that need none, how many got none.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import fmean, quantiles

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import own
from bench.corpus import BadDataError, Corpus
from bench.readers import add_notes, rows

from mdmemory.prompt.message_part import read_typed
from mdmemory.search.by_message import BAR, needed_notes
from mdmemory.search.sqlite import SQLite

MESSAGES = "messages.jsonl"
BARS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0)
AIMS = "aim: precision >= .80, recall >= .70, quiet >= .90"


@dataclass(frozen=True)
class Message:
    """What a person typed, and the files of all notes that the work needs."""

    text: str
    needs: frozenset[str]
    lang: str


@dataclass(frozen=True)
class Brought:
    """The notes that went along with a message, and the seconds that it took to find them."""

    message: Message
    files: tuple[str, ...]
    seconds: float


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    options.add_argument("data", nargs="*", type=Path, help="folders with messages")
    options.add_argument("--misses", action="store_true", help="list what goes wrong")
    chosen = options.parse_args()
    for folder in chosen.data or [own.DATA / name for name in own.HALVES]:
        if not (folder / MESSAGES).is_file() and not chosen.data:
            continue
        try:
            corpus, messages = read(folder)
        except BadDataError as problem:
            print(problem, file=sys.stderr)
            return 1
        print(f"{folder.name}: {len(messages)} messages, {len(corpus.documents)} notes; {AIMS}")
        for line in table(corpus, messages, misses=chosen.misses):
            print(line)
    return 0


def read(folder: Path) -> tuple[Corpus, list[Message]]:
    """The notes and the messages of a folder. Raises BadDataError."""
    corpus = Corpus()
    names = add_notes(corpus, folder)
    messages = []
    for where, row in rows(folder / MESSAGES):
        needs = row.get("needs", [])
        if unknown := [each for each in needs if each not in names]:
            raise BadDataError(f"{where}: there is no note {unknown[0][:80]!r}.")
        wanted = frozenset(names[each] for each in needs)
        messages.append(Message(str(row["text"]), wanted, str(row.get("lang", ""))))
    return corpus, messages


def table(corpus: Corpus, messages: Sequence[Message], *, misses: bool) -> Iterator[str]:
    """The lines for one collection."""
    yield f"{'':14}precision   recall    quiet   notes  p50 ms  p95 ms"
    with closing(SQLite(None, "bench")) as database:
        database.put(corpus.documents)

        def brought(bar: float) -> list[Brought]:
            return [_brought(database, each, corpus.today, bar) for each in messages]

        for bar in BARS:
            yield _line(f"bar {bar:g}{' (in use)' if bar == BAR else ''}", brought(bar))
        used = brought(BAR)
    for lang in dict.fromkeys(each.lang for each in messages):
        yield _line(f"  {lang}", [each for each in used if each.message.lang == lang])
    for each in used if misses else ():
        missed = sorted(each.message.needs.difference(each.files))
        wrong = [file for file in each.files if file not in each.message.needs]
        if missed or wrong:
            yield f"{each.message.text[:90]!r}  missed {missed}  wrong {wrong}"


def _brought(database: SQLite, message: Message, today: date, bar: float) -> Brought:
    start = time.perf_counter()
    hits = needed_notes(database, read_typed(message.text), today, bar)
    took = time.perf_counter() - start
    return Brought(message, tuple(hit.file for hit in hits), took)


def _line(name: str, brought: Sequence[Brought]) -> str:
    found = [file in each.message.needs for each in brought for file in each.files]
    recall = [
        len(each.message.needs.intersection(each.files)) / len(each.message.needs)
        for each in brought if each.message.needs
    ]  # fmt: skip
    quiet = [not each.files for each in brought if not each.message.needs]
    times = [each.seconds * 1000 for each in brought]
    shares = "".join(f"{_mean(each):9.2f}" for each in (found, recall, quiet))
    p95 = quantiles(times, n=20)[-1] if len(times) > 1 else times[0]
    return f"{name:14}{shares}{len(found):8}{fmean(times):8.1f}{p95:8.1f}"


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else float("nan")


if __name__ == "__main__":
    sys.exit(main())
