"""A citation as it is written in a note: a place in the project, pinned to what stood there; and
how one stands. Pure.

`src/app.py#L10-L20@1f3a5b7c9d0e:8d2f4a6b`: path, lines, the first 12 hex digits of the file's git
blob, and 8 of the sha256 of the cited lines without white space. A commit is `commit:` and its id.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

COMMIT = "commit:"
BLOB = 12  # hex digits
MOST_LINE = 10_000_000  # no file has more lines than this
_LONGEST = 500  # characters of a path

# What a text has that names a file, a folder or a commit; most texts have nothing of it.
MAY_CITE = re.compile(r"[/`]|\w\.\w|[0-9a-f]{7}")
_LINES = r"#L(\d{1,8})(?:-L?(\d{1,8}))?"
_PIN = r"@([0-9a-f]{12})(?::([0-9a-f]{8}))?"
_ID = r"[0-9a-f]{7,64}"


class Citation(NamedTuple):
    """A place: `path` from the project's top (a folder ends with a slash) or `commit:<hex>`, its
    first and last line from 1, and what it is pinned to: `blob` and `lines_hash`, else "" each.

    Without lines it says that the file is there, whatever stands in it.
    """

    path: str
    lines: tuple[int, int] | None = None
    blob: str = ""
    lines_hash: str = ""

    @property
    def is_commit(self) -> bool:
        """Whether it names a commit."""
        return self.path.startswith(COMMIT)

    @property
    def is_folder(self) -> bool:
        """Whether it names a folder."""
        return self.path.endswith("/")

    @property
    def is_pinned(self) -> bool:
        """Whether it says what stood there."""
        return self.is_commit or bool(self.blob and (self.lines_hash or not self.lines))

    @property
    def place(self) -> str:
        """The path and the lines, without what it is pinned to."""
        return write_place(self.path, self.lines)

    def __str__(self) -> str:
        pin = f"@{self.blob}{f':{self.lines_hash}' if self.lines_hash else ''}" if self.blob else ""
        return f"{self.place}{pin}"


def write_place(path: str, lines: tuple[int, int] | None = None) -> str:
    """A path and lines as they are written: `src/app.py#L10-L20`, `src/app.py#L10`."""
    if lines is None:
        return path
    first, last = lines
    return f"{path}#L{first}" if first == last else f"{path}#L{first}-L{last}"


def parse(text: str) -> Citation | None:
    """The citation in a text; None where it is none: a path that leads out of the project, lines
    that cannot be, half of a pin."""
    text = text.strip()
    if text.startswith(COMMIT):
        return Citation(text) if re.fullmatch(_ID, text[len(COMMIT) :]) else None
    blob = lines_hash = ""
    rest, mark, pin = text.rpartition("@")
    if mark and (pin_match := re.fullmatch(_PIN, f"@{pin}")):
        text, blob, lines_hash = rest, pin_match[1], pin_match[2] or ""
    lines = None
    rest, mark, numbers = text.rpartition("#")
    if mark and (pin_match := re.fullmatch(_LINES, f"#{numbers}")):
        text, first = rest, int(pin_match[1])
        lines = (first, int(pin_match[2] or first))
        if not 0 < first <= lines[1] <= MOST_LINE:
            return None
    if bool(lines_hash) > bool(lines) or not is_path(text):
        return None
    return Citation(text, lines, blob, lines_hash)


def is_path(text: str) -> bool:
    """Whether a text is a path that stays in the project, as git writes paths."""
    if not text.isprintable() or not 0 < len(text) <= _LONGEST:
        return False
    if text.startswith("/") or text != text.strip():
        return False
    parts = text.removesuffix("/").split("/")
    return not any(part in ("", ".", "..") or part.casefold() == ".git" for part in parts)


# How a citation stands, in words that notes, searches and people meet.
FRESH, MOVED, DRIFTED, GONE, UNKNOWN = "fresh", "moved", "drifted", "gone", "unknown"


class CitationVerdict(NamedTuple):
    """How a citation stands: the last four fields of a `CheckedCitation`."""

    state: str
    now: str = ""
    diff: str = ""
    why: str = ""


class CheckedCitation(NamedTuple):
    """A citation of a note, and how it stands. `file` is the note's, `cite` the text as it is
    written there, `place` the same without what it is pinned to.

    `state` is fresh (what is cited stands there), moved (the same stands elsewhere), drifted (the
    lines were changed), gone, or unknown. `now` is the place where it stands, or what was put
    instead, such as `src/app.py#L12-L22`; "" where that is as written or nowhere. `diff` has the
    cited lines with `-` and those in their place with `+` in front, at most 40, without secrets.
    `why` says in words what else there is to know.
    """

    file: str
    cite: str
    place: str
    state: str
    now: str = ""
    diff: str = ""
    why: str = ""

    @property
    def is_outdated(self) -> bool:
        """Whether the project no longer holds what the note cites."""
        return self.state in (DRIFTED, GONE)


def tell_drift(checked: Sequence[CheckedCitation]) -> tuple[str, str]:
    """What a reader of a note has to know of its citations: drifted or moved, and that in words;
    "" each for nothing."""
    if outdated := [each.place for each in checked if each.is_outdated]:
        return DRIFTED, f"{DRIFTED}: {', '.join(outdated)}"
    moved = [f"{each.place} -> {each.now}" for each in checked if each.state == MOVED]
    return (MOVED, f"{MOVED}: {', '.join(moved)}") if moved else ("", "")
