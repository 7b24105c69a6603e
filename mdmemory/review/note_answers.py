"""Answers to what is a note already: contradictions, unproven notes, notes of other hands."""

from __future__ import annotations

from contextlib import suppress

from mdmemory.actions import leaving, resolve
from mdmemory.actions.cited import cited_anew
from mdmemory.capture import forgetting
from mdmemory.compact import left_out
from mdmemory.errors import BadNote, UsageError
from mdmemory.files import read_regular
from mdmemory.git.commits_of_store import subject
from mdmemory.layers import Layers
from mdmemory.memory import Memory
from mdmemory.note import editing as note_editing
from mdmemory.note.note import SUPERSEDED, parse
from mdmemory.review.items import Action, InboxItem, Kind, Side
from mdmemory.review.reviewed import Reviewed, Wording, finish
from mdmemory.review.waiting import BETWEEN
from mdmemory.store.superseding import mark_superseded, unmark_superseded
from mdmemory.store.writer import Written


def conflict(
    layers: Layers, memory: Memory, item: InboxItem, action: str, wording: Wording | None
) -> Reviewed:
    """Resolve a conflict, in one commit: one note holds, both do, or one gets the wording."""
    if item.layer == BETWEEN:
        return _between(layers, item, action, wording)
    writer, (one, other) = memory._writer(), item.notes
    if wording is not None and action == Action.EDIT:
        side = item.notes[wording.side]
        edited = resolve.Edit(side.file, wording.text, side.digest)
        done = resolve.resolve_conflict(writer, item.key, edited=edited)
        return finish(item, action, f"Edited {side.name}.", memory, done.written)
    if action == Action.BOTH:
        done = resolve.resolve_conflict(writer, item.key)
        return finish(item, action, "Both hold.", memory, done.written)
    stays, gone = (one, other) if action == Action.THIS else (other, one)
    done = resolve.resolve_conflict(
        writer, item.key, keep=stays.file, superseded_on=memory._today()
    )
    text = f"{stays.name} holds, and replaced {gone.name}."
    return finish(item, action, text, memory, done.written)


def _between(layers: Layers, item: InboxItem, action: str, wording: Wording | None) -> Reviewed:
    """Of a note of the project's, the first, and one of the person's."""
    assert layers.project is not None
    assert layers.person is not None
    memories, (one, other) = (layers.project, layers.person), item.notes
    if wording is not None and action == Action.EDIT:
        side, memory = item.notes[wording.side], memories[wording.side]
        edited = memory.replace_text(side.file, wording.text, replaces=side.digest)
        return finish(item, action, f"Edited {side.name}.", memory, edited.written)
    if action == Action.BOTH:
        notes = [memory.note(side.file) for memory, side in zip(memories, item.notes, strict=True)]
        # what a team reads names no note of a person's
        memory = memories[0 if layers.project._writer().is_own else 1]
        written = resolve.both_hold(
            memory._writer(), notes[0], notes[1], item.why, layers.project._today()
        )
        return finish(item, action, "Both hold.", memory, written)
    gone, memory = (other, layers.person) if action == Action.THIS else (one, layers.project)
    written = memory.remove(gone.file).written
    return finish(item, action, f"Removed {gone.name} ({gone.layer}).", memory, written)


def note(
    layers: Layers, memory: Memory, item: InboxItem, action: str, wording: Wording | None
) -> Reviewed:
    """An unconfirmed note, one of other hands, one whose successor is gone, one on changed code."""
    side = item.notes[0]
    if action == Action.KEEP and item.kind == Kind.ORPHANED:
        stored = memory.note(side.file)
        text = unmark_superseded(stored.note, memory._today()).text
        done = memory.replace_text(side.file, text, replaces=side.digest).written
        return finish(item, action, f"{side.name} holds again.", memory, done)
    if wording is not None and action == Action.EDIT:
        text = _in_force(wording.text, side.file, memory._today())
        if item.kind == Kind.ON_CHANGED:  # the new wording is about the project as it is now
            text = cited_anew(memory._writer(), parse(text, side.file)).text
        done = _edit(memory, item, side, text)
        return finish(item, action, f"Stored your wording of {side.name}.", memory, done)
    if action == Action.KEEP:
        return _confirm(memory, item)
    done = memory.remove(side.file).written
    if item.kind == Kind.ON_HOLD:  # what git has by now waits no more: that takes a word of its own
        said = f"Removed {side.name}; `mdmemory undo {done.id}` brings it back, and confirms it."
        return Reviewed(item, action, said, memory, None, done.commit)
    return finish(item, action, f"Removed {side.name}.", memory, done)


def _confirm(memory: Memory, item: InboxItem) -> Reviewed:
    side, left = item.notes[0], None
    if item.kind == Kind.ON_HOLD:
        memory.adopt()  # the others, so that the commit below holds this one alone
        path = memory.project.store / side.file
        left = path, read_regular(path), 0o644
    done = memory.confirm(side.file).written
    text = f"Confirmed {side.name}."
    return Reviewed(item, Action.KEEP, text, memory, done.id or done.commit, done.commit, left)


def refusal(
    layers: Layers, memory: Memory, item: InboxItem, action: str, wording: Wording | None
) -> Reviewed:
    """What a pass wanted and was refused: a person does it, or says that the notes stay."""
    folder = memory.project.private
    path = left_out.place(folder)
    left, written, sentence = (path, read_regular(path), 0o600), None, "The notes stay as they are."
    if action in (Action.THIS, Action.THAT):
        stays, gone = item.notes if action == Action.THIS else reversed(item.notes)
        stored = memory.note(gone.file)
        text = mark_superseded(stored.note, stays.name, memory._today()).text
        written = memory.replace_text(gone.file, text, replaces=gone.digest).written
        sentence = f"{stays.name} holds, and replaced {gone.name}."
    elif action == Action.DROP:
        written = memory.remove(item.notes[0].file).written
        sentence = f"Removed {item.notes[0].name}."
    left_out.settle(folder, item.key)
    return finish(item, action, sentence, memory, written or Written(), left)


def removal(
    layers: Layers, memory: Memory, item: InboxItem, action: str, wording: Wording | None
) -> Reviewed:
    """What an assistant wants forgotten: it goes, or it stays."""
    side, path = item.notes[0], forgetting.removal_file(memory.project, item.key)
    left = path, read_regular(path), 0o600
    if action == Action.KEEP:
        written = leaving.take_out(memory._writer(), path, subject("keep", [side.name]))
        back = None if written.id else left
        return finish(item, action, f"{side.name} stays.", memory, written, back)
    written = memory.remove(side.file).written
    forgetting.settle_removal(memory.project, side.file)
    return finish(item, action, f"Removed {side.name}.", memory, written, left)


def _edit(memory: Memory, item: InboxItem, side: Side, text: str) -> Written:
    if item.kind == Kind.ON_HOLD:  # a person stands by what they wrote into it
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
            return unmark_superseded(note, today).text
        wanted = note_editing.confirm(note, "manual") | {"metadata.updated": today}
        return note_editing.edit(note, set=wanted).text
    return text


def loss(
    layers: Layers, memory: Memory, item: InboxItem, action: str, wording: Wording | None
) -> Reviewed:
    """Many notes are gone: they come back, or were meant to go."""
    writer = memory._writer()
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
