"""From raw scores to an order: fusion of channels, what a hit covers, folding, age. Pure.

A channel gives raw scores of its own kind (bm25, cosine); only here do they meet.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from mdmemory.text import words
from mdmemory.text.similarity import likeness

LONE = 0.6  # of that counts where it is one word alone of several: many a text has one by chance
TELLING = 10  # words of a query, the rarest, that make up what it asks for
ALIKE = 0.947  # of the words of two hits, from which on one of them is enough
NEIGHBOUR = 0.3  # of the score of the turn before and after counts; measured on LoCoMo
NAMED = 0.25  # added where a query has all words of a note's name


@dataclass(frozen=True, slots=True)
class Channel:
    """Raw scores by chunk, more is better; `low` is the least that any chunk of all could have,
    `high` the most (None: what the best has)."""

    weight: float
    scores: Mapping[int, float]
    low: float = 0.0
    high: float | None = None


@dataclass(frozen=True, slots=True)
class TermMatch:
    """One term of a query: how much it says, and the chunks that have it. `telling` terms are
    what the query is about."""

    weight: float
    chunks: Collection[int]
    sure: float = 1.0
    telling: bool = True


def fused(channels: Sequence[Channel]) -> dict[int, float]:
    """One score between 0 and 1 per chunk: each channel from its least to its best, by weight.

    A chunk that a channel does not have counts as its least there, and stays a hit.
    """
    whole = sum(channel.weight for channel in channels if channel.scores)
    found: dict[int, float] = {}
    for channel in channels:
        high = channel.high or max(channel.scores.values(), default=0.0)
        span = (high - channel.low) or 1.0
        for chunk, score in channel.scores.items():
            share = channel.weight / whole if whole else 0.0
            found[chunk] = found.get(chunk, 0.0) + share * (score - channel.low) / span
    return found


def rarity(held: int, total: int) -> float:
    """How much a word says that `held` of `total` chunks have; never negative, so that it means
    something among two notes, too."""
    return math.log(1 + (total - held + 0.5) / (held + 0.5))


def covered(asked: Sequence[TermMatch], chunk: int) -> float:
    """The share of what was asked for that a chunk has, from 0 to 1.

    Of a long query its rarest words are enough for all of it.
    """
    whole = sum(sorted((term.weight for term in asked), reverse=True)[:TELLING])
    found = [term for term in asked if chunk in term.chunks]
    had = sum(term.weight * term.sure for term in found)
    if sum(term.telling for term in found) < min(2, sum(term.telling for term in asked)):
        had *= LONE
    return min(1.0, had / whole) if whole else 1.0


def smoothed(
    scores: Mapping[int, float], windows: Mapping[int, Collection[int]]
) -> dict[int, float]:
    """The scores of turns with a part of their neighbours': what answers often stands in one turn
    and what it answers in the next. `windows` are the turns beside each that may be a hit."""
    return {
        turn: scores.get(turn, 0.0) + NEIGHBOUR * sum(scores.get(other, 0.0) for other in beside)
        for turn, beside in windows.items()
    }


def is_named(name: str, asked: frozenset[str]) -> bool:
    """Whether the words of a query are all that a name has."""
    parts = words.parts(name.casefold())
    return bool(parts) and asked.issuperset(parts)


def aged(score: float, written: str, today: date, half_life: int) -> float:
    """A score that loses up to half with the age of what was written (`YYYY-MM-DD`); 0: none."""
    if not half_life or not re.fullmatch(r"\d{4}-\d\d-\d\d", written[:10]):
        return score
    try:
        days = max(0, (today - date.fromisoformat(written[:10])).days)
    except ValueError:
        return score
    return float(score * (0.5 + 0.5 * 0.5 ** (days / half_life)))


def same(one: str, other: str) -> bool:
    """Whether two texts say nearly the same, so that showing one is enough.

    Not where they differ in a value, a name or a negation: that is what a reader has to see.
    """
    first, second = set(words.parts(one)), set(words.parts(other))
    if first == second:
        return True
    if likeness(first, second) < ALIKE:
        return False
    return not any(_tells(word) for word in first ^ second)


def _tells(word: str) -> bool:
    from mdmemory.text.polarity import is_negation  # 10 ms, and few hits are so much alike

    return not (word.isascii() and word.islower() and word.isalpha()) or is_negation(word)


def folded(texts: Iterable[tuple[int, str, str]], limit: int, each_file: int = 1) -> list[int]:
    """The first `limit` of (chunk, file, text), best first, with so many places of each file at
    most, and without what repeats a better one."""
    kept: list[tuple[int, str, str]] = []
    for each in texts:
        if len(kept) == limit:
            break
        if sum(each[1] == file for _, file, _ in kept) == each_file:
            continue
        if not any(same(text, each[2]) for _, _, text in kept):
            kept.append(each)
    return [chunk for chunk, _, _ in kept]
