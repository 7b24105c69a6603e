"""Figures, printed: for a terminal, for the docs, for programs."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby

from bench.retrieval import Figures

_WIDTH = 44
_HEADINGS = ("asked", "R@1", "R@5", "R@10", "MRR", "silent", "false", "p50", "p95")
_DOCUMENTED = ("asked", "R@1", "R@5", "MRR", "silent", "false")


@dataclass(frozen=True)
class Line:
    """What one search found of one group of questions. `level` says what is searched, as `turns`;
    the group is all of them, or those whose `key` (lang or kind) is `group`."""

    level: str
    key: str
    group: str
    search: str
    figures: Figures


def text(lines: Iterable[Line]) -> Iterator[str]:
    """A table for a terminal, a level after the other."""
    level = None
    for line in lines:
        if line.level != level:
            level = line.level
            yield f"{'':{_WIDTH}}" + "".join(f"{each:>8}" for each in _HEADINGS)
        name = f"{line.level}, {line.group}, {line.search}"
        yield f"{name:{_WIDTH}}" + "".join(f"{cell:>8}" for cell in _cells(line.figures))


def markdown(lines: Iterable[Line]) -> Iterator[str]:
    """Tables in markdown: a row for all questions and for those of each language, the
    searches beside each other in it."""
    for level, of_level in groupby(lines, lambda line: line.level):
        some = [line for line in of_level if line.key != "kind"]
        searches = list(dict.fromkeys(line.search for line in some))
        yield f"| {level}: {' / '.join(searches)} | " + " | ".join(_DOCUMENTED) + " |"
        yield "|---|" + "---|" * len(_DOCUMENTED)
        for group, of_group in groupby(some, lambda line: line.group):
            each = [dict(zip(_HEADINGS, _cells(line.figures), strict=True)) for line in of_group]
            cells = (" / ".join(cell[name] for cell in each) for name in _DOCUMENTED[1:])
            yield f"| {group} | {each[0]['asked']} | " + " | ".join(cells) + " |"
        yield ""


def as_json(
    data: str, lines: Sequence[Line], left_out: int, missed: Sequence[str] | None = None
) -> str:
    """Everything, unrounded; what is not found first only where it was asked for."""
    rows = [
        {"level": line.level, "group": line.group, "search": line.search, **asdict(line.figures)}
        for line in lines
    ]
    told = {"data": data, "left_out": left_out, "lines": rows}
    if missed is not None:
        told["misses"] = [*missed]
    return json.dumps(told, ensure_ascii=False)


def _cells(found: Figures) -> list[str]:
    means = (found.first, found.five, found.ten, found.mrr)
    shares = [_share(each) if found.asked else "" for each in means]
    return [
        f"{found.asked}",
        *shares,
        f"{found.silent}",
        f"{found.false}/{found.unanswerable}" if found.unanswerable else "",
        f"{found.p50:.1f}",
        f"{found.p95:.1f}",
    ]


def _share(value: float) -> str:
    return f"{value:.3f}".lstrip("0") if value < 1 else "1.00"
