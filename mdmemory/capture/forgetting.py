"""What an assistant asks to forget, on the user's word: found by name or by what is meant.

Only a typed turn of the user proves it (see `consent`). What nothing can prove yet waits in the
inbox, and no note is guessed at: several that may be meant are offered with their texts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from mdmemory.actions import editing
from mdmemory.capture import consent, takebacks
from mdmemory.capture.consent import Consent
from mdmemory.capture.routes import is_visible, visible
from mdmemory.capture.takebacks import SHARE
from mdmemory.errors import Ambiguous, MdmemoryError, NotFound
from mdmemory.files import read_regular, write_atomic
from mdmemory.note.note import SUPERSEDED, Note
from mdmemory.privacy.redaction import redact
from mdmemory.search.near import nearest
from mdmemory.store import evidence, inbox
from mdmemory.store.evidence import Evidence
from mdmemory.store.project import INBOX, Project
from mdmemory.store.store import StoredNote
from mdmemory.store.writer import Writer
from mdmemory.transcripts.turns import Turn, is_id

OFFERED = 5  # notes of which a person is asked which is meant
BY_ONE_TURN = 3  # notes that one turn of the user may remove
LATER = ("no_quote", "unheard", "too_many")  # nothing speaks against it: it waits
_BEGIN, _ID = "forget-", "f-"
_COUNTED = "forgotten"  # the watermark with the turns that removed notes
_QUOTE = 400  # characters


class NotProven(MdmemoryError):
    """The user's words do not ask for it; `why` is a key of `consent.WHY`."""

    code = "not_proven"

    def __init__(self, file: str, why: str) -> None:
        super().__init__(
            f"Nothing was changed: {consent.WHY[why]}.",
            f"Ask the user in one question that names {file}; their yes is enough as quote.",
        )
        self.why = why


@dataclass(frozen=True, slots=True)
class NoteSource:
    """A store that is looked in; `prefix` stands before its files in what is told."""

    prefix: str
    writer: Writer


@dataclass(frozen=True, slots=True)
class Meant:
    """A note that a name or description may mean, and where it lies."""

    source: NoteSource
    stored: StoredNote

    @property
    def file(self) -> str:
        """Its file as it is told."""
        return f"{self.source.prefix}{self.stored.file}"


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What became of it. `outcome` is forgotten, candidates (of which none was touched) or waits.

    `also` are superseded notes that went along, `candidates` files with their descriptions, `why`
    a key of `consent.WHY`. `id` is the commit's Memory-Id, or the id of what waits.
    """

    outcome: str
    file: str = ""
    also: tuple[str, ...] = ()
    commit: str | None = None
    id: str = ""
    waits: bool = False
    candidates: tuple[tuple[str, str], ...] = ()
    why: str = ""


def forget(
    sources: Sequence[NoteSource], what: str, *, quote: str, session: str, turns: Sequence[Turn],
    now: datetime,
) -> Forgotten:  # fmt: skip
    """Remove the note that `what` names or describes, if the user's turns ask for it, in one
    commit. Raises NotFound, NotProven, and whatever a write raises."""
    found, others = meant(sources, what)
    if len(found) != 1:
        return Forgotten("candidates", candidates=tuple(offer(each) for each in found))
    chosen, writer = found[0], found[0].source.writer
    proof = consent.to_forget(quote, turns, chosen.stored.note, others)
    if proof.turn and _is_spent(writer, session, proof.turn):
        proof = Consent(why="too_many")
    if proof.why in LATER:
        id = _let_wait(writer, chosen.stored, quote, session, proof.why, now)
        return Forgotten("waits", chosen.file, id=id, why=proof.why)
    if proof.why:
        note_down(writer, session, "refused", proof.why, chosen.stored.file, now)
        raise NotProven(chosen.file, proof.why)
    done = editing.remove(writer, chosen.stored.file, trailers=session_trailer(session))
    _spend(writer, session, proof.turn)
    note_down(writer, session, "forgotten", "", chosen.stored.file, now)
    settle(writer.project, chosen.stored.file)
    also = tuple(f"{chosen.source.prefix}{file}" for file in done.also)
    written = done.written
    return Forgotten(
        "forgotten", chosen.file, also, written.commit, written.id or "", written.waits
    )


def session_trailer(session: str) -> list[tuple[str, str]]:
    """What a commit says of the session that caused it."""
    return [("Memory-Session", session)] if session and is_id(session) else []


# --- which note ----------------------------------------------------------------------------------


class Others:
    """The notes of some stores but a few, read when they are first looked at: most requests that
    name a note are judged without them."""

    def __init__(self, sources: Sequence[NoteSource], but: Collection[str]) -> None:
        self._sources, self._but = sources, but
        self._notes: list[Note] | None = None

    def __iter__(self) -> Iterator[Note]:
        if self._notes is None:
            every = _every(self._sources)
            self._notes = [each.stored.note for each in every if each.file not in self._but]
        return iter(self._notes)


def meant(sources: Sequence[NoteSource], what: str) -> tuple[list[Meant], Others]:
    """The notes that `what` may mean, the likeliest first, and all others. A name or file means
    one note. Raises NotFound where nothing is near."""
    by_name = _named(sources, what.strip())
    found = [by_name] if by_name else _described(sources, what)
    return found[:OFFERED], Others(sources, {each.file for each in found})


def _every(sources: Sequence[NoteSource]) -> list[Meant]:
    return [Meant(source, note) for source in sources for note in visible(source.writer)]


def _described(sources: Sequence[NoteSource], what: str) -> list[Meant]:
    """The notes that a description may mean, or that are near it. Raises NotFound."""
    every = _every(sources)
    if found := described(every, what):
        return found
    near = nearest(what, [each.stored for each in every])
    found = [each for each in every if each.stored.file in near]
    if not found:
        raise NotFound("No note says anything of that.", "Nothing was changed.")
    if len(found) == 1:  # it shares a word, and that is not enough to be meant
        raise NotFound(
            f"No note is plainly meant; the nearest is {found[0].file}: "
            f"{found[0].stored.note.head.description}",
            "Name the file if it is the one.",
        )
    return found


def described(every: Sequence[Meant], what: str) -> list[Meant]:
    """Those in force that have most words of a description, the best first."""
    scored = [
        (takebacks.share(what, each.stored.note), each)
        for each in every
        if each.stored.note.head.status != SUPERSEDED
    ]
    good = sorted((pair for pair in scored if pair[0] >= SHARE), key=lambda pair: -pair[0])
    if good and good[0][0] == 1.0:  # what has all of the words hides what has some
        good = [pair for pair in good if pair[0] == 1.0]
    return [each for _, each in good]


def offer(each: Meant) -> tuple[str, str]:
    """A candidate as it is shown: its file and its description."""
    return each.file, " ".join(each.stored.note.head.description.split())


def _named(sources: Sequence[NoteSource], what: str) -> Meant | None:
    """The note of this name: with the prefix of a source in that one, else in the first."""
    meant_by_prefix = [each for each in sources if each.prefix and what.startswith(each.prefix)]
    for source in meant_by_prefix or sources:
        try:
            name = what.removeprefix(source.prefix)
            stored = source.writer.refresher.store.find(name, former=False)
        except Ambiguous:
            raise
        except NotFound:
            continue
        return Meant(source, stored) if is_visible(source.writer, stored) else None
    return None


# --- how often -----------------------------------------------------------------------------------


def _is_spent(writer: Writer, session: str, turn: str) -> bool:
    with writer.state() as state:
        return (state.watermark(session, _COUNTED) or "").split().count(turn) >= BY_ONE_TURN


def _spend(writer: Writer, session: str, turn: str) -> None:
    with writer.state() as state:
        turns = (state.watermark(session, _COUNTED) or "").split()[-200:]
        state.set_watermark(session, " ".join([*turns, turn]), _COUNTED)


def note_down(
    writer: Writer, session: str, outcome: str, why: str, file: str, now: datetime
) -> None:
    """Log what became of a request of an assistant on a note."""
    reasons = (why,) if why else ()
    with writer.state() as state:
        evidence.record(state, [Evidence(session, "assistant", outcome, reasons, file)], now)


# --- what waits ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AskedRemoval:
    """A note (file) that an assistant wants forgotten, in the inbox: a person decides. `quote` are
    the user's words as the assistant gave them, `since` a UTC day, `why` a key of consent.WHY."""

    id: str
    file: str
    quote: str
    session: str
    since: str
    why: str


