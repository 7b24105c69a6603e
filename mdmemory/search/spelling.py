"""Which known words a word may be a misspelling of. Pure."""

from __future__ import annotations

from collections.abc import Sequence

SHORTEST = 5  # letters; shorter words are too near to each other
CERTAIN = 7  # letters; in a shorter word another letter mostly makes another word
LONG = 9  # from here on two slips are allowed
MOST = 3


def nearest(word: str, known: Sequence[str]) -> tuple[str, ...]:
    """The known words that one or two slips of a typist lead to, the nearest first.

    All of them without their endings.
    """
    if len(word) < SHORTEST or not word.isalpha():
        return ()
    from rapidfuzz import process  # 20 ms, and most queries have no unknown word
    from rapidfuzz.distance import OSA

    slips = 2 if len(word) >= LONG else 1
    found = process.extract(word, known, scorer=OSA.distance, score_cutoff=slips, limit=None)
    near = sorted((distance, term) for term, distance, _ in found if _may_be(word, term))
    return tuple(term for _, term in near[:MOST])


def _may_be(word: str, known: str) -> bool:
    swapped = len(word) != len(known) or sorted(word) == sorted(known)
    return len(known) >= SHORTEST - 1 and (len(word) >= CERTAIN or swapped)
