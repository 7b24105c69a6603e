"""A word diff as a person reads it at a terminal: a title per file, and each word that went or
came marked.

Text in, text out. Control characters of a note never reach the terminal.
"""

from __future__ import annotations

from mdmemory.actions.word_diff import SAME, DiffPiece, FileDiff, Line, of_git
from mdmemory.cli.output import visible

# of the terminal: bold, red and struck out, green; and how the same looks without colours
_COLOURS = {"title": ("\x1b[1m", "\x1b[0m"), "-": ("\x1b[31;9m", "\x1b[0m"),
            "+": ("\x1b[32m", "\x1b[0m"), "place": ("\x1b[36m", "\x1b[0m")}  # fmt: skip
_SIGNS = {"title": ("", ""), "-": ("[-", "-]"), "+": ("{+", "+}"), "place": ("", "")}


def render(porcelain: str, *, colour: bool) -> str:
    """The output of `git show --word-diff=porcelain`, rendered file by file."""
    marks = _COLOURS if colour else _SIGNS
    return "\n".join(_file(each, marks) for each in of_git(porcelain))


def _file(diff: FileDiff, marks: dict[str, tuple[str, str]]) -> str:
    title = f"{diff.file} ({diff.mark})" if diff.mark else diff.file
    parts = [_marked(title, marks["title"]), "\n"]
    for at, hunk in enumerate(diff.hunks):
        if at:
            parts += [_marked("…", marks["place"]), "\n"]
        parts += [f"{_line(line, marks)}\n" for line in hunk]
    return "".join(parts)


def _line(line: Line, marks: dict[str, tuple[str, str]]) -> str:
    return "".join(_piece(piece, marks) for piece in line)


def _piece(piece: DiffPiece, marks: dict[str, tuple[str, str]]) -> str:
    words = visible(piece.words)
    return words if piece.sign == SAME else _marked(words, marks[piece.sign])


def _marked(words: str, around: tuple[str, str]) -> str:
    return f"{around[0]}{words}{around[1]}" if words else ""
