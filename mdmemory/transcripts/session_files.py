"""Files of sessions, one JSON object a line, read line by line however long they are.

A file may be written while it is read. A line that is broken, not whole or too long is passed over.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from mdmemory.files import lines_of
from mdmemory.transcripts.turns import as_text

MAX_BYTES = 256 * 1024 * 1024  # of one file
MAX_LINE = 32 * 1024 * 1024  # bytes; a pasted picture has a few millions
_HEAD = 200  # lines; a host says in the first ones where the session began
_BOM = b"\xef\xbb\xbf"
Rows = Iterable[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class SessionFile:
    """A session on disk: its id, and its files, the oldest first (mostly one).

    `began` is the folder in which it began, where the place of the file tells it, else "".
    """

    id: str
    paths: tuple[Path, ...]
    began: str = ""

    @property
    def changed(self) -> int:
        """Nanoseconds since 1970 of the last change; 0 where nothing is there any more."""
        return max((_status(path)[0] for path in self.paths), default=0)

    @property
    def state(self) -> str:
        """A text that differs after any change to the files."""
        return " ".join(f"{time:x} {size:x}" for time, size in map(_status, self.paths))


def rows(source: bytes | SessionFile) -> Iterator[Mapping[str, Any]]:
    """The objects of a session's lines. Raises MdmemoryError for a file that cannot be read."""
    for line in _lines(source):
        if not line.lstrip().startswith((b"{", _BOM + b"{")):
            continue
        try:
            row = json.loads(line.decode("utf-8-sig", "replace"))
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            yield row


def _lines(source: bytes | SessionFile) -> Iterator[bytes]:
    if isinstance(source, SessionFile):
        for path in source.paths:
            yield from lines_of(path, MAX_BYTES, MAX_LINE)
        return
    at = 0
    while at < len(source):
        end = source.find(b"\n", at)
        end = len(source) if end < 0 else end
        yield source[at:end]
        at = end + 1


def head(source: SessionFile) -> Iterator[Mapping[str, Any]]:
    """The first objects of a session. Raises as `rows`."""
    for _, row in zip(range(_HEAD), rows(source), strict=False):
        yield row


def as_lines(found: Rows) -> bytes:
    """Objects as the bytes of a file, one a line."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in found)


def milliseconds(stamp: object) -> int:
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


def _status(path: Path) -> tuple[int, int]:
    try:
        status = os.lstat(path)
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size
