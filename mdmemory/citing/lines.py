"""Where the lines of one version of a file stand in another one. Pure.

Law: lines count as found only where nothing but white space (and the mark of UTF-8) was changed in
them. git says which lines of two versions are the same.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left, bisect_right
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

LINES_HASH = 8  # hex digits
MOST_LINES = 100_000
# Letters and digits by which lines are known again in another place; git's own for `blame -M, -C`.
IN_FILE, IN_FILES = 20, 40
_TRIES = 2_000  # places at which a text is found that may not be those of whole lines
_HASHED = 20_000_000  # bytes that are hashed to find lines by their hash alone
_SIGNS = bytes(byte for byte in range(128) if not chr(byte).isalnum())
_SIMILAR = 0.6  # of two lines: the same one, edited
_LOOKED_AT = 40  # lines that are compared for that

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)

Span = tuple[int, int]  # lines that are not blank, from 0, the last one not included


class Hunk(NamedTuple):
    """Lines of the old version (from 0, `old_end` not included) for which the new one has others;
    none for lines that were put in between."""

    old: int
    old_end: int
    new: int
    new_end: int


def hunks_of(diff: str) -> list[Hunk]:
    """The hunks of a diff of one file, made without lines around them."""
    hunks = []
    for row in _HUNK.finditer(diff):
        first, size, other, count = (int(each) if each else 1 for each in row.groups())
        old, new = first - bool(size), other - bool(count)
        hunks.append(Hunk(old, old + size, new, new + count))
    return hunks


class Squeezed:
    """The lines of a file without white space and without blank lines; `numbers` are those that
    they have in the file, from 1. `is_text`: they can be judged."""

    def __init__(self, data: bytes) -> None:
        self.is_text = b"\0" not in data and data.count(b"\n") < MOST_LINES
        rows = data.removeprefix(BOM_UTF8).split(b"\n") if self.is_text else []
        squeezed = ((at, b"".join(row.split())) for at, row in enumerate(rows, 1))
        filled = [(at, row) for at, row in squeezed if row]
        self.numbers = [at for at, _ in filled]
        self.lines = [row for _, row in filled]
        self.flat = b"".join(self.lines)
        self.begins = [0, *accumulate(map(len, self.lines))]  # where each line begins in `flat`

    def span(self, lines: tuple[int, int]) -> Span:
        """Lines of the file as a range of those that are not blank."""
        return bisect_left(self.numbers, lines[0]), bisect_right(self.numbers, lines[1])

    def in_file(self, span: Span) -> tuple[int, int]:
        """The same back again: the first and the last line of the file."""
        return self.numbers[span[0]], self.numbers[span[1] - 1]

    def text(self, span: Span) -> bytes:
        """All that these lines say."""
        return self.flat[self.begins[span[0]] : self.begins[span[1]]]

    def places(self, text: bytes, within: Span | None = None) -> Iterator[int]:
        """Where in `flat` a text begins, lines or not."""
        first, last = within or (0, len(self.lines))
        limit, at = self.begins[last], self.flat.find(text, self.begins[first])
        for _ in range(_TRIES if text else 0):
            if at < 0 or at + len(text) > limit:
                return
            yield at
            at = self.flat.find(text, at + 1)

    def whole(self, at: int, size: int) -> Span | None:
        """The lines that make up this part of `flat`; None where it begins or ends inside one."""
        begin, end = (bisect_left(self.begins, each) for each in (at, at + size))
        is_whole = self.begins[begin] == at and self.begins[end] == at + size
        return (begin, end) if is_whole else None

    def by_hash(self, lines: tuple[int, int], wanted: str) -> Span | None:
        """Where the lines stand of which only the hash is at hand: where they stood, or at the one
        other place that has as many lines."""
        here, size = self.span(lines), lines[1] - lines[0]
        if here[0] < here[1] and lines_hash(self.text(here)) == wanted:
            return here
        spans = [(at, self.span((row, row + size))[1]) for at, row in enumerate(self.numbers)]
        if sum(self.begins[end] - self.begins[begin] for begin, end in spans) > _HASHED:
            return None
        fit = [each for each in spans if lines_hash(self.text(each)) == wanted]
        return fit[0] if len(fit) == 1 else None


def lines_hash(data: bytes) -> str:
    """What a citation keeps of its lines: hex digits of the sha256 of what is no white space."""
    text = b"".join(data.removeprefix(BOM_UTF8).split())
    return hashlib.sha256(text).hexdigest()[:LINES_HASH]


def find_plainly(old: Squeezed, new: Squeezed, span: Span) -> Span | None:
    """Where lines stand of which git need not be asked: between the same neighbours as ever, and
    nothing of all that is there twice."""
    (start, end), rows = span, old.lines
    block = rows[max(0, start - 1) : end + 1]
    if new.lines.count(block[0]) != 1 or any(rows.count(row) != 1 for row in block[:_LOOKED_AT]):
        return None
    first = new.lines.index(block[0])
    if new.lines[first : first + len(block)] != block or new.lines.count(block[-1]) != 1:
        return None
    first += start - max(0, start - 1)
    return first, first + end - start


class Comparison:
    """Two versions of a file, and what became of lines of the old one in the new one. `hunks`, in
    their order, are all in which they differ."""

    def __init__(self, old: Squeezed, new: Squeezed, hunks: Sequence[Hunk]) -> None:
        self.old, self.new, self._hunks = old, new, hunks
        spans = (new.span((hunk.new + 1, hunk.new_end)) for hunk in hunks)
        self._fresh = {at for span in spans for at in range(*span)}

    def standing_lines(self, span: Span) -> Span | None:
        """Where the lines stand unchanged, in their place or at the one other to which they were
        put; None where they were changed, or are too little to be known again."""
        text, (around, instead) = self.old.text(span), self._changed_around(span)
        if self.old.flat == self.new.flat:
            return self.new.whole(self.old.begins[span[0]], len(text))
        if self.new.text(instead) == text:
            return None if self._is_copied(span, instead) else instead
        # lines that were broken in other places: of several the one that has as many before it
        before, now = [*self.old.places(text, around)], [*self.new.places(text, instead)]
        if len(before) == len(now):
            return self.new.whole(now[before.index(self.old.begins[span[0]])], len(text))
        if self.is_edited(span):
            return None
        is_alone = all(len([*each.places(text)]) == 1 for each in (self.old, self.new))
        return self.arrived_lines(self.old, span, 1 if is_alone else IN_FILE)

    def lines_instead(self, span: Span) -> Span:
        """What stands in the place of lines, whether they were changed or not; empty where nothing
        does."""
        return self._changed_around(span)[1]

    def _changed_around(self, span: Span) -> tuple[Span, Span]:
        """Lines with those that were changed together with them, and what stands in their place."""
        first, last = self.old.in_file(span)
        start, end = begin, stop = first - 1, last
        old_begin, old_stop = begin, stop
        for hunk in self._hunks:
            if hunk.old_end <= start:
                begin = start + hunk.new_end - hunk.old_end
            elif hunk.old <= start:
                old_begin, begin = hunk.old, hunk.new
            if hunk.old_end < end:
                stop = end + hunk.new_end - hunk.old_end
            elif hunk.old < end:
                old_stop, stop = hunk.old_end, hunk.new_end
        return self.old.span((old_begin + 1, old_stop)), self.new.span((begin + 1, stop))

    def arrived_lines(self, source: Squeezed, span: Span, least: int) -> Span | None:
        """Where lines of another file, or of another place, came into this one, together with those
        that they stood among; None where less than so many letters and digits came."""
        best = None
        text = source.text(span)
        for at in self.new.places(text):
            there = self.new.whole(at, len(text))
            if there and (weight := self._count_letters(source, span, there)) >= least:
                best, least = there, weight + 1
        return best

    def _count_letters(self, source: Squeezed, span: Span, there: Span) -> int:
        """How many letters and digits came with the lines to a place, theirs among them."""
        (start, end), (first, last) = span, there
        if not self._fresh.issuperset(range(first, last)):
            return 0
        fresh, old, new = self._fresh, source.lines, self.new.lines
        while start and first - 1 in fresh and old[start - 1] == new[first - 1]:
            start, first = start - 1, first - 1
        while end < len(old) and last in fresh and old[end] == new[last]:
            end, last = end + 1, last + 1
        return len(self.new.text((first, last)).translate(None, _SIGNS))

    def is_edited(self, span: Span) -> bool:
        """Whether something like one of the lines stands where they stood."""
        rows = [at for at in range(*self.lines_instead(span)) if at in self._fresh]
        if len(rows) > _LOOKED_AT:
            rows = rows[: _LOOKED_AT // 2] + rows[-_LOOKED_AT // 2 :]
        cited = self.old.lines[span[0] : min(span[1], span[0] + _LOOKED_AT)]
        return any(_is_like(self.new.lines[at], line) for at in rows for line in cited)

    def _is_copied(self, span: Span, there: Span) -> bool:
        """Whether new lines stand between the neighbours that these had, so that these are a copy:
        git takes what costs fewest lines for the original."""
        (start, end), (first, last), size = span, there, span[1] - span[0]
        if not start or end == len(self.old.lines):
            return False
        sides = ((start - 1, start), (first - 1, first)), ((end, end + 1), (last, last + 1))
        stays = [self.lines_instead(old) == new for old, new in sides]
        before, after, rows = self.old.lines[start - 1], self.old.lines[end], self.new.lines
        known = {*self.old.lines}
        return not all(stays) and any(
            rows[at - 1] == before and rows[at + size] == after
            and not known.issuperset(rows[at : at + size])
            and (any(stays) or any(map(_is_like, rows[at : at + size], self.old.lines[start:end])))
            for at in range(max(1, first - _LOOKED_AT), min(len(rows) - size, last + _LOOKED_AT))
            if at != first
        )  # fmt: skip


def _common_beginning(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _is_like(one: bytes, other: bytes) -> bool:
    same = _common_beginning(one, other)
    tail = min(_common_beginning(one[::-1], other[::-1]), min(len(one), len(other)) - same)
    return same + tail >= _SIMILAR * max(len(one), len(other))
