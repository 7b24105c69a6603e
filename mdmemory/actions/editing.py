"""One note at a time, on a person's or an assistant's word: add, edit, remove.

Each is one commit where git is ready. What is written by hand is never rewritten here; what comes
with a secret in it is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from mdmemory.actions import replacing
from mdmemory.citing.citation import MAY_CITE
from mdmemory.errors import BadNote, MdmemoryError, NoteChanged
from mdmemory.files import digest
from mdmemory.git.commits_of_store import subject
from mdmemory.git.transaction import Change
from mdmemory.note import editing, limits
from mdmemory.note import note as notes_format
from mdmemory.note.note import SUPERSEDED, Note
from mdmemory.privacy import is_secret
from mdmemory.store import note_links, superseding
from mdmemory.store.refresh import Refresher
from mdmemory.store.store import Store, StoredNote
from mdmemory.store.strangers import WHY
from mdmemory.store.superseding import Chains
from mdmemory.store.writer import Group, Writer, Written

_NEAREST = 3  # notes near a new one that are told
_TRIES = 5  # writes of one edit; only a hand that saves in the very moment costs a second one


class Edited(NamedTuple):
    """A note that was written (or already said the same: `written.commit` None, `same` True).

    `also` are the files of the notes that it had replaced, which were removed with it. `superseded`
    are the notes that it replaced just now, `doubtful` those that it may replace: file, the file
    `by` which, the old `text` and the `new` one. `cites` is what a new note cites, `near` the notes
    near it: file and description.
    """

    file: str
    name: str
    digest: str
    written: Written
    same: bool = False
    also: tuple[str, ...] = ()
    superseded: tuple[dict[str, str], ...] = ()
    doubtful: tuple[dict[str, str], ...] = ()
    cites: tuple[str, ...] = ()
    near: tuple[tuple[str, str], ...] = ()


def taken_names(store: Store, names: Iterable[str]) -> set[str]:
    """Every name (of these) and file that a new note must not have, casefolded."""
    # any file of the folder, too: one that is no note (a link, a FIFO) still has its name
    return {*map(str.casefold, names), *map(str.casefold, os.listdir(store.folder))}


def add(
    writer: Writer, *, name: str, type: str, description: str, body: str,
    kind: str = "", source: str = "manual", today: str, also: Sequence[Change] = (),
    near: Callable[[str], Sequence[StoredNote]] = lambda _: (), replaces: Sequence[str] = (),
    cite: Sequence[str] = (),
) -> Edited:  # fmt: skip
    """Store a new note; a name that is taken gets a number. The same text again names the old one.

    `also` are changes of other files that belong to it: they go into the same op of the commit.
    `replaces` names notes that it stands in place of; one that is `near` it and has the same words
    but for one literal is flagged. `cite` are places that it cites, besides those that its text
    names. Raises BadNote for a name, description or body that is none, or that holds a secret,
    UsageError for a place that is none, NotFound for a name in `replaces` that is none.
    """
    said_in_all, cites = f"{description}\n{body}", tuple[str, ...]()
    check_new(name, type, said_in_all)
    if cite or MAY_CITE.search(said_in_all):
        from mdmemory.citing.cite import cites_of  # most texts name no file

        cites = tuple(cites_of(writer.project, said_in_all, cite))
    with writer.lock_store():
        store = writer.refresher.store
        catalog = writer.refresher.catalog()
        holding = sorted(map(store.read, catalog.holding(description)), key=_is_superseded)
        for stored in holding:
            head = stored.note.head
            same = head.description == description and head.type == type
            if same and stored.note.body.strip() == body.strip():
                if _is_superseded(stored):
                    return _restore_note(writer, stored, today)
                return unchanged_note(stored)
        free = limits.free_name(name, type, taken_names(store, catalog.names.values()))
        metadata = {"source": source, "created": today, "updated": today}
        text = editing.compose(
            name=free, type=type, description=description, body=body, kind=kind,
            metadata=metadata, cites=cites,
        )  # fmt: skip
        file = limits.file_name(type, free)
        data = text.encode("utf-8")
        groups = [Group(f"add {file}: {description}", (Change(file, None, data), *also))]
        new = StoredNote(file, digest(data), notes_format.parse(text, file))
        beside = [note for note in near(said_in_all) if note.file != file]
        gone = [store.find(each, former=False) for each in replaces]
        meetings = replacing.met_by(writer, new, gone, beside, today)
        fact = free if type == "user" else description
        groups = meetings.joined_groups(groups, store.ledger(), today)
        written = writer.write(subject("add", [fact]), groups, kind="add")
    named = {note.file for note in (*gone, new)}
    others = (note for note in superseding.in_force(beside) if note.file not in named)
    nearest = [
        (each.file, " ".join(each.note.head.description.split()))
        for each in islice(others, _NEAREST)
    ]
    return Edited(
        file, free, new.digest, written, cites=cites, near=tuple(nearest),
        superseded=tuple(each.told() for each in meetings.made),
        doubtful=tuple(meetings.in_doubt()),
    )  # fmt: skip


def unchanged_note(stored: StoredNote) -> Edited:
    """The answer for a note that says it already."""
    return Edited(stored.file, stored.note.head.name, stored.digest, Written(), same=True)


def _is_superseded(stored: StoredNote) -> bool:
    return stored.note.head.status == notes_format.SUPERSEDED


def _restore_note(writer: Writer, stored: StoredNote, today: str) -> Edited:
    """Put a superseded note in force again, in place of the one that is now."""
    refuse_held(writer, stored)
    store, head = writer.refresher.store, stored.note.head
    fresh = superseding.unmark_superseded(stored.note, today)
    data = fresh.text.encode("utf-8")
    new = StoredNote(stored.file, digest(data), fresh)
    met = replacing.taken_back(writer, new, Chains(store.notes()).last(stored), today)
    line = f"restore {stored.file}: {head.description}"
    groups = [Group(line, (Change(stored.file, stored.digest, data),))]
    groups = met.joined_groups(groups, store.ledger(), today)
    about = subject("restore", [notes_format.headline(head)])
    written = writer.write(about, groups, kind="restore")
    superseded, doubtful = tuple(each.told() for each in met.made), tuple(met.in_doubt())
    return unchanged_note(new)._replace(
        written=written, same=False, superseded=superseded, doubtful=doubtful
    )


def check_new(name: str, type: str, text: str) -> None:
    """Raise BadNote where a note of this name, type and text cannot be added to any store."""
    # before anything repeats it; in a name the blanks are hyphens
    refuse_secret(f"{name}\n{re.sub('[-_]', ' ', name)}")
    limits.check_name(name)
    if type not in limits.TYPES:
        raise BadNote(f"{type!r} is not a type of note.", f"Use one of: {', '.join(limits.TYPES)}.")
    refuse_secret(text)


def edit(
    writer: Writer, name: str, *, description: str | None = None, body: str | None = None,
    replaces: str | None = None, today: str,
    worded: Callable[[Note], tuple[str | None, str | None]] | None = None,
) -> Edited:  # fmt: skip
    """Change a note's description or body; everything else in the file stays byte for byte.

    `replaces` is the digest the caller saw, when it showed the note to a person first. `worded`
    gives description and body by what the note says now.
    """
    with writer.lock_store():
        stored = require_readable(writer.refresher.store.find(name))
        if replaces is not None and stored.digest != replaces:
            raise NoteChanged(f"{stored.file} was changed meanwhile.", "Look at it and edit again.")
        if worded is not None:
            description, body = worded(stored.note)
        wanted: dict[str, str | None] = {}
        if description is not None and description != stored.note.head.description:
            wanted["description"] = description
        changed = body if body is not None and body.strip() != stored.note.body.strip() else None
        if not wanted and changed is None:
            return unchanged_note(stored)
        wanted["metadata.updated"] = today
        fresh = editing.edit(_pin_citations(writer, stored.note), set=wanted, body=changed)
        return _replace_text(writer, stored, fresh.text, "edit")


def replace_text(
    writer: Writer, name: str, text: str, replaces: str, seen: str | None = None
) -> Edited:
    """Put the whole text of a note, as a person left it in an editor; their bytes, unchanged.

    With `seen`, the text that they began with, a note that was changed meanwhile in other lines
    keeps that change, too.
    """
    with writer.lock_store():
        stored = writer.refresher.store.find(name)
        if stored.digest != replaces:
            text = _join_texts(stored, seen, text)
        if stored.note.text == text:
            return unchanged_note(stored)
        return _replace_text(writer, stored, text, "edit")


def remove_note(
    writer: Writer, name: str, *, trailers: Sequence[tuple[str, str]] = (), by_model: bool = False
) -> Edited:
    """Remove a note, and the superseded ones that it replaced; their text stays in history.
    Refused where that could not be taken back."""
    with writer.lock_store():
        # a name that the note merely took over is not enough to take all of it away
        stored = require_readable(writer.refresher.store.find(name, former=False))
        gone = [stored, *replaced_by(writer.refresher, stored)]
        for each in gone:
            refuse_held(writer, each)
        groups = [Group(
            "\n".join(f"remove {each.file}: {each.note.head.description}" for each in gone),
            tuple(Change(each.file, each.digest, None) for each in gone),
        )]  # fmt: skip
        names = [notes_format.headline(each.note.head, gone=True) for each in gone]
        written = writer.write(
            subject("remove", names), groups, kind="remove", destructive=True, trailers=trailers,
            by_model=by_model,
        )  # fmt: skip
    also = tuple(each.file for each in gone[1:])
    return Edited(stored.file, stored.note.head.name, stored.digest, written, also=also)


def replaced_by(refresher: Refresher, stored: StoredNote) -> list[StoredNote]:
    """The superseded notes that this one replaced, and those that these replaced."""
    marked = refresher.store.those_of(refresher.catalog().holding(SUPERSEDED))
    names = note_links.note_names(stored.note)
    if not any(note_links.fold_name(each.note.head.superseded_by) in names for each in marked):
        return []  # none names it; whom else a name may mean, only all notes tell
    return [
        require_readable(each) for each in Chains(refresher.store.notes()).replaced_notes(stored)
    ]


def confirm_note(writer: Writer, name: str, *, today: str) -> Edited:
    """Take a note's `status: unconfirmed` away, commit one that waits, and cite anew what is not
    there any more as it was cited: a person stands by it.

    Raises what keeps it from being committed now.
    """
    with writer.lock_store():
        stored = require_readable(writer.refresher.store.find(name))
        if stored.file in writer.refresher.catalog().waiting:
            if refusal := writer.refusal():
                raise refusal
            commit = writer.adopt(accepted={stored.file})
            if stored.note.head.status != "unconfirmed":
                done = Written(commit=commit)
                return Edited(stored.file, stored.note.head.name, stored.digest, done)
        wanted: dict[str, str | None] = {"metadata.updated": today}
        if stored.note.head.status == "unconfirmed":
            wanted |= editing.confirm(stored.note, "manual")
        anew = cited_anew(writer, stored.note)
        if anew is stored.note and len(wanted) == 1:
            return unchanged_note(stored)
        return _replace_text(writer, stored, editing.edit(anew, set=wanted).text, "confirm")


def _replace_text(writer: Writer, stored: StoredNote, text: str, verb: str) -> Edited:
    """Put this text in the note's place; what a hand saves into other lines meanwhile stays."""
    for _ in range(_TRIES):
        data = admit_text(writer, stored, text)
        fresh = notes_format.parse(text, stored.file).head
        line = f"{verb} {stored.file}: {fresh.description}"
        group = Group(line, (Change(stored.file, stored.digest, data),))
        about = subject(verb, [notes_format.headline(fresh)])
        try:
            written = writer.write(about, [group], kind=verb)
            return Edited(stored.file, fresh.name, digest(data), written)
        except NoteChanged:
            now = writer.refresher.store.read(stored.file)
            text = _join_texts(now, stored.note.text, text)
            stored = now
            writer.refresher.forget()
    raise NoteChanged(f"{stored.file} changes all the time.", "Close it elsewhere and edit again.")


