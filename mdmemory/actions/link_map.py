"""Which note links to which, for a process that asks again and again: only what changed is read."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from typing import NamedTuple

from mdmemory.errors import NotFound
from mdmemory.store import note_links, sights
from mdmemory.store.note_links import fold_name
from mdmemory.store.store import Store


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
        seen = dict(zip(sight.files, sight.prints, strict=True))
        known = {file: each.print for file, each in self._notes.items()}
        changed = {file for file, print_ in seen.items() if known.get(file) != print_}
        gone = self._notes.keys() - seen.keys()
        if not changed and not gone:
            return self
        fresh = LinkMap(self._store)  # whoever holds the old one reads on in it
        fresh._notes = {file: each for file, each in self._notes.items() if file not in gone}
        for file in changed:
            with suppress(NotFound):
                note = self._store.note(file)
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
