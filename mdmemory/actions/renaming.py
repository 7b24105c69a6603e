"""Another name for a note: its file, the links to it and what waits about it follow, in one commit.

The old name stays as an alias, so that a link from outside the store still finds the note. Links
that `doctor` names are mended here, too: only their characters change, and no note that is on hold
or in an open conflict.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from mdmemory.actions import note_history
from mdmemory.actions.editing import (
    Edited,
    refuse_held,
    refuse_secret,
    refuse_waiting,
    require_readable,
)
from mdmemory.actions.replacing import change_ledger
from mdmemory.errors import BadNote
from mdmemory.files import digest
from mdmemory.git.commits_of_store import subject
from mdmemory.git.transaction import Change, Transactions
from mdmemory.note import editing, limits
from mdmemory.note.note import SUPERSEDED, UNREADABLE, Head, Note, parse, read_fields
from mdmemory.store import conflicts, superseding
from mdmemory.store.note_links import (
    Link,
    by_name,
    find_strays,
    fold_name,
    follow_note,
    last_names,
    may_link_to,
    rewrite_links,
    with_aliases,
)
from mdmemory.store.store import LEDGER, Store, StoredNote
from mdmemory.store.writer import Group, Writer, Written

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


class Renamed(NamedTuple):
    """`edited` is the note under its new name; `before` the file it had. `linked` are the notes
    whose links followed, `left` those whose links could not be rewritten: they find the note by
    its alias."""

    edited: Edited
    before: str
    linked: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def rename_note(
    writer: Writer, name: str, new: str, *, trailers: Sequence[tuple[str, str]] = (),
    by_model: bool = False,
) -> Renamed:  # fmt: skip
    """Give the note `name` the name `new`; the type in front of its file's name stays.

    Raises BadNote for a name that is none, is taken, or holds a secret, and for a note that is on
    hold, waits for a person, or cannot be read.
    """
    with writer.lock_store():
        store = writer.refresher.store
        old = require_readable(store.find(name, former=False))
        refuse_held(writer, old)
        refuse_waiting(writer, old)
        # without type and `.md`, which a file is named with
        kind, _, rest = old.file.partition("-")
        prefix = f"{kind}-" if rest and kind in limits.TYPES else ""
        new = new.removesuffix(".md").removeprefix(prefix)
        file = f"{prefix}{new}.md"
        limits.check_name(new)
        refuse_secret(f"{new}\n{new.replace('-', ' ')}")
        if (new, file) == (old.note.head.name, old.file):
            return Renamed(Edited(file, new, old.digest, Written(), same=True), file)
        heads = writer.refresher.catalog().heads()
        others = {head.file: head for head in heads if head.file != old.file}
        known = {head.name.casefold(): head.file for head in others.values()}
        known |= {each.casefold(): each for each in os.listdir(store.folder) if each != old.file}
        for word in (new.casefold(), file.casefold()):
            if word in known:
                message = f"The name {new} is taken: {known[word]} has it."
                raise BadNote(message, "Choose another name.", code="taken")
        fresh = _as_stored(_rename_head(old.note, new, file))
        linked, left = _linking_notes(writer, old, fresh, others)
        groups = _rename_groups(store, old, fresh, linked)
        about = subject("rename", [f"{old.note.head.name} to {new}"])
        written = writer.write(
            about, groups, kind="rename", destructive=True, trailers=trailers, by_model=by_model
        )
    edited = Edited(file, new, fresh.digest, written)
    return Renamed(edited, old.file, tuple(note.file for note, _ in linked), left)


def _rename_head(note: Note, name: str, file: str) -> Note:
    """The note with its new name, and the old ones as aliases. Its own links to itself follow."""
    before = note.head
    if "name" in read_fields(note) or parse(note.text, file).head.name != name:
        note = editing.edit(note, set={"name": name})
    ours = {fold_name(alias) for alias in before.aliases}
    own = [name] if fold_name(before.name) in ours else []  # as in the notes that we write
    names = [each for each in last_names(before) if fold_name(each) != fold_name(name)]
    moved = parse(with_aliases(note, [*names, *own]).text, file)
    return parse(follow_note(moved, before, moved.head), file)


def _as_stored(note: Note) -> StoredNote:
    return StoredNote(note.head.file, digest(note.text.encode("utf-8")), note)


def _linking_notes(
    writer: Writer, old: StoredNote, fresh: StoredNote, others: Mapping[str, Head]
) -> tuple[list[tuple[StoredNote, StoredNote]], tuple[str, ...]]:
    """The notes that link to the old name, before and after, and the files of those left alone:
    on hold, waiting for a person, in an open conflict, or not seen by git."""
    before, now = old.note.head, fresh.note.head
    is_only = all(fold_name(head.name) != fold_name(before.name) for head in others.values())
    pairs = []
    # to read a note as one takes far longer than to see that it has neither a link nor a mark
    may_link = may_link_to(before)
    for note in writer.refresher.store.those_whose_text(
        others, lambda file, text: may_link(text) or bool(others[file].superseded_by)
    ):
        if note.note.head.status == UNREADABLE:
            continue
        text = follow_note(note.note, before, now, by_name=is_only)
        follows = note.note if text == note.note.text else parse(text, note.file)
        # a mark that names the old one as successor names the new one; one that cannot be edited
        # finds it by its alias
        by = fold_name(follows.head.superseded_by)
        if by and (by == fold_name(before.file) or (is_only and by == fold_name(before.name))):
            with suppress(BadNote):
                follows = superseding.follow_successor(follows, now.name)
        if follows.text != note.note.text:
            pairs.append((note, _as_stored(follows)))
    closed = closed_to_links(writer, [note.file for note, _ in pairs])
    left = tuple(note.file for note, _ in pairs if note.file in closed)
    return [pair for pair in pairs if pair[0].file not in closed], left


def _rename_groups(
    store: Store, old: StoredNote, fresh: StoredNote,
    linked: Sequence[tuple[StoredNote, StoredNote]],
) -> list[Group]:  # fmt: skip
    """The note goes to its new file, and the links to it follow, while the dates of their notes'
    last changes stay; what is flagged or cleared of all these holds under the new file's name."""
    line = f"rename {old.file} to {fresh.file}: {fresh.note.head.description}"
    data = fresh.note.text.encode("utf-8")
    changes = [Change(old.file, old.digest, data)]
    if old.file != fresh.file:
        changes = [Change(old.file, old.digest, None), Change(fresh.file, None, data)]
    groups = [Group(line, tuple(changes))]
    for before, after in linked:
        line = f"edit {before.file}: its links lead to {fresh.file}"
        change = Change(before.file, before.digest, after.note.text.encode("utf-8"))
        groups.append(Group(line, (change,)))
    ledger = store.ledger()
    if (now := conflicts.move_entries(ledger, [(old, fresh), *linked])) != ledger:
        groups.append(Group(f"edit {LEDGER}: its lines follow", (change_ledger(ledger, now),)))
    return groups
