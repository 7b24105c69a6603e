"""How well and how fast a search finds: recall, rank, silence, false answers, time of a question.

A finder takes a question and gives the files that it finds. Every other figure is counted here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date
from statistics import fmean
from typing import TYPE_CHECKING

from mdmemory.search.answer import answer_query
from mdmemory.search.results import SESSIONS
from mdmemory.search.sqlite import SQLite

if TYPE_CHECKING:
    from mdmemory.search.database import Document
    from mdmemory.search.results import Found, Hit

DEPTH = 10  # hits that are looked at


@dataclass(frozen=True)
class Question:
    """What is asked and every file that should be found; none: nothing should be."""

    text: str
    answers: frozenset[str]
    kind: str = ""
    lang: str = ""  # as `de`; "" where nobody said


@dataclass(frozen=True)
class Hits:
    """The files that are found (of a session, the turns), best first."""

    files: tuple[str, ...]

    @classmethod
    def of(cls, found: Found) -> Hits:
        """What a search of ours gave back."""
        return cls(tuple(dict.fromkeys(map(_place, found.hits))))


Finder = Callable[[Question], Hits]


@dataclass(frozen=True)
class Outcome:
    """What one question found, in how many seconds of CPU."""

    question: Question
    hits: Hits
    seconds: float

    def recall(self, depth: int) -> float:
        """The share of the answers that are among the first hits."""
        answers = self.question.answers
        return len(answers.intersection(self.hits.files[:depth])) / len(answers)

    @property
    def rank(self) -> int:
        """The place of the first right hit, from 1; 0 where there is none."""
        files = enumerate(self.hits.files[:DEPTH], 1)
        return next((at for at, file in files if file in self.question.answers), 0)


@dataclass(frozen=True)
class Figures:
    """Means over `asked` questions that have an answer, and counts.

    `first`, `five`, `ten` are recall among so many hits. `silent` questions have an answer and no
    hit at all. `false` of the `unanswerable` have a hit, which is shown as no proof. `p50` and
    `p95` are milliseconds of CPU.
    """

    asked: int
    first: float
    five: float
    ten: float
    mrr: float
    silent: int
    unanswerable: int
    false: int
    p50: float
    p95: float


def figures(outcomes: Sequence[Outcome]) -> Figures:
    """The figures of what was found."""
    answerable = [each for each in outcomes if each.question.answers]
    others = [each for each in outcomes if not each.question.answers]
    times = sorted(each.seconds * 1000 for each in outcomes)
    return Figures(
        asked=len(answerable),
        first=_mean(each.recall(1) for each in answerable),
        five=_mean(each.recall(5) for each in answerable),
        ten=_mean(each.recall(10) for each in answerable),
        mrr=_mean(1 / each.rank if each.rank else 0.0 for each in answerable),
        silent=sum(not each.hits.files for each in answerable),
        unanswerable=len(others),
        false=sum(bool(each.hits.files) for each in others),
        p50=_quantile(times, 0.5),
        p95=_quantile(times, 0.95),
    )


def outcomes(find: Finder, questions: Iterable[Question]) -> list[Outcome]:
    """What each question finds. One is asked once before, unmeasured: what is loaded then stays."""
    asked = list(questions)
    if asked:
        find(asked[0])
    return [_asked(find, question) for question in asked]


def measured(find: Finder, questions: Iterable[Question]) -> Figures:
    """The figures of one search."""
    return figures(outcomes(find, questions))


@contextmanager
def ours(documents: Sequence[Document], today: date) -> Iterator[Finder]:
    """Search as `mdmemory search` does it, without vectors."""
    with closing(SQLite(None, "bench")) as database:
        database.put(documents)
        source = documents[0].source

        def find(question: Question) -> Hits:
            return Hits.of(
                answer_query(database, question.text, source=source, k=DEPTH, today=today)
            )

        yield find


def place(session: str, turn: int) -> str:
    """One turn of a session, as a question names what answers it."""
    return f"{session}:{turn}"


def _place(hit: Hit) -> str:
    return place(hit.file, hit.start_line) if hit.source == SESSIONS else hit.file


def _asked(find: Finder, question: Question) -> Outcome:
    start = time.process_time()
    hits = find(question)
    return Outcome(question, hits, time.process_time() - start)


def _mean(values: Iterable[float]) -> float:
    some = list(values)
    return fmean(some) if some else 0.0


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
