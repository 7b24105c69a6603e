"""From a query to hits: looks for each term, lets the database rank, and drops what does not fit.

Everything that needs the text of chunks happens on the best few only.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from datetime import date

from mdmemory.search import ranking
from mdmemory.search.database import Database, Row
from mdmemory.search.found import Found, Hit
from mdmemory.search.query import Query, Term, parse
from mdmemory.search.ranking import Asked, Channel

CANDIDATES = 60  # chunks that are looked at, or more where more hits are asked for
MANY = 3_000  # chunks; a word in more of them is counted no further
_GUESSED = 0.8  # of a word counts where a similar one was found


@dataclass(frozen=True, slots=True)
class Weights:
    """What a person may set: the share of each channel, and after how many days a hit counts less
    (0: never)."""

    keyword: float = 0.5
    vector: float = 0.5
    half_life: int = 0


def answer(
    database: Database, text: str, *, source: str, k: int, today: date, weights: Weights
) -> Found:
    """The `k` best places of a source for a query; none where nothing fits well enough."""
    query = parse(text, today)
    if not query.terms:
        return Found("keyword", (), ("There is no word in the query to look for.",))
    terms, asked = _looked_up(database, query, source)
    limit = max(CANDIDATES, 2 * k)
    scores = database.best(terms, query.phrases, source, limit)
    if not scores and query.phrases:  # quotes are often meant lightly
        scores = database.best(terms, (), source, limit)
    share = {chunk: ranking.covered(asked, chunk) for chunk in scores}
    scores = {c: score for c, score in scores.items() if share[c] >= ranking.NEEDED}
    rows = database.rows(scores)
    final = {}
    for chunk, score in ranking.fused([Channel(weights.keyword, scores)]).items():
        if chunk in rows:
            row = rows[chunk]
            named = ranking.NAMED * ranking.is_named(row.name, query.words)
            score = min(1.0, score * share[chunk] + named)
            final[chunk] = ranking.aged(score, row.date, today, weights.half_life)
    order = sorted(final, key=lambda c: (-final[c], rows[c].file, rows[c].start))
    best = ranking.folded(((c, rows[c].file, rows[c].text) for c in order), k)
    return Found("keyword", tuple(_hit(rows[chunk], final[chunk]) for chunk in best))


def _looked_up(
    database: Database, query: Query, source: str
) -> tuple[list[Term], list[Asked]]:
    """The terms to search for, misspelled ones among them guessed, and who has each."""
    total = database.count(source)
    terms: list[Term] = []
    asked: list[Asked] = []
    for term in query.terms:
        held = database.holding(term, source, MANY) if term.weight else set()
        if term.weight and not held:
            term = _guessed(database, term)
            held = database.holding(term, source, MANY) if term.sure < 1 else held
        terms.append(term)
        if term.weight:
            weight = term.weight * ranking.rarity(len(held), total)
            asked.append(Asked(weight, held, term.sure))
    return terms, asked


def _guessed(database: Database, term: Term) -> Term:
    """A term that nothing has, as the similar words that something has; itself without any."""
    if term.prefix or len(term.ways) > 1 or len(term.ways[0]) > 1:
        return term
    similar = database.similar(term.ways[0][0])
    if not similar:
        return term
    return dataclasses.replace(term, ways=tuple((word,) for word in similar), sure=_GUESSED)


def _hit(row: Row, score: float) -> Hit:
    return Hit(
        row.file, row.name, row.start, row.end, round(score, 4), row.source, row.text,
        row.title or row.name, row.date, row.status,
    )  # fmt: skip

