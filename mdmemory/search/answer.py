"""From a query to hits: looks for each term, lets the database rank, and drops what does not fit.

Everything that needs the text of chunks happens on the best few only.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from mdmemory.note.note import SUPERSEDED
from mdmemory.search import ranking
from mdmemory.search.database import BrokenError, Database, LockedError, Row, UnusableError
from mdmemory.search.query import Query, Term, parse
from mdmemory.search.ranking import Channel, TermMatch
from mdmemory.search.results import MEMORY, SESSIONS, SOURCES, Found, Hit

CANDIDATES = 60  # chunks that are looked at, or more where more hits are asked for
MANY = 3_000  # chunks; a word in more of them is counted no further
BESIDE = 3  # as many turns are looked at: the score of one counts for its neighbours, too
TURNS = 3  # places of one session that are shown
_GUESSED = 0.8  # of a word counts where a similar one was found


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
        matched = _by_words(database, query, source, limit)
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


def _by_words(database: Database, query: Query, source: str, limit: int) -> dict[int, float]:
    """The chunks that fit by their words, each with a score from 0 to 1."""
    terms, asked = _looked_up(database, query, source)
    limit *= BESIDE if source == SESSIONS else 1
    scores = database.best(terms, query.phrases, source, limit)
    if not scores and query.phrases:  # quotes are often meant lightly
        scores = database.best(terms, (), source, limit)
    windows = _windows(database, scores) if source == SESSIONS else {}
    asked = _exactly(database, terms, asked, source, {*scores, *windows})
    if source == SESSIONS:
        scores = ranking.smoothed(scores, windows)
        asked = [_in_windows(term, windows) for term in asked]
    share = {chunk: ranking.covered(asked, chunk) for chunk in scores}
    scores = {chunk: scores[chunk] for chunk in ranking.enough(share)}
    fitting = ranking.fused([Channel(1.0, scores)])
    return {chunk: score * share[chunk] for chunk, score in fitting.items()}


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


def _hit(row: Row, score: float) -> Hit:
    return Hit(
        row.file, row.name, row.start, row.end, round(score, 4), row.source, row.text,
        row.title or row.name, row.date, row.status,
    )  # fmt: skip
