"""Whether a text that is near a query by its meaning answers it. Pure.

Every model has cosines of its own, and a question that nothing answers is about as near to all
texts: so a text counts by how far it stands out from all others, in standard deviations.
"""

from __future__ import annotations

import math

from mdmemory.search.database import Spread
from mdmemory.search.evidence import STRONG

OUTLIER = 4.5  # deviations above the mean of all texts, from which on a text is a strong hit
REACH = 0.8  # of the most that there can be, where so few texts allow less
NEARER = 2.0  # deviations above the mean, from which on a text is near at all
FEW = 10  # texts, below which there is nothing to compare with
_TINY = 1e-6


def evidence(cosine: float, floor: float, spread: Spread) -> float:
    """How sure it is that a text answers, 0 to 1. It is strong only with a cosine of at least
    `floor`, and near only with half of that."""
    count = max(1, spread.count)
    reach = (count - 1) / math.sqrt(count)  # the most that one text of so many can stand out
    away = (cosine - spread.mean) / spread.deviation if spread.deviation > _TINY else 0.0
    if away < min(NEARER, reach / 2) or cosine < floor / 2:
        return 0.0
    outlier = min(OUTLIER, REACH * reach)
    if count < FEW or away < outlier or cosine < floor:
        return STRONG * min(0.99, away / OUTLIER)
    return min(1.0, STRONG * away / outlier)
