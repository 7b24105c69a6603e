"""Settling a contradiction, which only a person does: an ordinary edit that can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mdmemory.config.table import PERSON
from mdmemory.errors import NotFound
from mdmemory.files import digest
from mdmemory.git.commits_of_store import subject
from mdmemory.git.transaction import Change
from mdmemory.note.note import headline
from mdmemory.store import conflicts
from mdmemory.store.conflicts import Entry
from mdmemory.store.store import LEDGER, Store, StoredNote
from mdmemory.store.superseding import superseded_files
from mdmemory.store.writer import Group, Writer, Written


@dataclass(frozen=True, slots=True)
class Conflict:
    """An open entry of the ledger; `stale` when one of its notes changed or is gone since."""

    entry: Entry
    stale: bool


@dataclass(frozen=True, slots=True)
class Across:
    """A note of the project's and one of the person's (files) that contradict each other, and
    what they differ in. `since` is the day of the later one, or ""."""

    id: str
    project: str
    person: str
    why: str
    since: str


@dataclass(frozen=True, slots=True)
class Resolved:
    """What settling did: the entry is ticked, and `removed` notes are gone."""

    entry: Entry
    removed: tuple[str, ...]
    written: Written


def waiting(store: Store) -> list[Conflict]:
    """The open entries, in the ledger's order."""
    found = []
    for entry in _open(store):
        digests = {note.file: note.digest for note in _present(store, entry)}
        found.append(Conflict(entry, conflicts.stale(entry, digests)))
    return found


def across(projects: Sequence[StoredNote], persons: Sequence[StoredNote]) -> list[Across]:
    """The contradictions between notes of two stores, by their form."""
    from mdmemory.text.contradiction import contradiction, profile

    theirs = [(each, profile(each.note)) for each in persons]
    found = []
    for one in projects:
        own = profile(one.note) if theirs else None
        for other, profiled in theirs:
            if own is not None and (why := contradiction(own, profiled)):
                since = max(_day(one), _day(other))
                id = conflicts.entry_id(one.file, f"{PERSON}/{other.file}")
                found.append(Across(id, one.file, other.file, why, since))
    return found


def _day(stored: StoredNote) -> str:
    head = stored.note.head
    return head.updated or head.created or ""


def resolve(writer: Writer, id: str, *, keep: str | None = None) -> Resolved:
    """Tick the entry `id`; with `keep` (name, stem or file), remove the other note, too.

    One commit. Raises NotFound for an entry that is not open, or a note that is not in it.
    """
    with writer.locked():
        store = writer.refresher.store
        text = store.ledger()
        entry = next((entry for entry in _open(store) if entry.id == id), None)
        if entry is None:
            raise NotFound(f"There is no open conflict {id}.", "`mdmemory conflicts` lists them.")
        gone = [] if keep is None else _others(store, entry, keep)
        changes = [Change(note.file, note.digest, None) for note in gone]
        changes.append(Change(LEDGER, digest(_bytes(text)), _bytes(conflicts.clear(text, id))))
        how = f"keep {keep}" if keep else "keep both"
        group = Group(f"resolve {id} ({' × '.join(entry.files)}): {how}", tuple(changes))
        stay = [note for note in _present(store, entry) if note not in gone]
        verb = "resolve, keep" if keep else "resolve, keep both:"
        about = subject(verb, [headline(note.note.head) for note in stay])
        written = writer.write(about, [group], kind="resolve", destructive=True)
    return Resolved(entry, tuple(note.file for note in gone), written)


def _open(store: Store) -> list[Entry]:
    """The open entries between notes that are in force."""
    if not (text := store.ledger()):
        return []
    return conflicts.open_entries(text, superseded_files(store.notes()))


def _others(store: Store, entry: Entry, keep: str) -> list[StoredNote]:
    kept = store.find(keep).file
    if kept not in entry.files:
        raise NotFound(
            f"{kept} is not part of {entry.id}.",
            f"Keep one of {', '.join(entry.files)}, or --both.",
        )
    return [note for note in _present(store, entry) if note.file != kept]


def _present(store: Store, entry: Entry) -> list[StoredNote]:
    files = set(store.files())
    return [store.read(file) for file in entry.files if file in files]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
