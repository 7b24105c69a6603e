"""A question as terms: what to look for, in which ways it may be spelled, and how much it says.

Pure. Only words come out, so nothing that a person types is ever read as full-text syntax.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from mdmemory import bounds
from mdmemory.search import dates
from mdmemory.search.words import LIGHT, STOP, SYNONYMS, normal, pairs, parts, pieces, run, words

LONGEST = bounds.QUERY
MOST = 48  # terms
_LIGHT_WEIGHT = 0.3
_QUOTED = re.compile(r"[\"“”]([^\"“”]{1,500})[\"“”]")
_JOINED = re.compile(r"(?<![0-9A-Za-z])[0-9A-Za-z]+(?:[._/:@+-]+[0-9A-Za-z]+)+")
_ENDINGS = ("ations", "ation", "ings", "ing", "ied", "ies", "ed", "es", "er", "ly", "s", "e", "y")


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to look for.

    `ways` are its spellings, each a run of words that must stand side by side; `prefix`: the last
    word may go on. `weight` is what its absence says against a text: 1, or less; 0 for one that
    only makes a text better. `sure` is less than 1 for a guess at what was meant.
    """

    ways: tuple[tuple[str, ...], ...]
    prefix: bool = False
    weight: float = 1.0
    sure: float = 1.0


@dataclass(frozen=True, slots=True)
class Query:
    """What was asked: any of the `terms`, and each of the `phrases`, which stood in quotes."""

    terms: tuple[Term, ...]
    phrases: tuple[Term, ...] = ()
    words: frozenset[str] = frozenset()  # all words in lower case, CJK character by character


def parse(text: str, today: date) -> Query:
    """The query in a text; without terms when there is no word in it."""
    text = normal(text[:LONGEST].encode("utf-8", "ignore").decode())
    said = frozenset(parts(text.casefold()))
    phrases = tuple(Term((way,)) for quoted in _QUOTED.findall(text) if len(way := run(quoted)) > 1)
    asked, rest = dates.asked(text, today)
    terms = {Term(tuple((word,) for word in ways)): None for ways in asked}
    plain = [*_joined(rest), *_plain(rest)] + [_pair(pair) for pair in _cjk(rest)]
    terms |= dict.fromkeys(plain)
    if not terms:  # nothing but words that say nothing: better these than none
        terms = dict.fromkeys(Term(((word,),)) for word in sorted(said))
    return Query(tuple(terms)[:MOST], phrases[:8], said)


def marks(text: str) -> re.Pattern[str] | None:
    """What to highlight of a query in a text; None when there is nothing."""
    text = normal(text[:LONGEST])
    said = {match[0].casefold() for match in words(text)}
    stems = {_stem(word) for word in said - STOP} or said
    found = [rf"(?<![^\W_]){re.escape(stem)}[^\W_]*" for stem in sorted(stems, key=len)]
    found += [re.escape(piece) for piece in pieces(text)]
    return re.compile("|".join(found[:200]), re.IGNORECASE) if found else None


def _plain(text: str) -> Iterator[Term]:
    """The words that carry meaning; `word*` stands for whatever begins so."""
    numbers = [joined.span() for joined in _JOINED.finditer(text) if _is_number(joined[0])]
    for match in words(text):
        word = match[0].casefold()
        prefix = text[match.end() : match.end() + 1] == "*"
        if (word in STOP and not prefix) or any(a <= match.start() < b for a, b in numbers):
            continue  # a part of `3.11` or `10:30`, which are looked for as a whole
        weight = _LIGHT_WEIGHT if word in LIGHT or (len(word) == 1 and word.isalpha()) else 1.0
        more = () if prefix else SYNONYMS.get(word, ())
        yield Term(((word,), *more), prefix, weight)


def _joined(text: str) -> Iterator[Term]:
    """Names such as `index.max_chars`, as a whole: numbers count, of others also the parts."""
    for match in _JOINED.finditer(text):
        yield Term((run(match[0]),), weight=1.0 if _is_number(match[0]) else 0.0)


def _is_number(joined: str) -> bool:
    return not any(character.isalpha() for character in joined)


def _cjk(text: str) -> Iterator[str]:
    for piece in pieces(text):
        yield from pairs(piece)


def _pair(pair: str) -> Term:
    return Term(((pair,),), prefix=len(pair) == 1, weight=1.0 if len(pair) > 1 else _LIGHT_WEIGHT)


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word
