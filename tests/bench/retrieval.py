"""How well a search finds: recall, rank and false answers, ours beside a plain full-text table."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from mdmemory.search.answer import Weights, answer
from mdmemory.search.sqlite import SQLite
from mdmemory.text.words import STOP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmemory.search.database import Document

DEPTH = 10  # hits that are looked at
Finder = Callable[[str], list[str]]  # a question, and the files that it finds, best first


@dataclass(frozen=True)
class Question:
    """What is asked and every file that should be found; none: nothing should be."""

    text: str
    answers: frozenset[str]
    kind: str = ""


@dataclass(frozen=True)
class Figures:
    """Means over `asked` questions that have an answer, and what was found for those without."""

    asked: int
    first: float  # recall among the first, the first five, the first ten
    five: float
    ten: float
    mrr: float
    unanswerable: int
    false: int

    def __str__(self) -> str:
        if not self.asked:
            return f"{0:5}{'':34}{self.false} of {self.unanswerable}"
        text = f"{self.asked:5}  {self.first:.3f}  {self.five:.3f}  {self.ten:.3f}  {self.mrr:.3f}"
        return text + (f"   {self.false} of {self.unanswerable}" if self.unanswerable else "")


HEADING = f"{'':34}  asked   R@1    R@5   R@10    MRR    false answers"


def measured(find: Finder, questions: Iterable[Question]) -> Figures:
    """The figures of one search."""
    recalls: list[tuple[float, ...]] = []
    found_nothing = []
    for question in questions:
        found = find(question.text)[:DEPTH]
        if question.answers:
            ranks = [at for at, file in enumerate(found, 1) if file in question.answers]
            mrr = 1 / ranks[0] if ranks else 0.0
            recalls.append((*(_recall(found, question.answers, k) for k in (1, 5, 10)), mrr))
        else:
            found_nothing.append(not found)
    asked = len(recalls)
    means = [sum(column) / asked for column in zip(*recalls, strict=True)] or [0.0] * 4
    first, five, ten, mrr = means
    return Figures(
        asked, first, five, ten, mrr, len(found_nothing), found_nothing.count(False)
    )  # fmt: skip


def _recall(found: Sequence[str], answers: frozenset[str], k: int) -> float:
    return len(answers.intersection(found[:k])) / len(answers)


@contextmanager
def ours(documents: Sequence[Document], today: date) -> Iterator[Finder]:
    """Search as `mdmemory search` does it, without vectors."""
    with closing(SQLite(None, "bench")) as database:
        database.put(documents)
        source = documents[0].source

        def find(text: str) -> list[str]:
            found = answer(database, text, source=source, k=DEPTH, today=today, weights=Weights())
            return [hit.file for hit in found.hits]

        yield find


@contextmanager
def plain(texts: Iterable[tuple[str, str]]) -> Iterator[Finder]:
    """The floor: a full-text table over (file, whole text), any of the words that are no stop
    words, by their stems."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(
            "CREATE VIRTUAL TABLE t USING fts5"
            " (file UNINDEXED, text, tokenize = 'porter unicode61')"
        )
        database.executemany("INSERT INTO t VALUES (?, ?)", texts)

        def find(text: str) -> list[str]:
            words = [word for word in re.findall(r"\w+", text.lower()) if word not in STOP]
            match = " OR ".join(f'"{word}"' for word in words)
            query = f"SELECT file FROM t WHERE t MATCH ? ORDER BY rank LIMIT {DEPTH}"
            return [file for (file,) in database.execute(query, (match,))] if words else []

        yield find
