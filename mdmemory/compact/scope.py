"""What a pass asks a model about: what is new, its neighbours, and some of what was not looked at
for longest. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from mdmemory.compact.looks import LookRecord
from mdmemory.compact.model_question import brief, whole
from mdmemory.store.store import StoredNote
from mdmemory.text.similarity import Ranking

NEAR = 5  # neighbours of a new note that are shown with it, whole where there is room
FAR = 2  # neighbours that are shown by their description, as they are or were asked about elsewhere
SHARE = 10  # of what a question holds a tenth is for the oldest notes
OF_NEW = 4  # or of what is new a quarter, which makes a fifth of all
_RAREST = 12  # words of a note that its neighbours are found by
_MAX_BODY = 2_000  # characters of a body that are looked at for it

Shown = Mapping[str, str]  # a note as it stands in a question
Size = Callable[[Shown], int]


class Scope:
    """The notes that one pass is about, of those in `free`, which may be shown.

    `by` is who judges; `everything`: all of them are asked about, whatever the record says.
    """

    def __init__(
        self, free: Sequence[StoredNote], record: LookRecord, by: str, *, everything: bool
    ) -> None:
        self._free = free
        self._record = record
        self.new = list(free) if everything else record.new(free, by)
        self._oldest: set[str] = set()
        self._wanted = {note.file for note in self.new}

    def wanted(self, size: Size, most: int) -> list[StoredNote]:
        """What is new, and behind it the oldest as far as their share of the questions reaches,
        one at least; [] where nothing is new. A question holds `most` by `size`."""
        if not self.new:
            return []
        rest = (note for note in self._free if note.file not in self._wanted)
        new = sum(size(whole(note)) for note in self.new)
        room = max(most // SHARE, new // OF_NEW)
        old: list[StoredNote] = []
        for note in self._record.oldest(rest):
            length = size(whole(note))
            if length > most:
                continue  # no question holds it
            if old and length > room:
                break
            old.append(note)
            room -= length
        self._oldest = {note.file for note in old}
        self._wanted |= self._oldest
        return [*self.new, *old]

    def beside(
        self, part: Sequence[StoredNote], size: Size, room: int
    ) -> tuple[list[StoredNote], list[StoredNote]]:
        """The neighbours that are shown with the notes of one question, the nearest first, as far
        as `room` reaches: whole, and by their description only."""
        files = {note.file for note in part}
        if len(files) == len(self._free):
            return [], []
        notes: tuple[list[StoredNote], list[StoredNote]] = [], []
        near = [self._near(note) for note in part]
        for rank in range(NEAR):
            for note, others in zip(part, near, strict=True):
                if rank >= len(others) or others[rank].file in files:
                    continue
                other = others[rank]
                is_far = note.file in self._oldest or other.file in self._wanted
                if is_far and rank >= FAR:
                    continue
                for place, show in ((1, brief),) if is_far else ((0, whole), (1, brief)):
                    if (needed := size(show(other))) <= room:
                        notes[place].append(other)
                        files.add(other.file)
                        room -= needed
                        break
        return notes

    def find_nearest(self, note: StoredNote) -> StoredNote | None:
        """The note of its type that is nearest to this one, if any is near."""
        type = note.note.head.type
        return next((each for each in self._near(note) if each.note.head.type == type), None)

    def _near(self, note: StoredNote) -> list[StoredNote]:
        near = self._ranking.near(_text(note), _RAREST)[: NEAR + 1]
        return [other for at in near if (other := self._free[at]).file != note.file][:NEAR]

    @cached_property
    def _ranking(self) -> Ranking:
        return Ranking([_text(note) for note in self._free])


def _text(note: StoredNote) -> str:
    head = note.note.head
    return f"{head.name.replace('-', ' ')}\n{head.description}\n{note.note.body[:_MAX_BODY]}"