def _join_texts(stored: StoredNote, seen: str | None, text: str) -> str:
    """The note as it is now with what `text` changes in `seen`. Raises NoteChanged where both
    changed the same lines."""
    joined = None if seen is None else join_notes(seen, text, stored.note.text, stored.file)
    if joined is not None:
        return joined
    raise NoteChanged(
        f"{stored.file} was changed meanwhile in the same lines.", "Look at it and edit again."
    )


def admit_text(writer: Writer, stored: StoredNote, text: str) -> bytes:
    """The bytes of a text that may stand in the note's place. Raises BadNote for one that may
    not."""
    refuse_held(writer, stored)
    refuse_waiting(writer, stored)
    if notes_format.parse(text, stored.file).head.secrets != "allowed":
        refuse_secret(text)
    return text.encode("utf-8")


def require_readable(stored: StoredNote) -> StoredNote:
    """The note itself. Raises BadNote for one that is empty or cannot be read."""
    head = stored.note.head
    if head.status == notes_format.UNREADABLE or not stored.note.text:
        problem = head.problems[0] if head.status == notes_format.UNREADABLE else "It is empty."
        what, _, step = problem.partition(". ")
        message = f"{stored.file} is left alone. {what.rstrip('.')}."
        raise BadNote(message, step or "Repair it in an editor first.")
    return stored


