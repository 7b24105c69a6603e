"""What becomes of an item by a person's answer: one change, which can be taken back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mdmemory.actions import editing, leaving, resolve
from mdmemory.capture import forgetting, pending, wishes
from mdmemory.capture.imports import rest
from mdmemory.capture.note_text import description_of, name_of
from mdmemory.compact import left_out
from mdmemory.errors import BadNote, MdmemoryError, NotFound, UsageError
from mdmemory.files import read_regular, write_atomic
from mdmemory.git.commits_of_store import subject
from mdmemory.layers import USER, Layers
from mdmemory.memory import Memory
from mdmemory.note import editing as note_editing
from mdmemory.note.note import SUPERSEDED, parse
from mdmemory.review.items import (
    BOTH,
    CONFLICT,
    DROP,
    EDIT,
    FORGET,
    KEEP,
    LATER,
    LOST,
    ON_HOLD,
    ORPHANED,
    PENDING,
    REFUSED,
    REST,
    THAT,
    THIS,
    UNCONFIRMED,
    WISH,
    InboxItem,
    Side,
)
from mdmemory.review.waiting import BETWEEN
from mdmemory.store.superseding import marked, unmarked
from mdmemory.store.writer import Written

if TYPE_CHECKING:
    from mdmemory.git.transaction import Change
    from mdmemory.store.writer import Writer


Left = tuple[Path, bytes, int]


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What an answer did, in a sentence. `memory` holds the change `id` (None: no commit);
    `left` is a file that an undo does not bring back, with its bytes and mode."""

    item: InboxItem
    action: str
    said: str
    memory: Memory
    id: str | None = None
    commit: str | None = None
    left: Left | None = None

    @property
    def can_be_taken_back(self) -> bool:
        """Whether `take_back` has anything to do."""
        return self.id is not None or self.left is not None


@dataclass(frozen=True, slots=True)
class Wording:
    """The text that a person left in an editor: of the note `side` of an item, or of what waits."""

    text: str
    side: int = 0


def answer(
    layers: Layers, item: InboxItem, action: str, wording: Wording | None = None
) -> Reviewed:
    """Do what a person answered. Raises UsageError for an answer that the item cannot have, and
    whatever the change itself raises; then nothing has happened."""
    if action not in item.actions:
        raise UsageError(
            f"`{action}` is no answer to {item.id}.", f"Answer one of: {', '.join(item.actions)}."
        )
    memory = _memory(layers, item)
    if action == LATER:
        return Reviewed(item, action, f"{item.id} stays in the inbox.", memory)
    if action == EDIT and wording is None:
        raise UsageError("There is no new text.", "Pass it with --text, or edit at a terminal.")
    return _BY_KIND[item.kind](layers, memory, item, action, wording)


def take_back(layers: Layers, done: Reviewed) -> str:
    """Take an answer back; a sentence. Raises MdmemoryError where it cannot be."""
    if not done.can_be_taken_back:
        raise NotFound("There is nothing to take back.", "`mdmemory log` lists the changes.")
    if done.id is not None:
        undone = done.memory.undo(done.id)
        if undone.kept:
            files = ", ".join(file for file, _ in undone.kept)
            raise MdmemoryError(f"{files} was changed since and stays.", "Edit it by hand.")
    if done.left is not None:
        path, data, mode = done.left
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomic(path, data, mode=mode)
        done.memory.index()  # counts what waits
    return f"Taken back: {done.said}"


def text_of(layers: Layers, item: InboxItem, side: int = 0) -> tuple[str, str]:
    """What a person edits of an item, and the name of the copy. Raises MdmemoryError."""
    memory = _memory(layers, item)
    chosen = item.notes[side]
    if chosen.file:
        holder = layers.person if item.layer == BETWEEN and chosen.layer == USER else memory
        assert holder is not None
        return holder.note(chosen.file).note.text, chosen.file
    if item.kind == WISH:
        wish = _wish(memory, Path(item.key))
        return f"{wish.text if wish else rest.read(Path(item.key))[2]}\n", "wish.md"
    if item.kind == REST:
        return f"{rest.read(Path(item.key))[2]}\n", "rest.md"
    return f"{chosen.text}\n", f"{chosen.name or 'fact'}.md"


