"""From a query to hits: looks for each term, lets the database rank, and drops what does not fit.

Everything that needs the text of chunks happens on the best few only.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date

from mdmemory.note.note import SUPERSEDED
from mdmemory.search import ranking
from mdmemory.search.by_words import by_words
from mdmemory.search.database import BrokenError, Database, LockedError, Row, UnusableError
from mdmemory.search.query import parse
from mdmemory.search.ranking import Channel
from mdmemory.search.results import MEMORY, SESSIONS, SOURCES, Found, Hit

CANDIDATES = 60  # chunks that are looked at, or more where more hits are asked for
TURNS = 3  # places of one session that are shown


@dataclass(frozen=True, slots=True)
class Weights:
    """What a person may set: the share of each channel, and after how many days a hit counts less
    (0: never)."""

    keyword: float = 0.5
    vector: float = 0.5
    half_life: int = 0


@dataclass(frozen=True, slots=True)
class Meaning:
    """A query as a vector of a `model`, and how near (cosine) to it a text has to be that has
    none of its words."""

    model: str
    vector: bytes
    floor: float = 0.3


def answer(
    database: Database, text: str, *, source: str, k: int, today: date, weights: Weights,
    meaning: Meaning | None = None,
) -> Found:  # fmt: skip
    """The `k` best places of a source for a query; none where nothing fits well enough."""
    query = parse(text, today)
    if not query.terms:
        return Found("keyword", (), ("There is no word in the query to look for.",))
    limit = max(CANDIDATES, 2 * k)
    said: tuple[str, ...] = ()
    try:
        matched = by_words(database, query, source, limit)
    except (BrokenError, LockedError):
        raise
    except UnusableError:
        if meaning is None:
            raise
        matched, said = {}, ("The words of the query could not be looked for: only its meaning.",)
    near, low = _by_meaning(database, meaning, source, limit, matched)
    mode = ("vectors" if said else "hybrid") if near else "keyword"
    channels = [Channel(weights.keyword, matched, high=1.0), Channel(weights.vector, near, low)]
    final, rows = {}, database.rows({*matched, *near})
    for chunk, score in ranking.fused(channels).items():
        if chunk in rows:
            row = rows[chunk]
            named = ranking.NAMED * ranking.is_named(row.name, query.words)
            final[chunk] = ranking.aged(min(1.0, score + named), row.date, today, weights.half_life)
    order = sorted(
        final, key=lambda c: (rows[c].status == SUPERSEDED, -final[c], rows[c].file, rows[c].start)
    )
    places = TURNS if source == SESSIONS else 1
    best = ranking.folded(((c, rows[c].file, rows[c].text) for c in order), k, places)
    return Found(mode, tuple(_hit(rows[chunk], final[chunk]) for chunk in best), said)


def merged(found: Sequence[Found], k: int) -> Found:
    """The best of several sources; at least half of `k` are notes, where so many match."""
    notes = [hit for each in found for hit in each.hits if hit.source == MEMORY]
    kept = sorted(notes, key=_rank)[: (k + 1) // 2]
    rest = [hit for each in found for hit in each.hits if hit not in kept]
    for hit in sorted(rest, key=_rank):
        if len(kept) < k and not any(ranking.same(hit.text, other.text) for other in kept):
            kept.append(hit)
    modes = {each.mode for each in found}
    mode = next((mode for mode in ("hybrid", "vectors") if mode in modes), "keyword")
    said = dict.fromkeys(sentence for each in found for sentence in each.said)
    return Found(mode, tuple(sorted(kept, key=_rank)), tuple(said))


def of_layer(found: Found, layer: str, project: str) -> Found:
    """What one store answered, each hit with whose it is."""
    hits = (dataclasses.replace(hit, layer=layer, project=project) for hit in found.hits)
    return dataclasses.replace(found, hits=tuple(hits))


def joined(found: Sequence[Found], k: int) -> Found:
    """The best of several stores; a text that an earlier one has, too, is that one's."""
    if len(found) == 1:
        return found[0]
    texts: list[str] = []
    fresh = []
    for each in found:
        hits = [hit for hit in each.hits if not any(ranking.same(hit.text, t) for t in texts)]
        texts += [hit.text for hit in hits]
        fresh.append(dataclasses.replace(each, hits=tuple(hits)))
    return merged(fresh, k)


def _rank(hit: Hit) -> tuple[bool, float, int]:
    return hit.status == SUPERSEDED, -hit.score, SOURCES.index(hit.source)


def _by_meaning(
    database: Database, meaning: Meaning | None, source: str, limit: int, matched: Collection[int]
) -> tuple[dict[int, float], float]:
    """The chunks that are near by their meaning, or match by their words and have a vector; with
    the least nearness there is."""
    if meaning is None:
        return {}, 0.0
    near, low = database.nearest(source, meaning.model, meaning.vector, limit, matched)
    low = min(low, 0.0) if len(near) < 2 else low  # what is alone is as near as can be
    near = {c: cosine for c, cosine in near.items() if c in matched or cosine >= meaning.floor}
    return near, low


def _hit(row: Row, score: float) -> Hit:
    return Hit(
        row.file, row.name, row.start, row.end, round(score, 4), row.source, row.text,
        row.title or row.name, row.date, row.status,
    )  # fmt: skip
