"""What becomes of an item by a person's answer: one change, which can be taken back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from mdmemory.actions import editing, leaving
from mdmemory.capture import pending, wishes
from mdmemory.capture.note_text import description_of, name_of
from mdmemory.errors import MdmemoryError, NoteChanged, NotFound, UsageError
from mdmemory.files import read_regular, write_atomic
from mdmemory.git.commits_of_store import subject
from mdmemory.layers import USER, Layers
from mdmemory.memory import Memory
from mdmemory.note import editing as note_editing
from mdmemory.note.note import parse
from mdmemory.review import note_answers
from mdmemory.review.items import Action, InboxItem, Kind, Side
from mdmemory.review.reviewed import Reviewed, Wording, finish
from mdmemory.review.waiting import BETWEEN
from mdmemory.store.store import Store

if TYPE_CHECKING:
    from mdmemory.git.transaction import Change
    from mdmemory.store.writer import Writer


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
    if action == Action.LATER:
        return Reviewed(item, action, f"{item.id} stays in the inbox.", memory)
    if action == Action.EDIT and wording is None:
        raise UsageError("There is no new text.", "Pass it with --text, or edit at a terminal.")
    for side in item.notes:
        _require_as_seen(layers, item, side)
    return _BY_KIND[item.kind](layers, memory, item, action, wording)


def require_shown(item: InboxItem, action: str) -> None:
    """Raise UsageError for an answer by which a text stays that was not shown, because it is shown
    at a terminal only. For answers that are not given there."""
    if item.is_shielded and action not in (Action.DROP, Action.LATER):
        raise UsageError(
            f"The text of {item.id} is shown at a terminal only.", "Run `mdmemory review` there."
        )


def _require_as_seen(layers: Layers, item: InboxItem, side: Side) -> None:
    """Raise NoteChanged where a note is not the one any more that the person was shown."""
    if not side.digest:
        return
    memory = _find_holder(layers, item, side)
    if Store(memory.project.store).read(side.file).digest != side.digest:
        raise NoteChanged(f"{side.file} was changed meanwhile.", "Look at it and answer again.")


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
        return _find_holder(layers, item, chosen).note(chosen.file).note.text, chosen.file
    if item.kind == Kind.WISH:
        wish = _wish(memory, Path(item.key))
        return f"{wish.text if wish else wishes.read_rest(Path(item.key))[2]}\n", "wish.md"
    if item.kind == Kind.REST:
        return f"{wishes.read_rest(Path(item.key))[2]}\n", "rest.md"
    return f"{chosen.text}\n", f"{chosen.name or 'fact'}.md"


def reword(layers: Layers, item: InboxItem, side: int, text: str) -> str:
    """A note's file with another wording: its first line is the description, all of it the body.
    Raises BadNote."""
    before, file = text_of(layers, item, side)
    note = parse(before, file)
    keys = {"description": description_of(text.strip())}
    return note_editing.edit(note, set=keys, body=text.strip()).text


def in_place(layers: Layers, item: InboxItem, edit: Callable[[Path], None]) -> str:
    """Have a note edited in its own file, because no commit may hold what it was; a sentence."""
    memory, file = _memory(layers, item), item.notes[0].file
    edit(memory.project.store / file)
    memory.index()
    memory.adopt()
    return f"{file} was looked at again."


def _find_holder(layers: Layers, item: InboxItem, side: Side) -> Memory:
    """The memory that holds a note of the item."""
    is_persons = item.layer == BETWEEN and side.layer == USER
    return (layers.person if is_persons else None) or _memory(layers, item)


def _memory(layers: Layers, item: InboxItem) -> Memory:
    memory = layers.person if item.layer == USER else layers.project
    return memory or layers.main


# --- what is no note yet


def _fact(
    layers: Layers, memory: Memory, item: InboxItem, action: str, wording: Wording | None
) -> Reviewed:
    """A fact that a model proposed."""
    writer = memory._writer()
    is_persons = any(fact.id == item.key and fact.type == USER for fact in memory.pending())
    home = layers.for_type(USER) if is_persons else memory
    path = pending.file_of(memory.project, item.key)
    left = None if path is None else (path, read_regular(path), 0o600)
    if action == Action.DROP:
        _, written = pending.drop_fact(writer, item.key, today=memory._today())
        back = None if written.id else left
        return finish(item, action, f"Dropped {item.notes[0].name}.", memory, written, back)
    done = pending.accept_fact(
        writer, item.key, today=memory._today(), into=None if home is memory else home._writer(),
        text=wording.text if wording and action == Action.EDIT else None,
    )  # fmt: skip
    back = None if done.written.id and home is memory and _is_committed(writer, path) else left
    text = f"Known already in {done.file}." if done.same else f"Stored {done.file}."
    return finish(item, action, text, home, done.written, back)


def _is_committed(writer: Writer, path: Path | None) -> bool:
    return path is not None and leaving.is_in_commits(writer, path)


def _file(
    layers: Layers, memory: Memory, item: InboxItem, action: str, wording: Wording | None
) -> Reviewed:
    """A kept wish, or what an import left over."""
    writer, path = memory._writer(), Path(item.key)
    left = path, read_regular(path), 0o600
    if action == Action.DROP:
        written = leaving.take_out(writer, path, subject("drop", [path.stem]))
        back = None if written.id else left
        return finish(item, action, f"Dropped {item.notes[0].name}.", memory, written, back)
    text = (wording.text if wording and action == Action.EDIT else text_of(layers, item)[0]).strip()
    wish = _wish(memory, path) if item.kind == Kind.WISH else None
    type = wish.fact_type if wish else "reference"
    home = layers.for_type(type)
    leaves: list[Change] = []
    if home is memory:
        with writer.lock_store():
            writer.commit_inbox()
            leaves = leaving.leaving_changes(writer, path)
    description = description_of(text)
    done = editing.add(
        home._writer(), name=name_of(description), type=type, description=description, body=text,
        kind=wish.kind if wish else "", source="explicit" if wish else "manual",
        today=memory._today(), also=leaves,
    )  # fmt: skip
    path.unlink(missing_ok=True)
    back = None if leaves and done.written.id else left
    sentence = f"Known already in {done.file}." if done.same else f"Stored {done.file}."
    return finish(item, action, sentence, home, done.written, back)


def _wish(memory: Memory, path: Path) -> wishes.Wish | None:
    """The wish in a file; None for one without a seal of this machine."""
    for box in wishes.open_inboxes(memory.project):
        for place, wish in box.wishes():
            if place == path:
                return wish
    return None


_Answerer = Callable[[Layers, Memory, InboxItem, str, Wording | None], Reviewed]
_BY_KIND: dict[str, _Answerer] = {
    Kind.LOST: note_answers.loss, Kind.WISH: _file, Kind.CONFLICT: note_answers.conflict,
    Kind.FORGET: note_answers.removal, Kind.PENDING: _fact, Kind.UNCONFIRMED: note_answers.note,
    Kind.ORPHANED: note_answers.note, Kind.ON_CHANGED: note_answers.note,
    Kind.REFUSED: note_answers.refusal, Kind.ON_HOLD: note_answers.note, Kind.REST: _file,
}  # fmt: skip
