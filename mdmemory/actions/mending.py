"""Links of a store's notes that `doctor` names, and the edits by which they lead to their notes.

Only the characters of a link change, and no note that is on hold or in an open conflict.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from mdmemory.actions import note_history
from mdmemory.files import digest
from mdmemory.git.transaction import Change, Transactions
from mdmemory.note.note import SUPERSEDED, Note
from mdmemory.store import conflicts
from mdmemory.store.links import Link, by_name, find_strays, rewrite_links
from mdmemory.store.writer import Group, Writer

_VAULT = ".obsidian"  # the folder in which Obsidian keeps the settings of a vault


def stray_links(writer: Writer) -> list[Link]:
    """The links that name no note of now, with the name that the note has now, if there is one."""
    store, history = writer.refresher.store, writer.history

    def renamed_notes(names: Sequence[str]) -> dict[str, Note]:
        return note_history.renamed_notes(history, store, names) if history else {}

    return find_strays([note.note for note in store.notes()], renamed_notes)


def links_by_name(writer: Writer) -> list[Link]:
    """The links that name a note by its name or alias, where Obsidian opens the store: it follows
    only names of files."""
    folder = Path(os.path.abspath(writer.project.store))
    if not any((place / _VAULT).is_dir() for place in (folder, *folder.parents)):
        return []
    return by_name([note.note for note in writer.refresher.store.notes()])


def mendable_links(writer: Writer, links: Sequence[Link]) -> dict[str, list[Link]]:
    """The links that can say another name, file by file, of the notes that we may write to.

    Notes of an open conflict stay byte for byte.
    """
    files = list(dict.fromkeys(link.file for link in links if link.now))
    closed = closed_to_links(writer, files)
    return {
        file: [link for link in links if link.file == file and link.now]
        for file in files
        if file not in closed
    }


def closed_to_links(writer: Writer, files: Sequence[str]) -> set[str]:
    """Those of the files in which no link is changed: on hold, waiting for a person (a commit
    would admit them), in an open conflict, or not seen by git."""
    store, catalog = writer.refresher.store, writer.refresher.catalog()
    closed = {*catalog.held, *catalog.waiting}
    if ledger := store.ledger():
        superseded = {head.file for head in catalog.heads() if head.status == SUPERSEDED}
        closed |= {file for e in conflicts.open_entries(ledger, superseded) for file in e.files}
    if files and writer.history:
        closed |= {*Transactions(writer.history).list_unseen(list(files))}
    return closed & {*files}


def rewritten_notes(writer: Writer, links: Sequence[Link]) -> list[Group]:
    """An edit for each note with such links: its other bytes stay, the date of its last change
    among them."""
    groups = []
    for file, some in mendable_links(writer, links).items():
        note = writer.refresher.store.read(file).note
        fresh = rewrite_links(note, some).encode("utf-8")
        changed = ", ".join(f"[[{link.target}]] -> [[{link.now}]]" for link in some)
        change = Change(file, digest(note.text.encode("utf-8")), fresh)
        groups.append(Group(f"edit {file}: {changed}", (change,)))
    return groups