def refuse_held(writer: Writer, stored: StoredNote) -> None:
    """Raise BadNote for a note that is on hold."""
    if stored.note.head.secrets != "allowed" and writer.refresher.is_secret(stored.note.text):
        raise BadNote(
            f"{stored.file} is on hold: it holds what looks like a secret, and a commit of it "
            "could not be taken back.",
            "Take the secret out, or put `secrets: allowed` under metadata, in an editor.",
            code="held",
        )


def refuse_waiting(writer: Writer, stored: StoredNote) -> None:
    """Raise BadNote for a note of other hands that waits for a person: a commit would admit it."""
    if why := writer.refresher.catalog().waiting.get(stored.file):
        raise BadNote(
            f"{stored.file} waits for a person: {WHY[why]}.",
            f"If you stand by it: `mdmemory review {stored.note.head.name} keep`.",
            code="waits",
        )


def refuse_secret(text: str) -> None:
    """Raise BadNote for a text that seems to hold a secret."""
    if is_secret(text):
        raise BadNote(
            "The text holds what looks like a secret, and notes go into git.",
            "Leave the secret out and say where it is kept instead.",
            code="secret",
        )


# --- the citations of a note, which is stored whether its project can be read or not


def _pin_citations(writer: Writer, note: Note) -> Note:
    """The note with those of its citations pinned that a hand wrote without what stands there."""
    if note.head.cites:
        from mdmemory.citing import cite  # few notes are written so

        with suppress(MdmemoryError, OSError):
            return editing.recite(note, cite.pin_citations(writer.project, note.head.cites))
    return note


