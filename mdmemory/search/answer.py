"""From a query to hits: looks for each term, lets the database rank, and parts strong from weak.

What matches is never hidden: strong hits come first, weak ones after them, superseded ones last.

Everything that needs the text of chunks happens on the best few only.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from mdmemory.note.note import SUPERSEDED
from mdmemory.search import evidence, nearness, ranking
from mdmemory.search.by_words import Fit, by_words
from mdmemory.search.database import BrokenError, Database, LockedError, Row, UnusableError
from mdmemory.search.query import Query, parse, signed
from mdmemory.search.ranking import Channel
from mdmemory.search.results import MEMORY, SESSIONS, SOURCES, Found, Hit
from mdmemory.text.words import parts

CANDIDATES = 60  # chunks that are looked at, or more where more hits are asked for,
WIDER = 10  # times as many where these are too much alike, or of too few files,
MOST = 3_000  # and no more: SQLite takes 32,766 numbers at once, and a turn brings its neighbours
TURNS = 3  # places of one session that are shown


class Weights(NamedTuple):
    """What a person may set: the share of each channel, and after how many days a hit counts less
    (0: never)."""

    keyword: float = 0.5
    vector: float = 0.5
    half_life: int = 0


class Meaning(NamedTuple):
    """A query as a vector of a `model`, and how near (cosine) to it a text has to be that has
    none of its words."""

    model: str
    vector: bytes
    floor: float = 0.3


def answer(
    database: Database, text: str, *, source: str, k: int, today: date, weights: Weights,
    meaning: Meaning | None = None,
) -> Found:  # fmt: skip
    """The `k` best places of a source for a query, strong ones first; none where nothing
    matches."""
    query = parse(text, today)
    if not query.terms:
        return Found("keyword", (), ("There is no word in the query to look for.",))
    limit = max(CANDIDATES, 2 * k)
    while True:
        found, looked_at = _best(database, text, query, source, k, limit, today, weights, meaning)
        if len(found.hits) >= k or looked_at < limit or limit >= MOST:
            return found
        limit = min(MOST, WIDER * limit)


def _best(
    database: Database, text: str, query: Query, source: str, k: int, limit: int, today: date,
    weights: Weights, meaning: Meaning | None,
) -> tuple[Found, int]:  # fmt: skip
    """The best places among so many chunks at most, and how many chunks these were."""
    said: tuple[str, ...] = ()
    try:
        fit = by_words(database, query, source, limit)
    except (BrokenError, LockedError):
        raise
    except UnusableError:
        if meaning is None:
            raise
        fit = Fit({})
        said = ("The words of the query could not be looked for: only its meaning.",)
    near, low, close = _by_meaning(database, meaning, source, limit, fit.scores)
    mode = ("vectors" if said else "hybrid") if near else "keyword"
    channels = [Channel(weights.keyword, fit.scores, high=1.0), Channel(weights.vector, near, low)]
    rows = fit.rows if fit.rows is not None and fit.rows.keys() >= near.keys() else None
    rows = rows if rows is not None else database.rows({*fit.scores, *near})
    called = {
        chunk for chunk, row in rows.items()
        if ranking.is_named(_names(row), query.words, query.names)
    }  # fmt: skip
    written = [c for c, row in rows.items() if query.signed and query.signed <= signed(_whole(row))]
    sure = _evidence(text, query, fit, rows, called)
    is_all = sum(term.weight >= 1 for term in query.terms) < 2  # that is asked for, or nearly
    sure |= dict.fromkeys(written if is_all else (), 1.0)
    sure = {chunk: max(sure.get(chunk, 0.0), close.get(chunk, 0.0)) for chunk in rows}
    scores = {chunk: score for chunk, score in ranking.fused(channels).items() if chunk in rows}
    scores = ranking.named(scores, called & scores.keys())
    scores = ranking.named(scores, written, 1.0)
    scores = {c: ranking.aged(s, rows[c].date, today, weights.half_life) for c, s in scores.items()}
    old = {chunk for chunk in scores if rows[chunk].status == SUPERSEDED}
    weak = old | {chunk for chunk in scores if sure.get(chunk, 0.0) < evidence.STRONG}
    order = sorted(
        scores, key=lambda c: (c in old, c in weak, -scores[c], rows[c].file, rows[c].start)
    )
    places = TURNS if source == SESSIONS else 1
    facts = ((c, rows[c].file, f"{rows[c].description}\n{rows[c].text}") for c in order)
    best = ranking.folded(facts, k, places)
    hits = (_hit(rows[c], scores[c], sure.get(c, 0.0), weak=c in weak) for c in best)
    return Found(mode, tuple(hits), said), len(scores)


def merged(found: Sequence[Found], k: int) -> Found:
    """The best of several sources; at least half of `k` are notes, where so many are strong."""
    notes = [
        hit for each in found for hit in each.hits
        if hit.source == MEMORY and not hit.weak and hit.status != SUPERSEDED
    ]  # fmt: skip
    kept = sorted(notes, key=_rank)[: (k + 1) // 2]
    rest = [hit for each in found for hit in each.hits if hit not in kept]
    for hit in sorted(rest, key=_rank):
        if len(kept) < k and not any(_is_again(hit, other) for other in kept):
            kept.append(hit)
    modes = {each.mode for each in found}
    mode = next((mode for mode in ("hybrid", "vectors") if mode in modes), "keyword")
    said = dict.fromkeys(sentence for each in found for sentence in each.said)
    return Found(mode, tuple(sorted(kept, key=_rank)), tuple(said))


def of_layer(found: Found, layer: str, project: str) -> Found:
    """What one store answered, each hit with whose it is."""
    hits = (hit._replace(layer=layer, project=project) for hit in found.hits)
    return found._replace(hits=tuple(hits))


def joined(found: Sequence[Found], k: int) -> Found:
    """The best of several stores; a text that an earlier one has, too, is that one's."""
    if len(found) == 1:
        return found[0]
    before: list[Hit] = []
    fresh = []
    for each in found:
        hits = [hit for hit in each.hits if not any(_is_again(hit, other) for other in before)]
        before += [hit for hit in hits if hit.status != SUPERSEDED]
        fresh.append(each._replace(hits=tuple(hits)))
    return merged(fresh, k)