def worded(layers: Layers, item: InboxItem, side: int, text: str) -> str:
    """A note's file with another wording: its first line is the description, all of it the body.
    Raises BadNote."""
    before, file = text_of(layers, item, side)
    note = parse(before, file)
    said = {"description": description_of(text.strip())}
    return note_editing.edit(note, set=said, body=text.strip()).text


def file_of(layers: Layers, item: InboxItem) -> Path:
    """The file of a note that is edited in its place."""
    return _memory(layers, item).project.store / item.notes[0].file


def _memory(layers: Layers, item: InboxItem) -> Memory:
    memory = layers.person if item.layer == USER else layers.project
    return memory or layers.main


def _done(
    item: InboxItem, action: str, said: str, memory: Memory, written: Written,
    left: Left | None = None,
) -> Reviewed:  # fmt: skip
    if written.kept:
        file, why = written.kept[0]
        raise MdmemoryError(f"{file} was not changed: {why}.", "Answer again.")
    return Reviewed(item, action, said, memory, written.id, written.commit, left)


# --- notes ---------------------------------------------------------------------------------------


def _conflict(
    layers: Layers, memory: Memory, item: InboxItem, action: str, wording: Wording | None
) -> Reviewed:
    if item.layer == BETWEEN:
        return _between(layers, item, action, wording)
    writer, (one, other) = memory._writer(), item.notes
    if wording is not None and action == EDIT:
        side = item.notes[wording.side]
        edited = resolve.Edit(side.file, wording.text, side.digest)
        done = resolve.resolve(writer, item.key, edited=edited)
        return _done(item, action, f"Edited {side.name}.", memory, done.written)
    if action == BOTH:
        done = resolve.resolve(writer, item.key)
        return _done(item, action, "Both hold.", memory, done.written)
    kept, gone = (one, other) if action == THIS else (other, one)
    done = resolve.resolve(writer, item.key, keep=kept.file, superseded_on=memory._today())
    said = f"{kept.name} holds, and replaced {gone.name}."
    return _done(item, action, said, memory, done.written)


def _between(layers: Layers, item: InboxItem, action: str, wording: Wording | None) -> Reviewed:
    """Of a note of the project's, the first, and one of the person's."""
    assert layers.project is not None
    assert layers.person is not None
    memories, (one, other) = (layers.project, layers.person), item.notes
    if wording is not None and action == EDIT:
        side, memory = item.notes[wording.side], memories[wording.side]
        edited = memory.replace_text(side.file, wording.text, replaces=side.digest)
        return _done(item, action, f"Edited {side.name}.", memory, edited.written)
    if action == BOTH:
        notes = [memory.note(side.file) for memory, side in zip(memories, item.notes, strict=True)]
        written = resolve.both_hold(
            layers.project._writer(), notes[0], notes[1], item.why, layers.project._today()
        )
        return _done(item, action, "Both hold.", layers.project, written)
    gone, memory = (other, layers.person) if action == THIS else (one, layers.project)
    written = memory.remove(gone.file).written
    return _done(item, action, f"Removed {gone.name} ({gone.layer}).", memory, written)


