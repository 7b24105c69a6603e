"""A question as terms: what to look for, in which ways it may be spelled, and how much it says.

Pure. Only words come out, so nothing that a person types is ever read as full-text syntax.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from functools import cache, lru_cache
from typing import NamedTuple

from mdmemory.bounds import QUERY
from mdmemory.text import dates, search_words
from mdmemory.text.search_words import SmallWords, small_words, stem_by, stem_ways
from mdmemory.text.words import (
    LIGHT,
    STOP,
    match_words,
    normal_text,
    word_parts,
    word_synonyms,
    word_tokens,
)

LONGEST = QUERY
MOST = 48  # terms
_LIGHT_WEIGHT = 0.3
_SMALL_WEIGHT = 0.01  # of a word that says nothing, in a query of such words: what has it is weak
_HALF = 0.5  # of a German compound counts each of its parts
_QUOTED = re.compile(r"[\"“”]([^\"“”]{1,500})[\"“”]")
JOINED = re.compile(r"(?<![0-9A-Za-z])[0-9A-Za-z]+(?:[._/:@+-]+[0-9A-Za-z]+)+")
_VERSION = re.compile(r"[vV]?\d+(?:\.\d+)+")
# Names of signs, as they are spelled where signs are in the way.
_SPELLED = {"cpp": "c++", "csharp": "c#", "c sharp": "c#", "fsharp": "f#", "dotnet": ".net"}
_SPELLED_NAME = re.compile(rf"\b(?:{'|'.join(_SPELLED)})\b", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s/,;:|*!?()\[\]{}\"'`“”]+")
_SIGN = r"[+#.$@&~%=<>^-]"
_SIGNED = re.compile(rf"{_SIGN}+\w.*|.*\w{_SIGN}+|\w+&\w+")
_BEGUN = re.compile(r"(?<![^\W_])([^\W_]++)\*")


class Term(NamedTuple):
    """One thing to look for.

    `ways` are its spellings, each a run of stems that must stand side by side; `prefix`: the last
    one may go on. `weight` is what its absence says against a text: 1, or less; 0 for one that
    only makes a text better. `sure` is less than 1 for a guess at what was meant. `is_other`: not
    the word that was asked for, but those that people use for it.
    """

    ways: tuple[tuple[str, ...], ...]
    prefix: bool = False
    weight: float = 1.0
    sure: float = 1.0
    is_other: bool = False


class Query(NamedTuple):
    """What was asked: any of the `terms`, and each of the `phrases`, which stood in quotes."""

    terms: tuple[Term, ...]
    phrases: tuple[Term, ...] = ()
    words: frozenset[str] = frozenset()  # all words in lower case, CJK character by character
    names: frozenset[str] = frozenset()  # those that only signs or capitals tell: `c++`, `IT`
    signed: frozenset[str] = frozenset()  # those of signs


def parse(text: str, today: date) -> Query:
    """The query in a text; without terms when there is no word in it."""
    text = normal_text(text[:LONGEST].encode("utf-8", "ignore").decode())
    text = " ".join((text, *(_SPELLED[name.lower()] for name in _SPELLED_NAME.findall(text))))
    words = frozenset(word_parts(text.casefold()))
    phrases = tuple(
        Term(_stem_runs(quoted)) for quoted in _QUOTED.findall(text) if len(word_tokens(quoted)) > 1
    )
    query_dates, rest = dates.asked_dates(text, today)
    terms = {Term(tuple((stem_by("en", word),) for word in each)): None for each in query_dates}
    small = small_words(text)
    # names such as `index.max_chars`, as a whole: numbers count, of others also the parts
    for name in JOINED.findall(rest):
        if not small.stop.issuperset(word_tokens(name)):
            runs = _stem_runs(name, small.likely)
            if _VERSION.fullmatch(name):  # people write it with its v and without
                bare = ((first.removeprefix("v"), first, more) for first, *more in runs)
                runs += tuple((b if b != f else f"v{f}", *more) for b, f, more in bare)
            terms[Term(runs, weight=float(_is_number(name)))] = None
    terms |= dict.fromkeys((*_plain_terms(rest, small), *_cjk_pieces(rest)))
    terms |= dict.fromkeys(_other_terms(rest, small, terms) if terms else ())
    if not terms:  # nothing but words that say nothing: better these than none
        terms = {
            Term(_stem_runs(word, small.likely), weight=_SMALL_WEIGHT): None
            for word in sorted(words)
        }
    return Query(
        tuple(terms)[:MOST],
        phrases[:8],
        words,
        search_words.written_names(text),
        signed_names(text),
    )


def signed_names(text: str) -> frozenset[str]:
    """The names in a text that begin or end with a sign, as `C++`, `.NET`, `--force`, and those
    like `R&D`, in lower case: nothing else tells them from other words."""
    names = (word.rstrip(".") for word in _BETWEEN.split(normal_text(text).casefold()))
    return frozenset(
        word for word in names if _SIGNED.fullmatch(word) and any(map(str.isalpha, word))
    )


def are_signed(names: frozenset[str], text: str) -> bool:
    """Whether all these names, as `signed_names` gives them, stand in a text as such."""
    text = normal_text(text).casefold()  # to look for them is quicker than to cut the text up
    return all(name in text for name in names) and names <= signed_names(text)


def terms_of(text: str) -> list[Term]:
    """The words that a text has most often, as terms in each spelling."""
    terms: dict[str, Term] = {}
    words = Counter(word for word in word_tokens(text) if word not in STOP and len(word) > 1)
    for word, _ in words.most_common(MOST):
        term = Term(_word_spellings(word))
        terms.setdefault(term.ways[0][0], term)
    return list(terms.values())


def mark_words(query: str, text: str) -> list[tuple[int, int]]:
    """Where the words of a query stand in a text, in any form: from and to, in their order; pieces
    in Chinese, Japanese or Korean that overlap as one."""
    is_wanted, begun, cjk = _mark_query(query[:LONGEST])
    places = [
        match.span()
        for match in match_words(text)
        if is_wanted(match[0]) or match[0].casefold().startswith(begun)
    ]
    pieces: list[tuple[int, int]] = []
    for match in re.finditer(cjk, text) if cjk else ():
        start, end = match.span(1)
        if pieces and start <= pieces[-1][1]:
            start = pieces.pop()[0]
        pieces.append((start, end))
    return sorted(places + pieces)


@lru_cache(maxsize=4)  # each line that is shown of each hit asks for it
def _mark_query(query: str) -> tuple[Callable[[str], bool], tuple[str, ...], str]:
    """What of a query is looked for in a text: a test for words by their stems, words that begin
    so, and an expression for the pieces in Chinese, Japanese or Korean, or ""."""
    query = normal_text(query)
    plain = {match[0].casefold() for match in match_words(query)}
    telling = plain - small_words(query).stop or plain
    wanted = search_words.WantedStems({stem for word in telling for stem in stem_ways(word)})
    begun = tuple(word.casefold() for word in _BEGUN.findall(query))
    pieces = "|".join(re.escape(term.ways[0][0]) for term in _cjk_pieces(query))
    # the texts of all hits share most of their words
    return cache(wanted.has), begun, f"(?=({pieces}))" if pieces else ""


def _plain_terms(text: str, small: SmallWords) -> Iterator[Term]:
    """The words that carry meaning; `word*` stands for whatever begins so."""
    joined = (each for each in JOINED.finditer(text) if _is_number(each[0]))
    numbers = {at for each in joined for at in range(*each.span())}
    for match in match_words(text):
        word = match[0].casefold()
        prefix = text[match.end() : match.end() + 1] == "*"
        if (word in small.stop and not prefix) or match.start() in numbers:
            continue  # a part of `3.11` or `10:30`, which are looked for as a whole
        is_light = word in LIGHT or word in small.light or (len(word) == 1 and word.isalpha())
        weight = _LIGHT_WEIGHT if is_light else 1.0
        if prefix:
            yield Term(((stem_by("en", word),),), prefix, weight)
        else:
            yield Term(_word_spellings(word, small.likely), weight=weight)
            if "de" in small.likely:
                yield from (
                    Term(((half,),), weight=_HALF) for half in search_words.compound_halves(word)
                )


def _other_terms(text: str, small: SmallWords, terms: Iterable[Term]) -> Iterator[Term]:
    """What people also call the words that carry meaning, each once, without what the terms have
    already: a full-text table counts a word as often as it is named."""
    seen = {way for term in terms for way in term.ways}
    for match in match_words(text):
        word = match[0].casefold()
        others = () if word in small.stop else search_words.exchange_words(word)
        if fresh := tuple(way for way in others if way not in seen):
            seen.update(fresh)
            yield Term(fresh, weight=0.0, is_other=True)


def _word_spellings(word: str, likely: tuple[str, ...] = ()) -> tuple[tuple[str, ...], ...]:
    """The stems of a word, and those of the other spellings of a name."""
    others = (way for words in word_synonyms(word) for way in _stem_runs(" ".join(words), likely))
    return tuple(dict.fromkeys((*_stem_runs(word, likely), *others)))


def _stem_runs(text: str, likely: tuple[str, ...] = ()) -> tuple[tuple[str, ...], ...]:
    """The stems of words that stand side by side, by the rule of each language."""
    by_rule = [stem_ways(word, likely) for word in word_tokens(text)]
    most = max(map(len, by_rule), default=0)
    return tuple(
        dict.fromkeys(tuple(each[min(at, len(each) - 1)] for each in by_rule) for at in range(most))
    )


def _is_number(joined: str) -> bool:
    return not any(character.isalpha() for character in joined)


def _cjk_pieces(text: str) -> list[Term]:
    """What a query in Chinese, Japanese or Korean asks for."""
    if text.isascii():
        return []
    return [
        Term(((piece.text,),), piece.is_prefix, piece.weight)
        for piece in search_words.asked_pieces(text)
    ]
