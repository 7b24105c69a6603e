"""The notes of a store as the facts of one reading leave them, one fact after the other.

Nothing is written. A later fact meets what the earlier ones made of the notes, so that of two
values said in one session the later one stands.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from mdmemory.actions.replacing import (
    SAID_AGAIN,
    Effect,
    IsAnothers,
    Pairs,
    Superseding,
    effect,
    marks,
)
from mdmemory.errors import BadNote
from mdmemory.files import digest
from mdmemory.note.note import SUPERSEDED, Note, parse
from mdmemory.search.near import Near, contradicted, scan
from mdmemory.search.unread import UnreadNotes
from mdmemory.store import superseding
from mdmemory.store.store import StoredNote
from mdmemory.store.superseding import Chains, in_force
from mdmemory.text.words import keys


def nobodys(_: StoredNote) -> bool:
    """For a store in which every note is the person's own."""
    return False


class Standing:
    """The notes, and which of them this reading marks as replaced (`made`)."""

    def __init__(
        self, notes: Iterable[StoredNote] | UnreadNotes, *, held: Collection[str] = (),
        near: Near = scan, is_anothers: IsAnothers = nobodys, today: str,
    ) -> None:  # fmt: skip
        self._unread = notes if isinstance(notes, UnreadNotes) else None
        self._changed: dict[str, StoredNote] = {}  # and made, by this reading
        known = notes if isinstance(notes, UnreadNotes) else {note.file: note for note in notes}
        self.notes = ChainMap(self._changed, cast("dict[str, StoredNote]", known))
        self.made: list[Superseding] = []
        self._held, self._near, self._is_anothers = held, near, is_anothers
        self._known = known
        self._today = today

    def free(self, but: Collection[str] = ()) -> list[StoredNote]:
        """The notes in force that a fact is compared with."""
        return self._free(self.notes.values(), but)

    def _free(self, notes: Iterable[StoredNote], but: Collection[str]) -> list[StoredNote]:
        return [
            note for note in in_force(notes)
            if note.file not in self._held and note.file not in but and note.note.text
        ]  # fmt: skip

    def meets(
        self, said: str, new: StoredNote, *, day: str = "", but: Collection[str] = (),
        claims: str | None = None, later: Callable[[StoredNote], bool] = lambda _: False,
    ) -> Effect:  # fmt: skip
        """What the note `new`, for which the user said `said` ("": nobody's words) on `day` ("":
        now), does to the others: those that it replaces, and those that it contradicts or may
        replace. Words replace nothing that was said or changed `later`. `claims`: the text of the
        note is a model's, so what is new in it has to be the user's words; or this is the file that
        it named as replaced."""
        nearby = self._neighbours({new.file, *but})
        found = effect(said, nearby(said), self._is_anothers) if said else Effect()
        near = contradicted(new.note, (), lambda text, _: nearby(text))
        against = {note.file: (note, why) for note, why in near}
        sure = tuple(
            (note, why) for note, why in found.replaced
            if not (day and day < last_day(note)) and not later(note)
            and (claims in (None, note.file) or is_new_in(said, new, note))
        )  # fmt: skip
        doubtful = {note.file: (note, why) for note, why in (*found.replaced, *found.doubtful)}
        doubtful |= against
        for note, _ in sure:
            del doubtful[note.file]
        return Effect(sure, tuple(doubtful.values()))

    def put(self, new: StoredNote, replaced: Pairs = ()) -> list[tuple[StoredNote, str]]:
        """Let `new` stand in place of the notes that it replaces; those whose marks cannot be
        written, which stay."""
        self.notes[new.file] = new
        found = marks(new, replaced, self._today)
        for each in found.made:
            self.notes[each.old.file] = as_now(each.old, parse(each.text, each.old.file))
        self.made += found.made
        return found.left

    def last(self, note: StoredNote) -> StoredNote | None:
        """The note in force that stands for this one now."""
        return Chains([*self.notes.values()]).last(note)

    def chains(self) -> Iterator[tuple[StoredNote, StoredNote]]:
        """The superseded notes, each with the note that is in force in its place."""
        replaced = [note for note in self.notes.values() if note.note.head.status == SUPERSEDED]
        chains = Chains([*self.notes.values()]) if replaced else None
        for note in replaced:
            if chains and (last := chains.last(note)) is not None:
                yield note, last

    def restored(self, old: StoredNote) -> Restored | None:
        """A superseded note whose words are said again. None where it stays as it is: its head
        cannot be edited, or the note in its place is on hold or another person's."""
        last = self.last(old)
        if last is not None and (last.file in self._held or self._is_anothers(last)):
            return None
        replaced = () if last is None else ((last, SAID_AGAIN),)
        if mine := next((each for each in self.made if each.old.file == old.file), None):
            self.made.remove(mine)
            return Restored(mine.old, None, replaced)
        try:
            note = superseding.unmarked(old.note, self._today)
        except BadNote:
            return None
        return Restored(as_now(old, note), note, replaced)

    def is_replaced(self, file: str | None) -> bool:
        """Whether this reading marked a note as replaced."""
        return any(each.old.file == file for each in self.made)

    def is_held(self, file: str) -> bool:
        """Whether a note is on hold: nothing is compared with it, and it is not changed."""
        return file in self._held

    def _neighbours(self, but: Collection[str]) -> Callable[[str], list[StoredNote]]:
        """What gives the notes near a text that a fact is compared with."""
        if self._unread is None:
            free = self.free(but)
            return lambda text: self._nearby(text, free)
        return lambda text: self._few(text, but)

    def _few(self, text: str, but: Collection[str]) -> list[StoredNote]:
        """The same of a store that is not read."""
        near = self._unread.near(text) if self._unread is not None else None
        if near is None:
            return self._nearby(text, self.free(but))
        fresh = [note for file, note in self._changed.items() if file not in self._known]
        known = self._free((self.notes[note.file] for note in near), but)
        return [*scan(text, self._free(fresh, but)), *known] if fresh else known

    def _nearby(self, text: str, notes: Sequence[StoredNote]) -> list[StoredNote]:
        """The notes near a text; those of this reading, which no database knows, among them."""
        known = [note for note in notes if note.file in self._known]
        fresh = [note for note in notes if note.file not in self._known]
        return [*scan(text, fresh), *self._near(text, known)] if fresh else self._near(text, known)


@dataclass(frozen=True, slots=True)
class Restored:
    """A note that holds again, as it is now; `fresh` is its edited form, None where only a mark of
    the same reading is taken back. `replaced` is the note that was in force in its place."""

    note: StoredNote
    fresh: Note | None
    replaced: Pairs


def is_new_in(said: str, new: StoredNote, old: StoredNote) -> bool:
    """Whether the user's words have all that a note says and an older one does not."""
    fresh = {*keys(new.note.head.description)} - {*keys(old.note.head.description)}
    return bool(fresh) and fresh <= {*keys(said)}


def last_day(note: StoredNote) -> str:
    """The day on which a note was last said or changed, `YYYY-MM-DD`, or ""."""
    head = note.note.head
    return max(head.created, head.updated, head.last_reinforced)


def as_now(stored: StoredNote, note: Note) -> StoredNote:
    """A note as a change leaves it."""
    return StoredNote(stored.file, digest(note.text.encode("utf-8")), note)
