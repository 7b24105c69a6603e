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


def tokens(text: str) -> int:
    """The length of a text in tokens: a quarter of its characters, CJK one each; rounded up."""
    return -(-_quarters(text) // CHARACTERS)


def _quarters(text: str) -> int:
    if text.isascii():
        return len(text)
    narrow = len(re.sub(_WIDE, "", text))
    return narrow + CHARACTERS * (len(text) - narrow)


def cut(text: str, size: int = SIZE, overlap: int = OVERLAP, first: int = 1) -> Iterator[Chunk]:
    """The pieces of a text, of at most `size` tokens; none of a text without words.

    The last lines of a piece, up to `overlap` tokens (never over half of `size`), open the next.
    `first` is the number of the text's first line.
    """
    if not text.strip():
        return
    if len(text) <= size * CHARACTERS and tokens(text) <= size:
        yield Chunk(first, first + text.count("\n"), text)
        return
    limit, shared = size * CHARACTERS, min(overlap, size // 2) * CHARACTERS
    held: list[tuple[int, str, int]] = []  # number, line, quarters of tokens
    total, fresh = 0, False  # fresh: something in `held` that no piece has had
    for number, line in _lines(text, size, first):
        cost = _quarters(line) + 1  # its line end
        if held and total + cost > limit + 1:  # the last has none
            if fresh:
                yield _chunk(held)
            while held and (total > shared + 1 or total + cost > limit + 1):
                total -= held.pop(0)[2]
        held.append((number, line, cost))
        total, fresh = total + cost, True
    yield _chunk(held)


def _lines(text: str, size: int, first: int) -> Iterator[tuple[int, str]]:
    """The lines with their numbers; one that is longer than a piece comes in parts."""
    for number, line in enumerate(text.split("\n"), first):
        yield from ((number, part) for part in _parts(line, size))


def _parts(line: str, size: int) -> Iterator[str]:
    start = 0
    while True:
        part = line[start : start + size * CHARACTERS]
        while tokens(part) > size:  # wide characters count one each
            part = part[: max(1, len(part) * size // tokens(part))]
        if start + len(part) < len(line):
            space = part.rfind(" ", len(part) // 2)
            part = part[: space + 1] if space > 0 else part
        yield part
        start += len(part)
        if start >= len(line):
            return


def _chunk(held: list[tuple[int, str, int]]) -> Chunk:
    pieces = [held[0][1]]
    for (before, _, _), (number, line, _) in pairwise(held):
        pieces += ["\n" if number != before else "", line]
    return Chunk(held[0][0], held[-1][0], "".join(pieces))
