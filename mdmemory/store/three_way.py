"""Two changes of one text, joined line by line where they concern other lines. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

MOST = 2_000  # lines of one text; comparing takes longer than it is worth beyond


@dataclass(frozen=True, slots=True, order=True)
class _Hunk:
    """The lines of the base from `start` to before `end`, and what a side has in their place."""

    start: int
    end: int
    lines: tuple[str, ...]

    def meets(self, other: _Hunk) -> bool:
        """Whether both are about the same lines, or put something at the same place."""
        if self.start == self.end == other.start == other.end:
            return True
        return self.start < other.end and other.start < self.end


def joined(base: str, ours: str, theirs: str) -> str | None:
    """`base` with what both sides changed in it; None where they changed the same lines, each in
    its own way. What both did alike counts once."""
    before = base.splitlines(keepends=True)
    sides = [text.splitlines(keepends=True) for text in (ours, theirs)]
    if max(map(len, (before, *sides))) > MOST:
        return None
    mine, other = (_hunks(before, side) for side in sides)
    fresh = [hunk for hunk in other if hunk not in mine]
    if any(hunk.meets(each) for hunk in fresh for each in mine):
        return None
    return "".join(_applied(before, sorted([*mine, *fresh])))


def _hunks(before: Sequence[str], after: Sequence[str]) -> list[_Hunk]:
    codes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [
        _Hunk(start, end, tuple(after[first:last]))
        for tag, start, end, first, last in codes
        if tag != "equal"
    ]  # fmt: skip


def _applied(before: Sequence[str], hunks: Sequence[_Hunk]) -> list[str]:
    lines: list[str] = []
    at = 0
    for hunk in hunks:
        lines += [*before[at : hunk.start], *hunk.lines]
        at = hunk.end
    return [*lines, *before[at:]]
