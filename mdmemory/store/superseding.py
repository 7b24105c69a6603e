"""Which notes newer ones replaced: the marks in their heads, and the chains that the marks make.

Pure. A mark changes only its own lines. Marks lead from a note to its successor, and at the end of
a chain stands the note that is in force; so a new mark never closes a circle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from mdmemory.note import editing
from mdmemory.note.note import SUPERSEDED, Head, Note
from mdmemory.store.note_links import alias_names, fold_name, former_names, own_names
from mdmemory.store.store import StoredNote

_STATUS, _BY, _DAY = "metadata.status", "metadata.superseded_by", "metadata.superseded"


def in_force(notes: Iterable[StoredNote]) -> list[StoredNote]:
    """The notes that none has replaced."""
    return [note for note in notes if note.note.head.status != SUPERSEDED]


def superseded_files(notes: Iterable[StoredNote]) -> set[str]:
    """The files of the notes that others replaced."""
    return {note.file for note in notes if note.note.head.status == SUPERSEDED}


def mark_superseded(note: Note, by: str, today: str) -> Note:
    """The note with the mark that the note named `by` replaced it today. Raises BadNote."""
    return editing.edit(note, set={_STATUS: SUPERSEDED, _BY: by, _DAY: today})


def unmark_superseded(note: Note, today: str) -> Note:
    """The note without its mark, in force again from today on. Raises BadNote."""
    field_names = dict.fromkeys((_STATUS, _BY, _DAY))
    return editing.edit(note, set={**field_names, "metadata.updated": today})


def follow_successor(note: Note, by: str) -> Note:
    """A superseded note that names its successor by its new name. Raises BadNote."""
    return editing.edit(note, set={_BY: by})


class Broken(NamedTuple):
    """A mark that leads to no note in force: `why` is missing (there is no such note), unnamed (it
    names none) or circle."""

    note: StoredNote
    why: str


class Chains:
    """The notes of one store, ready to be asked which replaced which."""

    def __init__(self, notes: Sequence[StoredNote]) -> None:
        self._notes = {note.file: note for note in notes}
        self._by_name: dict[str, str] = {}
        for note in notes:
            self._by_name |= dict.fromkeys(own_names(note.note.head), note.file)
        for note in notes:  # a name or file of now is meant before a name of earlier
            for name in alias_names(note.note.head) | former_names(note.note).keys():
                self._by_name.setdefault(name, note.file)

    def successor(self, note: StoredNote) -> StoredNote | None:
        """The note that replaced this one; None where it is in force, or names no note."""
        head = note.note.head
        if head.status != SUPERSEDED or not head.superseded_by:
            return None
        file = self._by_name.get(fold_name(head.superseded_by))
        return None if file is None else self._notes[file]

    def last(self, note: StoredNote) -> StoredNote | None:
        """The note in force at the end of the chain; None where the chain ends in nothing."""
        return next(iter(in_force(self._notes_onward(note))), None)

    def replaced_notes(self, note: StoredNote) -> list[StoredNote]:
        """The notes that this one replaced, and those that these replaced, the nearest first."""
        notes = {note.file: note}
        wanted = [note.file]
        for file in wanted:
            for other in self._notes_before.get(file, ()):
                if other.file not in notes:
                    notes[other.file] = other
                    wanted.append(other.file)
        return [*notes.values()][1:]

    def has_replaced(self, note: StoredNote) -> bool:
        """Whether a note names this one as the one that replaced it."""
        return any(other.file != note.file for other in self._notes_before.get(note.file, ()))

    def broken_marks(self) -> list[Broken]:
        """The superseded notes whose mark leads to no note in force, by file."""
        broken = []
        for note in self._notes.values():
            if note.note.head.status != SUPERSEDED or self.last(note) is not None:
                continue
            *_, end = self._notes_onward(note)
            is_named = bool(end.note.head.superseded_by)
            why = "circle" if self.successor(end) else "missing" if is_named else "unnamed"
            broken.append(Broken(note, why))
        return sorted(broken, key=lambda each: each.note.file)

    def _notes_onward(self, note: StoredNote) -> Iterator[StoredNote]:
        """The note and those that follow it, each once."""
        seen: set[str] = set()
        at: StoredNote | None = note
        while at is not None and at.file not in seen:
            yield at
            seen.add(at.file)
            at = self.successor(at)

    @cached_property
    def _notes_before(self) -> dict[str, list[StoredNote]]:
        """The notes that each file replaced: found once, since a pass asks for every note."""
        replaced: dict[str, list[StoredNote]] = defaultdict(list)
        for note in self._notes.values():
            if (after := self.successor(note)) is not None:
                replaced[after.file].append(note)
        return dict(replaced)


def lead_on(heads: Iterable[Head]) -> bool:
    """Whether the mark of each superseded note leads to one in force by the names of now alone.
    Where it does not, `orphan_notes` tells, which has to read all notes for their former names."""
    heads = [*heads]
    marked = {head.file: head.superseded_by for head in heads if head.status == SUPERSEDED}
    wanted = {*map(fold_name, marked.values())}
    near = [e for e in heads if e.file in marked or not wanted.isdisjoint(own_names(e))]
    return not orphan_notes([StoredNote(head.file, "", Note("", head, "")) for head in near])


def orphan_notes(notes: Sequence[StoredNote]) -> list[StoredNote]:
    """The superseded notes that no note in force stands for any more: a person has to say whether
    they hold again."""
    return [each.note for each in Chains(notes).broken_marks()]
