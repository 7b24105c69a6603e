"""How near texts are, by the words that tell them from others. Pure."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence, Set

from mdmemory.text.words import word_keys

_FREQUENT, _LONG = 1.2, 0.75  # k1 and b of bm25: the usual ones
# Of a misspelled word.
SHORTEST = 5  # letters; shorter words are too near to each other
CERTAIN = 7  # letters; in a shorter word another letter mostly makes another word
LONG = 9  # from here on two slips are allowed
MOST = 3


def likeness_of(one: Set[str], other: Set[str]) -> float:
    """The share of their words that two sets have in common, from 0 to 1."""
    return 2 * len(one & other) / (len(one) + len(other) or 1)


class Ranking:
    """Texts, ready to be asked which of them are near another text."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(word_keys(each)) for each in texts]
        usual = sum(each.total() for each in counts) / (len(counts) or 1) or 1.0
        self._total = len(counts)
        self._holders: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for at, words in enumerate(counts):
            length = _FREQUENT * (1 - _LONG + _LONG * words.total() / usual)
            for word, count in words.items():
                weight = count * (_FREQUENT + 1) / (count + length)
                self._holders[word].append((at, weight))

    def near(self, text: str, words: int | None = None) -> list[int]:
        """The positions of the texts that share a word with `text`, the nearest first, by bm25; of
        its words the rarest `words` count, where that is given."""
        scored = []
        for word in self._holders.keys() & word_keys(text):
            holder_count = len(self._holders[word])
            rarity = math.log(1 + (self._total - holder_count + 0.5) / (holder_count + 0.5))
            scored.append((-rarity, word))
        scores: dict[int, float] = defaultdict(float)
        for rarity, word in sorted(scored)[:words]:
            for at, weight in self._holders[word]:
                scores[at] += rarity * weight
        return sorted(scores, key=lambda at: (scores[at], at))


def nearest_known(word: str, known: Sequence[str]) -> tuple[str, ...]:
    """The known words that one or two slips of a typist lead to, the nearest first.

    All of them without their endings.
    """
    if len(word) < SHORTEST or not word.isalpha():
        return ()
    from rapidfuzz import process  # 20 ms, and most queries have no unknown word
    from rapidfuzz.distance import OSA

    slips = 2 if len(word) >= LONG else 1
    matches = process.extract(word, known, scorer=OSA.distance, score_cutoff=slips, limit=None)
    near = []
    for term, distance, _ in matches:
        is_swapped = len(word) != len(term) or sorted(word) == sorted(term)
        if len(term) >= SHORTEST - 1 and (len(word) >= CERTAIN or is_swapped):
            near.append((distance, term))
    return tuple(term for _, term in sorted(near)[:MOST])
