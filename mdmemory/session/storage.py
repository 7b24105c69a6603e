"""What a project keeps of its sessions, and how it stays small. State, never notes.

Parts of sessions are JSON documents in `state.db`; the full texts of outputs that were pruned are
files in `.mdmemory/outputs/`, without their secrets. All of it may be lost at any moment.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mdmemory.errors import NotFound
from mdmemory.files import digest, read_regular
from mdmemory.git.private_folder import is_folder, make_folder, open_file

if TYPE_CHECKING:  # looking at an output needs no database
    from mdmemory.store.state import State, Statement

Parts = dict[str, dict[str, Any]]  # part, such as "hot", to its document
OutputFile = tuple[float, int, str]  # changed (seconds since 1970), bytes, path
Result = TypeVar("Result")

SWEEP_EVERY = 500  # events
MAX_SESSIONS = 200
MAX_SESSION_DAYS = 30
PROMOTION_DAYS = 30
FOLDER = "outputs"
MAX_FILES = 300
MAX_BYTES = 50_000_000
MAX_FILE_DAYS = 7
_ID = re.compile(r"o-[0-9a-f]{8}-[0-9a-f]{8}")
_LARGEST = 64 * 1024 * 1024  # bytes of one output, as much as a host may send in its largest line

_READ = "SELECT part, content FROM session_part WHERE session = ?"
_WRITE = (
    "INSERT INTO session_part VALUES (?, ?, ?, ?) ON CONFLICT (session, part)"
    " DO UPDATE SET content = excluded.content, updated = excluded.updated"
)
_COUNT = (
    "INSERT INTO session_part VALUES ('', 'events', '1', ?) ON CONFLICT (session, part)"
    " DO UPDATE SET content = CAST(content AS INTEGER) + 1, updated = excluded.updated"
)


@dataclass(frozen=True, slots=True)
class Swept:
    """When a sweep was (ISO 8601, UTC), and how many files, bytes and sessions it removed;
    `errors` counts files that could not be removed."""

    at: str
    files: int
    bytes: int
    sessions: int
    errors: int


# --- parts of sessions


def read(state: State, session: str) -> Parts:
    """The documents of a session, without unreadable ones."""
    return _parts(state.rows(_READ, (session,)))


def change(
    state: State, session: str, edit: Callable[[Parts], Result], now: datetime, *,
    counts: bool = False,
) -> Result:  # fmt: skip
    """Let `edit` change the documents of a session in place, save them, and return its result.

    Nobody else writes in between. `counts`: this is an event, one of those `is_sweep_due` counts.
    """
    at = now.isoformat(timespec="seconds")
    results: list[Result] = []

    def statements(rows: list[Any]) -> list[Statement]:
        parts, before = _parts(rows), dict(rows)
        results.append(edit(parts))
        writes: list[Statement] = [(_COUNT, (at,))] if counts else []
        for part, value in parts.items():
            text = json.dumps(value, ensure_ascii=False)
            writes += [(_WRITE, (session, part, text, at))] if text != before.get(part) else []
        return writes

    state.amend(_READ, (session,), statements)
    return results[0]


def events(state: State) -> int:
    """The number of events so far, in all sessions."""
    rows = state.rows("SELECT content FROM session_part WHERE session = '' AND part = 'events'")
    return int(rows[0][0]) if rows else 0


def sessions(state: State) -> list[tuple[str, str]]:
    """Every session with documents, and its last change (ISO 8601), the newest first."""
    query = (
        "SELECT session, max(updated) FROM session_part WHERE session != ''"
        " GROUP BY session ORDER BY max(updated) DESC, session"
    )
    return [(session, at) for session, at in state.rows(query)]


def _parts(rows: list[Any]) -> Parts:
    parts: Parts = {}
    for part, content in rows:
        with suppress(ValueError):
            if isinstance(document := json.loads(content), dict):
                parts[part] = document
    return parts


# --- sweeping


def is_sweep_due(state: State) -> bool:
    """Whether the event that was just counted is one after which to sweep."""
    return events(state) % SWEEP_EVERY == 0


def sweep(state: State, now: datetime) -> Swept:
    """Remove outputs, sessions and promotions that are too old or too many. Notes stay."""
    oldest = (now - timedelta(days=MAX_SESSION_DAYS)).isoformat(timespec="seconds")
    newest = sessions(state)
    gone = [each for each, _ in newest[MAX_SESSIONS:]]
    gone += [each for each, updated in newest[:MAX_SESSIONS] if updated < oldest]
    folder, old = state.path.parent / FOLDER, (now - timedelta(days=MAX_FILE_DAYS)).timestamp()
    removed = [_remove([each for each in _files(folder) if each[0] < old]), _remove_beyond(folder)]
    removed += [remove_outputs(folder, session) for session in gone]
    oldest_day = (now - timedelta(days=PROMOTION_DAYS)).date().isoformat()
    state.change(
        *(("DELETE FROM session_part WHERE session = ?", (session,)) for session in gone),
        ("DELETE FROM promotion WHERE since < ?", (oldest_day,)),
    )
    files, size, errors = (sum(counts) for counts in zip(*removed, strict=True))
    return Swept(now.isoformat(timespec="seconds"), files, size, len(gone), errors)


def forget(state: State, session: str) -> None:
    """Remove everything of a deleted session but its promotions."""
    remove_outputs(state.path.parent / FOLDER, session)
    state.change(("DELETE FROM session_part WHERE session = ?", (session,)))


# --- outputs


def output_id(session: str, text: str) -> str:
    """The id of a session's output; the same text has the same id."""
    return f"o-{digest(session)[:8]}-{digest(text)[:8]}"


