"""A whole note that a model writes as a file: the guards, what it contradicts, and one commit.

Nobody's words stand behind it. So it is unconfirmed, and a model gives no note another standing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mdmemory.actions import replacing
from mdmemory.actions.editing import (
    check_new,
    refuse_held,
    refuse_secret,
    refuse_waiting,
    require_readable,
    taken_names,
)
from mdmemory.actions.replacing import UNCONFIRMED
from mdmemory.capture.forgetting import session_trailer
from mdmemory.errors import BadNote, NoteChanged
from mdmemory.files import digest
from mdmemory.git.commits_of_store import subject
from mdmemory.git.transaction import Change
from mdmemory.note import editing, frontmatter, limits
from mdmemory.note.note import SUPERSEDED, Note, headline, parse, read_fields
from mdmemory.search.near import near_notes
from mdmemory.store import conflicts
from mdmemory.store.store import StoredNote
from mdmemory.store.strangers import WHY, suspicion_of
from mdmemory.store.writer import Group, Writer, Written

# What of a head says how the note came to be and who stands by it. A model sets none of it.
_STANDING = [key for key in limits.METADATA_KEYS if key not in ("type", "kind", "importance")]
_LONGEST = 2 * limits.MAX_BODY  # characters of a whole file: a head has few


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A note as a model left it. `against` are the files of the notes that it contradicts."""

    stored: StoredNote
    written: Written
    against: tuple[str, ...] = ()


def create_note(
    writer: Writer, file: str, text: str, *, session: str = "", today: str
) -> ModelFile:
    """Store a text as the note `file`, below a head that names it and says that it is unconfirmed.
    A head of its own stays, but for what says who stands by it. Without a description there its
    first line is it: a second one would be what a model replaces, or forgets to.

    Raises BadNote for a text that no note may hold, and where the name is taken.
    """
    _check_length(text)
    name = limits.slugify(file.removesuffix(".md"))
    limits.check_name(name)
    note = parse(text, file)
    if note.body.strip() or not note.head.description:
        limits.check_body(note.body)
    unset = dict.fromkeys(f"metadata.{key}" for key in _STANDING)
    fresh = editing.edit(note, set={
        **unset, "name": name,
        "metadata.type": note.head.type, "metadata.source": "assistant",
        "metadata.status": UNCONFIRMED, "metadata.created": today, "metadata.updated": today,
    })  # fmt: skip
    with writer.lock_store():
        check_new(name, fresh.head.type, fresh.text)
        _refuse_suspicious(fresh.text)
        names = taken_names(writer.refresher.store, writer.refresher.catalog().names.values())
        if {file.casefold(), name.casefold()} & names:
            raise BadNote(f"The name {name} is taken.", "Choose another name.", code="taken")
        return _write_note(writer, file, fresh, None, session, today)


def change_note(
    writer: Writer, file: str, changed: Callable[[str], str], *, session: str = "", today: str
) -> ModelFile:
    """Put `changed` of a note's text in its place. What a person stood by is unconfirmed then.

    Raises what `changed` raises, BadNote for a text that no note may hold, and for a note that is
    on hold, waits for a person, or is in an open conflict.
    """
    with writer.lock_store():
        stored = require_readable(writer.refresher.store.read(file))
        refuse_unsettled(writer, stored)
        text = changed(stored.note.text)
        if text == stored.note.text:
            return ModelFile(stored, Written())
        fresh = _admit_text(writer, stored, text)
        wanted: dict[str, str | None] = {"metadata.updated": today}
        if not fresh.head.status:
            wanted["metadata.status"] = UNCONFIRMED
        fresh = editing.edit(fresh, set=wanted)
        return _write_note(writer, stored.file, fresh, stored.digest, session, today)


def refuse_unsettled(writer: Writer, stored: StoredNote) -> None:
    """Raise BadNote for a note that no model may change: on hold, waiting for a person, or in an
    open conflict, which only a person settles."""
    refuse_held(writer, stored)
    refuse_waiting(writer, stored)
    ledger = writer.refresher.store.ledger()
    heads = writer.refresher.catalog().heads() if ledger else ()
    superseded = {head.file for head in heads if head.status == SUPERSEDED}
    if any(stored.file in each.files for each in conflicts.open_entries(ledger, superseded)):
        raise BadNote(
            f"{stored.file} is in an open conflict, and only the user settles that.",
            "Tell them: `mdmemory review` shows both notes.",
            code="in_conflict",
        )


# --- the guards


def _admit_text(writer: Writer, stored: StoredNote, text: str) -> Note:
    """The note of a text that may stand in the place of another. Raises BadNote."""
    _check_length(text)
    before, after = stored.note, parse(text, stored.file)
    if after.body.strip():  # one that is too long may get shorter
        is_longer = len(after.body) > len(before.body)
        limits.check_body(after.body if is_longer else after.body[: limits.MAX_BODY])
    if odd := [each for each in after.head.problems if each not in before.head.problems]:
        raise BadNote(
            f"{stored.file} would not be read as it is: {odd[0]}",
            "Leave the lines from `---` to `---` at its beginning as they are.",
        )
    if _standing_fields(after) != _standing_fields(before):
        raise BadNote(
            "Of the lines from `---` to `---` only description, title and aliases can be changed.",
            "The others say where the note comes from and who stands by it: leave them.",
            code="standing",
        )
    if after.head.description != before.head.description:
        limits.check_description(after.head.description)
    refuse_secret(text)
    if suspicion_of(text) != suspicion_of(before.text):
        _refuse_suspicious(text)
    return after


def _standing_fields(note: Note) -> Mapping[str, object]:
    free, fields = ("description", "title", limits.ALIASES), frontmatter.flatten(read_fields(note))
    return {key: value for key, value in fields.items() if key.partition(".")[0] not in free}


def _check_length(text: str) -> None:
    # before anything reads it
    if len(text) > _LONGEST:
        raise BadNote(
            f"The file has {len(text)} characters; a note's body has at most {limits.MAX_BODY}.",
            "Split it into several notes.",
        )


def _refuse_suspicious(text: str) -> None:
    if why := suspicion_of(text):
        raise BadNote(
            f"The text is not stored: {WHY[why]}.", "Say it as a plain fact.", code="suspicious"
        )


# --- the write


def _write_note(
    writer: Writer, file: str, note: Note, before: str | None, session: str, today: str
) -> ModelFile:
    """Write it with the entries of the ledger on what it contradicts, in one commit."""
    data = note.text.encode("utf-8")
    new = StoredNote(file, digest(data), note)
    near = near_notes(writer.refresher)(note.head.description)
    meetings = replacing.met_by(writer, new, (), near, today)
    kind = "edit" if before else "store"
    group = Group(f"{kind} {file}: {note.head.description}", (Change(file, before, data),))
    groups = meetings.joined_groups([group], writer.refresher.store.ledger(), today)
    title, trailers = subject(kind, [headline(note.head)]), session_trailer(session)
    written = writer.write(title, groups, kind=kind, trailers=trailers, by_model=True)
    if written.kept:
        raise NoteChanged(f"{file} was changed at this very moment.", "Look at it again.")
    return ModelFile(new, written, tuple(note.file for note, _ in meetings.doubtful))
