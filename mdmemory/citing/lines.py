"""Where the lines of one version of a file stand in another one. Pure.

Law: lines count as found only where nothing but white space (and the mark of UTF-8) was changed in
them. Where two places are alike, their neighbours decide; where these do not tell, the lines count
as changed.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from codecs import BOM_UTF8
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate

from mdmemory.citing.alignment import aligned
from mdmemory.citing.citation import LINES_HASH

MOST_BYTES = 4 * 1024 * 1024  # of a file whose lines are judged
MOST_LINES = 100_000
# Letters and digits by which lines are known again in another place; git's own for `blame -M, -C`.
IN_FILE, IN_FILES = 20, 40
_TRIES = 2_000  # places at which a text is found that may not be those of whole lines
_CONTEXT = 8_000  # bytes before and behind that may have come along
_SIGNS = bytes(byte for byte in range(128) if not chr(byte).isalnum())
_SIMILAR = 0.6  # of two lines: the same one, edited
_LOOKED_AT = 40  # lines that are compared for that
_PLACES = 50  # at which the same lines are looked at

Span = tuple[int, int]  # lines that are not blank, from 0, the last one not included


class Squeezed:
    """The lines of a file without white space and without blank lines; `numbers` are those that
    they have in the file, from 1."""

    def __init__(self, data: bytes) -> None:
        self.lines: list[bytes] = []
        self.numbers: list[int] = []
        for number, line in enumerate(data.removeprefix(BOM_UTF8).split(b"\n"), 1):
            if squeezed := b"".join(line.split()):
                self.lines.append(squeezed)
                self.numbers.append(number)

    def span(self, lines: tuple[int, int]) -> Span:
        """Lines of the file as a range of those that are not blank."""
        return bisect_left(self.numbers, lines[0]), bisect_right(self.numbers, lines[1])

    def in_file(self, span: Span) -> tuple[int, int]:
        """The same back again: the first and the last line of the file."""
        return self.numbers[span[0]], self.numbers[span[1] - 1]

    def text(self, span: Span) -> bytes:
        """All that these lines say."""
        return b"".join(self.lines[span[0] : span[1]])

    @cached_property
    def joined(self) -> bytes:
        """All lines in one, each between two line ends."""
        return b"\n" + b"".join(line + b"\n" for line in self.lines)

    def runs(self, span: Span, other: Squeezed, most: int) -> list[int]:
        """Where `other` has these lines one after the other; at most `most` places."""
        wanted = b"\n" + b"".join(line + b"\n" for line in self.lines[span[0] : span[1]])
        found: list[int] = []
        at = other.joined.find(wanted)
        while at >= 0 and len(found) < most:
            found.append(bisect_left(other._starts, at))
            at = other.joined.find(wanted, at + 1)
        return found

    def holding(self, text: bytes, most: int) -> Iterator[Span]:
        """The lines that say just this, however they are broken; at most `most` places."""
        at, tries = self.flat.find(text), _TRIES
        while at >= 0 and most and (tries := tries - 1):
            start, end = bisect_left(self.begins, at), bisect_left(self.begins, at + len(text))
            if self.begins[start] == at and self.begins[end] == at + len(text):
                most -= 1
                yield start, end
            at = self.flat.find(text, at + 1)

    def covering(self, begin: int, end: int) -> Span:
        """The lines that hold the bytes of `flat` from `begin` to `end`."""
        return bisect_right(self.begins, begin) - 1, bisect_left(self.begins, end)

    @cached_property
    def begins(self) -> list[int]:
        """Where each line begins in `flat`, and where the last one ends."""
        return [0, *accumulate(map(len, self.lines))]

    @cached_property
    def flat(self) -> bytes:
        """All lines in one, with nothing between them."""
        return b"".join(self.lines)

    @cached_property
    def _starts(self) -> list[int]:
        """The line end in `joined` before each line."""
        return [0, *accumulate(len(line) + 1 for line in self.lines)][:-1]


def lines_hash(data: bytes) -> str:
    """What a citation keeps of its lines: hex digits of the sha256 of what is no white space."""
    text = b"".join(data.removeprefix(BOM_UTF8).split())
    return hashlib.sha256(text).hexdigest()[:LINES_HASH]


class Comparison:
    """Two versions of a file, and what became of lines of the old one in the new one."""

    def __init__(self, old: Squeezed, new: Squeezed) -> None:
        self.old, self.new = old, new

    @cached_property
    def _pairs(self) -> list[int]:
        return aligned(self.old.lines, self.new.lines)

    @cached_property
    def _fresh(self) -> frozenset[int]:
        """The lines of the new version that the old one has not."""
        return frozenset(range(len(self.new.lines))).difference(self._pairs)

    @cached_property
    def _known(self) -> frozenset[bytes]:
        """All that lines of the old version say."""
        return frozenset(self.old.lines)

    def standing(self, span: Span) -> Span | None:
        """Where the lines stand unchanged, between the neighbours that they had; else None."""
        start, end = span
        if self.old.flat == self.new.flat:
            return self._exact(span, self.old.begins[start])
        first = self._pairs[start]
        if first < 0 or self._pairs[start:end] != list(range(first, first + end - start)):
            return self._rewrapped(span)
        there = first, first + end - start
        return there if self._is_certain(span, there) else None

    def _is_certain(self, span: Span, there: Span) -> bool:
        """Whether the same lines in another place could not be meant as well."""
        (start, end), (first, last) = span, there
        is_behind = bool(start and first) and self._pairs[start - 1] == first - 1
        is_before = end < len(self._pairs) and self._pairs[end] == last
        if is_behind and is_before:
            return True
        if is_behind or is_before:
            return not self._is_replaced(span, there)
        return self._is_alone(span) and not self._is_replaced(span, there, only_alike=True)

    def _is_alone(self, span: Span) -> bool:
        """Whether both versions have these lines at one place."""
        return all(len(self.old.runs(span, each, 2)) == 1 for each in (self.old, self.new))

    def _is_replaced(self, span: Span, there: Span, *, only_alike: bool = False) -> bool:
        """Whether new lines stand between the neighbours that they had: then the same lines, with
        one of these neighbours, are a copy. `only_alike`: only if these are much like them."""
        start, end = span
        if not start or end == len(self._pairs):
            return False
        before, after = self.old.lines[start - 1], self.old.lines[end]
        new, size = self.new.lines, end - start
        first, last = self._pairs[start - 1] + 1, self._pairs[end]
        spans = [(first, first + n) for n in (size, size + 1, size - 1) if first and n > 0]
        spans += [(last - n, last) for n in (size, size + 1, size - 1) if 0 < n < last]
        return any(
            stop < len(new) and new[begin - 1] == before and new[stop] == after
            and (stop <= there[0] or begin >= there[1])
            and not self._known.issuperset(new[begin:stop])
            and (not only_alike or any(map(_is_like, new[begin:stop], self.old.lines[start:end])))
            for begin, stop in spans
        )  # fmt: skip

    def _rewrapped(self, span: Span) -> Span | None:
        """Where the lines stand that were broken in other places, and nothing else."""
        old_at, new_at = self._around(span)
        old, new = self.old.text(old_at), self.new.text(new_at)
        begin = len(self.old.text((old_at[0], span[0])))
        end = begin + len(self.old.text(span))
        same = _common(old, new)
        tail = min(_common(old[::-1], new[::-1]), min(len(old), len(new)) - same)
        if begin >= len(old) - tail and end > same:
            begin += len(new) - len(old)
        elif end > same:
            return None
        return self._exact(span, self.new.begins[new_at[0]] + begin)

    def _exact(self, span: Span, begin: int) -> Span | None:
        """The lines at a place of the new version, if they say what these say, and nothing else."""
        said = self.old.text(span)
        there = self.new.covering(begin, begin + len(said))
        return there if self.new.text(there) == said else None

    def _around(self, span: Span) -> tuple[Span, Span]:
        """The lines between the nearest neighbours that both versions have, in each."""
        before, after = span[0] - 1, span[1]
        while before >= 0 and self._pairs[before] < 0:
            before -= 1
        while after < len(self._pairs) and self._pairs[after] < 0:
            after += 1
        first = self._pairs[before] + 1 if before >= 0 else 0
        last = self._pairs[after] if after < len(self._pairs) else len(self.new.lines)
        return (before + 1, after), (first, last)

    def _has_likeness(self, span: Span) -> bool:
        """Whether something like one of the lines stands where they stood: they were edited."""
        first, last = self._around(span)[1]
        new = [at for at in range(first, last) if self.new.lines[at] not in self._known]
        # of many the nearest to either neighbour
        near = new if len(new) <= _LOOKED_AT else new[: _LOOKED_AT // 2] + new[-_LOOKED_AT // 2 :]
        cited = self.old.lines[span[0] : min(span[1], span[0] + _LOOKED_AT)]
        return any(_is_like(self.new.lines[at], line) for at in near for line in cited)

    def moved(self, span: Span) -> Span | None:
        """Where in the file the lines went, as they were; None where they were changed, or are too
        little to be known again."""
        least = 1 if self._is_alone(span) else IN_FILE
        return self.arrived(self.old, span, least) if self.left(span) else None

    def left(self, span: Span) -> bool:
        """Whether the lines, which do not stand any more, were cut out, and nothing like them put
        in their place."""
        pairs = self._pairs
        beside = range(max(span[0], 1), min(span[1] + 1, len(pairs)))
        stays = any(pairs[at] > 0 and pairs[at - 1] == pairs[at] - 1 for at in beside)
        return not stays and not self._has_likeness(span)

    def arrived(self, source: Squeezed, span: Span, least: int) -> Span | None:
        """Where lines of another file, or of another place, came into this one, together with those
        that they stood among; None where less than so many letters and digits came."""
        found = None
        for there in self.new.holding(source.text(span), _PLACES):
            weight = self._weight(source, span, there)
            if weight >= least:
                found, least = there, weight + 1
        return found

    def _weight(self, source: Squeezed, span: Span, there: Span) -> int:
        """How many letters and digits came with the lines to a place, theirs among them."""
        new, (start, end) = self.new, (source.begins[span[0]], source.begins[span[1]])
        first, last = new.begins[there[0]], new.begins[there[1]]
        before = (
            source.flat[max(0, start - _CONTEXT) : start],
            new.flat[max(0, first - _CONTEXT) : first],
        )
        behind = source.flat[end : end + _CONTEXT], new.flat[last : last + _CONTEXT]
        first -= _common(before[0][::-1], before[1][::-1])
        last += _common(*behind)
        whole = range(bisect_left(new.begins, first), bisect_right(new.begins, last) - 1)
        came = (new.lines[at] for at in whole if at in self._fresh)
        return sum(len(line.translate(None, _SIGNS)) for line in came)

    def instead(self, span: Span) -> Span:
        """What stands in the place of lines that were changed; empty where nothing does."""
        old_at, (first, last) = self._around(span)
        begin = min(first + span[0] - old_at[0], last)
        end = max(last - (old_at[1] - span[1]), begin)
        return begin, end


def _common(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    low, high = 0, min(len(one), len(other))
    while low < high:  # by halves: comparing slices is quicker than byte by byte
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _is_like(one: bytes, other: bytes) -> bool:
    same = _common(one, other)
    tail = min(_common(one[::-1], other[::-1]), min(len(one), len(other)) - same)
    return same + tail >= _SIMILAR * max(len(one), len(other))
