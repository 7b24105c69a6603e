"""What is promised of search on the project's own corpora, each a sentence where it is broken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench.own import FREIGHT
from bench.retrieval import Figures
from bench.tables import Line

BELOW = 0.02  # of R@5 on the notes of the freight company: a plain table never stays silent
FALSE = 0.10  # of the questions there that nothing answers
KNOWN = "known_item"


def broken(lines: Sequence[Line]) -> list[str]:
    """The promises that these figures break."""
    by = {(line.level, line.group, line.search): line.figures for line in lines}
    return [*_of_freight(by)]


def _of_freight(by: dict[tuple[str, str, str], Figures]) -> Iterator[str]:
    low, high = by[FREIGHT, "all", "plain table"], by[FREIGHT, "all", "mdmemory"]
    if high.mrr <= low.mrr or high.first <= low.first:
        yield f"{FREIGHT}: the right note is not more often first than in the plain table."
    if high.five < low.five - BELOW:
        yield f"{FREIGHT}: R@5 is over {BELOW} below the plain table's."
    if high.false > FALSE * high.unanswerable:
        yield f"{FREIGHT}: {high.false} false answers are too many."
    if by[FREIGHT, KNOWN, "mdmemory"].five < 1:
        yield f"{FREIGHT}: not every note is among the first five when asked for by name."
