"""Questions to the search database in PostgreSQL: who has a word, and what fits best.

The server picks what is looked at, by its own rank; the scores are those of bm25, as SQLite has it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from mdmemory.search.postgres import keywords
from mdmemory.search.postgres.keywords import Phrase
from mdmemory.search.postgres.server import Connected
from mdmemory.search.query import Term
from mdmemory.search.tables import numbers

SCANNED = 2_000  # chunks with the rarest words of a query, from which on no commoner ones are read
LOOKED = 5  # times as many chunks as are wanted are scored to the letter


class PostgresWords(Connected):
    """The part of a Database that reads words."""

    def held(self, term: Term, source: str) -> int:
        query = "SELECT count(*) FROM chunks WHERE words @@ ?::tsquery AND id BETWEEN ? AND ?"
        return int(self._ask(query, term, "", *numbers(source))[0][0])

    def holding(self, term: Term, source: str, limit: int) -> set[int]:
        query = "SELECT id FROM chunks WHERE words @@ ?::tsquery AND id BETWEEN ? AND ? LIMIT ?"
        return {number for (number,) in self._ask(query, term, "", *numbers(source), limit)}

    def having(self, term: Term, among: Collection[int], *, head: bool = False) -> set[int]:
        # the offset has these few read, and not the index of all words
        query = (
            "SELECT id FROM (SELECT id, words, ?::tsquery AS asked FROM chunks WHERE id = ANY (?)"
            " OFFSET 0) AS few WHERE words @@ asked"
        )
        labels = keywords.HEAD if head else keywords.NO_LINK
        return {number for (number,) in self._ask(query, term, labels, [*among])}

    def _ask(self, query: str, term: Term, labels: str, *values: object) -> list[Any]:
        """The rows of a query whose first value is a term, looked for in fields with these
        labels."""
        asked = keywords.any_of(keywords.phrases(term), labels)
        with self._reading() as rows:
            return rows(query, (asked, *values))

    def best(
        self, terms: Sequence[Term], phrases: Sequence[Term], source: str, limit: int
    ) -> dict[int, float]:
        with self._reading() as rows:
            held = self._held([*dict.fromkeys(_phrases((*terms, *phrases)))])
            needed = [[way for way in keywords.phrases(term) if way in held] for term in phrases]
            if not held or not all(needed):
                return {}
            chunks, words = map(int, rows("SELECT sum(chunks), sum(words) FROM totals")[0])
            rare = {each: keywords.rarity(count, chunks) for each, count in held.items()}
            match = " & ".join(f"({keywords.any_of(spellings)})" for spellings in needed)
            match = match or keywords.any_of(_rarest(held))
            looked = self._roughly_best(match, rare, source, LOOKED * limit)
            lengths, places = self._places(looked, [*held])
        scores = {}
        for chunk, length in lengths.items():
            found = [(rare[p], keywords.frequency(p, places[chunk])) for p in held]
            scores[chunk] = keywords.bm25(found, length, words / chunks)
        order = sorted(scores, key=lambda chunk: (-scores[chunk], chunk))
        return {chunk: scores[chunk] for chunk in order[:limit]}

    def _roughly_best(
        self, match: str, rare: Mapping[Phrase, float], source: str, limit: int
    ) -> list[int]:
        """Chunks, by the server's own rank of each phrase, which knows no rarity."""
        rank = (
            "(SELECT sum(r * ts_rank(?::real[], words, q))"
            " FROM unnest(?::text[]::tsquery[], ?::float8[]) AS a (q, r))"
        )
        found = self._rows(
            "SELECT id FROM chunks WHERE words @@ ?::tsquery AND id BETWEEN ? AND ?"
            f" ORDER BY {rank} DESC, id LIMIT ?",
            (match, *numbers(source), [*keywords.LABEL_WEIGHTS], [each.asked for each in rare],
             [*rare.values()], limit),
        )  # fmt: skip
        return [number for (number,) in found]

    def _places(
        self, chunks: Sequence[int], asked: Sequence[Phrase]
    ) -> tuple[dict[int, int], dict[int, dict[str, list[int]]]]:
        """The length of each chunk, and where in it the stems of these phrases stand."""
        found = self._rows(
            "SELECT c.id, c.length, u.lexeme, u.positions FROM chunks c, unnest(c.words) AS u"
            " WHERE c.id = ANY(?) AND (u.lexeme = ANY(?) OR u.lexeme ^@ ANY(?))",
            ([*chunks], [stem for each in asked for stem in each.stems],
             [each.stems[-1] for each in asked if each.prefix]),
        )  # fmt: skip
        lengths: dict[int, int] = {}
        places: dict[int, dict[str, list[int]]] = {}
        for chunk, length, word, at in found:
            lengths[chunk] = length
            places.setdefault(chunk, {})[word] = at
        return lengths, places

    def _held(self, asked: Sequence[Phrase]) -> dict[Phrase, int]:
        """How many chunks of all hold each phrase; without those that none does."""
        words = [each for each in asked if len(each.stems) == 1 and not each.prefix]
        query = "SELECT word, held FROM vocabulary WHERE word = ANY(?) AND held > 0"
        held = dict(self._rows(query, ([each.stems[0] for each in words],)))
        found = {each: int(held.get(each.stems[0], 0)) for each in words}
        if others := [each for each in asked if each not in found]:
            query = (
                "SELECT (SELECT count(*) FROM chunks WHERE words @@ q)"
                " FROM unnest(?::text[]::tsquery[]) WITH ORDINALITY AS a (q, at) ORDER BY at"
            )
            counts = self._rows(query, ([each.asked for each in others],))
            found |= {each: int(count) for each, (count,) in zip(others, counts, strict=True)}
        return {each: count for each, count in found.items() if count}

    def similar(self, word: str) -> tuple[str, ...]:
        from mdmemory.text.similarity import LONG, nearest

        with self._reading() as rows:
            slips = 2 if len(word) >= LONG else 1
            # hardly anybody misspells the first letter, and it spares reading all the others
            query = (
                "SELECT word FROM vocabulary WHERE word ^@ ? AND held > 0"
                " AND length(word) BETWEEN ? AND ?"
            )
            known = rows(query, (word[:1], len(word) - slips, len(word) + slips)) if word else []
        return nearest(word, [term for (term,) in known])


def _phrases(terms: Sequence[Term]) -> list[Phrase]:
    return [phrase for term in terms for phrase in keywords.phrases(term)]


def _rarest(held: Mapping[Phrase, int]) -> list[Phrase]:
    """The phrases that few chunks hold: without the common ones, which would be most of the work
    and hardly change what comes first."""
    order = sorted(held, key=lambda each: (held[each], each.stems))
    total = 0
    kept: list[Phrase] = []
    for each in order:
        if kept and total + held[each] > SCANNED:
            break
        total += held[each]
        kept.append(each)
    return kept
