"""One capture run: a transcript in, at most one commit out, and the watermark moved after it.

What the user asked for goes first and needs no model. A model is asked, and its answer judged,
while no lock is held; the judgement counts if the notes are the same under the lock. A run that
fails leaves the watermark where it was, so that the same turns are read again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from mdmemory.capture import pending
from mdmemory.capture.candidates import (
    Answered,
    Question,
    is_worth_asking,
    parse,
    question,
    redacted,
)
from mdmemory.capture.extract import Proposal, propose
from mdmemory.capture.judge import Judged, Scene, judge
from mdmemory.capture.outcome import ANSWERED, Extracted, Findings, stored_as, write
from mdmemory.errors import Busy, MdmemoryError
from mdmemory.llm.answer import Asking
from mdmemory.llm.schemas import CANDIDATES
from mdmemory.search.near import near_in
from mdmemory.store import conflicts, evidence
from mdmemory.store.evidence import Evidence
from mdmemory.store.project import Project
from mdmemory.store.state import State
from mdmemory.store.store import StoredNote
from mdmemory.store.writer import Writer
from mdmemory.transcripts.sources import read
from mdmemory.transcripts.turns import Transcript, Turn, since, turns_read

__all__ = ["Extracted", "extract"]

# Requests are found in all turns at once, a model reads them part by part: so requests have a
# watermark of their own, and a note that a person removed in between is not stored again.
_REQUESTS = "requests"
Report = Callable[[int, int, str], None]  # done, total, what


@dataclass(frozen=True, slots=True)
class _Part:
    """What is to be read: `asked_in` for requests, `turns` (redacted) by a model; `before` is its
    watermark, `unread` the turns it leaves for the next run."""

    told: Transcript
    before: str
    asked_in: Sequence[Turn]
    turns: Sequence[Turn]
    unread: int

    @property
    def last(self) -> str:
        """The session's last turn, "" when there is none."""
        return self.told.turns[-1].id if self.told.turns else ""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What the model said about what it was shown; `model` is "" where none was chosen."""

    model: str = ""
    asked: Question | None = None
    found: Answered | None = None
    failure: MdmemoryError | None = None


def extract(
    writer: Writer, transcript: bytes, *, now: datetime,
    ask: Callable[[], Asking | None] = lambda: None, dry_run: bool = False,
    report: Report = lambda *_: None,
) -> Extracted:  # fmt: skip
    """Store what deserves a note since this session was last read.

    `transcript` is a session in any form that `transcript.read` knows; `ask` finds the model, None
    where none was chosen; `now` is UTC. A dry run asks the model, too; `report` hears of the
    question before it is asked, and of its end. Raises BadTranscript, Busy, and whatever a write
    raises; what goes wrong with the model is told as `failure`.
    """
    told = read(transcript)
    today = now.date().isoformat()
    with writer.state() as state:
        part = _part(told, state)
    answer = _answer(writer, part, ask, today, report)

    def store(found: Findings) -> Extracted:
        with writer.state() as state:
            if answer.model and (state.watermark(told.session) or "") != part.before:
                # the same turns, which another model's words describe: mostly not the same words
                raise Busy("Another process read this session meanwhile.", "Run the command again.")
            done = found.told()
            done.model, done.failure = answer.model, answer.failure
            done.unread = part.unread if answer.model else 0
            done.watermark = _watermark(part, answer)
            if not dry_run:
                write(writer, found, answer.model, done, today)
                _remember(writer.project, state, part, answer, found, done, now)
            return done

    return judged_first(writer, lambda: _findings(writer, part, answer, today), store)


# --- what is read ----------------------------------------------------------------------------


def _part(told: Transcript, state: State) -> _Part:
    before = state.watermark(told.session) or ""
    marks = before, state.watermark(told.session, _REQUESTS) or ""
    # all of them: a request is found without a model, so no number of turns is too many
    later = told.turns[max(turns_read(told, mark) for mark in marks) :]
    answered = (state.watermark(told.session, ANSWERED) or "").split()
    asked_in = [turn for turn in later if turn.id not in answered]
    turns = since(told, before)
    unread = len(told.turns) - turns_read(told, turns[-1].id) if turns else 0
    return _Part(told, before, asked_in, redacted(turns), unread)


def _watermark(part: _Part, answer: _Answer) -> str:
    if answer.failure is not None:
        return part.before
    if answer.model and part.turns:
        return part.turns[-1].id
    return part.last or part.before


# --- the model -------------------------------------------------------------------------------


def _answer(
    writer: Writer, part: _Part, ask: Callable[[], Asking | None], today: str, report: Report
) -> _Answer:
    """The model's answer; every trouble with it is a failure that is told."""
    if not part.turns:
        return _Answer()
    model = "the model"
    try:
        asking = ask()
        if asking is None:
            return _Answer()
        model = asking.model.name or asking.model.kind
        if not is_worth_asking(part.turns):
            return _Answer(model)
        asked = question(
            part.turns, _visible(writer, part, today), today, near_in(writer.refresher)
        )
        count = len(part.turns)
        report(0, 1, f"asking {model} about {count} turn{'' if count == 1 else 's'}")
        found = parse(asking.model.complete(asking.system, asked.text, CANDIDATES).text)
        report(1, 1, "judging what it found")
    except MdmemoryError as problem:
        return _Answer(model, failure=problem)
    return _Answer(model, asked, found)