def _is_again(hit: Hit, other: Hit) -> bool:
    """Whether a hit says what another one does. Where one of them has no description, as a place
    in a file, their passages tell."""
    if hit.description and other.description:
        return ranking.same(hit.fact, other.fact)
    return ranking.same(hit.text, other.text)


def _rank(hit: Hit) -> tuple[bool, bool, float, int]:
    return hit.status == SUPERSEDED, hit.weak, -hit.score, SOURCES.index(hit.source)


def _evidence(
    text: str, query: Query, fit: Fit, rows: Mapping[int, Row], called: Collection[int]
) -> dict[int, float]:
    """How sure it is, by words, that each chunk answers the query. A phrase in quotes, a name of
    code, or the whole name of a note settles it."""
    names, exact = evidence.names(text), evidence.identifiers(text)
    support = evidence.by_words(query.terms, fit.asked, fit.total, names)
    in_force = {chunk: row.file for chunk, row in rows.items() if row.status != SUPERSEDED}
    found = evidence.settled(support, in_force)
    for chunk, row in rows.items():
        is_exact = fit.quoted and chunk in fit.scores
        if exact and not is_exact:
            is_exact = any(each in _whole(row).casefold() for each in exact)
        if is_exact or (chunk in called and _is_called(row, query)):
            found[chunk] = 1.0
    return found


def _is_called(row: Row, query: Query) -> bool:
    """Whether the query has the whole name of a note, or an alias. One word is a name only where
    it is all that is asked for, and an alias where little else is."""
    others = sum(term.weight >= 1 for term in query.terms) - 1
    name, *aliases = _names(row)
    called = [name] if others < 1 or len(parts(name)) > 1 else []
    called += [alias for alias in aliases if others < 2 or len(parts(alias)) > 1]
    return ranking.is_named(called, query.words, query.names)


def _whole(row: Row) -> str:
    return f"{row.name} {row.aliases} {row.description} {row.text}"


def _names(row: Row) -> tuple[str, ...]:
    return (row.name, *row.aliases.split("\n"))


def _by_meaning(
    database: Database, meaning: Meaning | None, source: str, limit: int, matched: Collection[int]
) -> tuple[dict[int, float], float, dict[int, float]]:
    """The chunks that are near by their meaning, or match by their words and have a vector; the
    least nearness there is; and the evidence that each nearness is."""
    if meaning is None:
        return {}, 0.0, {}
    near, spread = database.nearest(source, meaning.model, meaning.vector, limit, matched)
    low = min(spread.low, 0.0) if len(near) < 2 else spread.low  # what is alone is near
    sure = {c: nearness.evidence(near[c], meaning.floor, spread) for c in near}
    return {c: near[c] for c in near if c in matched or sure[c] > 0}, low, sure


def _hit(row: Row, score: float, evident: float, *, weak: bool) -> Hit:
    score = 0.5 * score + (0.0 if weak else 0.5)  # a weak hit never scores like a strong one
    title = row.title or (row.description if row.source == MEMORY else "") or row.name
    return Hit(
        row.file, row.name, row.start, row.end, round(score, 4), row.source, row.text, title,
        row.date, row.status, description=row.description, weak=weak,
        evidence=round(evident, 4), cited=row.cites,
    )  # fmt: skip
