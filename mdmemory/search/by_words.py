"""Which chunks fit a query by their words, and how well."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from mdmemory.search import ranking
from mdmemory.search.database import Database
from mdmemory.search.query import Query, Term
from mdmemory.search.ranking import Channel, TermMatch
from mdmemory.search.results import SESSIONS

MANY = 3_000  # chunks; a word in more of them is counted no further
BESIDE = 3  # as many turns are looked at: the score of one counts for its neighbours, too
_GUESSED = 0.8  # of a word counts where a similar one was found


@dataclass(frozen=True, slots=True)
class Fit:
    """The chunks that have any word of a query, each with a score from 0 to 1, and which of them
    has which of the words. `total` counts all chunks; `quoted`: those found have what the query
    has in quotes."""

    scores: Mapping[int, float]
    asked: Sequence[TermMatch] = ()
    total: int = 0
    quoted: bool = False


def by_words(database: Database, query: Query, source: str, limit: int) -> Fit:
    """The chunks that fit by their words. What no chunk has does not count in the scores."""
    terms, asked = _looked_up(database, query, source)
    limit *= BESIDE if source == SESSIONS else 1
    scores = database.best(terms, query.phrases, source, limit)
    quoted = bool(query.phrases and scores)
    if not scores and query.phrases:  # quotes are often meant lightly
        scores = database.best(terms, (), source, limit)
    windows = _windows(database, scores) if source == SESSIONS else {}
    asked = _exactly(database, terms, asked, source, {*scores, *windows})
    if source == SESSIONS:
        scores = ranking.smoothed(scores, windows)
        asked = [_in_windows(term, windows) for term in asked]
    known = [term for term in asked if term.chunks]
    fitting = ranking.fused([Channel(1.0, scores)])
    scores = {chunk: score * ranking.covered(known, chunk) for chunk, score in fitting.items()}
    return Fit(scores, asked, database.count(source), quoted)


def _windows(database: Database, turns: Collection[int]) -> dict[int, list[int]]:
    """The turns, and those beside them, each with its own neighbours of the same session."""
    rows = database.rows({turn + step for turn in turns for step in (-1, 0, 1)})
    return {
        turn: [
            other for other in (turn - 1, turn + 1)
            if other in rows and rows[other].file == row.file
        ]
        for turn, row in rows.items()
    }  # fmt: skip


def _in_windows(term: TermMatch, windows: Mapping[int, Collection[int]]) -> TermMatch:
    """A term that a turn has, too, if a neighbour has it."""
    chunks = {
        turn for turn, beside in windows.items()
        if turn in term.chunks or any(other in term.chunks for other in beside)
    }  # fmt: skip
    return dataclasses.replace(term, chunks=chunks)


def _looked_up(database: Database, query: Query, source: str) -> tuple[list[Term], list[TermMatch]]:
    """The terms to search for, misspelled ones among them guessed, and who has each."""
    total = database.count(source)
    terms: list[Term] = []
    asked: list[TermMatch] = []
    for term in query.terms:
        held = database.holding(term, source, MANY) if term.weight else set()
        if term.weight and not held:
            term = _guessed(database, term)
            held = database.holding(term, source, MANY) if term.sure < 1 else held
        terms.append(term)
        if term.weight:
            weight = term.weight * ranking.rarity(len(held), total)
            asked.append(TermMatch(weight, held, term.sure, telling=term.weight >= 1))
    return terms, asked


def _exactly(
    database: Database, terms: Sequence[Term], asked: Sequence[TermMatch], source: str,
    among: Collection[int],
) -> list[TermMatch]:  # fmt: skip
    """The same, knowing of the words that too many chunks have which of some chunks have them."""
    weighing = [term for term in terms if term.weight]
    return [
        dataclasses.replace(each, chunks=database.holding(term, source, len(among), among))
        if len(each.chunks) >= MANY else each
        for term, each in zip(weighing, asked, strict=True)
    ]  # fmt: skip


def _guessed(database: Database, term: Term) -> Term:
    """A term that nothing has, as the similar words that something has; itself without any."""
    if term.prefix or len(term.ways[0]) > 1:
        return term
    similar = database.similar(term.ways[0][0])
    if not similar:
        return term
    return dataclasses.replace(term, ways=tuple((word,) for word in similar), sure=_GUESSED)
