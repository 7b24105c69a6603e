"""Files of sessions, one JSON object a line, read line by line however long they are.

A file may be written while it is read, and a crash may have left half a record in front of a whole
one: what is broken or too long is passed over, and the whole records of the same line are read.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from io import BytesIO
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from mdmemory.files import lines_of
from mdmemory.transcripts.turns import as_text

MAX_BYTES = 256 * 1024 * 1024  # of one file
MAX_LINE = 32 * 1024 * 1024  # bytes; a pasted picture has a few millions
_HEAD = 200  # lines; a host says in the first ones where the session began
_READ = json.JSONDecoder().raw_decode
# what stands behind a record: the next one, or the end of the line. What is inside of another has
# its comma or bracket there
_NEXT = re.compile(r"\s*(?=\{|\Z)")
_TORN = b"{"
Rows = Iterable[Mapping[str, Any]]


class SessionFile(NamedTuple):
    """A session on disk: its id, and its files, the oldest first (mostly one).

    `began` is the folder in which it began, where the place of the file tells it, else "".
    """

    id: str
    paths: tuple[Path, ...]
    began: str = ""

    @property
    def changed(self) -> int:
        """Nanoseconds since 1970 of the last change; 0 where nothing is there any more."""
        return max((_read_status(path)[0] for path in self.paths), default=0)

    @property
    def state(self) -> str:
        """A text that differs after any change to the files."""
        return " ".join(f"{time:x} {size:x}" for time, size in map(_read_status, self.paths))


class SessionRows:
    """The objects of a session's lines, read once. `torn` counts the lines, so far, of which a part
    is no whole record; the last one may be written just now, and counts only once it has ended.
    Raises MdmemoryError for a file that cannot be read."""

    def __init__(self, source: bytes | SessionFile) -> None:
        self._source = source
        self.torn = 0

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        if isinstance(self._source, bytes):
            lines: Iterable[bytes] = BytesIO(self._source)
        else:
            each_file = (lines_of(path, MAX_BYTES, MAX_LINE) for path in self._source.paths)
            lines = chain.from_iterable(each_file)
        for line in lines:
            # after a power cut blocks that were not written yet are NUL bytes
            text = line.replace(b"\0", b"").decode("utf-8-sig", "replace").strip()
            if text.startswith("{"):
                rows, is_whole = _parse_records(text)
                self.torn += not is_whole and line.endswith(b"\n")
                yield from rows


def _parse_records(text: str) -> tuple[list[Mapping[str, Any]], bool]:
    """The whole objects of a line that are no part of another, whatever stands between them, and
    whether nothing but them stands there."""
    rows: list[Mapping[str, Any]] = []
    is_whole, at = True, 0
    while (at := text.find("{", at)) >= 0:
        try:
            row, end = _READ(text, at)
        except (ValueError, RecursionError):
            is_whole, at = False, at + 1
            continue
        at = end
        if _NEXT.match(text, end):
            rows.append(row)
        else:
            is_whole = False
    return rows, is_whole


def head(source: SessionFile) -> Iterator[Mapping[str, Any]]:
    """The first objects of a session. Raises as `SessionRows`."""
    return islice(SessionRows(source), _HEAD)


def pick_lines(rows: SessionRows, pick: Callable[[Mapping[str, Any]], object]) -> bytes:
    """What `pick` makes of each row, as the bytes of a file, one a line; what is torn stays so."""
    lines = [json.dumps(row).encode() for row in map(pick, rows) if row]
    return b"".join(line + b"\n" for line in [*lines, *[_TORN] * rows.torn])


def parse_moment(stamp: object) -> int:
    """A moment in ISO 8601 as milliseconds since 1970, 0 where it is none."""
    try:
        return round(datetime.fromisoformat(as_text(stamp)).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return 0


def is_uuid(session: str) -> bool:
    """Whether a session's name is of the form that Codex and Gemini CLI give: no file of theirs
    needs to be looked for otherwise."""
    return bool(re.fullmatch(r"[0-9A-Fa-f-]{36}", session))


def is_plain_name(session: str) -> bool:
    """Whether a session's name can be part of a file's."""
    return bool(re.fullmatch(r"[\w-]{1,120}", session))


def _read_status(path: Path) -> tuple[int, int]:
    try:
        status = os.lstat(path)
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size
