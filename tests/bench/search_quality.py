"""Whether search finds what is asked for: `python tests/bench/search_quality.py [--misses]`.

On the written notes and conversations in tests/data/search, beside a plain full-text table in the
same run. Exits 1 when it is not better than that by the margin, or answers what it cannot know.
Ranking is tuned on every other question alone; the rest tells whether that was luck.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.retrieval import HEADING, Figures, Finder, Question, measured, ours, plain

from mdmemory.files import digest
from mdmemory.note.editing import compose
from mdmemory.search.chunks import cut
from mdmemory.search.database import Document
from mdmemory.search.notes import Cutting, document
from mdmemory.search.results import MEMORY
from mdmemory.store.store import StoredNote, decode

DATA = Path(__file__).parents[1] / "data" / "search"
TODAY = date(2026, 6, 15)
BETTER = 0.03  # than the plain table, in R@5 and in MRR
FALSE = 0.10  # of the questions that nothing answers
KNOWN = "known_item"
Choose = Callable[[Question], bool]


@dataclass(frozen=True)
class Line:
    """One set of questions: what the plain table finds, and what we find."""

    what: str
    plain: Figures
    ours: Figures


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--misses", action="store_true", help="list what is not found first")
    with finders() as (floor, find):
        print(HEADING)
        for line in lines(floor, find):
            print(f"{line.what + ', plain table':34}  {line.plain}")
            print(f"{line.what + ', mdmemory':34}  {line.ours}")
        if options.parse_args().misses:
            print(*misses(find), sep="\n")
        missed = failures(floor, find)
    print(*missed, sep="\n")
    return 1 if missed else 0


def lines(floor: Finder, find: Finder) -> Iterator[Line]:
    """The figures of all questions, of both halves, of those in English, and of each kind."""
    halves = halved()
    sets = {"all": questions(), "tuned on": halves[0], "only checked": halves[1]}
    kinds = {q.kind: [p for p in questions() if p.kind == q.kind] for q in questions()}
    for what, some in {**sets, "in English": english(), **kinds}.items():
        yield Line(what, measured(floor, some), measured(find, some))


def failures(floor: Finder, find: Finder) -> list[str]:
    """What of the promises is not kept, a sentence each."""
    low, high = measured(floor, questions()), measured(find, questions())
    known = measured(find, [q for q in questions() if q.kind == KNOWN])
    promises = {
        f"R@5 is not {BETTER} above the plain table's.": high.five >= low.five + BETTER,
        f"MRR is not {BETTER} above the plain table's.": high.mrr >= low.mrr + BETTER,
        f"{high.false} false answers are too many.": high.false <= FALSE * high.unanswerable,
        "Not every note is among the first five when asked for by name.": known.five == 1,
    }
    return [sentence for sentence, kept in promises.items() if not kept]


def misses(find: Finder) -> Iterator[str]:
    """The questions whose answer is not the first hit, with what is."""
    for question in questions():
        found = find(question.text)
        if not question.answers.issuperset(found[:1]) or bool(found) != bool(question.answers):
            rank = next((at for at, f in enumerate(found, 1) if f in question.answers), "-")
            wanted = " ".join(question.answers) or "nothing"
            yield f"{question.kind:12} {rank!s:>2}  {question.text}  [{wanted}]  {found[:2]}"


def english() -> list[Question]:
    """All questions but the Chinese ones, which a plain table cannot read."""
    return [q for q in questions() if not any("\u4e00" <= sign <= "\u9fff" for sign in q.text)]


def halved() -> tuple[list[Question], list[Question]]:
    """The questions to tune on and those to check with: every other one of each kind."""
    return questions()[::2], questions()[1::2]


@contextmanager
def finders() -> Iterator[tuple[Finder, Finder]]:
    """The plain table and our search, over the same notes and conversations."""
    texts = {**notes(), **{file: text for file, (_, text) in conversations().items()}}
    with plain(texts.items()) as floor, ours(documents(), TODAY) as find:
        yield floor, find


@cache
def questions() -> list[Question]:
    """All questions, kind by kind."""
    return [
        Question(row[0], frozenset(row[1:]), kind)
        for kind, rows in _read("questions.yaml").items()
        for row in rows
    ]


@cache
def notes() -> dict[str, str]:
    """The text of each note by file, as mdmemory would have written it."""
    entries = [entry for path in sorted(DATA.glob("notes-*.yaml")) for entry in _read(path.name)]
    return {entry["file"]: _note(**entry) for entry in entries}


@cache
def conversations() -> dict[str, tuple[str, str]]:
    """Date and text of each conversation by file."""
    return {
        entry["file"]: (f"{entry['date']}", entry["text"]) for entry in _read("transcripts.yaml")
    }


def documents() -> Sequence[Document]:
    """Notes and conversations as they go into the search database."""
    return [
        *(document(_stored(file, text), "", False, Cutting()) for file, text in notes().items()),
        *(
            Document(MEMORY, file, "", digest(text.encode()), date=day, chunks=[*cut(text)])
            for file, (day, text) in conversations().items()
        ),
    ]


def _note(
    file: str, description: str, body: str, created: date, updated: date | None = None,
    kind: str = "",
) -> str:  # fmt: skip
    type, _, name = file.removesuffix(".md").partition("-")
    dates = {"created": f"{created}", "updated": f"{updated or ''}"}
    return compose(
        name=name, type=type, description=description, body=body, kind=kind, metadata=dates
    )


def _stored(file: str, text: str) -> StoredNote:
    data = text.encode()
    return StoredNote(file, digest(data), decode(data, file))


def _read(name: str) -> Any:
    return yaml.load((DATA / name).read_text("utf-8"), yaml.CSafeLoader)


if __name__ == "__main__":
    sys.exit(main())
