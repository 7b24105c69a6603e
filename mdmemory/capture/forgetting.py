"""What an assistant asks to forget, on the user's word, and what a person means by a description.

Only a typed turn of the user proves it. What nothing can prove yet waits in the inbox.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from mdmemory.actions import editing
from mdmemory.capture import quote_proof
from mdmemory.capture.batch import visible_notes
from mdmemory.capture.extracted import Caller
from mdmemory.capture.quote_proof import Proof
from mdmemory.capture.store_fact import note_down, room_left, spend_budget
from mdmemory.capture.wishes import read_head, render_head
from mdmemory.errors import MdmemoryError
from mdmemory.files import digest, read_regular, write_atomic
from mdmemory.note.note import SUPERSEDED
from mdmemory.privacy.redaction import redact
from mdmemory.store import inbox
from mdmemory.store.evidence import Evidence
from mdmemory.store.project import INBOX, Project
from mdmemory.store.writer import NoteSource, StoredIn, Writer, find_note
from mdmemory.text.words import word_keys
from mdmemory.transcripts.turns import is_id

OFFERED = 5  # notes of which a person is asked which is meant
SHARE = 0.6  # of the words of a description that a note has which is meant by it
LATER = ("no_quote", "unheard", "too_many")  # nothing speaks against it: it waits
_BEGIN, _ID = "forget-", "f-"
_QUOTE = 400  # characters


class NotProven(MdmemoryError):
    """The user's words do not ask for it."""

    code = "not_proven"

    def __init__(self, file: str, proof: Proof) -> None:
        super().__init__(
            f"Nothing was changed: {proof.reason()}.",
            f"Ask the user in one question that names {file}; their yes is enough as quote.",
        )
        self.why = proof.why


class Forgotten(NamedTuple):
    """What became of it: `files` are gone, `also` superseded notes that went along, `left` those
    that stay, each with half a sentence on why, `waiting` those of them about which a person is
    asked. `ids` are Memory-Ids of the commits. `waits`: in no branch yet."""

    files: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    left: tuple[tuple[str, str], ...] = ()
    waiting: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    commit: str | None = None
    waits: bool = False


def forget_notes(
    sources: Sequence[NoteSource], names: Sequence[str], quote: str, caller: Caller, *,
    now: datetime,
) -> Forgotten:  # fmt: skip
    """Remove the notes of these names, and what they had replaced, if the user's turns ask for it.
    Raises NotFound; NotProven where none of them goes or waits; and whatever a write raises."""
    session = caller.session if is_id(caller.session) else ""
    meant = [find_note(sources, name) for name in dict.fromkeys(names)]
    done, first = Forgotten(), Proof()
    for each in meant:
        (prefix, writer), file = each.source, each.stored.file
        proof = quote_proof.of_forgetting(quote, caller.turns, each.stored.note)
        if proof.why == "not_said" and not caller.hears:
            proof = Proof(why="unheard")
        if proof.turn and not room_left(writer, session, proof.turn, now):
            proof = Proof(why="too_many")
        if proof.why:
            first = first if first.why else proof
            done = done._replace(left=(*done.left, (each.file, proof.reason())))
            if proof.why in LATER:
                _let_wait(writer, file, quote, session, proof.why, now)
                done = done._replace(waiting=(*done.waiting, each.file))
                continue
        else:
            gone = editing.remove_note(writer, file, trailers=session_trailer(session))
            spend_budget(writer, session, proof.turn, now, 1)
            settle_removal(writer.project, file)
            written = gone.written
            done = done._replace(
                files=(*done.files, each.file),
                also=(*done.also, *(f"{prefix}{other}" for other in gone.also)),
                ids=(*done.ids, *([written.id] if written.id else [])),
                commit=written.commit or done.commit, waits=done.waits or written.waits,
            )  # fmt: skip
        outcome, reasons = ("refused", (proof.why,)) if proof.why else ("forgotten", ())
        note_down(writer, Evidence(session, "assistant", outcome, reasons, file), now)
    if not (done.files or done.waiting):
        raise NotProven(done.left[0][0], first)
    return done


def session_trailer(session: str) -> list[tuple[str, str]]:
    """What a commit says of the session that caused it."""
    return [("Memory-Session", session)] if session and is_id(session) else []


# --- which note a person means


def find_described(sources: Sequence[NoteSource], what: str) -> list[StoredIn]:
    """The notes in force that have most words of a description, the best first."""
    wanted, good = {*word_keys(what)}, []
    for source in sources if wanted else ():
        for stored in visible_notes(source.writer):
            head = stored.note.head
            named = f"{head.name.replace('-', ' ')} {head.title} {head.description}"
            shared = wanted & {*word_keys(f"{named} {stored.note.body}")}
            if head.status != SUPERSEDED and len(shared) >= SHARE * len(wanted):
                good.append((len(shared), StoredIn(source, stored)))
    good.sort(key=lambda pair: -pair[0])
    if good and good[0][0] == len(wanted):  # what has all of the words hides what has some
        good = [pair for pair in good if pair[0] == len(wanted)]
    return [each for _, each in good[:OFFERED]]


# --- what waits


@dataclass(frozen=True, slots=True)
class AskedRemoval:
    """A note (file) that an assistant wants forgotten, in the inbox: a person decides. `quote` are
    the user's words as the assistant gave them, `since` a UTC day, `why` a key of
    `quote_proof.WHY`."""

    id: str
    file: str
    quote: str
    session: str
    since: str
    why: str


def waiting_removals(project: Project) -> list[AskedRemoval]:
    """The removals that wait for a person, of notes that are still there, the oldest first."""
    there = [each for _, each in _removal_files(project) if (project.store / each.file).is_file()]
    return sorted(there, key=lambda each: (each.since, each.file))


def removal_file(project: Project, id: str) -> Path:
    """The file in which a removal waits."""
    return project.store / INBOX / f"{_BEGIN}{id.removeprefix(_ID)}{inbox.END}"


def settle_removal(project: Project, file: str) -> None:
    """Take what waits on this note out of the inbox: it was removed, or is to stay."""
    for path, each in _removal_files(project):
        if each.file == file:
            path.unlink(missing_ok=True)


def _let_wait(writer: Writer, file: str, quote: str, session: str, why: str, now: datetime) -> None:
    folder = writer.project.store / INBOX
    number = digest(file.encode("utf-8", "surrogateescape"))[:8]
    values = {"file": file, "quote": redact(quote[:_QUOTE])[0], "session": session,
            "since": now.date().isoformat(), "why": why}  # fmt: skip
    data = render_head(values, f"An assistant asks to forget {file}.\n")
    with writer.lock_store():
        inbox.prepare_inbox(folder)
        write_atomic(folder / f"{_BEGIN}{number}{inbox.END}", data, mode=0o600)


def _removal_files(project: Project) -> Iterator[tuple[Path, AskedRemoval]]:
    for path in inbox.inbox_files(project.store / INBOX, _BEGIN):
        with suppress(MdmemoryError, KeyError):
            fields, _ = read_head(read_regular(path))
            id = _ID + path.name.removeprefix(_BEGIN).removesuffix(inbox.END)
            values = [str(fields[key]) for key in ("file", "quote", "session", "since", "why")]
            if "/" not in values[0]:
                yield path, AskedRemoval(id, *values)
