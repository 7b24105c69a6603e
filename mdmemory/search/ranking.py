"""From raw scores to an order: fusion of channels, what a hit covers, folding. Pure.

A channel gives raw scores of its own kind (bm25, cosine); only here do they meet.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple, TypeVar

from mdmemory.text import words
from mdmemory.text.search_words import SIGNED
from mdmemory.text.similarity import likeness_of

T = TypeVar("T")

BESIDE = 0.3  # is the share of a turn that has no word itself, but stands beside one that has
ALIKE = 0.947  # of the words of two hits, from which on one of them is enough
NEIGHBOUR = 0.3  # of the score of the turn before and after counts; measured on LoCoMo
RANKED = 6  # added to each rank that is fused: the less, the more the first of a list counts
NAMED = 0.25  # added where a query has all words of a note's name


class Channel(NamedTuple):
    """Raw scores by chunk, more is better; `low` is the least that any chunk of all could have,
    `high` the most (None: what the best has)."""

    scores: Mapping[int, float]
    low: float = 0.0
    high: float | None = None


class TermMatch(NamedTuple):
    """One term of a query: how much it says, and which of the chunks that are looked at have it.

    `held` counts all chunks that have the term.
    """

    weight: float
    chunks: Collection[int]
    sure: float = 1.0
    held: int = 1


def fuse_channels(channels: Sequence[Channel]) -> dict[int, float]:
    """One score between 0 and 1 per chunk: the mean over the channels that have any chunk, each
    from its least to its best.

    A chunk that a channel does not have counts as its least there, and stays a hit.
    """
    filled = [channel for channel in channels if channel.scores]
    fused: dict[int, float] = {}
    for channel in filled:
        high = channel.high or max(channel.scores.values())
        span = len(filled) * ((high - channel.low) or 1.0)
        for chunk, score in channel.scores.items():
            fused[chunk] = fused.get(chunk, 0.0) + (score - channel.low) / span
    return fused


def by_rank(*lists: Iterable[str]) -> list[str]:
    """What several lists have, best first: what stands high in any of them, or in more of them."""
    ranks: dict[str, float] = {}
    for each in lists:
        for at, name in enumerate(dict.fromkeys(each)):
            ranks[name] = ranks.get(name, 0.0) + 1 / (RANKED + at)
    return sorted(ranks, key=lambda name: -ranks[name])


def word_rarity(holders: int, total: int) -> float:
    """How much a word says that `holders` of `total` chunks have; never negative, so that it means
    something among two notes, too."""
    return math.log(1 + (total - holders + 0.5) / (holders + 0.5))


def rarest_terms(counted: Iterable[tuple[int, T]], most: int) -> list[T]:
    """What few chunks hold, of terms with how many hold each: the common ones are most of the
    work, and hardly change which chunks come first. Those count afterwards, among these chunks
    alone. What no chunk holds chooses none, and takes the place of no common one."""
    total = 0
    rare: list[T] = []
    for holders, each in sorted(counted, key=itemgetter(0)):
        if total and total + holders > most:
            break
        total += holders
        rare.append(each)
    return rare


def word_shares(terms: Sequence[TermMatch], chunks: Iterable[int]) -> dict[int, float]:
    """The root of the share of the known words that each chunk has, from 0 to 1: many words say
    more than one word often. Words that no chunk has are about nothing that there is."""
    whole = sum(term.weight for term in terms if term.held)
    had: dict[int, float] = defaultdict(float)
    for term in terms:
        for chunk in term.chunks:
            had[chunk] += term.weight * term.sure
    return {c: max(BESIDE, math.sqrt(had[c] / whole)) if whole else 1.0 for c in chunks}


def smooth_scores(
    scores: Mapping[int, float], windows: Mapping[int, Collection[int]]
) -> dict[int, float]:
    """The scores of turns with a part of their neighbours': what answers often stands in one turn
    and what it answers in the next. `windows` are the turns beside each that may be a hit."""
    return {
        turn: scores.get(turn, 0.0) + NEIGHBOUR * sum(scores.get(other, 0.0) for other in beside)
        for turn, beside in windows.items()
    }


def is_named(
    names: Iterable[str], query_words: frozenset[str], written: frozenset[str] = frozenset()
) -> bool:
    """Whether the words of a query are all that one of the names of a note has. A name that signs
    or capitals alone tell from other words, as `C#` and `IT`, has to be among the `written`."""
    for name in map(words.normal_text, names):
        parts = frozenset(words.word_parts(name.casefold()))
        if not parts <= query_words:
            continue
        if parts <= words.STOP:  # most questions have the word that the alias `IT` looks like
            if name in written:
                return True
        elif not SIGNED.fullmatch(name) or name.casefold() in written:
            return True
    return False


def raise_named(
    scores: Mapping[int, float], chunks: Collection[int], much: float = NAMED
) -> dict[int, float]:
    """The scores, those of some chunks, whose name is asked for, raised; 1 is still the most."""
    raised = {chunk: score + much * (chunk in chunks) for chunk, score in scores.items()}
    most = max(1.0, *raised.values(), 0.0)
    return {chunk: score / most for chunk, score in raised.items()}


def says_same(one: str, other: str) -> bool:
    """Whether two texts say nearly the same, so that showing one is enough.

    Not where they differ in a value, a name or a negation: that is what a reader has to see.
    """
    first, second = _word_set(one), _word_set(other)
    if first == second:
        return True
    if likeness_of(first, second) < ALIKE:
        return False
    from mdmemory.text.conflict import count_negations  # few hits are so much alike

    plain = (w for w in first ^ second if not (w.isascii() and w.islower() and w.isalpha()))
    return next(plain, None) is None and not any(map(count_negations, first ^ second))


@lru_cache(maxsize=2_000)  # each hit meets all that are kept
def _word_set(text: str) -> frozenset[str]:
    return frozenset(words.word_parts(text))


def fold_hits(texts: Iterable[tuple[int, str, str]], limit: int, each_file: int = 1) -> list[int]:
    """The first `limit` of (chunk, file, text), best first, with so many places of each file at
    most, and without what repeats a better one."""
    chosen: list[tuple[int, str, str]] = []
    for each in texts:
        if len(chosen) == limit:
            break
        if sum(each[1] == file for _, file, _ in chosen) == each_file:
            continue
        if not any(says_same(text, each[2]) for _, _, text in chosen):
            chosen.append(each)
    return [chunk for chunk, _, _ in chosen]
