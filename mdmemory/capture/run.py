"""One capture run: a transcript in, at most one commit out, and the watermark moved after it.

What the user asked for goes first and needs no model. A model is asked, and its answer judged,
while no lock is held; the judgement counts if the notes are the same under the lock. A run that
fails leaves the watermark where it was, so that the same turns are read again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from mdmemory.actions.replacing import anothers
from mdmemory.capture import pending, portions, second_question, unanswered
from mdmemory.capture.asked import asked_in
from mdmemory.capture.candidates import Answered, Question, is_worth_asking, redacted
from mdmemory.capture.duplicates import canonical
from mdmemory.capture.extract import Proposal, propose
from mdmemory.capture.extracted import Extracted
from mdmemory.capture.judge import judge
from mdmemory.capture.lasting import SecondLook
from mdmemory.capture.outcome import ANSWERED, Findings, stored_as, words_id, write
from mdmemory.capture.routes import ALL, ONE_STORE, Route, Routes, Split
from mdmemory.capture.scene import Gate, Judged, Scene
from mdmemory.capture.settling import both, in_other, judged_first
from mdmemory.capture.unanswered import Unanswered, Waits
from mdmemory.citing.cite import cites_of
from mdmemory.errors import Busy, MdmemoryError
from mdmemory.llm.answer import Asking
from mdmemory.llm.json_answer import BadAnswer
from mdmemory.search.near import near_in
from mdmemory.store import conflicts, evidence
from mdmemory.store.evidence import Evidence
from mdmemory.store.project import Project
from mdmemory.store.state import State
from mdmemory.store.store import StoredNote
from mdmemory.store.superseding import in_force, superseded_files
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
    watermark, `unread` the turns it leaves for the next run, `older` those that no model reads:
    of a session that is read for the first time the newest turns are shown. `unanswered`: how
    earlier runs fared with these turns."""

    told: Transcript
    before: str
    asked_in: Sequence[Turn]
    turns: Sequence[Turn]
    unread: int
    older: int
    unanswered: Unanswered

    @property
    def last(self) -> str:
        """The session's last turn, "" when there is none."""
        return self.told.turns[-1].id if self.told.turns else ""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What the model said about what it was shown; `model` is "" where none was chosen, `upto` the
    last turn that it read ("" for none), `failed` the last of those that had no
    answer."""

    model: str = ""
    asked: Question | None = None
    found: Answered | None = None
    failure: MdmemoryError | None = None
    upto: str = ""
    failed: str = ""
    asking: Asking | None = None
    look: SecondLook | None = None


def extract(
    writer: Writer, transcript: bytes, *, now: datetime,
    ask: Callable[[], Asking | None] = lambda: None, dry_run: bool = False,
    report: Report = lambda *_: None, routes: Routes = ONE_STORE,
) -> Extracted:  # fmt: skip
    """Store what deserves a note since this session was last read, each in the store that `routes`
    say, with a commit of its own.

    `transcript` is a session in any form that `transcript.read` knows; `ask` finds the model, None
    where none was chosen; `now` is UTC. A dry run asks the model, too; `report` hears of the
    question before it is asked, and of its end. Raises BadTranscript, Busy, and whatever a write
    raises; what goes wrong with the model is told as `failure`.
    """
    told = read(transcript)
    today, split = now.date().isoformat(), routes.other
    with writer.state() as state:
        part = _part(told, state)
    answer = _answer(writer, part, ask, now, report, split)
    mine, theirs = _divided(writer, answer, split)
    mine, theirs = _looked_at(writer, part, (mine, theirs), routes, today, report)
    elsewhere = Extracted(told.session), list[Evidence]()
    if split is not None:
        judged = partial(_findings, part=part, answer=theirs, today=today, route=split.route)
        elsewhere = in_other(writer, split, judged, answer.model, today, dry_run=dry_run)

    def store(found: Findings) -> Extracted:
        with writer.state() as state:
            if answer.model and (state.watermark(told.session) or "") != part.before:
                # the same turns, which another model's words describe: mostly not the same words
                raise Busy("Another process read this session meanwhile.", "Run the command again.")
            done = found.told()
            done.model, done.failure = answer.model, answer.failure
            done.second = mine.look
            done.unread, done.older = _unread(part, answer), part.older if answer.model else 0
            done.watermark = _watermark(part, answer)
            done.unreadable = answer.found.unreadable if answer.found else 0
            if not dry_run:
                _pass_over(state, part, answer, done, now)
                waited = second_question.said_again(mine.look, found.judged)
                write(writer, found, answer.model, done, today, waited)
                evidence.record(state, elsewhere[1], now)
                _remember(writer.project, state, part, answer, found, done, now)
                if mine.look is not None and answer.asking is not None:
                    second_question.remember(state, answer.model, mine.look.this)
            return both(done, elsewhere[0], split)

    return judged_first(writer, lambda: _findings(writer, part, mine, today, routes.here), store)


# --- what is read ----------------------------------------------------------------------------


def _part(told: Transcript, state: State) -> _Part:
    before = state.watermark(told.session) or ""
    marks = before, state.watermark(told.session, _REQUESTS) or ""
    # all of them: a request is found without a model, so no number of turns is too many
    later = told.turns[max(turns_read(told, mark) for mark in marks) :]
    answered = {*(state.watermark(told.session, ANSWERED) or "").split()}
    asked_in = [turn for turn in later if not {turn.id, words_id(turn.text)} & answered]
    turns = since(told, before)
    unread = len(told.turns) - turns_read(told, turns[-1].id) if turns else 0
    is_first = turns and not turns_read(told, before)
    older = len(told.turns) - len(turns) - unread if is_first else 0
    known = unanswered.of_session(state, told.session)
    return _Part(told, before, asked_in, redacted(turns), unread, older, known)


def _watermark(part: _Part, answer: _Answer) -> str:
    if answer.failure is not None:
        return answer.upto or part.before
    if answer.model and part.turns:
        return part.turns[-1].id
    return part.last or part.before


def _unread(part: _Part, answer: _Answer) -> int:
    """How many turns the model has yet to read."""
    ids = [turn.id for turn in part.turns]
    if not answer.model or answer.failure is None or answer.upto not in ids:
        return part.unread if answer.model else 0
    return part.unread + len(ids) - 1 - ids.index(answer.upto)


# --- the model -------------------------------------------------------------------------------


def _answer(
    writer: Writer, part: _Part, ask: Callable[[], Asking | None], now: datetime, report: Report,
    split: Split | None,
) -> _Answer:  # fmt: skip
    """The model's answer; every trouble with it is a failure that is told."""
    if not part.turns:
        return _Answer()
    model, today = "the model", now.date().isoformat()
    try:
        asking = ask()
        if asking is None:
            return _Answer()
        model = asking.model.name or asking.model.kind
        if not is_worth_asking(part.turns):
            return _Answer(model)
        if until := part.unanswered.until(part.before, model, now, _interval(writer)):
            raise Waits(until)
        notes = [*_visible(writer, part, today), *(split.notes() if split else ())]
        reading = portions.read(asking, part.turns, notes, today, near_in(writer.refresher), report)
    except MdmemoryError as problem:
        return _Answer(model, failure=problem)
    return _Answer(
        model, reading.asked, reading.found, reading.failure, reading.upto, reading.failed, asking
    )


