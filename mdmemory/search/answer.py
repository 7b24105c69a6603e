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
from mdmemory.search.by_words import Fit, by_words
from mdmemory.search.database import BrokenError, Database, LockedError, Row, UnusableError
from mdmemory.search.query import Query, are_signed, parse
from mdmemory.search.ranking import Channel
from mdmemory.search.results import MEMORY, SESSIONS, SOURCES, Found, Hit, matched_words

CANDIDATES = 60  # chunks that are looked at, or more where more hits are asked for,
WIDER = 10  # times as many where these are too much alike, or of too few files,
MOST = 3_000  # and no more: SQLite takes 32,766 numbers at once, and a turn brings its neighbours
TURNS = 3  # places of one session that are shown
MEANT = 5  # chunks that are hits by their meaning alone: each text is a little near


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
    fit, sentences = _by_words(database, query, source, limit, must=meaning is None)
    near = _by_meaning(database, meaning, source, limit, fit.scores)
    mode = ("vectors" if sentences else "hybrid") if near.scores else "keyword"
    rows = fit.rows if fit.rows is not None and fit.rows.keys() >= near.scores.keys() else None
    rows = rows if rows is not None else database.rows({*fit.scores, *near.scores})
    fused = ranking.fuse_channels([Channel(fit.scores, high=1.0), near])
    scores = {chunk: score for chunk, score in fused.items() if chunk in rows}
    called = [c for c in scores if ranking.is_named(_row_names(rows[c]), query.words, query.names)]
    scores = ranking.raise_named(scores, called)
    if query.signed:
        written = [c for c in scores if are_signed(query.signed, _row_text(rows[c]))]
        scores = ranking.raise_named(scores, written, 1.0)
    old = {chunk for chunk in scores if rows[chunk].status == SUPERSEDED}
    order = sorted(scores, key=lambda c: (c in old, -scores[c], rows[c].file, rows[c].start))
    places = TURNS if source == SESSIONS else 1
    facts = ((c, rows[c].file, f"{rows[c].description}\n{rows[c].text}") for c in order)
    best = ranking.fold_hits(facts, k, places)
    return Found(mode, tuple(_make_hit(rows[c], scores[c], text) for c in best), sentences), len(
        scores
    )


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


def of_layer(result: Found, layer: str, project: str) -> Found:
    """What one store answered, each hit with whose it is."""
    hits = (hit._replace(layer=layer, project=project) for hit in result.hits)
    return result._replace(hits=tuple(hits))


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


def _row_text(row: Row) -> str:
    return f"{row.name} {row.aliases} {row.description} {row.text}"


def _row_names(row: Row) -> tuple[str, ...]:
    return (row.name, *row.aliases.split("\n"))


def _by_words(
    database: Database, query: Query, source: str, limit: int, *, must: bool
) -> tuple[Fit, tuple[str, ...]]:
    """The chunks that have words of the query, and what there is to say; none where these cannot
    be looked for and that is no `must`."""
    try:
        return by_words(database, query, source, limit), ()
    except (BrokenError, LockedError):
        raise
    except UnusableError:
        if must:
            raise
        sentence = "The words of the query could not be looked for: only its meaning."
        return Fit({}), (sentence,)


def _by_meaning(
    database: Database, meaning: Meaning | None, source: str, limit: int, also: Collection[int]
) -> Channel:
    """The cosines of chunks that match by their words, and of the nearest others."""
    if meaning is None:
        return Channel({})
    near, low = database.nearest(source, meaning.model, meaning.vector, limit, also)
    low = min(low, 0.0) if len(near) < 2 else low  # what is alone is near
    chunks = [*[*meant_chunks(near, low)][:MEANT], *(c for c in near if c in also)]
    return Channel({c: near[c] for c in chunks}, low)


def meant_chunks(near: Mapping[int, float], low: float) -> dict[int, float]:
    """The cosines of those chunks that lie nearer to the nearest than to the farthest, at `low`."""
    least = (max(near.values(), default=0.0) + low) / 2
    return {chunk: cosine for chunk, cosine in near.items() if cosine > least}


def _make_hit(row: Row, score: float, query: str) -> Hit:
    title = row.title or (row.description if row.source == MEMORY else "") or row.name
    texts = (row.name.replace("-", " "), row.title, row.description, row.text)
    return Hit(
        row.file, row.name, row.start, row.end, round(score, 4), row.source, row.text, title,
        row.date, row.status, description=row.description, matched=matched_words(texts, query),
        cited=row.cites,
    )  # fmt: skip
