"""Git's word diff as a person reads it: a title per file, and each word that went or came marked.

Text in, text out. Control characters of a note never reach the terminal.
"""

from __future__ import annotations

import re

from mdmemory.cli.output import visible

# of the terminal: bold, red and struck out, green; and how the same looks without colours
_COLOURS = {"title": ("\x1b[1m", "\x1b[0m"), "-": ("\x1b[31;9m", "\x1b[0m"),
            "+": ("\x1b[32m", "\x1b[0m"), "place": ("\x1b[36m", "\x1b[0m")}  # fmt: skip
_SIGNS = {"title": ("", ""), "-": ("[-", "-]"), "+": ("{+", "+}"), "place": ("", "")}
_TOLD = re.compile(r"^(new|deleted|rename from|rename to|---|\+\+\+) ?(.*?)\t?$", re.MULTILINE)


def render(porcelain: str, *, colour: bool) -> str:
    """The output of `git show --word-diff=porcelain`, rendered file by file."""
    marks = _COLOURS if colour else _SIGNS
    sections = re.split(r"^diff --git ", porcelain, flags=re.MULTILINE)[1:]
    return "\n".join(_file(section, marks) for section in sections)


def _file(section: str, marks: dict[str, tuple[str, str]]) -> str:
    head, *hunks = re.split(r"^@@ .*\n", section, flags=re.MULTILINE)
    parts = [_marked(_title(head), marks["title"]), "\n"]
    for at, hunk in enumerate(hunks):
        if at:
            parts += [_marked("…", marks["place"]), "\n"]
        parts += [_piece(line, marks) for line in hunk.split("\n")[:-1]]
    return "".join(parts)


def _title(head: str) -> str:
    """The file's name and whether it is new, removed or renamed."""
    both = head.partition("\n")[0]  # "x.md x.md": of an empty file git names it nowhere else
    name = both[: len(both) // 2]
    told: dict[str, str] = dict(_TOLD.findall(head))
    if "rename to" in told:
        return f"{told['rename to']} (was {told['rename from']})"
    if "deleted" in told:
        return f"{told.get('---', name)} (removed)"
    return told.get("+++", name) + (" (new)" if "new" in told else "")


def _piece(line: str, marks: dict[str, tuple[str, str]]) -> str:
    """One line of the porcelain: its sign, then words; `~` ends a line of the note."""
    sign, words = line[:1] or " ", visible(line[1:])
    if sign == "~":
        return "\n"
    return _marked(words, marks[sign]) if sign in "+-" else words if sign == " " else ""


def _marked(words: str, around: tuple[str, str]) -> str:
    return f"{around[0]}{words}{around[1]}" if words else ""
