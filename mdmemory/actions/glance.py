"""How a store looks at a glance, so that what was found of it can be kept while it looks the same.

Only looks at names, times and sizes, and at git's own files: no process, no text is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mdmemory.git import repositories
from mdmemory.git.waiting import Waiting
from mdmemory.store.store import is_note_name
from mdmemory.store.writer import Writer

SETTLED = 2_000_000_000  # ns; a file changed so recently may change again under the same time


@dataclass(frozen=True, slots=True)
class Glance:
    """`notes` stands for the store's files, `commits` for its branch and what waits beside it,
    `inbox` for what waits for a person outside the notes, `state` for our own database."""

    notes: int
    commits: str
    inbox: int
    state: int


def glance(writer: Writer, now: int) -> Glance:
    """The store as it looks now; `now` is the time in ns since 1970."""
    project = writer.project
    inbox = [print_ for folder in project.inboxes() for print_ in _prints(folder)]
    with suppress(OSError):
        inbox += _prints(project.private, ".json")
    database = [_print(project.state_file), _print(Path(f"{project.state_file}-wal"))]
    notes = [*_prints(project.store, ".md"), _print(project.root / "mdmemory.toml")]
    newest = max((changed for _, changed, *_ in notes), default=0)
    return Glance(
        hash((tuple(notes), now - newest < SETTLED)), _commits(writer),
        hash(tuple(inbox)), hash(tuple(database)),
    )  # fmt: skip


def _commits(writer: Writer) -> str:
    if writer.repository is None or writer.history is None:
        return ""
    branch = repositories.branch(writer.repository)
    tip = repositories.tip(writer.repository, branch) if branch else writer.history.head()
    return f"{branch} {tip} {Waiting(writer.history).tip()}"


def _prints(folder: Path, ending: str = "") -> list[tuple[str, int, int, int, int]]:
    return [*_seen(folder, ending)] if folder.is_dir() else []


def _seen(folder: Path, ending: str) -> Iterator[tuple[str, int, int, int, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(ending) and (ending != ".md" or _counts(entry.name)):
                with suppress(OSError):  # removed since the listing
                    status = entry.stat(follow_symlinks=False)
                    yield (entry.name, status.st_ctime_ns, status.st_mtime_ns, status.st_size,
                           status.st_ino)  # fmt: skip


def _counts(name: str) -> bool:
    return is_note_name(name) or name.startswith("_") or name == "MEMORY.md"


def _print(path: Path) -> tuple[str, int, int, int, int]:
    try:
        status = os.lstat(path)
    except OSError:
        return (path.name, 0, 0, 0, 0)
    return (path.name, status.st_ctime_ns, status.st_mtime_ns, status.st_size, status.st_ino)
