"""How a store looks at a glance, so that what was found of it can be kept while it looks the same;
and the links between its notes, for a process that asks again and again.

A glance only looks at names, times and sizes, and at git's own files: no process, no text is read.
"""

from __future__ import annotations

import os
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from mdmemory.config.table import PROJECT_FILE
from mdmemory.errors import NoStore, NotFound
from mdmemory.git import repositories
from mdmemory.store import note_links, sights
from mdmemory.store.note_links import fold_name
from mdmemory.store.store import Store
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
    seen = 0
    with suppress(NoStore):
        sight = sights.take_sight(project.store, None)
        newest = max(*sight.times.values(), sights.other_states(project.store)[1], 0)
        seen = hash((sight.seal, now - newest < SETTLED))
    notes = (_file_print(project.root / PROJECT_FILE), seen)
    return Glance(hash(notes), commits, hash(tuple(inbox)), hash(state))


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


# --- which note links to which: only what changed since the last look is read


class _Linked(NamedTuple):
    """A note as it looked, the names that lead to it, and what its links say."""

    print: str
    names: frozenset[str]
    targets: tuple[str, ...]


class LinkMap:
    """The links between the notes of one store, as they were at the last look."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._notes: dict[str, _Linked] = {}
        self._owners: dict[str, str] = {}
        self._into: dict[str, list[str]] = {}

    def look(self) -> LinkMap:
        """Read what changed since the last look."""
        sight = sights.take_sight(self._store.folder, None)
        seen = sight.prints
        known = {file: each.print for file, each in self._notes.items()}
        changed = {file for file, print_ in seen.items() if known.get(file) != print_}
        gone = self._notes.keys() - seen.keys()
        if not changed and not gone:
            return self
        fresh = LinkMap(self._store)  # whoever holds the old one reads on in it
        fresh._notes = {file: each for file, each in self._notes.items() if file not in gone}
        for file in changed:
            with suppress(NotFound):
                note = self._store.read(file).note
                names = frozenset(note_links.note_names(note))
                fresh._notes[file] = _Linked(seen[file], names, tuple(note_links.named_in(note)))
        fresh._join_names()
        return fresh

    def leads_to(self, name: str) -> str | None:
        """The file of the note that a link means by a name; None where there is none."""
        return self._owners.get(fold_name(name))

    def into(self, file: str) -> list[str]:
        """The files of the notes with a link to this one, sorted."""
        return self._into.get(file, [])

    def out_of(self, file: str) -> list[tuple[str, str | None]]:
        """What the links of a note say, each with the file that it leads to."""
        known = self._notes.get(file)
        return [(each, self.leads_to(each)) for each in known.targets] if known else []

    def _join_names(self) -> None:
        for file in sorted(self._notes):
            for name in self._notes[file].names:
                self._owners.setdefault(name, file)
        self._owners |= {fold_name(file): file for file in self._notes}  # before another's alias
        into: dict[str, set[str]] = defaultdict(set)
        for file, note in self._notes.items():
            for target in note.targets:
                if (other := self.leads_to(target)) and other != file:
                    into[other].add(file)
        self._into = {file: sorted(files) for file, files in into.items()}
