"""Which notes a message needs, by the words that both have. Under a strict bar: most need none.

A message is no question: it has many words, and few of them say what it is about. So two rare
words have to meet in a note, and so rarely that chance would hardly bring them together.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from datetime import date
from functools import cache
from pathlib import Path

from mdmemory.search import ranking
from mdmemory.search.database import Database, Row
from mdmemory.search.query import Term, parse
from mdmemory.search.results import MEMORY, Hit
from mdmemory.text import words
from mdmemory.text.search_words import ways

BAR = 1.5  # how far above chance, as a logarithm: chance alone reaches it in one message of five
CHANCES = 0.5  # of the logarithm of how many words tell that is added: more words, more chances
MEETING = 2  # words that tell what a message is about, and stand in the note too
LIGHT = 0.35  # of a word counts that any message may have
NEARLY = 0.75  # of the best note's score that another one needs
MOST = 3  # notes for one message
LEAST = 100  # notes; in a smaller store a word is as rare as in one of so many
COMMON = 0.05  # of all notes; a word that more of them have tells little
FEW = 200  # notes; so many are counted in any case
_LOOKED_AT = 12  # places whose texts are read
_LISTS = Path(words.__file__).parent / "words" / "everyday.txt"
# Numbers that stand anywhere: small ones, years and days.
_NUMBER = re.compile(r"\d{1,3}|(?:19|20)\d\d(?:\d{4})?")


def needed(database: Database, text: str, today: date, bar: float = BAR) -> list[Hit]:
    """The notes that a message needs, the surest first, each by its best place; [] for most
    messages. A score is how far above chance that is, as a logarithm: at least `bar`."""
    total = max(LEAST, database.count(MEMORY))
    terms = [term for term in parse(text, today).terms if not (_is_sign(term) or term.is_other)]
    telling = sum(not is_light(term) for term in terms)
    if telling < MEETING:
        return []
    scores = _scores(database, terms, total)
    chance = math.log(total) + CHANCES * math.log(telling)
    sure = {
        chunk: score for chunk, (score, met) in scores.items()
        if met >= MEETING and score >= chance + bar
    }  # fmt: skip
    best = sorted(sure, key=lambda chunk: (-sure[chunk], chunk))[:_LOOKED_AT]
    rows = database.rows(best) if best else {}
    found: dict[str, Hit] = {}
    for chunk in best:
        if chunk in rows and sure[chunk] >= NEARLY * sure[best[0]]:
            found.setdefault(rows[chunk].file, _hit(rows[chunk], sure[chunk] - chance))
    return list(found.values())[:MOST]


def _hit(row: Row, score: float) -> Hit:
    return Hit(
        row.file, row.name, row.start, row.end, round(score, 4), row.source, row.text,
        row.title or row.name, row.date, row.status,
    )  # fmt: skip


def _is_sign(term: Term) -> bool:
    """Whether a term is a character of CJK alone: its pairs count, and many words share it."""
    return len(term.ways[0][0]) == 1 and words.is_cjk(term.ways[0][0])


def is_light(term: Term) -> bool:
    """Whether a term says nothing of what a message is about: a word of everyday work, a letter,
    a small number, a day."""
    first, *more = term.ways[0]
    if more:
        return False
    return len(first) == 1 or bool(_NUMBER.fullmatch(first)) or first in _everyday()


def _scores(
    database: Database, terms: Collection[Term], total: int
) -> dict[int, tuple[float, int]]:
    """The sum of the rarities of the words that each place shares with the message, and how many
    of them tell what it is about."""
    limit = max(FEW, int(total * COMMON))
    found: dict[int, tuple[float, int]] = {}
    for term in terms:
        held = database.holding(term, MEMORY, limit)
        tells = not is_light(term) and bool(term.weight) and len(held) < limit
        weight = ranking.rarity(len(held), total) * (1.0 if tells else LIGHT)
        for chunk in held:
            score, met = found.get(chunk, (0.0, 0))
            found[chunk] = score + weight, met + tells
    return found


@cache
def _everyday() -> frozenset[str]:
    """The stems of these words; of Chinese, Japanese and Korean ones their pairs of characters."""
    lines = _LISTS.read_text("utf-8").splitlines()
    said = (line for line in lines if not line.startswith(("#", "[")))
    found = (word for line in said for word in line.split())
    return frozenset(stem for word in found for part in words.grams(word) for stem in ways(part))
