"""`.mdmemory/outputs/`: the full texts of outputs that were pruned, without their secrets.

A bounded cache: 300 files, 50 MB, 7 days. Each file's name begins with its session.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from mdmemory.errors import NotFound
from mdmemory.files import read_regular
from mdmemory.git.private_folder import is_folder, opened, subfolder

FOLDER = "outputs"
MAX_FILES = 300
MAX_BYTES = 50_000_000
MAX_DAYS = 7
_ID = re.compile(r"o-[0-9a-f]{8}-[0-9a-f]{8}")
_LARGEST = 64 * 1024 * 1024  # bytes of one output, as much as a host may send in its largest line


@dataclass(frozen=True, slots=True)
class Freed:
    """What was removed; `errors` counts files that could not be."""

    files: int = 0
    bytes: int = 0
    errors: int = 0


def id_of(session: str, text: str) -> str:
    """The id of a session's output; the same text has the same one."""
    return f"{_of(session)}{_short(text)}"


def path_of(folder: Path, id: str) -> Path:
    """Where the output with this id lies, or would lie. Raises NotFound for what is no id."""
    if not _ID.fullmatch(id):
        raise NotFound(f"{id[:40]!r} is no id of an output.", "The mark in an output names it.")
    return folder / f"{id}.txt"


def prepare(folder: Path, id: str) -> None:
    """Make sure that a text can be put there soon, as far as that shows now. Raises OSError."""
    os.close(_open(folder, id, 0))


def put(folder: Path, id: str, text: str) -> None:
    """Keep a text; the oldest of what lies there give way. Raises OSError."""
    # never half a file, yet without waiting for the disk: a cache may lose what a crash takes
    with os.fdopen(_open(folder, id, os.O_TRUNC), "wb") as file:
        file.write(text.encode("utf-8", "replace"))
    os.replace(folder / f".{id}", path_of(folder, id))
    _remove(_beyond(folder))


def _open(folder: Path, id: str, how: int) -> int:
    """The file of an output that is not whole yet, for writing."""
    subfolder(folder)
    return opened(folder / f".{id}", os.O_WRONLY | os.O_CREAT | how)


def get(folder: Path, id: str) -> str:
    """The text with this id. Raises NotFound when it is gone."""
    path = path_of(folder, id)
    if not is_folder(folder):
        raise NotFound(f"{id} is not there.", "Outputs are kept for a week.")
    return read_regular(path, _LARGEST).decode("utf-8", "replace")


def sweep(folder: Path, now: datetime) -> Freed:
    """Remove what is over the limits."""
    oldest = (now - timedelta(days=MAX_DAYS)).timestamp()
    aged = [each for each in _files(folder) if each[0] < oldest]
    first = _remove(aged)
    second = _remove(_beyond(folder))
    return Freed(
        first.files + second.files, first.bytes + second.bytes, first.errors + second.errors
    )


def forget(folder: Path, session: str) -> Freed:
    """Remove the outputs of a session."""
    start = _of(session)
    names = (start, f".{start}")  # what is not whole yet, too
    return _remove([each for each in _files(folder) if os.path.basename(each[2]).startswith(names)])


File = tuple[float, int, str]  # changed (seconds since 1970), bytes, path


def _files(folder: Path) -> Iterator[File]:
    if not is_folder(folder):
        return
    with os.scandir(folder) as found:
        for each in found:
            is_ours = _ID.fullmatch(each.name.removeprefix(".").removesuffix(".txt"))
            if is_ours and each.is_file(follow_symlinks=False):
                status = each.stat(follow_symlinks=False)
                yield status.st_mtime, status.st_size, each.path


def _beyond(folder: Path) -> list[File]:
    """What is too much, the oldest."""
    newest = sorted(_files(folder), reverse=True)
    size = 0
    for at, (_, length, _) in enumerate(newest):
        size += length
        if at >= MAX_FILES or (size > MAX_BYTES and at):
            return newest[at:]
    return []


def _remove(files: list[File]) -> Freed:
    done, size, errors = 0, 0, 0
    for _, length, path in files:
        try:
            os.unlink(path)
        except FileNotFoundError:
            continue
        except OSError:
            errors += 1
            continue
        done, size = done + 1, size + length
    return Freed(done, size, errors)


def _of(session: str) -> str:
    return f"o-{_short(session)}-"


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
