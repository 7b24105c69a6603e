"""From a query to hits: looks for each term, lets the database rank, and shows the best by rank.

What matches is never hidden; superseded notes come last. A match is no proof: each hit tells which
words matched, and the reader judges. Only of the best few chunks the text is looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from mdmemory.note.note import SUPERSEDED
from mdmemory.search import ranking
from mdmemory.search.database import BrokenError, Database, LockedError, Row, UnusableError
from mdmemory.search.query import Query, Term, are_signed, parse
from mdmemory.search.ranking import Channel, TermMatch
from mdmemory.search.results import MEMORY, SESSIONS, SOURCES, Found, Hit, matched_words

CANDIDATES = 60  # chunks that are looked at, or more where more hits are asked for,
WIDER = 10  # times as many where these are too much alike, or of too few files,
MOST = 3_000  # and no more: SQLite takes 32,766 numbers at once, and a turn brings its neighbours
TURNS = 3  # places of one session that are shown
MEANT = 5  # chunks that are hits by their meaning alone: each text is a little near
SCANNED = 1_000  # chunks with the rarest words of a query, from which on the others are not read
BESIDE = 3  # as many turns are looked at: the score of one counts for its neighbours, too
_OTHER = 0.5  # of the score of a word counts one that people use for it
_GUESSED = 0.8  # of a word counts where a similar one was found


class Meaning(NamedTuple):
    """A query as a vector of a `model`."""

    model: str
    vector: bytes


def answer_query(
    database: Database, text: str, *, source: str, k: int, today: date,
    meaning: Meaning | None = None,
) -> Found:  # fmt: skip
    """The `k` best places of a source for a query; none where nothing matches."""
    query = parse(text, today)
    if not query.terms:
        return Found("keyword", (), ("There is no word in the query to look for.",))
    limit = max(CANDIDATES, 2 * k)
    while True:
        hits_best, looked_at = _find_best(database, text, query, source, k, limit, meaning)
        if len(hits_best.hits) >= k or looked_at < limit or limit >= MOST:
            return hits_best
        limit = min(MOST, WIDER * limit)


def _find_best(
    database: Database, text: str, query: Query, source: str, k: int, limit: int,
    meaning: Meaning | None,
) -> tuple[Found, int]:  # fmt: skip
    """The best places among so many chunks at most, and how many chunks these were."""
    by_words: Mapping[int, float] = {}
    sentences: tuple[str, ...] = ()
    try:
        by_words = _score_words(database, query, source, limit)
    except UnusableError as problem:
        if meaning is None or isinstance(problem, BrokenError | LockedError):
            raise
        sentences = ("The words of the query could not be looked for: only its meaning.",)
    near = Channel({})
    if meaning is not None:  # the cosines of what matches by its words, and of the nearest others
        cosines, low = database.nearest(source, meaning.model, meaning.vector, limit, by_words)
        low = min(low, 0.0) if len(cosines) < 2 else low  # what is alone is near
        chunks = [*[*meant_chunks(cosines, low)][:MEANT], *(c for c in cosines if c in by_words)]
        near = Channel({c: cosines[c] for c in chunks}, low)
    mode = ("vectors" if sentences else "hybrid") if near.scores else "keyword"
    rows = database.rows({*by_words, *near.scores})
    fused = ranking.fuse_channels([Channel(by_words, high=1.0), near])
    scores = {chunk: score for chunk, score in fused.items() if chunk in rows}
    names = {chunk: (rows[chunk].name, *rows[chunk].aliases.split("\n")) for chunk in scores}
    called = [c for c in scores if ranking.is_named(names[c], query.words, query.names)]
    scores = ranking.raise_named(scores, called)
    if query.signed:
        texts = {c: f"{r.name} {r.aliases} {r.description} {r.text}" for c, r in rows.items()}
        written = [c for c in scores if are_signed(query.signed, texts[c])]
        scores = ranking.raise_named(scores, written, 1.0)
    old = {chunk for chunk in scores if rows[chunk].status == SUPERSEDED}
    order = sorted(scores, key=lambda c: (c in old, -scores[c], rows[c].file, rows[c].start))
    places = TURNS if source == SESSIONS else 1
    facts = ((c, rows[c].file, f"{rows[c].description}\n{rows[c].text}") for c in order)
    best = ranking.fold_hits(facts, k, places)
    hits = tuple(make_hit(rows[c], scores[c], text) for c in best)
    return Found(mode, hits, sentences), len(scores)


def meant_chunks(near: Mapping[int, float], low: float) -> dict[int, float]:
    """The cosines of those chunks that lie nearer to the nearest than to the farthest, at `low`."""
    least = (max(near.values(), default=0.0) + low) / 2
    return {chunk: cosine for chunk, cosine in near.items() if cosine > least}


def make_hit(row: Row, score: float, query: str | None = None) -> Hit:
    """A place as a hit; where a `query` was asked, with what it says to that."""
    hit = Hit(
        row.file, row.name, row.start, row.end, round(score, 4), row.source, row.text,
        row.title or row.name, row.date, row.status, cited=row.cites,
    )  # fmt: skip
    if query is None:
        return hit
    title = row.title or (row.description if row.source == MEMORY else "") or row.name
    texts = (row.name.replace("-", " "), row.title, row.description, row.text)
    matched = matched_words(texts, query)
    return hit._replace(title=title, description=row.description, matched=matched)


# --- by words


def _score_words(database: Database, query: Query, source: str, limit: int) -> dict[int, float]:
    """The chunks that have any word of a query, each with a score from 0 to 1. Words that no chunk
    has change no order."""
    counted = _count_terms(database, query, source)
    limit *= BESIDE if source == SESSIONS else 1
    rare = ranking.rarest_terms([pair for pair in counted if not pair[1].is_other], SCANNED)
    scores = database.best(rare, query.phrases, source, limit)
    quoted = bool(query.phrases and scores)
    if not scores and query.phrases:  # quotes are often meant lightly
        scores = database.best(rare, (), source, limit)
    few = [(count, term) for count, term in counted if term.is_other and 0 < count <= SCANNED]
    if few and not quoted:
        others = database.best(ranking.rarest_terms(few, SCANNED), (), source, limit)
        for chunk, score in others.items():
            scores[chunk] = scores.get(chunk, 0.0) + _OTHER * score
    windows = _turn_windows(database, scores) if source == SESSIONS else {}
    among, total = {*scores, *windows}, database.count(source)
    matches: list[TermMatch] = []
    for count, term in counted:
        if term.weight != 1 and not (term.weight and term in rare):
            continue  # a light word of many tells nothing
        chunks = database.having(term, among) if count else set()
        rarity = ranking.word_rarity(count, total)
        matches.append(TermMatch(term.weight * rarity, chunks, term.sure, count))
    if source == SESSIONS:
        scores = ranking.smooth_scores(scores, windows)
    shares = ranking.word_shares(matches, scores)
    scores = {chunk: score * shares[chunk] for chunk, score in scores.items()}
    return ranking.fuse_channels([Channel(scores)])


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


def _count_terms(database: Database, query: Query, source: str) -> list[tuple[int, Term]]:
    """The terms to search for, each with how many chunks have it; one that none has as the similar
    words that some have."""
    counted: list[tuple[int, Term]] = []
    for term in query.terms:
        count = database.held(term, source) if term.weight or term.is_other else 0
        may_guess = term.weight and not count and not term.prefix and len(term.ways[0]) == 1
        if similar := database.similar(term.ways[0][0]) if may_guess else ():
            term = term._replace(ways=tuple((word,) for word in similar), sure=_GUESSED)
            count = database.held(term, source)
        counted.append((count, term))
    return counted


# --- several sources, several stores


def merge_sources(results: Sequence[Found], k: int) -> Found:
    """The best of several sources; at least half of `k` are notes, where so many match."""
    notes = [
        hit for each in results for hit in each.hits
        if hit.source == MEMORY and hit.status != SUPERSEDED
    ]  # fmt: skip
    best_notes = sorted(notes, key=_rank_hit)[: (k + 1) // 2]
    rest = [hit for each in results for hit in each.hits if hit not in best_notes]
    for hit in sorted(rest, key=_rank_hit):
        if len(best_notes) < k and not any(_is_again(hit, other) for other in best_notes):
            best_notes.append(hit)
    modes = {each.mode for each in results}
    mode = next((mode for mode in ("hybrid", "vectors") if mode in modes), "keyword")
    sentences = dict.fromkeys(sentence for each in results for sentence in each.said)
    return Found(mode, tuple(sorted(best_notes, key=_rank_hit)), tuple(sentences))


def join_stores(results: Sequence[Found], k: int) -> Found:
    """The best of several stores; a text that an earlier one has, too, is that one's."""
    if len(results) == 1:
        return results[0]
    before: list[Hit] = []
    fresh = []
    for each in results:
        hits = [hit for hit in each.hits if not any(_is_again(hit, other) for other in before)]
        before += [hit for hit in hits if hit.status != SUPERSEDED]
        fresh.append(each._replace(hits=tuple(hits)))
    return merge_sources(fresh, k)


def _is_again(hit: Hit, other: Hit) -> bool:
    """Whether a hit says what another one does. Where one of them has no description, as a place
    in a file, their passages tell."""
    if hit.description and other.description:
        return ranking.says_same(hit.fact, other.fact)
    return ranking.says_same(hit.text, other.text)


def _rank_hit(hit: Hit) -> tuple[bool, float, int]:
    return hit.status == SUPERSEDED, -hit.score, SOURCES.index(hit.source)
