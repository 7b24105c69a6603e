"""A text cut into pieces of a size that ranks well: whole lines, each piece overlapping the last.

Pure, and never more in memory than one piece beside the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

SIZE, OVERLAP = 400, 80  # tokens of a piece, and of what it shares with the one before
CHARACTERS = 4  # in a token, outside the scripts below
# a plain string: compiled only where there is such a text
_WIDE = "[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"


class Chunk(NamedTuple):
    """Lines `start` to `end` of a file (from 1, both included), or a part of one long line."""

    start: int
    end: int
    text: str


def count_tokens(text: str) -> int:
    """The length of a text in tokens: a quarter of its characters, CJK one each; rounded up."""
    return -(-_count_quarters(text) // CHARACTERS)


def _count_quarters(text: str) -> int:
    if text.isascii():
        return len(text)
    narrow = len(re.sub(_WIDE, "", text))
    return narrow + CHARACTERS * (len(text) - narrow)


def cut_text(
    text: str, size: int = SIZE, overlap: int = OVERLAP, first: int = 1
) -> Iterator[Chunk]:
    """The pieces of a text, of at most `size` tokens; none of a text without words.

    The last lines of a piece, up to `overlap` tokens (never over half of `size`), open the next.
    `first` is the number of the text's first line.
    """
    if not text.strip():
        return
    if len(text) <= size * CHARACTERS and count_tokens(text) <= size:
        yield Chunk(first, first + text.count("\n"), text)
        return
    limit, shared = size * CHARACTERS, min(overlap, size // 2) * CHARACTERS
    lines: list[tuple[int, str, int]] = []  # number, line, quarters of tokens
    total, fresh = 0, False  # fresh: something in `lines` that no piece has had
    parts = (
        (number, part)
        for number, line in enumerate(text.split("\n"), first)
        for part in _line_parts(line, size)
    )
    for number, line in parts:
        cost = _count_quarters(line) + 1  # its line end
        if lines and total + cost > limit + 1:  # the last has none
            if fresh:
                yield _make_chunk(lines)
            while lines and (total > shared + 1 or total + cost > limit + 1):
                total -= lines.pop(0)[2]
        lines.append((number, line, cost))
        total, fresh = total + cost, True
    yield _make_chunk(lines)


def _line_parts(line: str, size: int) -> Iterator[str]:
    """A line; one that is longer than a piece in parts."""
    start = 0
    while True:
        part = line[start : start + size * CHARACTERS]
        while count_tokens(part) > size:  # wide characters count one each
            part = part[: max(1, len(part) * size // count_tokens(part))]
        if start + len(part) < len(line):
            space = part.rfind(" ", len(part) // 2)
            part = part[: space + 1] if space > 0 else part
        yield part
        start += len(part)
        if start >= len(line):
            return


def _make_chunk(lines: list[tuple[int, str, int]]) -> Chunk:
    pieces = [lines[0][1]]
    for (before, _, _), (number, line, _) in pairwise(lines):
        pieces += ["\n" if number != before else "", line]
    return Chunk(lines[0][0], lines[-1][0], "".join(pieces))
