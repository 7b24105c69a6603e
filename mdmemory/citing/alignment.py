"""Which lines of one version of a file are which of another: in order, and each at most once. Pure.

Lines that stand once in both go first, then what lies between them. The work is bounded: what is
too long and too much alike stays without a partner.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

_DEEP = 24  # parts within parts
_CELLS = 10_000  # pairs of lines that are compared one by one in a part, where nothing is unique,
_ALL_CELLS = 200_000  # and in all parts of a file
_Part = tuple[int, int, int, int, int]  # from and to in the old one, the same in the new one, depth


def aligned(old: Sequence[bytes], new: Sequence[bytes]) -> list[int]:
    """For each line of `old` the place of the same line in `new`, or -1."""
    found = [-1] * len(old)
    left = _ALL_CELLS
    parts: list[_Part] = [(0, len(old), 0, len(new), 0)]
    while parts:
        start, end, begin, stop, depth = _trimmed(old, new, parts.pop(), found)
        if start == end or begin == stop:
            continue
        anchors = _anchors(old, new, start, end, begin, stop) if depth < _DEEP else []
        if anchors:
            parts += _between(anchors, (start, end, begin, stop, depth), found)
        elif (cells := (end - start) * (stop - begin)) <= min(_CELLS, left):
            left -= cells
            _one_by_one(old, new, (start, end, begin, stop, depth), found)
    return found


def _trimmed(old: Sequence[bytes], new: Sequence[bytes], part: _Part, found: list[int]) -> _Part:
    """The part without the lines that both begin and end with, which are partners."""
    start, end, begin, stop, depth = part
    while start < end and begin < stop and old[start] == new[begin]:
        found[start] = begin
        start, begin = start + 1, begin + 1
    while start < end and begin < stop and old[end - 1] == new[stop - 1]:
        end, stop = end - 1, stop - 1
        found[end] = stop
    return start, end, begin, stop, depth


def _anchors(
    old: Sequence[bytes], new: Sequence[bytes], start: int, end: int, begin: int, stop: int
) -> list[tuple[int, int]]:
    """The most lines that stand once in both, in one order."""
    counts = Counter(old[start:end])
    others = Counter(new[begin:stop])
    places = {
        new[at]: at
        for at in range(begin, stop)
        if others[new[at]] == 1 and counts.get(new[at]) == 1
    }
    pairs = [(at, places[old[at]]) for at in range(start, end) if old[at] in places]
    return _longest_in_order(pairs)


def _longest_in_order(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of the pairs in which both numbers rise; the first ones rise already."""
    tops: list[int] = []  # the lowest end of a row of each length
    at_top: list[int] = []
    before = [-1] * len(pairs)
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(tops, place)
        tops[length : length + 1] = [place]
        at_top[length : length + 1] = [number]
        before[number] = at_top[length - 1] if length else -1
    row: list[tuple[int, int]] = []
    number = at_top[-1] if at_top else -1
    while number >= 0:
        row.append(pairs[number])
        number = before[number]
    return row[::-1]


def _between(anchors: Sequence[tuple[int, int]], part: _Part, found: list[int]) -> list[_Part]:
    """The parts between the anchors, which are partners."""
    start, end, begin, stop, depth = part
    parts = []
    for one, other in anchors:
        found[one] = other
        parts.append((start, one, begin, other, depth + 1))
        start, begin = one + 1, other + 1
    return [*parts, (start, end, begin, stop, depth + 1)]


def _one_by_one(old: Sequence[bytes], new: Sequence[bytes], part: _Part, found: list[int]) -> None:
    from difflib import SequenceMatcher  # only where lines repeat

    start, end, begin, stop, _ = part
    matcher = SequenceMatcher(None, old[start:end], new[begin:stop], autojunk=False)
    for one, other, size in matcher.get_matching_blocks():
        for at in range(size):
            found[start + one + at] = begin + other + at
