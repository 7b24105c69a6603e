"""What a message of the user takes back: done at once where it is of this session, else offered.

"Don't remember that" takes back what this session stored; to forget an older note, or to put one
right, goes through the assistant, which gets the notes that may be meant and the words to quote.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from mdmemory.actions import editing, undo
from mdmemory.capture import pending, takebacks
from mdmemory.capture.forgetting import (
    OFFERED,
    Meant,
    NoteSource,
    described,
    note_down,
    offer,
    session_trailer,
)
from mdmemory.capture.routes import visible
from mdmemory.capture.takebacks import CORRECT, FORGET, OUTDATED, UNWANTED, Takeback
from mdmemory.errors import MdmemoryError
from mdmemory.note.note import SUPERSEDED
from mdmemory.store.store import StoredNote
from mdmemory.store.writer import Writer
from mdmemory.transcripts.turns import Turn

_BEFORE = 2  # turns before a message, in which what it points at was said


@dataclass
class Withdrawn:
    """What a message took back: `taken` are files with the id that brings each back, `dropped` how
    many facts that waited. `forget` and `correct` are notes that may be meant (file and
    description), each with the user's sentence; `unknown` are sentences that mean no note."""

    taken: list[tuple[str, str]] = field(default_factory=list)
    dropped: int = 0
    forget: list[tuple[str, list[tuple[str, str]]]] = field(default_factory=list)
    correct: list[tuple[str, list[tuple[str, str]]]] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def withdraw(
    sources: Sequence[NoteSource], text: str, *, session: str, before: Sequence[Turn],
    now: datetime,
) -> Withdrawn:  # fmt: skip
    """Take back what the message `text` does not want remembered, and find what else it means;
    `before` are the turns of the session until then. Raises whatever a write raises."""
    done = Withdrawn()
    for wish in takebacks.find(text):
        spoken = _spoken_before(wish, text, before)
        is_pointing = not (wish.subject or spoken)  # at what was said before, which is not known
        if wish.kind == UNWANTED and session:
            mine = _of_session(sources, session) if is_pointing else []
            spoken = [mine[0].stored.note.head.description] if len(mine) == 1 else spoken
            if _take_back(sources, wish, session, spoken, now, done):
                continue
            if mine:
                done.forget.append((wish.sentence, [offer(each) for each in mine][:OFFERED]))
                continue
        notes = [offer(each) for each in _meant(sources, wish, spoken)][:OFFERED]
        if wish.kind in (FORGET, UNWANTED) and notes:
            done.forget.append((wish.sentence, notes))
        elif wish.kind in (OUTDATED, CORRECT) and notes:
            done.correct.append((wish.sentence, notes))
        elif wish.kind == FORGET and wish.plain:
            done.unknown.append(wish.sentence)
    return done


def _spoken_before(wish: Takeback, text: str, before: Sequence[Turn]) -> list[str]:
    """What a wish that only points may point at, the nearest first."""
    earlier = text.partition(wish.sentence)[0].strip()
    if earlier:
        return [earlier]
    return [turn.text for turn in reversed(before[-_BEFORE:])]


# --- of this session -----------------------------------------------------------------------------


def _of_session(sources: Sequence[NoteSource], session: str) -> list[Meant]:
    """The notes that this session stored and that are in force."""
    return [
        Meant(source, stored)
        for source in sources
        for stored in visible(source.writer)
        if _is_of(stored, session)
    ]


def _is_of(stored: StoredNote, session: str) -> bool:
    head = stored.note.head
    return head.session == session and head.status != SUPERSEDED


def _take_back(
    sources: Sequence[NoteSource], wish: Takeback, session: str, spoken: Sequence[str],
    now: datetime, done: Withdrawn,
) -> bool:  # fmt: skip
    """Take back the notes and waiting facts of this session that a wish means; whether any was."""
    before = len(done.taken) + done.dropped
    for source in sources:
        writer = source.writer
        for stored in visible(writer):
            text = f"{stored.note.head.description}\n{stored.note.body}"
            if _is_of(stored, session) and _means(wish, text, spoken):
                id = _undone(writer, stored.file, session)
                note_down(writer, session, "taken back", "negated", stored.file, now)
                done.taken.append((f"{source.prefix}{stored.file}", id))
        for fact in pending.waiting(writer.project, writer.state):
            if fact.session == session and _means(wish, f"{fact.description}\n{fact.body}", spoken):
                pending.drop(writer, fact.id, today=now.date().isoformat())
                done.dropped += 1
    return len(done.taken) + done.dropped > before


def _means(wish: Takeback, text: str, spoken: Sequence[str]) -> bool:
    if wish.subject:
        return takebacks.is_meant(wish.subject, text)
    return any(takebacks.says(each, text) for each in spoken)


def _undone(writer: Writer, file: str, session: str) -> str:
    """Undo the commit of this session that made a note, where it made nothing else; else remove
    the note. The Memory-Id of the commit that did it."""
    with writer.locked():
        history = writer.history
        made = history.log_of("Memory-Session", session) if history else []
        mine = [entry for entry in made if any(file in group for group in entry.groups())]
    if len(mine) == 1 and len(mine[0].groups()) == 1:
        with suppress(MdmemoryError):
            found = undo.undo(writer, mine[0].commit)
            if found.written.id and not found.kept:
                return found.written.id
    done = editing.remove(writer, file, trailers=session_trailer(session))
    return done.written.id or ""


# --- of earlier ones -----------------------------------------------------------------------------


def _meant(sources: Sequence[NoteSource], wish: Takeback, spoken: Sequence[str]) -> list[Meant]:
    """The notes that a wish may mean, the likeliest first."""
    every = [Meant(source, note) for source in sources for note in visible(source.writer)]
    named = [each for each in every if takebacks.names(each.stored.note, wish.sentence)]
    if named:
        return named
    if wish.subject and (found := described(every, wish.subject)):
        return found
    texts = [wish.subject] if wish.subject else spoken
    if wish.subject and wish.kind == FORGET:
        return []  # a fact that is said in full may be told in other words; a subject may not
    return [
        each for each in every
        if each.stored.note.head.status != SUPERSEDED
        and any(takebacks.says(text, each.stored.note.head.description) for text in texts)
    ]  # fmt: skip