def cited_anew(writer: Writer, note: Note) -> Note:
    """The note with its citations as the project is now, on a person's word: what moved at its new
    place, what drifted as it reads now, and without what is gone. Raises BadNote where the list is
    written in a way that this would damage."""
    if not note.head.cites:
        return note
    from mdmemory.citing import cite

    changes: dict[str, str | None] = {}
    with suppress(MdmemoryError, OSError):
        changes = cite.cited_anew(writer.project, note.head.cites)
    return editing.recite(note, changes)


# --- two changes of one text

MOST_LINES = 2_000  # lines of one text; comparing takes longer than it is worth beyond


# The lines of the base from a start to before an end, and what a side has in their place.
_Hunk = tuple[int, int, tuple[str, ...]]


def three_way(base: str, ours: str, theirs: str) -> str | None:
    """`base` with what both sides changed in it; None where they changed the same lines, each in
    its own way. What both did alike counts once."""
    before = base.splitlines(keepends=True)
    sides = [text.splitlines(keepends=True) for text in (ours, theirs)]
    if max(map(len, (before, *sides))) > MOST_LINES:
        return None
    mine, other = (_find_hunks(before, side) for side in sides)
    fresh = [hunk for hunk in other if hunk not in mine]
    for start, end, _ in fresh:
        for other_start, other_end, _ in mine:
            # about the same lines, or something is put at the same place
            is_one_place = start == end == other_start == other_end
            if is_one_place or (start < other_end and other_start < end):
                return None
    for start, end, lines in sorted([*mine, *fresh], reverse=True):
        before[start:end] = lines
    return "".join(before)


def join_notes(base: str, ours: str, theirs: str, file: str) -> str | None:
    """The `three_way` of a note's texts; None, too, where the whole has a problem that neither of
    the sides has."""
    joined = three_way(base, ours, theirs)
    if joined is None:
        return None
    odd, one, other = (
        {*notes_format.parse(text, file).head.problems} for text in (joined, ours, theirs)
    )
    return joined if odd <= one | other else None


def _find_hunks(before: Sequence[str], after: Sequence[str]) -> list[_Hunk]:
    from difflib import SequenceMatcher  # only where a hand saved meanwhile

    codes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [
        (start, end, tuple(after[first:last]))
        for tag, start, end, first, last in codes
        if tag != "equal"
    ]