def _visible(writer: Writer, part: _Part, today: str) -> list[StoredNote]:
    """The notes that a model may see, and those that this run is about to store."""
    notes = writer.refresher.store.notes()
    held = writer.refresher.catalog().held
    coming = [stored_as(*each) for each in _requests(writer, part, notes, today).new]
    return [note for note in notes if note.file not in held and note.note.text] + coming


# --- what is found ---------------------------------------------------------------------------


def _findings(writer: Writer, part: _Part, answer: _Answer, today: str) -> Findings:
    notes = writer.refresher.store.notes()
    asked = _requests(writer, part, notes, today)
    judged: list[Judged] = []
    unreadable: Sequence[tuple[str, str]] = ()
    if answer.asked is not None and answer.found is not None:
        scene = scene_of(
            writer, part.told.session, part.turns, notes, today, asked=asked,
            shown=answer.asked.shown, opened=answer.asked.opened,
        )  # fmt: skip
        judged = judge(answer.found.candidates, scene)
        unreadable = answer.found.dropped
    return Findings(part.told.session, asked, judged, unreadable)


def _requests(writer: Writer, part: _Part, notes: Sequence[StoredNote], today: str) -> Proposal:
    """What the user asked for in so many words."""
    session, reserved = part.told.session, _names(writer)
    held = writer.refresher.catalog().held
    found = propose(
        part.asked_in, notes, session=session, today=today, reserved=reserved, held=held,
        near=near_in(writer.refresher),
    )  # fmt: skip
    found.reinforced[:] = [pair for pair in found.reinforced if pair[0].file not in held]
    return found


def scene_of(
    writer: Writer, session: str, turns: Sequence[Turn], notes: Sequence[StoredNote], today: str, *,
    shown: Mapping[str, str], opened: Collection[str], asked: Proposal | None = None,
    doubtful: bool = False,
) -> Scene:  # fmt: skip
    """What candidates are held against, in the store as it is now."""
    asked = asked or Proposal()
    waiting = conflicts.open_entries(writer.refresher.store.ledger())
    return Scene(
        turns, notes, session, today, _gate,
        shown=shown,
        opened=opened,
        held=writer.refresher.catalog().held,
        in_conflict={file for entry in waiting for file in entry.files},
        asked=asked.new,
        touched=asked.touched,
        reserved=_names(writer),
        revertible=writer.refusal() is None,
        doubtful=doubtful,
        near=near_in(writer.refresher),
    )  # fmt: skip


def _gate(text: str, type: str) -> tuple[str, ...]:
    from mdmemory.capture.gate import judge as verdict_on  # only where a model found something

    verdict = verdict_on(text, type=type, source="extraction")
    return () if verdict.accepted else tuple(verdict.reasons)


def _names(writer: Writer) -> list[str]:
    return [path.name for path in writer.project.store.iterdir()]


# --- what is written -------------------------------------------------------------------------


def _remember(
    project: Project, state: State, part: _Part, answer: _Answer, found: Findings, done: Extracted,
    now: datetime,
) -> None:  # fmt: skip
    """After the commit: what waits, why each was kept or dropped, and how far was read."""
    today = now.date().isoformat()
    rows = list(found.evidence())
    if answer.failure is not None:
        rows.append(Evidence(done.session, "run", "failed", (answer.failure.code,)))
    if waiting := found.waiting(today):
        pending.put(project, state, waiting, today)
    evidence.record(state, rows, now)
    if part.last and part.last != done.watermark:
        state.set_watermark(done.session, part.last, _REQUESTS)
    if done.watermark:
        state.set_watermark(done.session, done.watermark)


TRIES = 5  # each needs another process to write in the moment before
_Judged = TypeVar("_Judged")
_Done = TypeVar("_Done")


def judged_first(
    writer: Writer, judge: Callable[[], _Judged], write: Callable[[_Judged], _Done]
) -> _Done:
    """What `write` makes, under the lock, of what `judge` found without it.

    Raises Busy where the notes changed under each judgement; nothing is written then.
    """
    for _ in range(TRIES):
        writer.refresher.forget()  # an earlier look at the catalog may be of yesterday
        seen = _seen(writer)
        judged = judge()
        with writer.locked():
            if _seen(writer) == seen:
                return write(judged)
    raise Busy("Other processes changed the notes again and again.", "Run the command again.")


def _seen(writer: Writer) -> tuple[object, ...]:
    """What a judgement leans on: every name in the store, the text of the notes and of the ledger,
    and which notes are held."""
    store = writer.refresher.store
    notes = [(note.file, note.digest, note.note.text) for note in store.notes()]
    names = sorted(path.name for path in writer.project.store.iterdir())
    return notes, names, store.ledger(), sorted(writer.refresher.catalog().held)
