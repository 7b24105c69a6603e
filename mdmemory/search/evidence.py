"""Whether a hit answers the question, or only shares words with it. Pure.

Evidence lies between 0 and 1. From STRONG on a hit is strong; what has less is shown after the
strong ones, and never hidden.
"""

from __future__ import annotations

from collections.abc import Sequence

from mdmemory.search.ranking import TermMatch, covered

STRONG = 0.5
NEEDED = 0.27  # of what a query asks for, by how rare its words are, a strong hit has


def by_words(asked: Sequence[TermMatch], chunk: int) -> float:
    """How much of what was asked for a chunk has, seen by its words."""
    return min(1.0, STRONG * covered(asked, chunk) / NEEDED)


def by_meaning(cosine: float, floor: float) -> float:
    """How sure a nearness is: STRONG at the floor, 1 for the same meaning."""
    if cosine >= floor:
        return STRONG + (1 - STRONG) * (cosine - floor) / max(1 - floor, 1e-6)
    return STRONG * max(0.0, cosine) / max(floor, 1e-6)
