"""What becomes of an item by a person's answer: one change, which can be taken back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from mdmemory.actions import editing, leaving, resolve
from mdmemory.actions.editing import cited_anew
from mdmemory.capture import forgetting, pending, wishes
from mdmemory.capture.note_text import description_of, name_of
from mdmemory.capture.notice import type_of
from mdmemory.compact import left_out
from mdmemory.errors import BadNote, MdmemoryError, NoteChanged, NotFound, UsageError
from mdmemory.files import read_regular, write_atomic
from mdmemory.git.commits_of_store import subject
from mdmemory.layers import MINE, USER
from mdmemory.memory import Memory
from mdmemory.note import editing as note_editing
from mdmemory.note.note import SUPERSEDED, parse
from mdmemory.review.items import BETWEEN, Action, InboxItem, Kind, Side
from mdmemory.store.store import Store
from mdmemory.store.superseding import mark_superseded, unmark_superseded
from mdmemory.store.writer import Written

Left = tuple[Path, bytes, int]


class Reviewed(NamedTuple):
    """What an answer did, in a sentence. `memory` holds the change `id` (None: no commit);
    `left` is a file that an undo does not bring back, with its bytes and mode."""

    item: InboxItem
    action: str
    said: str
    memory: Memory
    id: str | None = None
    commit: str | None = None
    left: Left | None = None


class Wording(NamedTuple):
    """The text that a person left in an editor: of the note `side` of an item, or of what waits."""

    text: str
    side: int = 0


class _Answer(NamedTuple):
    """An answer that is being given: `memory` is the one that the item waits in, `wording` the new
    text where the answer is an edit."""

    layers: Memory
    memory: Memory
    item: InboxItem
    action: str
    wording: Wording | None

    def finish(
        self, text: str, written: Written, left: Left | None = None, memory: Memory | None = None
    ) -> Reviewed:
        """What it came to, with the change written. Raises MdmemoryError where a hand was quicker,
        and a file stayed as it is."""
        if written.kept:
            file, why = written.kept[0]
            raise MdmemoryError(f"{file} was not changed: {why}.", "Answer again.")
        where = memory or self.memory
        return Reviewed(self.item, self.action, text, where, written.id, written.commit, left)


def answer(
    layers: Memory, item: InboxItem, action: str, wording: Wording | None = None
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
    for side in filter(lambda side: side.digest, item.notes):  # as the person was shown them
        store = Store(_find_holder(layers, item, side).project.store)
        if store.read(side.file).digest != side.digest:
            raise NoteChanged(f"{side.file} was changed meanwhile.", "Look at it and answer again.")
    edited = wording if action == Action.EDIT else None
    return _BY_KIND[item.kind](_Answer(layers, memory, item, action, edited))


def require_shown(item: InboxItem, action: str) -> None:
    """Raise UsageError for an answer by which a text stays that was not shown, because it is shown
    at a terminal only, or a note goes that is asked about there. For answers given elsewhere."""
    if item.takes_own(action):
        name, both = item.notes[1].name, f"`mdmemory review {item.id} both` keeps it"
        step = f"`mdmemory forget {MINE}{name}` does, {both}."
        raise UsageError(f"{name} is in your own store, and would go for all projects.", step)
    if item.is_shielded and action not in (Action.DROP, Action.LATER):
        raise UsageError(
            f"The text of {item.id} is shown at a terminal only.", "Run `mdmemory review` there."
        )


def take_back(layers: Memory, done: Reviewed) -> str:
    """Take an answer back; a sentence. Raises MdmemoryError where it cannot be."""
    if done.id is None and done.left is None:
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


def text_of(layers: Memory, item: InboxItem, side: int = 0) -> tuple[str, str]:
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


def reword(layers: Memory, item: InboxItem, side: int, text: str) -> str:
    """A note's file with another wording: its first line is the description, all of it the body.
    Raises BadNote."""
    before, file = text_of(layers, item, side)
    note = parse(before, file)
    keys = {"description": description_of(text.strip())}
    return note_editing.edit(note, set=keys, body=text.strip()).text


def edit_in_place(layers: Memory, item: InboxItem, edit: Callable[[Path], object]) -> str:
    """Have a note edited in its own file, because no commit may hold what it was; a sentence."""
    memory, file = _memory(layers, item), item.notes[0].file
    edit(memory.project.store / file)
    memory.index()
    memory.adopt()
    return f"{file} was looked at again."


def _find_holder(layers: Memory, item: InboxItem, side: Side) -> Memory:
    """The memory that holds a note of the item."""
    is_persons = item.layer == BETWEEN and side.layer == USER
    return (layers.of_person if is_persons else None) or _memory(layers, item)


def _memory(layers: Memory, item: InboxItem) -> Memory:
    memory = layers.of_person if item.layer == USER else layers.of_project
    return memory or layers.main


# --- what is no note yet


def _fact(given: _Answer) -> Reviewed:
    """A fact that a model proposed."""
    layers, memory, item, _, wording = given
    writer, today = memory.opened.writer(), memory.opened.today()
    fact, path = pending.find_fact(memory.project, item.key)
    left = path, read_regular(path), 0o600
    if given.action == Action.DROP:
        _, written = pending.drop_fact(writer, item.key, today=today)
        return given.finish(f"Dropped {item.notes[0].name}.", written, None if written.id else left)
    home = layers.for_type(USER) if fact.type == USER else memory
    stored = pending.accept_fact(
        writer, item.key, today=today, text=wording.text if wording else None,
        into=None if home is memory else home.opened.writer(),
    )  # fmt: skip
    return _tell_stored(given, *stored, left, home)


def _file(given: _Answer) -> Reviewed:
    """A kept wish, or what an import left over."""
    layers, memory, item, _, wording = given
    writer, path = memory.opened.writer(), Path(item.key)
    left = path, read_regular(path), 0o600
    if given.action == Action.DROP:
        return _take_out(given, path, "drop", f"Dropped {item.notes[0].name}.", path.stem)
    text = (wording.text if wording else text_of(layers, item)[0]).strip()
    wish = _wish(memory, path) if item.kind == Kind.WISH else None
    type = type_of(wish.text) if wish else "reference"
    home, description = layers.for_type(type), description_of(text)
    stored = pending.store_waiting(
        writer, path, writer if home is memory else home.opened.writer(),
        name=name_of(description), type=type, description=description, body=text,
        source="explicit" if wish else "manual", today=memory.opened.today(),
    )  # fmt: skip
    return _tell_stored(given, *stored, left, home)


def _tell_stored(
    given: _Answer, done: editing.Edited, is_back: bool, left: Left, home: Memory
) -> Reviewed:
    text = f"Known already in {done.file}." if done.same else f"Stored {done.file}."
    return given.finish(text, done.written, None if is_back else left, home)


def _take_out(given: _Answer, path: Path, verb: str, text: str, name: str) -> Reviewed:
    """Take a file out of the inbox."""
    left = path, read_regular(path), 0o600
    written = leaving.take_out(given.memory.opened.writer(), path, subject(verb, [name]))
    return given.finish(text, written, None if written.id else left)


def _removal(given: _Answer) -> Reviewed:
    """What an assistant wants forgotten: it goes, or it stays."""
    memory, side = given.memory, given.item.notes[0]
    path = forgetting.removal_file(memory.project, given.item.key)
    left = path, read_regular(path), 0o600
    if given.action == Action.KEEP:
        return _take_out(given, path, "keep", f"{side.name} stays.", side.name)
    written = memory.remove(side.file).written
    forgetting.settle_removal(memory.project, side.file)
    return given.finish(f"Removed {side.name}.", written, left)


def _wish(memory: Memory, path: Path) -> wishes.Wish | None:
    """The wish in a file; None for one without a seal of this machine."""
    for box in wishes.open_inboxes(memory.project):
        for place, wish in box.wishes():
            if place == path:
                return wish
    return None


# --- what is a note already


def _conflict(given: _Answer) -> Reviewed:
    """Resolve a conflict, in one commit: one note holds, both do, or one gets the wording."""
    _, memory, item, action, wording = given
    if item.layer == BETWEEN:
        return _between(given)
    writer, (one, other) = memory.opened.writer(), item.notes
    if wording is not None:
        side = item.notes[wording.side]
        edited = (side.file, wording.text, side.digest)
        done = resolve.resolve_conflict(writer, item.key, edited=edited)
        return given.finish(f"Edited {side.name}.", done.written)
    if action == Action.BOTH:
        return given.finish("Both hold.", resolve.resolve_conflict(writer, item.key).written)
    stays, gone = (one, other) if action == Action.THIS else (other, one)
    done = resolve.resolve_conflict(
        writer, item.key, keep=stays.file, superseded_on=memory.opened.today()
    )
    return given.finish(f"{stays.name} holds, and replaced {gone.name}.", done.written)


def _between(given: _Answer) -> Reviewed:
    """Of a note of the project's, the first, and one of the person's."""
    layers, _, item, action, wording = given
    memories = [_find_holder(layers, item, side) for side in item.notes]
    if wording is not None:
        side, memory = item.notes[wording.side], memories[wording.side]
        edited = memory.replace_text(side.file, wording.text, replaces=side.digest)
        return given.finish(f"Edited {side.name}.", edited.written, memory=memory)
    if action == Action.BOTH:
        one, other = (
            memory.note(side.file) for memory, side in zip(memories, item.notes, strict=True)
        )
        # what a team reads names no note of a person's
        memory = memories[0 if memories[0].opened.writer().is_own else 1]
        written = resolve.both_hold(
            memory.opened.writer(), one, other, item.why, memory.opened.today()
        )
        return given.finish("Both hold.", written, memory=memory)
    at = 1 if action == Action.THIS else 0
    gone, memory = item.notes[at], memories[at]
    written = memory.remove(gone.file).written
    where = "your own store, for all projects" if memory is layers.of_person else "the project's"
    return given.finish(f"Removed {gone.name} from {where}.", written, memory=memory)


def _note(given: _Answer) -> Reviewed:
    """An unconfirmed note, one of other hands, one whose successor is gone, one on changed code."""
    _, memory, item, action, wording = given
    side, left = item.notes[0], None
    is_on_hold = item.kind == Kind.ON_HOLD
    path = memory.project.store / side.file
    if action == Action.KEEP and item.kind == Kind.ORPHANED:
        text = unmark_superseded(memory.note(side.file).note, memory.opened.today()).text
        done = memory.replace_text(side.file, text, replaces=side.digest).written
        return given.finish(f"{side.name} holds again.", done)
    if wording is not None:
        text = _in_force(wording.text, side.file, memory.opened.today())
        if item.kind == Kind.ON_CHANGED:  # the new wording is about the project as it is now
            text = cited_anew(memory.opened.writer(), parse(text, side.file)).text
        if is_on_hold:  # a person stands by what they wrote into it
            raise UsageError(
                f"{side.file} is edited in its place, for no commit holds it.",
                f"Edit {path}; it is looked at again afterwards.",
            )
        done = memory.replace_text(side.file, text, replaces=side.digest).written
        return given.finish(f"Stored your wording of {side.name}.", done)
    if action == Action.KEEP:
        if is_on_hold:
            memory.adopt()  # the others, so that the commit below holds this one alone
            left = path, read_regular(path), 0o644
        done = memory.confirm(side.file).written
        id = done.id or done.commit
        return Reviewed(item, action, f"Confirmed {side.name}.", memory, id, done.commit, left)
    done = memory.remove(side.file).written
    if is_on_hold:  # what git has by now waits no more: that takes a word of its own
        said = f"Removed {side.name}; `mdmemory undo {done.id}` brings it back, and confirms it."
        return Reviewed(item, action, said, memory, None, done.commit)
    return given.finish(f"Removed {side.name}.", done)


def _refusal(given: _Answer) -> Reviewed:
    """What a pass wanted and was refused: a person does it, or says that the notes stay."""
    _, memory, item, action, _ = given
    folder = memory.project.private
    path = left_out.place(folder)
    left, written, sentence = (path, read_regular(path), 0o600), None, "The notes stay as they are."
    if action in (Action.THIS, Action.THAT):
        stays, gone = item.notes if action == Action.THIS else reversed(item.notes)
        text = mark_superseded(memory.note(gone.file).note, stays.name, memory.opened.today()).text
        written = memory.replace_text(gone.file, text, replaces=gone.digest).written
        sentence = f"{stays.name} holds, and replaced {gone.name}."
    elif action == Action.DROP:
        written = memory.remove(item.notes[0].file).written
        sentence = f"Removed {item.notes[0].name}."
    left_out.settle(folder, item.key)
    return given.finish(sentence, written or Written(), left)


def _in_force(text: str, file: str, today: str) -> str:
    """A note's text without the mark that it is not, or not yet, in force."""
    note = parse(text, file)
    with suppress(BadNote):
        if note.head.status == SUPERSEDED:
            return unmark_superseded(note, today).text
        wanted = note_editing.confirm(note, "manual") | {"metadata.updated": today}
        return note_editing.edit(note, set=wanted).text
    return text


def _loss(given: _Answer) -> Reviewed:
    """Many notes are gone: they come back, or were meant to go."""
    _, memory, item, action, _ = given
    writer = memory.opened.writer()
    if action == Action.DROP:
        memory.adopt()  # what else other hands did, so that the commit below holds this alone
        with writer.lock_store():
            commit = writer.adopt(accept_loss=True)
        return Reviewed(item, action, "Committed that they are gone.", memory, commit, commit)
    from mdmemory.store import adopt

    with writer.lock_store():
        assert writer.history is not None
        files = adopt.restore_lost(writer.refresher, writer.history)
    return Reviewed(item, action, f"Put back {len(files)} notes.", memory)


_BY_KIND: dict[str, Callable[[_Answer], Reviewed]] = {
    Kind.LOST: _loss, Kind.WISH: _file, Kind.CONFLICT: _conflict, Kind.FORGET: _removal,
    Kind.PENDING: _fact, Kind.UNCONFIRMED: _note, Kind.ORPHANED: _note, Kind.ON_CHANGED: _note,
    Kind.REFUSED: _refusal, Kind.ON_HOLD: _note, Kind.REST: _file,
}  # fmt: skip
