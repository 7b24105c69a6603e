"""How a store looks at a glance, so that what was found of it can be kept while it looks the same.

Only looks at names, times and sizes, and at git's own files: no process, no text is read.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from mdmemory.config.table import PROJECT_FILE
from mdmemory.errors import NoStore
from mdmemory.git import repositories
from mdmemory.store import sights
from mdmemory.store.writer import Writer

SETTLED = 2_000_000_000  # ns; a file changed so recently may change again under the same time


class Glance(NamedTuple):
    """`notes` stands for the store's files, `commits` for its branch and what waits beside it,
    `inbox` for what waits for a person outside the notes, `state` for our own database."""

    notes: int
    commits: str
    inbox: int
    state: int


def glance_at(writer: Writer, now: int) -> Glance:
    """The store as it looks now; `now` is the time in ns since 1970."""
    project = writer.project
    inbox = [print_ for folder in project.inboxes() for print_ in _folder_prints(folder)]
    inbox += _folder_prints(project.private, ".json")
    # a log of the database's writes counts only with something in it, for whoever reads makes one
    log = _file_print(Path(f"{project.state_file}-wal"))
    state = (_file_print(project.state_file), log if log[3] else ())
    commits, own, history = "", writer.repository, writer.history
    if own and history:
        branch = repositories.read_branch(own)
        tip = repositories.read_tip(own, branch) if branch else history.head()
        commits = f"{branch} {tip} {history.kept.tip()}"
    notes = (_file_print(project.root / PROJECT_FILE), _notes_print(project.store, now))
    return Glance(hash(notes), commits, hash(tuple(inbox)), hash(state))


def _notes_print(folder: Path, now: int) -> int:
    """What stands for the files of a store."""
    try:
        sight = sights.take_sight(folder, None)
    except NoStore:
        return 0
    newest = max(*sight.times, sights.other_states(folder)[1], 0)
    return hash((sight.seal, now - newest < SETTLED))


def _folder_prints(folder: Path, ending: str = "") -> list[tuple[str, int, int, int, int]]:
    """What each file with this ending looks like, in the folder's own order."""
    try:
        names = os.listdir(folder)
    except OSError:  # there is none
        return []
    return [
        _file_print(folder / name) for name in names if name.endswith(ending) and name[0] != "."
    ]


def _file_print(path: Path) -> tuple[str, int, int, int, int]:
    try:
        status = os.lstat(path)
    except OSError:
        return (path.name, 0, 0, 0, 0)
    return (path.name, status.st_ctime_ns, status.st_mtime_ns, status.st_size, status.st_ino)
