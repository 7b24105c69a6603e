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
