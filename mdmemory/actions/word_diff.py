"""Two texts word by word: what went and what came, for the terminal and the pages. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

SAME, GONE, NEW = " ", "-", "+"
AROUND = 2  # lines that are shown before and after a change
MOST = 600  # words or lines that are compared; more went and came as a whole
# Latin words, blanks, and each other character by itself
_WORD = re.compile(r"[A-Za-z0-9_]+|[ \t]+|\n|.", re.DOTALL)


class DiffPiece(NamedTuple):
    """Words that stayed (SAME), went (GONE) or came (NEW); in a Line they hold no line end."""

    sign: str
    words: str


Line = tuple[DiffPiece, ...]
"""One line of the united text; a line that went and one that came in its place may be one."""


def diff_lines(before: str, after: str) -> list[Line]:
    """All lines of both texts, united, with what went and what came marked."""
    lines: list[list[DiffPiece]] = [[]]
    for piece in _diff_pieces(before.replace("\r\n", "\n"), after.replace("\r\n", "\n")):
        for number, words in enumerate(piece.words.split("\n")):
            lines += [[]] if number else []
            lines[-1] += [DiffPiece(piece.sign, words)] if words else []
    return [tuple(line) for line in lines]


def _diff_pieces(before: str, after: str) -> Iterator[DiffPiece]:
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    for lines_stay, lines_gone, lines_came in _split_stretches(old, new):
        yield DiffPiece(SAME, lines_stay)
        gone, came = "", ""
        words = _WORD.findall(lines_gone), _WORD.findall(lines_came)
        for stay, went, new_words in _split_stretches(*words) if lines_gone and lines_came else ():
            if stay.strip(" \t") or not (gone or came):  # blanks between two changes go along
                yield from (DiffPiece(GONE, gone), DiffPiece(NEW, came), DiffPiece(SAME, stay))
                gone, came, stay = "", "", ""
            gone, came = gone + stay + went, came + stay + new_words
        if not (lines_gone and lines_came):
            gone, came = lines_gone, lines_came
        yield from (DiffPiece(GONE, gone), DiffPiece(NEW, came))


def _split_stretches(old: list[str], new: list[str]) -> Iterator[tuple[str, str, str]]:
    """What stays in both, with what goes and what comes after it."""
    start = _count_alike(old, new)
    end = _count_alike(old[start:][::-1], new[start:][::-1])
    gone, came = old[start : len(old) - end], new[start : len(new) - end]
    stay = [*old[:start]]
    if max(len(gone), len(came)) > MOST:
        yield "".join(stay), "".join(gone), "".join(came)
        stay = []
    else:  # may take the third power of what is compared
        for tag, a, b, c, d in SequenceMatcher(None, gone, came, autojunk=False).get_opcodes():
            if tag == "equal":
                stay += gone[a:b]
            else:
                yield "".join(stay), "".join(gone[a:b]), "".join(came[c:d])
                stay = []
    yield "".join([*stay, *old[len(old) - end :]]), "", ""


def _count_alike(one: list[str], other: list[str]) -> int:
    least = min(len(one), len(other))
    return next((at for at in range(least) if one[at] != other[at]), least)


def diff_sides(before: str, after: str) -> tuple[list[Line], list[Line]]:
    """Both texts by themselves, line by line: the first with what the second lacks marked as gone,
    the second with what the first lacks as new."""

    def side_lines(missing: str) -> list[Line]:
        changed = (
            (tuple(piece for piece in line if piece.sign != missing), line) for line in lines
        )
        return [rest for rest, whole in changed if rest or not whole]

    lines = diff_lines(before, after)
    return side_lines(NEW), side_lines(GONE)


def shorten_lines(lines: Sequence[Line]) -> list[tuple[Line, ...]]:
    """The stretches of lines that changed, each with AROUND lines that stayed before and after."""
    changed = [at for at, line in enumerate(lines) if any(each.sign != SAME for each in line)]
    stretches: list[range] = []
    for at in changed:
        start = max(0, at - AROUND)
        if stretches and start <= stretches[-1].stop:
            start = stretches.pop().start
        stretches.append(range(start, min(len(lines), at + AROUND + 1)))
    return [tuple(lines[at] for at in each) for each in stretches]
