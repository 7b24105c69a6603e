"""Settling a contradiction, which only a person does: an ordinary edit that can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mdmemory.actions import editing
from mdmemory.actions.replacing import change_ledger
from mdmemory.config.table import PERSON
from mdmemory.errors import NoteChanged, NotFound
from mdmemory.git.commits_of_store import subject
from mdmemory.git.transaction import Change
from mdmemory.note.note import headline
from mdmemory.store import conflicts
from mdmemory.store.conflicts import Entry
from mdmemory.store.store import StoredNote
from mdmemory.store.superseding import mark_superseded, superseded_files
from mdmemory.store.writer import Group, Writer, Written


class Across(NamedTuple):
    """A note of the project's and one of the person's (files) that contradict each other, and
    what they differ in. `since` is the day of the later one, or ""."""

    id: str
    project: str
    person: str
    why: str
    since: str


class Resolved(NamedTuple):
    """What settling did: the entry is ticked, and `removed` notes are gone."""

    entry: Entry
    removed: tuple[str, ...]
    written: Written


def find_across(
    projects: Sequence[StoredNote], persons: Sequence[StoredNote], ledger: str = ""
) -> list[Across]:
    """The notes of two stores that have the same words but for one literal, without those that the
    `ledger` of either says were looked at."""
    from mdmemory.text import conflict

    entries = conflicts.parse(ledger)
    pairs = []
    for one in projects:
        for other in persons:
            pair = conflict.other_literal(*(each.note.head.description for each in (one, other)))
            if pair is None or conflicts.is_known(entries, one, _persons_note(other)):
                continue
            since = max(e.updated or e.created or "" for e in (one.note.head, other.note.head))
            id = conflicts.entry_id(one.file, f"{PERSON}/{other.file}")
            pairs.append(Across(id, one.file, other.file, conflict.why_contrary(pair), since))
    return pairs


def _persons_note(stored: StoredNote) -> StoredNote:
    """A note of the person's as a line about both layers names it."""
    return stored._replace(file=f"{PERSON}/{stored.file}")


def both_hold(writer: Writer, one: StoredNote, other: StoredNote, why: str, today: str) -> Written:
    """Write into a ledger, the project's or where that is shared the person's, that the project's
    note `one` and the person's `other` were looked at, and both hold. One commit."""
    with writer.lock_store():
        text = writer.refresher.store.ledger()
        pair = (one, _persons_note(other), why)
        id = conflicts.entry_id(one.file, pair[1].file)
        fresh = conflicts.clear_entry(conflicts.add(text, [pair], today), id)
        change = change_ledger(text, fresh)
        line = f"resolve {id} ({one.file} × {pair[1].file}): keep both"
        subject_line = subject("resolve", [f"{headline(one.note.head)}: both hold"])
        return writer.write(
            subject_line, [Group(line, (change,))], kind="resolve", destructive=True
        )


def resolve_conflict(
    writer: Writer, id: str, *, keep: str | None = None, superseded_on: str = "",
    edited: tuple[str, str, str] | None = None,
) -> Resolved:  # fmt: skip
    """Tick the entry `id`; with `keep` (name, stem or file), remove the other note, too, or where
    a day is given mark it as superseded on it; with `edited` (its file, the new text, the digest of
    what a person saw), one of the two gets the text that they gave it.

    One commit. Raises NotFound for an entry that is not open, or a note that is not in it.
    """
    with writer.lock_store():
        store = writer.refresher.store
        text = store.ledger()
        files = sorted({file for entry in conflicts.parse(text) for file in entry.files})
        out = superseded_files(store.those_of(files)) if files else set()
        entry = next((each for each in conflicts.open_entries(text, out) if each.id == id), None)
        if entry is None:
            raise NotFound(f"There is no open conflict {id}.", "`mdmemory review` lists them.")
        there, gone, changes, how = store.those_of(entry.files), list[StoredNote](), [], "keep both"
        if keep is not None:
            winner, how = store.find(keep), f"keep {keep}"
            if winner.file not in entry.files:
                raise NotFound(
                    f"{winner.file} is not part of {entry.id}.",
                    f"Keep one of {', '.join(entry.files)}, or --both.",
                )
            gone = [note for note in there if note.file != winner.file]
            for note in gone:
                left = None
                if superseded_on:
                    by = winner.note.head.name
                    marked = mark_superseded(note.note, by, superseded_on)
                    left = editing.admit_text(writer, note, marked.text)
                changes.append(Change(note.file, note.digest, left))
        if edited is not None:
            file, wording, replaces = edited
            stored, how = store.find(file), f"edit {file}"
            if stored.file not in entry.files:
                raise NotFound(f"{stored.file} is not part of {entry.id}.")
            if stored.digest != replaces:
                raise NoteChanged(
                    f"{stored.file} was changed meanwhile.", "Look at it and edit again."
                )
            data = editing.admit_text(writer, stored, wording)
            changes.append(Change(stored.file, stored.digest, data))
        changes.append(change_ledger(text, conflicts.clear_entry(text, id)))
        group = Group(f"resolve {id} ({' × '.join(entry.files)}): {how}", tuple(changes))
        stay = [note for note in there if note not in gone]
        verb = "resolve, keep" if keep else "resolve, keep both:"
        about = subject(verb, [headline(note.note.head) for note in stay])
        written = writer.write(about, [group], kind="resolve", destructive=True)
    return Resolved(entry, tuple(note.file for note in gone), written)
