"""Which chunks fit a query by their words, and how well."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from mdmemory.search import ranking
from mdmemory.search.database import Database, Row
from mdmemory.search.query import Query, Term
from mdmemory.search.ranking import Channel, TermMatch
from mdmemory.search.results import SESSIONS

SCANNED = 1_000  # chunks with the rarest words of a query, from which on the others are not read
BESIDE = 3  # as many turns are looked at: the score of one counts for its neighbours, too
_OTHER = 0.5  # of the score of a word counts one that people use for it
_GUESSED = 0.8  # of a word counts where a similar one was found


class Fit(NamedTuple):
    """The chunks that have any word of a query, each with a score from 0 to 1; `rows` are the
    chunks themselves, where they were asked for."""

    scores: Mapping[int, float]
    rows: Mapping[int, Row] | None = None


def by_words(database: Database, query: Query, source: str, limit: int) -> Fit:
    """The chunks that fit by their words. Words that no chunk has change no order."""
    terms, counts = _looked_up(database, query, source)
    limit *= BESIDE if source == SESSIONS else 1
    counted = [*zip(counts, terms, strict=True)]
    rare = ranking.rarest_terms([pair for pair in counted if not pair[1].is_other], SCANNED)
    scores = database.best(rare, query.phrases, source, limit)
    quoted = bool(query.phrases and scores)
    if not scores and query.phrases:  # quotes are often meant lightly
        scores = database.best(rare, (), source, limit)
    few = [(count, term) for count, term in counted if term.is_other and 0 < count <= SCANNED]
    if few and not quoted:
        for chunk, score in database.best(
            ranking.rarest_terms(few, SCANNED), (), source, limit
        ).items():
            scores[chunk] = scores.get(chunk, 0.0) + _OTHER * score
    windows = _turn_windows(database, scores) if source == SESSIONS else {}
    among, total = {*scores, *windows}, database.count(source)
    matches = [
        _match_term(database, term, count, total, among, term in rare)
        for count, term in counted
        if term.weight == 1 or (term.weight and term in rare)  # a light word of many tells nothing
    ]
    lifts = ranking.find_lifts(matches)
    scores = {chunk: score + lifts.get(chunk, 0.0) for chunk, score in scores.items()}
    if source == SESSIONS:
        scores = ranking.smooth_scores(scores, windows)
    shares = ranking.word_shares(matches, scores)
    scores = {chunk: score * shares[chunk] for chunk, score in scores.items()}
    rows = None if source == SESSIONS else database.rows(scores)
    if rows is not None:
        scores = _with_neighbours(scores, rows)
    return Fit(ranking.fuse_channels([Channel(scores)]), rows)


def _with_neighbours(scores: Mapping[int, float], rows: Mapping[int, Row]) -> dict[int, float]:
    """The scores with a part of those of the other chunks of a file, and of other files that were
    written down in the same session."""
    files, sessions = (
        {c: getattr(row, of) for c, row in rows.items()} for of in ("file", "session")
    )
    return ranking.add_beside(ranking.whole_files(scores, files), sessions)


def _turn_windows(database: Database, turns: Collection[int]) -> dict[int, list[int]]:
    """The turns, and those beside them, each with its own neighbours of the same session."""
    rows = database.rows({turn + step for turn in turns for step in (-1, 0, 1)})
    return {
        turn: [
            other for other in (turn - 1, turn + 1)
            if other in rows and rows[other].file == row.file
        ]
        for turn, row in rows.items()
    }  # fmt: skip


def _looked_up(database: Database, query: Query, source: str) -> tuple[list[Term], list[int]]:
    """The terms to search for, misspelled ones among them guessed, and how many have each."""
    terms: list[Term] = []
    counts: list[int] = []
    for term in query.terms:
        count = database.held(term, source) if term.weight or term.is_other else 0
        if term.weight and not count:
            term = _guess_term(database, term)
            count = database.held(term, source) if term.sure < 1 else 0
        terms.append(term)
        counts.append(count)
    return terms, counts


def _match_term(
    database: Database,
    term: Term,
    held_by: int,
    total: int,
    among: Collection[int],
    is_scored: bool,
) -> TermMatch:
    """What a term says, and which of some chunks have it."""
    rarity = ranking.word_rarity(held_by, total)
    lift = rarity - ranking.scored_rarity(held_by, total) if is_scored else rarity
    chunks = database.having(term, among) if held_by else set()
    head = database.having(term, chunks, head=True) if lift > ranking.HEADED else set()
    return TermMatch(term.weight * rarity, chunks, term.sure, held_by, lift, head)


def _guess_term(database: Database, term: Term) -> Term:
    """A term that nothing has, as the similar words that something has; itself without any."""
    if term.prefix or len(term.ways[0]) > 1:
        return term
    similar = database.similar(term.ways[0][0])
    if not similar:
        return term
    return term._replace(ways=tuple((word,) for word in similar), sure=_GUESSED)
