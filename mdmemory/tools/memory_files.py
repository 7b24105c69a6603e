"""What a command of a memory tool names and shows: paths under /memories, numbered lines. Pure.

A path names a file directly there or nothing; none leads out. Texts of answers are the API's.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from mdmemory import unseen
from mdmemory.errors import UsageError
from mdmemory.note import limits
from mdmemory.store.store import is_note_name

ROOT = "/memories"
BELONGS = "mdmemory writes this file from the notes: change those."
_ELSEWHERE = "Memory files are markdown notes directly in /memories."
_LONGEST_PATH = 400  # characters


class Prescribed(Exception):
    """Ends a command with a sentence that the API's documentation prescribes."""


def inside(path: str) -> str:
    """The file that a path under /memories names; it may be none. A folder's path names no file."""
    rest = path.removeprefix(f"{ROOT}/")
    plain = unicodedata.normalize("NFKC", rest)
    if rest == path or len(path) > _LONGEST_PATH or _leads_out(rest) or _leads_out(plain):
        raise UsageError(f"The path {path[:_LONGEST_PATH]!r} is not under {ROOT}.", _ELSEWHERE)
    return rest


def _leads_out(rest: str) -> bool:
    """Whether a part of a path is more than a name: dots, links of other systems, escapes."""
    is_odd = any(char in rest for char in "\\%") or not rest.isprintable()
    return (
        is_odd or unseen.without(rest) != rest or any(p[:1] in ("", ".") for p in rest.split("/"))
    )


def new_file(path: str) -> str:
    """The file that a path names where none is yet. Raises UsageError with one that can be."""
    file = inside(path)
    stem = file.removesuffix(".md")
    name = limits.slugify(stem if file.endswith(".md") else file)
    is_plain = unicodedata.normalize("NFC", file) == file and "/" not in file
    is_free = is_note_name(file) and file.casefold() not in ("memory.md", "readme.md")
    if not name or file.casefold() == "memory.md":
        raise UsageError(f"{path} cannot be written. {BELONGS if name else _ELSEWHERE}")
    if not (is_plain and is_free) or len(stem.encode()) > limits.MAX_NAME_BYTES:
        raise UsageError(f"{path} cannot be a memory file. {_ELSEWHERE}", f"Use {ROOT}/{name}.md")
    return file


def lines_of(given: object, count: int) -> tuple[int, int]:
    """The first and last line that a `view_range` asks for, from 1."""
    if given is None:
        return 1, count
    pair = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else []
    if len(pair) != 2 or not all(type(each) is int for each in pair):
        raise UsageError("`view_range` is two numbers of lines.", "-1 is the last line.")
    first, last = pair
    last = count if last == -1 else last
    if not 1 <= first <= min(last, count):
        raise UsageError(f"Invalid `view_range` parameter: {pair}.", f"The file has {count} lines.")
    return first, min(last, count)


# --- lines


def place(text: str, old: str, path: str) -> int:
    """Where `old` stands in a text, once."""
    if not old or (at := text.find(old)) < 0:
        raise Prescribed(
            f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
        )
    places = [at]
    while (at := text.find(old, at + 1)) >= 0:
        places.append(at)
    if len(places) > 1:
        lines = ", ".join(str(text.count("\n", 0, place) + 1) for place in places)
        raise Prescribed(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
            f"{lines}. Please ensure it is unique"
        )
    return places[0]


def inserted(text: str, at: object, more: str) -> str:
    lines = text.splitlines(keepends=True)
    if type(at) is not int or not 0 <= at <= len(lines):
        raise Prescribed(
            f"Error: Invalid `insert_line` parameter: {at}. It should be within the range of lines "
            f"of the file: [0, {len(lines)}]"
        )
    end = "\r\n" if "\r\n" in text else "\n"
    before = "".join(lines[:at])
    joint = "" if not before or before.endswith("\n") else end
    return f"{before}{joint}{more}{'' if more.endswith(chr(10)) else end}{''.join(lines[at:])}"


def numbered(lines: Sequence[str], first: int, last: int) -> str:
    return "\n".join(f"{at:6}\t{line}" for at, line in enumerate(lines[first - 1 : last], first))


def size(count: int) -> str:
    """A number of bytes as `du -h` writes it."""
    for unit, power in (("M", 20), ("K", 10)):
        if count >= 1 << power:
            return f"{count / (1 << power):.1f}{unit}"
    return f"{count}B"
