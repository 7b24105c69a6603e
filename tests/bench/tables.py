"""Figures, printed for a terminal."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bench.retrieval import Figures

_WIDTH = 44
_HEADINGS = ("asked", "R@1", "R@5", "R@10", "MRR", "silent", "false", "p50", "p95")


@dataclass(frozen=True)
class Line:
    """What one search found of one group of questions. `level` says what is searched;
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


def _cells(found: Figures) -> list[str]:
    means = (found.first, found.five, found.ten, found.mrr)
    shares = [
        (f"{each:.3f}".lstrip("0") if each < 1 else "1.00") if found.asked else "" for each in means
    ]
    false = f"{found.false}/{found.unanswerable}" if found.unanswerable else ""
    times = f"{found.p50:.1f}", f"{found.p95:.1f}"
    return [f"{found.asked}", *shares, f"{found.silent}", false, *times]
