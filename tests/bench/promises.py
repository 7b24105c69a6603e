"""What is promised of search on the project's own corpora, each a sentence where it is broken."""

from collections.abc import Iterator, Mapping, Sequence

from bench.own import FREIGHT, HALVES
from bench.retrieval import Figures
from bench.tables import Line

BETTER = 0.03  # on the notes of the freight company, than the plain table in MRR
KNOWN = "known_item"
By = Mapping[tuple[str, str, str], Figures]


def broken(lines: Sequence[Line]) -> list[str]:
    """The promises that these figures break, of the corpora that they are about."""
    by = {(line.level, line.group, line.search): line.figures for line in lines}
    levels = {line.level for line in lines}
    return [
        *(_of_freight(by) if FREIGHT in levels else ()),
        *(each for name in HALVES if name in levels for each in _of_half(name, by)),
    ]


def _of_freight(by: By) -> Iterator[str]:
    low, high = by[FREIGHT, "all", "plain table"], by[FREIGHT, "all", "mdmemory"]
    if high.mrr < low.mrr + BETTER:
        yield f"{FREIGHT}: MRR is not {BETTER} above the plain table's."
    if high.five < low.five:
        yield f"{FREIGHT}: R@5 is below the plain table's."
    if by[FREIGHT, KNOWN, "mdmemory"].five < 1:
        yield f"{FREIGHT}: not every note is among the first five when asked for by name."


def _of_half(name: str, by: By) -> Iterator[str]:
    groups = {group: figures for (level, group, search), figures in by.items()
              if (level, search) == (name, "mdmemory")}  # fmt: skip
    for group, high in groups.items():
        low = by[name, group, "plain table"]
        one = 1 / high.asked  # a language has a dozen questions
        if high.five < low.five - one or high.mrr < low.mrr - one:
            yield f"{name}, {group}: the plain table finds more than one question better."
    high, low = groups["all"], by[name, "all", "plain table"]
    if high.five < low.five or high.mrr < low.mrr:
        yield f"{name}: R@5 or MRR is below the plain table's."
