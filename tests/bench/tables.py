"""Figures, printed: for a terminal, for the docs, for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from bench.retrieval import Figures

_WIDTH = 44
_HEADINGS = ("asked", "R@1", "R@5", "R@10", "MRR", "silent", "weak", "P", "false", "p50", "p95")


@dataclass(frozen=True)
class Line:
    """What one search found of one group of questions. `level` says what is searched, as `turns`;
    `group` is all, a language or a kind."""

    level: str
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
    """The tables as they stand in docs/search.md."""
    level = None
    for line in lines:
        if line.level != level:
            if level is not None:
                yield ""
            level = line.level
            yield f"| {level} | | " + " | ".join(_HEADINGS) + " |"
            yield "|---|---|" + "---|" * len(_HEADINGS)
        yield f"| {line.group} | {line.search} | " + " | ".join(_cells(line.figures)) + " |"


def as_json(data: str, lines: Sequence[Line], left_out: int) -> str:
    """Everything, unrounded."""
    rows = [
        {"level": line.level, "group": line.group, "search": line.search, **asdict(line.figures)}
        for line in lines
    ]
    return json.dumps({"data": data, "left_out": left_out, "lines": rows}, ensure_ascii=False)


def _cells(found: Figures) -> list[str]:
    means = (found.first, found.five, found.ten, found.mrr)
    shares = [_share(each) if found.asked else "" for each in means]
    return [
        f"{found.asked}",
        *shares,
        f"{found.silent}",
        f"{found.weak}",
        _share(found.precise) if found.asked else "",
        f"{found.false}/{found.unanswerable}" if found.unanswerable else "",
        f"{found.p50:.1f}",
        f"{found.p95:.1f}",
    ]


def _share(value: float) -> str:
    return f"{value:.3f}".lstrip("0") if value < 1 else "1.00"
