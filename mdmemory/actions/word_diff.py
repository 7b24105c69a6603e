"""Two texts word by word: what went and what came, read from git's word diff or found here.

Pure: text in, values out. The interfaces show the pieces, each in its own way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from mdmemory.records import dataclass

SAME, GONE, NEW = " ", "-", "+"  # signs, as git's porcelain has them
# Of a stretch that is compared, without what is the same at its ends; a longer one went and came as
# a whole. What is compared may take the third power of it.
MOST_WORDS, MOST_LINES = 600, 400

_TOLD = re.compile(r"^(new|deleted|rename from|rename to|---|\+\+\+) ?(.*?)\t?$", re.MULTILINE)
# Latin words, blanks, and each other character by itself
_WORD = re.compile(r"[A-Za-z0-9_]+|[ \t]+|\n|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class DiffPiece:
    """Words that stayed (SAME), went (GONE) or came (NEW); they hold no line end."""

    sign: str
    words: str


Line = tuple[DiffPiece, ...]
"""One line of the united text; a line that went and one that came in its place may be one."""


@dataclass(frozen=True, slots=True)
class FileDiff:
    """What a commit did to a file. `mark` is new, removed, "was NAME" or ""; `hunks` are stretches
    of lines with what was left out between them."""

    file: str
    mark: str
    hunks: tuple[tuple[Line, ...], ...]


# --- git's own


def of_git(porcelain: str) -> list[FileDiff]:
    """The output of `git show --word-diff=porcelain`, file by file."""
    sections = re.split(r"^diff --git ", porcelain, flags=re.MULTILINE)[1:]
    return [_file(section) for section in sections]


def _file(section: str) -> FileDiff:
    head, *hunks = re.split(r"^@@ .*\n", section, flags=re.MULTILINE)
    return FileDiff(*_title(head), tuple(tuple(_lines(hunk)) for hunk in hunks))


def _title(head: str) -> tuple[str, str]:
    """The file's name, and whether it is new, removed or renamed."""
    both = head.partition("\n")[0]  # "x.md x.md": of an empty file git names it nowhere else
    name = both[: len(both) // 2]
    told: dict[str, str] = dict(_TOLD.findall(head))
    if "rename to" in told:
        return told["rename to"], f"was {told['rename from']}"
    if "deleted" in told:
        return told.get("---", name), "removed"
    return told.get("+++", name), "new" if "new" in told else ""


def _lines(hunk: str) -> Iterator[Line]:
    """The lines of a hunk: in the porcelain each piece has its sign, and `~` ends a line."""
    line: list[DiffPiece] = []
    for part in hunk.split("\n")[:-1]:
        sign, words = part[:1] or SAME, part[1:]
        if sign == "~":
            yield tuple(line)
            line = []
        elif sign in (SAME, GONE, NEW) and words:
            line.append(DiffPiece(sign, words))
    if line:
        yield tuple(line)


# --- found here


def between(before: str, after: str) -> list[Line]:
    """All lines of both texts, united, with what went and what came marked."""
    old, new = (text.replace("\r\n", "\n").split("\n") for text in (before, after))
    found: list[Line] = []
    for is_same, gone, came in _stretches(old, new, MOST_LINES):
        if is_same:
            found += [(DiffPiece(SAME, line),) if line else () for line in gone]
        elif gone and came:
            found += _by_words("\n".join(gone), "\n".join(came))
        else:
            found += [(DiffPiece(GONE, line),) for line in gone]
            found += [(DiffPiece(NEW, line),) for line in came]
    return found


def _stretches(
    old: Sequence[str], new: Sequence[str], most: int
) -> Iterator[tuple[bool, Sequence[str], Sequence[str]]]:
    """What is the same in both, and what differs, in turns."""
    least = min(len(old), len(new))
    start = next((at for at in range(least) if old[at] != new[at]), least)
    rest = least - start
    end = next((at for at in range(rest) if old[-1 - at] != new[-1 - at]), rest)
    if start:
        yield True, old[:start], new[:start]
    gone, came = old[start : len(old) - end], new[start : len(new) - end]
    if max(len(gone), len(came)) > most:
        yield False, gone, came
    else:
        matcher = SequenceMatcher(None, gone, came, autojunk=False)
        for tag, a, b, c, d in matcher.get_opcodes():
            yield tag == "equal", gone[a:b], came[c:d]
    if end:
        yield True, old[len(old) - end :], new[len(new) - end :]


def _by_words(before: str, after: str) -> list[Line]:
    """The lines of two stretches of text that differ, compared word by word."""
    pieces: list[DiffPiece] = []
    for is_same, gone, came in _stretches(_WORD.findall(before), _WORD.findall(after), MOST_WORDS):
        if is_same:
            pieces.append(DiffPiece(SAME, "".join(gone)))
        else:
            pieces += _changed("".join(gone), "".join(came))
    return _split(_joined(pieces))


def _joined(pieces: Sequence[DiffPiece]) -> list[DiffPiece]:
    """The pieces with blanks between two changes taken into them: words that went read as one
    stretch, then those that came."""
    found: list[DiffPiece] = []
    gone, came = "", ""
    for at, piece in enumerate(pieces):
        inside = bool(gone or came) and at + 1 < len(pieces)
        if piece.sign == SAME and not (inside and piece.words.strip(" \t") == ""):
            found += _changed(gone, came)
            gone, came = "", ""
            found.append(piece)
        else:
            gone += "" if piece.sign == NEW else piece.words
            came += "" if piece.sign == GONE else piece.words
    return [*found, *_changed(gone, came)]


def _changed(gone: str, came: str) -> list[DiffPiece]:
    found = [DiffPiece(GONE, gone)] if gone else []
    return [*found, DiffPiece(NEW, came)] if came else found


def _split(pieces: Sequence[DiffPiece]) -> list[Line]:
    """The pieces in lines, cut where any of them has a line end."""
    lines: list[list[DiffPiece]] = [[]]
    for piece in pieces:
        first, *more = piece.words.split("\n")
        for number, words in enumerate([first, *more]):
            if number:
                lines.append([])
            if words:
                lines[-1].append(DiffPiece(piece.sign, words))
    return [tuple(line) for line in lines]


def sides(before: str, after: str) -> tuple[list[Line], list[Line]]:
    """Both texts by themselves, line by line: the first with what the second lacks marked as gone,
    the second with what the first lacks as new."""
    pieces = _by_words(before.replace("\r\n", "\n"), after.replace("\r\n", "\n"))
    return _without(pieces, NEW), _without(pieces, GONE)


def _without(lines: Sequence[Line], sign: str) -> list[Line]:
    kept = (tuple(piece for piece in line if piece.sign != sign) for line in lines)
    return [line for line, whole in zip(kept, lines, strict=True) if line or not whole]


def shortened(lines: Sequence[Line], around: int = 2) -> list[tuple[Line, ...]]:
    """The stretches of lines that changed, each with so many lines that stayed before and after."""
    near = {
        at + step
        for at, line in enumerate(lines)
        if any(piece.sign != SAME for piece in line)
        for step in range(-around, around + 1)
    }
    found: list[list[Line]] = []
    last = -2
    for at in sorted(near):
        if 0 <= at < len(lines):
            if at != last + 1:
                found.append([])
            found[-1].append(lines[at])
            last = at
    return [tuple(each) for each in found]
