"""Whether a hit answers the question, or only shares words with it. Pure.

Evidence lies between 0 and 1. From STRONG on a hit is strong; what has less is shown after the
strong ones, and never hidden. One word that a single note has counts 1, a common one less.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import log

from mdmemory.search.query import JOINED, LONGEST, Term
from mdmemory.search.ranking import TermMatch, rarity
from mdmemory.text.search_words import ways
from mdmemory.text.words import is_cjk, normal, words

STRONG = 0.5
LEAST = 0.55  # is needed in any case: the root of all notes may have a lone word, and no more
SHARE = 0.9  # of a short query has to be there,
NEEDED = 1.25  # and of a longer one as much as this times
LONGER = 0.25  # this power of all that it asks for: chance has more words to meet in
UNKNOWN = 0.25  # counts a word that no note has: it is about nothing that is known
NO_SUCH = 0.75  # counts a name or a value that no note has: the answer may be about another one
LONE = 0.8  # of one word counts where several were asked for: many a text has one by chance
PAIR = 0.5  # of a word counts a pair of characters, as those of one word overlap
BEHIND = 0.85  # of what the best hit has, below which a hit is weak beside it
ALIKE = 0.95  # of what a file has, from which on another one has as much
FEW = 2  # files may have as much without taking from each other; more share what speaks for them,
CROWD = 0.3  # divided by this power of the others
USUAL = 3.5  # the logarithm of the notes with which rarity counts as it is: among more notes chance
# meets more common words, and among a few a word that several have may name what they are about


def by_words(
    terms: Sequence[Term], asked: Sequence[TermMatch], total: int, names: Collection[str]
) -> dict[int, float]:
    """For each chunk that has any of the `terms`: how much of them it has, as a multiple of what
    makes a hit strong.

    `asked` goes along with the terms that have a weight, `total` is the number of chunks, `names`
    are the stems that name or measure something.
    """
    if not asked:
        return {}
    rarest = rarity(1, max(1, total))
    had: dict[int, float] = {}
    telling: Counter[int] = Counter()
    whole = 0.0
    for term, match in zip((term for term in terms if term.weight), asked, strict=True):
        first = term.ways[0][0] if term.ways[0] else ""
        says = min(1.0, match.weight / term.weight / rarest) ** (log(1 + total) / USUAL)
        if not match.chunks:
            says = NO_SUCH if first in names else UNKNOWN
        says *= term.weight * (PAIR if first and is_cjk(first[0]) else 1.0)
        whole += says
        for chunk in match.chunks:
            had[chunk] = had.get(chunk, 0.0) + says * match.sure
            telling[chunk] += match.telling
    needed = max(LEAST, min(SHARE * whole, NEEDED * whole**LONGER))
    several = sum(match.telling for match in asked) > 1
    return {
        chunk: much * (LONE if several and telling[chunk] < 2 else 1.0) / needed
        for chunk, much in had.items()
    }


def settled(support: Mapping[int, float], files: Mapping[int, str]) -> dict[int, float]:
    """The evidence for each chunk, seen beside the others. `files` are those of the chunks that are
    in force: what has far less than the best of these is weak, and what many of them have tells
    none of them apart."""
    by_file: dict[str, float] = {}
    for chunk, file in files.items():
        by_file[file] = max(by_file.get(file, 0.0), support.get(chunk, 0.0))
    order = sorted(by_file.values())
    shared = {
        chunk: much / max(1, len(order) - bisect_left(order, ALIKE * much) - FEW) ** CROWD
        for chunk, much in support.items()
    }
    bar = max(1.0, BEHIND * max((shared[chunk] for chunk in files if chunk in shared), default=0))
    return {
        chunk: min(1.0, STRONG * (much if much >= bar else min(much, much / bar)))
        for chunk, much in shared.items()
    }


def names(query: str) -> frozenset[str]:
    """The stems of the words of a query that name or measure something: with a digit, a capital
    inside, or a capital at the beginning where most words of the query have none."""
    found = [match[0] for match in words(normal(query[:LONGEST]))]
    inside = [word for word in found[1:] if word[0].isupper()]
    rare = len(inside) * 3 <= len(found)  # else it is German, or a title
    return frozenset(
        stem for at, word in enumerate(found)
        if any(map(str.isdigit, word)) or word[1:] != word[1:].lower()
        or (rare and at and word[0].isupper())
        for stem in ways(word)
    )  # fmt: skip


def identifiers(query: str) -> tuple[str, ...]:
    """The names of things of code in a query, as `index.max_chars`, in lower case: a text with one
    of them is about that."""
    joined = (match[0].casefold() for match in JOINED.finditer(normal(query[:LONGEST])))
    return tuple(
        each for each in joined
        if any(map(str.isalpha, each)) and any(not sign.isalpha() and sign != "-" for sign in each)
    )  # fmt: skip
