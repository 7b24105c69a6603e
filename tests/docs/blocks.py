"""The blocks of a page that a test runs: what is typed, and what the page shows for it.

A `console` block is a terminal: `$ ` and a command, then what it prints. A backslash at the end of
a line and a here document continue a command. A `session` block is an assistant's window: `> ` and
what a person types, then the line that mdmemory shows. A shown line `...` stands for any lines.
"""

import re
from dataclasses import dataclass

HOME = "/home/you"  # of every page
_BLOCK = re.compile(r"^```(console|session)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HERE_DOCUMENT = re.compile(r"<<-?\s*['\"]?(\w+)")
SIGNS = {"console": "$ ", "session": "> "}
ELISION = "..."

# What differs from run to run. A page shows a real value; both sides are compared under these.
_VARIES = (
    (r"\bm-[0-9a-f]{8}\b", "m-ID"),
    (r"\b[0-9a-f]{10}\b", "COMMIT"),
    (r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d)?\b", "DATE"),
)


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that is typed, after its sign "$" or ">", and the lines that are shown for it."""

    sign: str
    typed: str
    shown: str


def steps(text: str) -> list[Step]:
    """Those of all blocks of a page, in its order.

    Raises ValueError for a block that shows something before anything is typed.
    """
    found: list[Step] = []
    for kind, block in _BLOCK.findall(text):
        found += _steps_of(SIGNS[kind], block.splitlines(keepends=True))
    return found


def _steps_of(sign: str, lines: list[str]) -> list[Step]:
    found: list[Step] = []
    at = 0
    while at < len(lines):
        if not lines[at].startswith(sign):
            raise ValueError(f"nothing is typed before this line: {lines[at]!r}")
        begin, at = at, _end_of_command(lines, at)
        typed = "".join(lines[begin:at]).removeprefix(sign).removesuffix("\n")
        begin = at
        while at < len(lines) and not lines[at].startswith(sign):
            at += 1
        found.append(Step(sign[0], typed, "".join(lines[begin:at])))
    return found


def _end_of_command(lines: list[str], at: int) -> int:
    """The line after the command that begins at this one."""
    document = _HERE_DOCUMENT.search(lines[at])
    while lines[at].endswith("\\\n"):
        at += 1
    if document:
        while lines[at].strip() != document[1]:
            at += 1
    return at + 1


def normal(text: str, home: str = HOME) -> str:
    """Without what differs from run to run: ids, commits, dates, and the folder of the home."""
    text = text.replace(home, HOME)
    for pattern, word in _VARIES:
        text = re.sub(pattern, word, text)
    return text


def is_shown(shown: str, real: str) -> bool:
    """Whether a page shows what really happened; a line `...` stands for any number of lines."""
    parts: list[list[str]] = [[]]
    for line in shown.splitlines():
        if line.strip() == ELISION:
            parts.append([])
        else:
            parts[-1].append(line)
    lines = real.splitlines()
    first, *others = parts
    if lines[: len(first)] != first:
        return False
    if not others:
        return len(lines) == len(first)
    last = others.pop()
    at, end = len(first), len(lines) - len(last)
    if end < at or lines[end:] != last:
        return False
    for part in others:
        at = next((n for n in range(at, end + 1) if lines[n : n + len(part)] == part), end + 1)
        at += len(part)
    return at <= end
