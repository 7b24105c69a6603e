"""A question as terms: what to look for, in which ways it may be spelled, and how much it says.

Pure. Only words come out, so nothing that a person types is ever read as full-text syntax.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from mdmemory.bounds import QUERY
from mdmemory.text import dates
from mdmemory.text.words import (
    LIGHT,
    STOP,
    STOP_CJK,
    grams,
    is_cjk,
    normal,
    parts,
    runs,
    stem,
    synonyms,
    tokens,
    words,
)

LONGEST = QUERY
MOST = 48  # terms
_LIGHT_WEIGHT = 0.3
_QUOTED = re.compile(r"[\"“”]([^\"“”]{1,500})[\"“”]")
JOINED = re.compile(r"(?<![0-9A-Za-z])[0-9A-Za-z]+(?:[._/:@+-]+[0-9A-Za-z]+)+")
_BEGUN = re.compile(r"(?<![^\W_])([^\W_]++)\*")

# A Chinese character means something alone, too: one word has it beside one, and its synonym
# beside another.
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to look for.

    `ways` are its spellings, each a run of stems that must stand side by side; `prefix`: the last
    one may go on. `weight` is what its absence says against a text: 1, or less; 0 for one that
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
    phrases = tuple(
        Term((way,)) for quoted in _QUOTED.findall(text) if len(way := _run(quoted)) > 1
    )
    asked, rest = dates.asked(text, today)
    terms = {Term(tuple((stem(word),) for word in ways)): None for ways in asked}
    pieces = _pieces(rest)
    plain = [*_joined(rest), *_plain(rest)]
    plain += [_pair(pair) for piece in pieces for pair in grams(piece)]
    plain += [_pair(sign) for piece in pieces for sign in _HAN.findall(piece)]
    terms |= dict.fromkeys(plain)
    if not terms:  # nothing but words that say nothing: better these than none
        terms = dict.fromkeys(Term(((stem(word),),)) for word in sorted(said))
    return Query(tuple(terms)[:MOST], phrases[:8], said)


def terms_of(text: str) -> list[Term]:
    """The words that a text has most often, as terms in each spelling."""
    found: dict[str, Term] = {}
    words = Counter(word for word in tokens(text) if word not in STOP and len(word) > 1)
    for word, _ in words.most_common(MOST):
        ways = (_run(" ".join(way)) for way in synonyms(word))
        found.setdefault(stem(word), Term(((stem(word),), *ways)))
    return list(found.values())


def marks(query: str, text: str) -> list[tuple[int, int]]:
    """Where the words of a query stand in a text, in any form: from and to, in their order."""
    query = normal(query[:LONGEST])
    plain = {match[0].casefold() for match in words(query)}
    stems = {stem(word) for word in plain - STOP} or set(map(stem, plain))
    begun = tuple(word.casefold() for word in _BEGUN.findall(query))
    found = [
        match.span()
        for match in words(text)
        if stem(match[0]) in stems or match[0].casefold().startswith(begun)
    ]
    if wanted := not query.isascii() and "|".join(map(re.escape, _pieces(query))):
        found += [match.span() for match in re.finditer(wanted, text)]
    return sorted(found)


def _plain(text: str) -> Iterator[Term]:
    """The words that carry meaning; `word*` stands for whatever begins so."""
    numbers = [joined.span() for joined in JOINED.finditer(text) if _is_number(joined[0])]
    for match in words(text):
        word = match[0].casefold()
        prefix = text[match.end() : match.end() + 1] == "*"
        if (word in STOP and not prefix) or any(a <= match.start() < b for a, b in numbers):
            continue  # a part of `3.11` or `10:30`, which are looked for as a whole
        weight = _LIGHT_WEIGHT if word in LIGHT or (len(word) == 1 and word.isalpha()) else 1.0
        more = () if prefix else (_run(" ".join(way)) for way in synonyms(word))
        yield Term(((stem(word),), *more), prefix, weight)


def _joined(text: str) -> Iterator[Term]:
    """Names such as `index.max_chars`, as a whole: numbers count, of others also the parts."""
    for match in JOINED.finditer(text):
        yield Term((_run(match[0]),), weight=1.0 if _is_number(match[0]) else 0.0)


def _run(words: str) -> tuple[str, ...]:
    """The stems of words that stand side by side."""
    return tuple(map(stem, tokens(words)))


def _is_number(joined: str) -> bool:
    return not any(character.isalpha() for character in joined)


def _pieces(text: str) -> list[str]:
    """The runs of CJK in a query that carry meaning: split at words of grammar, if any is left."""
    if text.isascii():
        return []
    joined = [run for run in runs(text) if is_cjk(run[0])]
    split = [piece for run in joined for piece in re.split(STOP_CJK, run) if piece]
    return [piece for piece in split if len(piece) > 1] or split or joined


def _pair(pair: str) -> Term:
    return Term(((pair,),), prefix=len(pair) == 1, weight=1.0 if len(pair) > 1 else _LIGHT_WEIGHT)