def _looked_at(
    writer: Writer, part: _Part, answers: tuple[_Answer, _Answer], routes: Routes, today: str,
    report: Report,
) -> tuple[_Answer, _Answer]:  # fmt: skip
    """The answers (for the store at hand, and for the other one) with the model's second look at
    what would be stored of them."""
    mine, theirs = answers
    asking, split = mine.asking, routes.other
    if asking is None:
        return mine, theirs
    judged = _findings(writer, part, mine, today, routes.here).judged
    pairs = [*zip(mine.found.candidates if mine.found else (), judged, strict=True)]
    if split is not None and theirs.found is not None:
        there, notes = (split.there, None) if split.there else (writer, ())
        judged = _findings(there, part, theirs, today, split.route, notes).judged
        pairs += zip(theirs.found.candidates, judged, strict=True)
    proposed = second_question.wanted(pairs, part.turns)
    look = SecondLook()
    if proposed:
        count = len(proposed)
        report(0, 1, f"asking {mine.model} whether {count} of them will last")
        with writer.state() as state:
            before = second_question.record(state, mine.model)
        look = second_question.ask(asking.model, proposed, part.turns, today, before)
    waiting = second_question.waiting(writer.project, writer.state, part.told.session)
    look = replace(look, waiting=waiting)
    return replace(mine, look=look), replace(theirs, look=look)


def _interval(writer: Writer) -> timedelta:
    return timedelta(milliseconds=writer.project.settings.whole("compact.interval_ms"))


def _visible(writer: Writer, part: _Part, today: str) -> list[StoredNote]:
    """The notes that a model may see, and those that this run is about to store."""
    notes = writer.refresher.store.notes()
    held = writer.refresher.catalog().held
    asked = _requests(writer, part, notes, today)
    gone = {each.old.file for each in asked.superseded}
    coming = [stored_as(*each) for each in asked.new]
    free = [note for note in in_force(notes) if note.file not in held and note.note.text]
    return [note for note in (*free, *coming) if note.file not in gone]


def _divided(writer: Writer, answer: _Answer, split: Split | None) -> tuple[_Answer, _Answer]:
    """What a model found for the store at hand, and for the other one."""
    asked, found = answer.asked, answer.found
    if split is None or asked is None or found is None:
        return answer, _Answer(answer.model)
    types = {note.file: note.note.head.type for note in writer.refresher.store.notes()}
    mine, theirs = split.divided(found.candidates, types)
    opened = frozenset(split.shown(dict.fromkeys(asked.opened, "")))
    seen = Question(asked.text, split.shown(asked.shown), opened)
    return (
        replace(answer, found=found._replace(candidates=tuple(mine))),
        _Answer(answer.model, seen, Answered(tuple(theirs))),
    )


