"""How near texts are, by the words that tell them from others. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence, Set

from mdmemory.text.words import keys

_FREQUENT, _LONG = 1.2, 0.75  # k1 and b of bm25: the usual ones


def likeness(one: Set[str], other: Set[str]) -> float:
    """The share of their words that two sets have in common, from 0 to 1."""
    return 2 * len(one & other) / (len(one) + len(other) or 1)


def ranked(text: str, texts: Sequence[str]) -> list[int]:
    """The positions of the texts that share a word with `text`, the nearest first, by bm25."""
    counts = [Counter(keys(each)) for each in texts]
    usual = sum(each.total() for each in counts) / (len(counts) or 1) or 1.0
    held = Counter(word for each in counts for word in each)
    asked = held.keys() & keys(text)
    scores = [0.0] * len(texts)
    for at, words in enumerate(counts):
        length = _FREQUENT * (1 - _LONG + _LONG * words.total() / usual)
        for word in asked & words.keys():
            rarity = math.log(1 + (len(texts) - held[word] + 0.5) / (held[word] + 0.5))
            scores[at] += rarity * words[word] * (_FREQUENT + 1) / (words[word] + length)
    order = sorted(range(len(texts)), key=scores.__getitem__, reverse=True)
    return [at for at in order if scores[at] > 0]