def waiting(project: Project) -> list[AskedRemoval]:
    """The removals that wait for a person, of notes that are still there, the oldest first."""
    there = [each for _, each in _files(project) if (project.store / each.file).is_file()]
    return sorted(there, key=lambda each: (each.since, each.file))


def place(project: Project, id: str) -> Path:
    """The file in which a removal waits."""
    return project.store / INBOX / f"{_BEGIN}{id.removeprefix(_ID)}{inbox.END}"


def settle(project: Project, file: str) -> None:
    """Take what waits on this note out of the inbox: it was removed, or is to stay."""
    for path, each in _files(project):
        if each.file == file:
            path.unlink(missing_ok=True)


def _let_wait(
    writer: Writer, stored: StoredNote, quote: str, session: str, why: str, now: datetime
) -> str:
    folder = writer.project.store / INBOX
    number = hashlib.sha256(stored.file.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    said = {"file": stored.file, "quote": redact(quote[:_QUOTE])[0], "session": session,
            "since": now.date().isoformat(), "why": why}  # fmt: skip
    head = "".join(
        f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in said.items()
    )
    text = f"---\n{head}---\n\nAn assistant asks to forget {stored.file}.\n"
    with writer.locked():
        inbox.prepare(folder)
        path = folder / f"{_BEGIN}{number}{inbox.END}"
        write_atomic(path, text.encode("utf-8", "replace"), mode=0o600)
    return f"{_ID}{number}"


def _files(project: Project) -> Iterator[tuple[Path, AskedRemoval]]:
    for path in inbox.files(project.store / INBOX, _BEGIN):
        with suppress(MdmemoryError, ValueError, KeyError, TypeError):
            head = read_regular(path).decode("utf-8", "replace").split("---\n")[1]
            said = {
                k: json.loads(v) for k, _, v in (row.partition(": ") for row in head.splitlines())
            }
            id = _ID + path.name.removeprefix(_BEGIN).removesuffix(inbox.END)
            values = [str(said[key]) for key in ("file", "quote", "session", "since", "why")]
            if "/" not in values[0]:
                yield path, AskedRemoval(id, *values)