# --- what is found ---------------------------------------------------------------------------


def _findings(
    writer: Writer, part: _Part, answer: _Answer, today: str, route: Route,
    notes: Sequence[StoredNote] | None = None,
) -> Findings:  # fmt: skip
    """What is found for the store of `writer`, or (with `notes`) for one that holds these."""
    notes = writer.refresher.store.notes() if notes is None else notes
    asked = _requests(writer, part, notes, today, route)
    judged: list[Judged] = []
    unreadable: Sequence[tuple[str, str]] = ()
    if answer.asked is not None and answer.found is not None:
        scene = scene_of(
            writer, part.told.session, part.turns, notes, today, asked=asked,
            shown=answer.asked.shown, opened=answer.asked.opened, route=route,
        )  # fmt: skip
        if answer.look is not None:
            scene = replace(scene, fate=answer.look.fate)
        facts = [each for each in asked_in(part.asked_in) if not each.reason]
        others = [each for each in facts if not route.hears(each.trigger, "")]
        scene = replace(scene, stated=[canonical(each.text) for each in others])
        judged = judge(answer.found.candidates, scene)
        unreadable = answer.found.dropped
    return Findings(part.told.session, asked, judged, unreadable)


def _requests(
    writer: Writer, part: _Part, notes: Sequence[StoredNote], today: str, route: Route = ALL
) -> Proposal:
    """What the user asked for in so many words."""
    session, reserved = part.told.session, _names(writer)
    held = writer.refresher.catalog().held
    found = propose(
        part.asked_in, notes, session=session, today=today, reserved=reserved, held=held,
        near=near_in(writer.refresher), route=route, is_anothers=anothers(writer),
        cite=partial(cites_of, writer.project),
    )  # fmt: skip
    found.reinforced[:] = [pair for pair in found.reinforced if pair[0].file not in held]
    return found


def scene_of(
    writer: Writer, session: str, turns: Sequence[Turn], notes: Sequence[StoredNote], today: str, *,
    shown: Mapping[str, str], opened: Collection[str], asked: Proposal | None = None,
    doubtful: bool = False, route: Route = ALL, gate: Gate | None = None,
) -> Scene:  # fmt: skip
    """What candidates are held against, in the store as it is now."""
    asked = asked or Proposal()
    ledger = writer.refresher.store.ledger()
    waiting = conflicts.open_entries(ledger, superseded_files(notes))
    return Scene(
        turns, notes, session, today, gate or _form,
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
        route=route,
        is_anothers=anothers(writer),
        cite=partial(cites_of, writer.project),
    )  # fmt: skip


def _form(text: str, type: str) -> tuple[str, ...]:
    from mdmemory.capture import gate  # only where a model found something

    return gate.form(text, type)


def gate_of_words(text: str, type: str) -> tuple[str, ...]:
    """What speaks against a text where no model is asked whether it lasts."""
    from mdmemory.capture.gate import judge as verdict_on

    verdict = verdict_on(text, type=type, source="extraction")
    return () if verdict.accepted else tuple(verdict.reasons)


def _names(writer: Writer) -> list[str]:
    return [path.name for path in writer.project.store.iterdir()]


# --- what is kept of it ----------------------------------------------------------------------


def _pass_over(state: State, part: _Part, answer: _Answer, done: Extracted, now: datetime) -> None:
    """Count a round without an answer that could be read; after the last one the turns it was
    about are passed over."""
    if answer.failure is None or answer.failure.code != BadAnswer.code:
        return
    if unanswered.failed(state, done.session, done.watermark, answer.model, now):
        read = turns_read(part.told, done.watermark) or len(part.told.turns) - len(part.turns)
        done.passed_over = turns_read(part.told, answer.failed) - read
        done.watermark = answer.failed
        unanswered.pass_over(state, done.session, done.passed_over)


def _remember(
    project: Project, state: State, part: _Part, answer: _Answer, found: Findings, done: Extracted,
    now: datetime,
) -> None:  # fmt: skip
    """After the commit: what waits, why each was kept or dropped, and how far was read."""
    today = now.date().isoformat()
    rows = list(found.evidence())
    if done.passed_over:
        why = f"{done.passed_over} turns"
        rows.append(Evidence(done.session, "run", "passed_over", ("bad_answer",), why))
    if answer.failure is not None and not isinstance(answer.failure, Waits):
        rows.append(Evidence(done.session, "run", "failed", (answer.failure.code,)))
    if waiting := found.waiting(today):
        pending.put(project, state, waiting, today)
    evidence.record(state, rows, now)
    if part.last and part.last != done.watermark:
        state.set_watermark(done.session, part.last, _REQUESTS)
    if done.watermark:
        state.set_watermark(done.session, done.watermark)