def _note(
    layers: Layers, memory: Memory, item: InboxItem, action: str, wording: Wording | None
) -> Reviewed:
    """An unconfirmed note, one of other hands, or one whose successor is gone."""
    side = item.notes[0]
    if action == KEEP and item.kind == ORPHANED:
        stored = memory.note(side.file)
        text = unmarked(stored.note, memory._today()).text
        done = memory.replace_text(side.file, text, replaces=side.digest).written
        return _done(item, action, f"{side.name} holds again.", memory, done)
    if wording is not None and action == EDIT:
        text = _in_force(wording.text, side.file, memory._today())
        done = _edited(memory, item, side, text)
        return _done(item, action, f"Stored your wording of {side.name}.", memory, done)
    if action == KEEP:
        return _confirm(memory, item)
    done = memory.remove(side.file).written
    if item.kind == ON_HOLD:  # what git has by now waits no more: that takes a word of its own
        said = f"Removed {side.name}; `mdmemory undo {done.id}` brings it back, and confirms it."
        return Reviewed(item, action, said, memory, None, done.commit)
    return _done(item, action, f"Removed {side.name}.", memory, done)


def _confirm(memory: Memory, item: InboxItem) -> Reviewed:
    side, left = item.notes[0], None
    if item.kind == ON_HOLD:
        memory.adopt()  # the others, so that the commit below holds this one alone
        path = memory.project.store / side.file
        left = path, read_regular(path), 0o644
    done = memory.confirm(side.file).written
    said = f"Confirmed {side.name}."
    return Reviewed(item, KEEP, said, memory, done.id or done.commit, done.commit, left)


def _refused(
    layers: Layers, memory: Memory, item: InboxItem, action: str, wording: Wording | None
) -> Reviewed:
    """What a pass wanted and was refused: a person does it, or says that the notes stay."""
    folder = memory.project.private
    path = left_out.place(folder)
    left, written, said = (path, read_regular(path), 0o600), None, "The notes stay as they are."
    if action in (THIS, THAT):
        kept, gone = item.notes if action == THIS else reversed(item.notes)
        stored = memory.note(gone.file)
        text = marked(stored.note, kept.name, memory._today()).text
        written = memory.replace_text(gone.file, text, replaces=gone.digest).written
        said = f"{kept.name} holds, and replaced {gone.name}."
    elif action == DROP:
        written = memory.remove(item.notes[0].file).written
        said = f"Removed {item.notes[0].name}."
    left_out.settle(folder, item.key)
    return _done(item, action, said, memory, written or Written(), left)


def _removal(
    layers: Layers, memory: Memory, item: InboxItem, action: str, wording: Wording | None
) -> Reviewed:
    """What an assistant wants forgotten: it goes, or it stays."""
    side, path = item.notes[0], forgetting.place(memory.project, item.key)
    left = path, read_regular(path), 0o600
    if action == KEEP:
        written = leaving.take_out(memory._writer(), path, subject("keep", [side.name]))
        back = None if written.id else left
        return _done(item, action, f"{side.name} stays.", memory, written, back)
    written = memory.remove(side.file).written
    forgetting.settle(memory.project, side.file)
    return _done(item, action, f"Removed {side.name}.", memory, written, left)


def _edited(memory: Memory, item: InboxItem, side: Side, text: str) -> Written:
    if item.kind == ON_HOLD:  # a person stands by what they wrote into it
        raise UsageError(
            f"{side.file} is edited in its place, for no commit holds it.",
            f"Edit {memory.project.store / side.file}; it is looked at again afterwards.",
        )
    return memory.replace_text(side.file, text, replaces=side.digest).written


def _in_force(text: str, file: str, today: str) -> str:
    """A note's text without the mark that it is not, or not yet, in force."""
    note = parse(text, file)
    with suppress(BadNote):
        if note.head.status == SUPERSEDED:
            return unmarked(note, today).text
        wanted: dict[str, str | None] = {"metadata.status": None, "metadata.updated": today}
        fresh = note_editing.edit(note, set=wanted)
        if fresh.head.status:  # another key says that a model wrote it
            fresh = note_editing.edit(note, set=wanted | {"metadata.source": "manual"})
        return fresh.text
    return text


