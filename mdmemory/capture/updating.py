"""What an assistant asks to put right in a note, on the user's word: one commit, undone whole.

Another wording is an edit in place; a changed value replaces the old note. What nothing can prove
yet is stored beside it, unconfirmed, and the two are flagged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from mdmemory.actions import editing
from mdmemory.actions.editing import Edited
from mdmemory.actions.replacing import anothers
from mdmemory.capture import assistant, consent
from mdmemory.capture.assistant import Stored
from mdmemory.capture.consent import Consent
from mdmemory.capture.duplicates import canonical
from mdmemory.capture.fact import Fact, fact_of
from mdmemory.capture.forgetting import (
    Meant,
    NoteSource,
    NotProven,
    meant,
    note_down,
    offer,
    session_trailer,
)
from mdmemory.capture.note_text import stating
from mdmemory.capture.routes import visible
from mdmemory.citing.cite import cites_of
from mdmemory.files import digest
from mdmemory.git.commits_of_store import subject
from mdmemory.git.transaction import Change
from mdmemory.note import editing as notes_editing
from mdmemory.note import limits
from mdmemory.note.note import SUPERSEDED, Note, headline, parse
from mdmemory.store import superseding
from mdmemory.store.store import StoredNote
from mdmemory.store.writer import Group, Writer
from mdmemory.text import literals
from mdmemory.text.contradiction import speaks_against
from mdmemory.text.similarity import nearest
from mdmemory.text.words import keys
from mdmemory.transcripts.turns import Turn

CLAIMS = "an assistant says that it replaces it"
_LATER = ("no_quote", "unheard", "anothers")


@dataclass(frozen=True, slots=True)
class Corrected:
    """What became of it. `outcome` is edited, superseded, same, candidates, flagged or unconfirmed.

    `file` holds the new text, `before` the note that it is about; `stored` says more of an
    unconfirmed one. `id` is the commit's Memory-Id.
    """

    outcome: str
    file: str = ""
    before: str = ""
    commit: str | None = None
    id: str = ""
    waits: bool = False
    candidates: tuple[tuple[str, str], ...] = ()
    why: str = ""
    stored: Stored | None = None


def update(
    sources: Sequence[NoteSource], what: str, content: str, *, quote: str, session: str,
    turns: Sequence[Turn], now: datetime,
) -> Corrected:  # fmt: skip
    """Let the note that `what` names or describes say `content`, if the user's turns say it.

    Raises NotFound, NotProven, NotStored for a text that is no fact, and whatever a write raises.
    """
    found, others = meant(sources, what)
    if len(found) != 1:
        return Corrected("candidates", candidates=tuple(offer(each) for each in found))
    chosen = found[0]
    fact = fact_of(content, type=chosen.stored.note.head.type)
    proof = consent.to_say(quote, turns, fact.body, chosen.stored.note, others)
    if not proof.why and anothers(chosen.source.writer)(chosen.stored):
        proof = Consent(why="anothers")
    if proof.why in _LATER:
        return _unconfirmed(chosen, content, session, proof.why, turns, now)
    if proof.why:
        note_down(chosen.source.writer, session, "refused", proof.why, chosen.stored.file, now)
        raise NotProven(chosen.file, proof.why)
    return _updated(chosen, fact, session, now)


def _updated(chosen: Meant, fact: Fact, session: str, now: datetime) -> Corrected:
    today = now.date().isoformat()
    if _is_wording(chosen.stored.note, fact.body):
        done = _edited(chosen, fact, session, today)
        outcome, file = "same" if done.same else "edited", chosen.stored.file
    else:
        done = _replaced(chosen, fact, session, today)
        outcome, file = "superseded", done.file
    note_down(chosen.source.writer, session, outcome, "", file, now)
    written = done.written
    return Corrected(
        outcome, f"{chosen.source.prefix}{file}", chosen.file, written.commit, written.id or "",
        written.waits,
    )  # fmt: skip


def _is_wording(old: Note, new: str) -> bool:
    """Whether a new text takes nothing away from what a note says, but the slips of a typist."""
    known = f"{old.head.description}\n{old.body}"
    lost, _ = literals.audit([known], new)
    if lost or speaks_against(old.head.description, new):
        return False
    words = [*keys(new)]
    gone = {*keys(old.head.description)} - {*words}
    return all(nearest(word, words) for word in gone)


def _edited(chosen: Meant, fact: Fact, session: str, today: str) -> Edited:
    return editing.edit(
        chosen.source.writer, chosen.stored.file, description=fact.description,
        body=_body(chosen, fact), replaces=chosen.stored.digest, today=today,
        trailers=session_trailer(session),
    )  # fmt: skip


def _replaced(chosen: Meant, fact: Fact, session: str, today: str) -> Edited:
    """A note with the new text, and the mark on the old one, as one op; words that a superseded
    note has already take that one's mark off."""
    writer, stored, head = chosen.source.writer, chosen.stored, chosen.stored.note.head
    with writer.locked():
        if former := _former(writer, fact):
            name, file, old = former.note.head.name, former.file, former.digest
            text = superseding.unmarked(former.note, today).text
        else:
            taken = editing.taken_names(writer.refresher.store, writer.refresher.catalog().names)
            name, old = limits.free_name(fact.name, head.type, taken), None
            file = limits.file_name(head.type, name)
            text = notes_editing.compose(
                name=name, type=head.type, description=fact.description, body=fact.body,
                kind=head.kind,
                metadata={"source": "explicit", "created": today, "updated": today,
                          "session": session},
                cites=cites_of(writer.project, f"{fact.description}\n{fact.body}"),
            )  # fmt: skip
        editing.refuse_secret(writer.refresher.is_secret, text)
        data = text.encode("utf-8")
        marked = superseding.marked(stored.note, name, today).text.encode("utf-8")
        changes = (Change(file, old, data), Change(stored.file, stored.digest, marked))
        lines = f"add {file}: {fact.description}\nsupersede {stored.file} by {file}"
        said = subject("add", [headline(parse(text, file).head)])
        written = writer.write(
            said, [Group(lines, changes)], kind="add", trailers=session_trailer(session)
        )
    return Edited(file, name, digest(data), written)


def _former(writer: Writer, fact: Fact) -> StoredNote | None:
    """The superseded note that says the new text already."""
    says = stating([canonical(fact.body)])
    notes = [each for each in visible(writer) if each.note.head.status == SUPERSEDED]
    return next((n for n in notes if says(n.note.head.description, n.note.body)), None)


def _body(chosen: Meant, fact: Fact) -> str:
    """The new text, with the reason that the note gives, unless it brings its own."""
    lines = chosen.stored.note.body.splitlines()
    reasons = [line for line in lines if line.startswith("Why:")]
    keeps = reasons and "Why:" not in fact.body
    return "\n\n".join([fact.body, *reasons]) if keeps else fact.body


def _unconfirmed(
    chosen: Meant, content: str, session: str, why: str, turns: Sequence[Turn], now: datetime
) -> Corrected:
    writer: Writer = chosen.source.writer
    done = assistant.store(
        writer, content, type=chosen.stored.note.head.type, session=session,
        said=[turn.text for turn in turns if turn.role == "user"], now=now,
        against=(chosen.stored.file, CLAIMS),
    )  # fmt: skip
    file = f"{chosen.source.prefix}{done.file}"
    outcome = "unconfirmed" if done.status else "flagged"
    return Corrected(
        outcome, file, chosen.file, done.commit, why=why, waits=done.waits, stored=done
    )