def output_path(folder: Path, id: str) -> Path:
    """The path of the output with this id. Raises NotFound for an id of another form."""
    if not _ID.fullmatch(id):
        raise NotFound(f"{id[:40]!r} is no id of an output.", "The mark in an output names it.")
    return folder / f"{id}.txt"


def prepare_output(folder: Path, id: str) -> None:
    """Raise OSError if an output cannot be written."""
    os.close(_open(folder, id, 0))


def put_output(folder: Path, id: str, text: str) -> None:
    """Write an output; the oldest ones beyond the limits go. Raises OSError."""
    # never half a file, yet without waiting for the disk: a cache may lose what a crash takes
    with os.fdopen(_open(folder, id, os.O_TRUNC), "wb") as file:
        file.write(text.encode("utf-8", "replace"))
    os.replace(folder / f".{id}", output_path(folder, id))
    _remove_beyond(folder)


def get_output(folder: Path, id: str) -> str:
    """The text of an output. Raises NotFound when it is gone."""
    path = output_path(folder, id)
    if not is_folder(folder):
        raise NotFound(f"{id} is not there.", "Outputs are kept for a week.")
    return read_regular(path, _LARGEST).decode("utf-8", "replace")


def remove_outputs(folder: Path, session: str) -> tuple[int, int, int]:
    """Remove the outputs of a session: the files, bytes and errors of it."""
    start = f"o-{digest(session)[:8]}-"
    names = (start, f".{start}")  # the second is not whole yet
    return _remove([each for each in _files(folder) if os.path.basename(each[2]).startswith(names)])


def _open(folder: Path, id: str, flags: int) -> int:
    """A handle on the file of an output that is not whole yet."""
    make_folder(folder)
    return open_file(folder / f".{id}", os.O_WRONLY | os.O_CREAT | flags)


def _files(folder: Path) -> Iterator[OutputFile]:
    if not is_folder(folder):
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            # it may just have become whole, or another removed it
            with suppress(FileNotFoundError):
                status = entry.stat(follow_symlinks=False)
                is_ours = _ID.fullmatch(entry.name.removeprefix(".").removesuffix(".txt"))
                if is_ours and stat.S_ISREG(status.st_mode):
                    yield status.st_mtime, status.st_size, entry.path


def _remove_beyond(folder: Path) -> tuple[int, int, int]:
    """Remove the oldest outputs beyond MAX_FILES and MAX_BYTES; the newest one always stays."""
    newest = sorted(_files(folder), reverse=True)
    sizes = accumulate(length for _, length, _ in newest)
    over = (at for at, size in enumerate(sizes) if at >= MAX_FILES or (size > MAX_BYTES and at))
    return _remove(newest[next(over, len(newest)) :])


def _remove(files: Collection[OutputFile]) -> tuple[int, int, int]:
    """Remove files: how many, their bytes, and how many could not be removed."""
    removed, size, errors = 0, 0, 0
    for _, length, path in files:
        try:
            os.unlink(path)
            removed, size = removed + 1, size + length
        except FileNotFoundError:
            continue
        except OSError:
            errors += 1
    return removed, size, errors
