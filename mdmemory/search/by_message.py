"""Which notes a message needs, by the words that both have. Under a strict bar: most need none.

A message is no question: it has many words, and few of them say what it is about. So two rare
words have to meet in a note, and so rarely that chance would hardly bring them together.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Iterator
from datetime import date

from mdmemory.search import ranking
from mdmemory.search.answer import make_hit
from mdmemory.search.database import Database
from mdmemory.search.query import Term, parse
from mdmemory.search.results import MEMORY, Hit
from mdmemory.text import words
from mdmemory.text.search_words import everyday_words, stem_ways

BAR = 2.0  # how far above chance, as a logarithm: chance alone reaches it in one message of seven
CHANCES = 0.5  # of the logarithm of how many words tell that is added: more words, more chances
MEETING = 2  # words that tell what a message is about, and stand in the note too
LIGHT = 0.35  # of a word counts that any message may have
NEARLY = 0.75  # of the best note's score that another one needs
MOST = 3  # notes for one message
LEAST = 100  # notes; in a smaller store a word is as rare as in one of so many
COMMON = 0.05  # of all notes; a word that more of them have tells little
FEW = 200  # notes; so many are counted in any case
_LOOKED_AT = 12  # places whose texts are read
# Numbers that stand anywhere: small ones, years and days.
_NUMBER = re.compile(r"\d{1,3}|(?:19|20)\d\d(?:\d{4})?")


def needed_notes(database: Database, text: str, today: date, bar: float = BAR) -> list[Hit]:
    """The notes that a message needs, the surest first, each by its best place; [] for most
    messages. A score is how far above chance that is, as a logarithm: at least `bar`."""
    total = max(LEAST, database.count(MEMORY))
    terms = [*_distinct_terms(parse(text, today).terms)]
    light = everyday_stems(text)
    telling = sum(not is_light(term, light) for term in terms)
    if telling < MEETING:
        return []
    # the sum of the rarities of the words that each place shares with the message, and how many of
    # them tell what it is about
    limit = max(FEW, int(total * COMMON))
    scores: dict[int, tuple[float, int]] = {}
    for term in terms:
        holders = database.holding(term, MEMORY, limit)
        tells = not is_light(term, light) and bool(term.weight) and len(holders) < limit
        weight = ranking.word_rarity(len(holders), total) * (1.0 if tells else LIGHT)
        for chunk in holders:
            score, count = scores.get(chunk, (0.0, 0))
            scores[chunk] = score + weight, count + tells
    chance = math.log(total) + CHANCES * math.log(telling)
    sure = {
        chunk: score for chunk, (score, count) in scores.items()
        if count >= MEETING and score >= chance + bar
    }  # fmt: skip
    best = sorted(sure, key=lambda chunk: (-sure[chunk], chunk))[:_LOOKED_AT]
    rows = database.rows(best) if best else {}
    hits: dict[str, Hit] = {}
    for chunk in best:
        if chunk in rows and sure[chunk] >= NEARLY * sure[best[0]]:
            hits.setdefault(rows[chunk].file, make_hit(rows[chunk], sure[chunk] - chance))
    return list(hits.values())[:MOST]


def is_telling(text: str, today: date) -> bool:
    """Whether a message has words enough to be about something."""
    light = everyday_stems(text)
    terms = _distinct_terms(parse(text, today).terms)
    return sum(not is_light(term, light) for term in terms) >= MEETING


def _distinct_terms(terms: Iterable[Term]) -> Iterator[Term]:
    """The terms without those that are another one in another form, or what people also call it,
    and without characters of CJK alone: their pairs count."""
    seen: set[tuple[str, ...]] = set()
    for term in terms:
        is_sign = len(term.ways[0][0]) == 1 and words.is_cjk(term.ways[0][0])
        if not (is_sign or term.is_other) and seen.isdisjoint(term.ways):
            yield term
        seen.update(term.ways)


def is_light(term: Term, light: Container[str]) -> bool:
    """Whether a term says nothing of what a message is about: a word of everyday work (`light`
    has the stems of those), a letter, a small number, a day."""
    first, *more = term.ways[0]
    if more:
        return False
    is_any = len(first) == 1 or bool(_NUMBER.fullmatch(first))
    return is_any or any(len(way) == 1 and way[0] in light for way in term.ways)


def everyday_stems(text: str) -> frozenset[str]:
    """The stems of the words of everyday work that a text has, by the rule of each language."""
    known = everyday_words()
    stems = (word for word in words.word_tokens(text) if word in known)
    return frozenset(way for word in stems for way in stem_ways(word))