def _lost(
    layers: Layers, memory: Memory, item: InboxItem, action: str, wording: Wording | None
) -> Reviewed:
    """Many notes are gone: they come back, or were meant to go."""
    writer = memory._writer()
    if action == DROP:
        memory.adopt()  # what else other hands did, so that the commit below holds this alone
        with writer.locked():
            commit = writer.adopt(accept_loss=True)
        return Reviewed(item, action, "Committed that they are gone.", memory, commit, commit)
    from mdmemory.store import adopt

    with writer.locked():
        assert writer.history is not None
        files = adopt.restore(writer.refresher, writer.history)
    return Reviewed(item, action, f"Put back {len(files)} notes.", memory)


# --- what is no note yet -------------------------------------------------------------------------


def _fact(
    layers: Layers, memory: Memory, item: InboxItem, action: str, wording: Wording | None
) -> Reviewed:
    """A fact that a model proposed."""
    writer = memory._writer()
    home = layers.for_type(USER) if _type(memory, item) == USER else memory
    path = pending.place(memory.project, item.key)
    left = None if path is None else (path, read_regular(path), 0o600)
    if action == DROP:
        _, written = pending.drop(writer, item.key, today=memory._today())
        back = None if written.id else left
        return _done(item, action, f"Dropped {item.notes[0].name}.", memory, written, back)
    done = pending.accept(
        writer, item.key, today=memory._today(), into=None if home is memory else home._writer(),
        text=wording.text if wording and action == EDIT else None,
    )  # fmt: skip
    back = None if done.written.id and home is memory and _is_committed(writer, path) else left
    said = f"Known already in {done.file}." if done.same else f"Stored {done.file}."
    return _done(item, action, said, home, done.written, back)


def _is_committed(writer: Writer, path: Path | None) -> bool:
    return path is not None and leaving.is_in_commits(writer, path)


def _type(memory: Memory, item: InboxItem) -> str:
    return next((fact.type for fact in memory.pending() if fact.id == item.key), "")


def _file(
    layers: Layers, memory: Memory, item: InboxItem, action: str, wording: Wording | None
) -> Reviewed:
    """A kept wish, or what an import left over."""
    writer, path = memory._writer(), Path(item.key)
    left = path, read_regular(path), 0o600
    if action == DROP:
        written = leaving.take_out(writer, path, subject("drop", [path.stem]))
        back = None if written.id else left
        return _done(item, action, f"Dropped {item.notes[0].name}.", memory, written, back)
    text = (wording.text if wording and action == EDIT else text_of(layers, item)[0]).strip()
    wish = _wish(memory, path) if item.kind == WISH else None
    type = wish.type if wish else "reference"
    home = layers.for_type(type)
    leaves: list[Change] = []
    if home is memory:
        with writer.locked():
            writer.commit_inbox()
            leaves = leaving.leaves(writer, path)
    description = description_of(text)
    done = editing.add(
        home._writer(), name=name_of(description), type=type, description=description, body=text,
        kind=wish.kind if wish else "", source="explicit" if wish else "manual",
        today=memory._today(), also=leaves,
    )  # fmt: skip
    path.unlink(missing_ok=True)
    back = None if leaves and done.written.id else left
    said = f"Known already in {done.file}." if done.same else f"Stored {done.file}."
    return _done(item, action, said, home, done.written, back)


def _wish(memory: Memory, path: Path) -> wishes.Wish | None:
    """The wish in a file; None for one without a seal of this machine."""
    for box in wishes.inboxes(memory.project):
        for place, wish in box.wishes():
            if place == path:
                return wish
    return None


_Answerer = Callable[[Layers, Memory, InboxItem, str, Wording | None], Reviewed]
_BY_KIND: dict[str, _Answerer] = {
    LOST: _lost, WISH: _file, CONFLICT: _conflict, FORGET: _removal, PENDING: _fact,
    UNCONFIRMED: _note, ORPHANED: _note, REFUSED: _refused, ON_HOLD: _note, REST: _file,
}  # fmt: skip
