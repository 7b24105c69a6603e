"""Words as PostgreSQL keeps them (a tsvector) and is asked for them (a tsquery), and bm25. Pure.

The stems are ours, not those of a parser of the server, and are scored as SQLite does it: so both
databases find the same, whatever the server's language. Only letters and digits get into a literal.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mdmemory.search import schema
from mdmemory.search.query import Term

LONGEST = 64  # characters of a word
MOST = 100_000  # characters of a field; a tsvector has at most 1 MiB
# Where the words of each field begin, as positions are all that tells fields apart: so no phrase
# runs over from one to the next. A tsvector counts to 16,383; what lies behind stays unplaced.
_FIRST = (1, 1_000, 4_000, 15_000, 16_000)  # name, description, body, links, dates
_LABELS = "ABCDC"  # for the server's own rough rank, which picks what is looked at here
HEAD, NO_LINK = "AB", "ABC"  # the labels of name and description, and of all fields but the links
LABEL_WEIGHTS = (0.02, 0.125, 0.375, 1.0)  # of D, C, B, A
_WEIGHTS = tuple(schema.WEIGHTS.values())
_LAST = (*(first - 2 for first in _FIRST[1:]), 16_382)
_WORD = re.compile(r"[^\W_]+")
_FREQUENT, _LONG = 1.2, 0.75  # k1 and b of bm25


@dataclass(frozen=True, slots=True)
class Phrase:
    """Stems that stand side by side; `prefix`: the last may go on."""

    stems: tuple[str, ...]
    prefix: bool = False

    @property
    def asked(self) -> str:
        """As a part of a tsquery."""
        return self.within("")

    def within(self, labels: str) -> str:
        """The same, in fields with these labels alone."""
        words = [f"{_quote_word(stem)}:{labels}" for stem in self.stems]
        words[-1] += "*" if self.prefix else ""
        return f"({' <-> '.join(word.removesuffix(':') for word in words)})"


def split_stems(text: str) -> list[str]:
    """The stems of a text that `search_words.index_text` made."""
    return [word[:LONGEST] for word in text[:MOST].split()]


def make_vector(fields: Sequence[Sequence[str]]) -> str:
    """The stems of each field, with their places, as the text of a tsvector."""
    places: dict[str, list[str]] = {}
    for words, first, last, label in zip(fields, _FIRST, _LAST, _LABELS, strict=True):
        for at, word in enumerate(words, first):
            places.setdefault(word, []).append(f"{min(at, last)}{label}")
    return " ".join(f"{_quote_word(word)}:{','.join(at)}" for word, at in places.items())


def term_phrases(term: Term) -> list[Phrase]:
    """The spellings of a term; one without a letter or digit is none."""
    ways = [tuple(word[:LONGEST] for word in _WORD.findall(" ".join(way))) for way in term.ways]
    last = len(ways) - 1
    return [Phrase(way, term.prefix and at == last) for at, way in enumerate(ways) if way]


def any_of(spellings: Iterable[Phrase], labels: str = "") -> str:
    """A tsquery for whatever holds one of these, in fields with these labels alone."""
    return " | ".join(phrase.within(labels) for phrase in spellings)


def phrase_frequency(phrase: Phrase, places: Mapping[str, Sequence[int]]) -> float:
    """How often a chunk has a phrase, each time by the weight of the field that it stands in."""
    *before, last = phrase.stems
    if phrase.prefix:
        ends = {
            at
            for word, places_there in places.items()
            if word.startswith(last)
            for at in places_there
        }
    else:
        ends = set(places.get(last, ()))
    for back, word in enumerate(reversed(before), 1):
        ends &= {at + back for at in places.get(word, ())}
    return sum(_WEIGHTS[bisect_right(_FIRST, at) - 1] for at in ends)


def word_rarity(holders: int, total: int) -> float:
    """What a phrase counts that `holders` of `total` chunks have, as FTS5 has it: never nothing."""
    return max(1e-6, math.log((total - holders + 0.5) / (holders + 0.5)))


def score_bm25(matches: Iterable[tuple[float, float]], length: int, average: float) -> float:
    """The score of a chunk of `length` words, from the rarity and frequency of what it has."""
    usual = _FREQUENT * (1 - _LONG + _LONG * length / (average or 1))
    return sum(rare * often * (_FREQUENT + 1) / (often + usual) for rare, often in matches if often)


def _quote_word(word: str) -> str:
    return f"'{word}'"
