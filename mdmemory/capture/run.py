"""One capture run: a transcript in, at most one commit in each store out, then the watermark moves.

What the user asked for needs no model. A model is asked twice, for facts and whether they last,
while no lock is held. A run that fails leaves the watermark where it was, so that the same turns
are read again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from mdmemory import bounds
from mdmemory.capture import pending, unanswered
from mdmemory.capture.batch import ALL, Batch, Origin, Route, Stores, place_for, shown_notes
from mdmemory.capture.candidates import MIN_SAID, Report, SessionReading, ask_about, redact_turns
from mdmemory.capture.extracted import Extracted, prefix_pair
from mdmemory.capture.fact import Candidate, fact_as_said, form_reasons
from mdmemory.capture.judge import SecondLook, judge_candidates, look_again, weigh_verdicts
from mdmemory.capture.note_text import canonical_key, description_of, keys_of_fact, stating_test
from mdmemory.capture.notice import is_personal, notice_wishes, without_unwanted
from mdmemory.capture.pending import PendingFact
from mdmemory.capture.unanswered import Waits
from mdmemory.capture.wishes import ANSWERED, words_id
from mdmemory.errors import BadNote, Busy, MdmemoryError
from mdmemory.llm.answer import Asking
from mdmemory.llm.json_answer import BadAnswer
from mdmemory.privacy import strip_private
from mdmemory.privacy.redaction import redact, says_something
from mdmemory.search.near import NEAREST, near_in, near_notes
from mdmemory.store import conflicts, evidence
from mdmemory.store.evidence import PREVIEW, Evidence
from mdmemory.store.state import State
from mdmemory.store.superseding import in_force, superseded_files
from mdmemory.store.writer import NoteSource, Writer, find_note
from mdmemory.text.conflict import reversed_words
from mdmemory.text.similarity import likeness_of
from mdmemory.text.words import word_keys
from mdmemory.transcripts.sources import read
from mdmemory.transcripts.turns import Transcript, Turn, select_turns, turns_read

# Requests are found in all turns at once, a model reads them part by part: so requests have a
# watermark of their own, and a note that a person removed in between is not stored again.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")  # as terminals paste them
_REQUESTS = "requests"


@dataclass(frozen=True, slots=True)
class _Part:
    """What is to be read: `asked_in` for requests, `turns` (redacted) by a model; `before` is its
    watermark, `unread` the turns it leaves for the next run, `older` those that no model reads:
    of a session that is read for the first time the newest turns are shown. `again`: it is read
    once more, and what became of earlier rounds does not count."""

    told: Transcript
    before: str
    asked_in: Sequence[Turn]
    turns: Sequence[Turn]
    unread: int
    older: int
    again: bool

    @property
    def last(self) -> str:
        """The session's last turn, "" when there is none."""
        return self.told.turns[-1].id if self.told.turns else ""


def extract_facts(
    stores: Stores, writer: Writer, transcript: bytes, *, now: datetime,
    ask: Callable[[], Asking | None] = lambda: None, dry_run: bool = False, again: bool = False,
    report: Report = lambda *_: None,
) -> Extracted:  # fmt: skip
    """Store what deserves a note since this session was last read, each fact in its store; where
    `again`, a model reads its newest turns once more.

    `writer` is of the store that knows how far the session was read; `transcript` is a session in
    any form that `transcripts` knows; `ask` finds the model, None where none was chosen; `now` is
    UTC. A dry run asks the model, too; `report` hears of each question before it is asked. Raises
    BadTranscript, Busy, and whatever a write raises; what goes wrong with the model is told as
    `failure`.
    """
    chosen = read(transcript)
    session, today = chosen.session, now.date().isoformat()
    with writer.state() as state:
        part = _read_part(chosen, state, again)
    done = Extracted(session)
    wishes = [*_asked_for(part, done.dropped)]
    reading, done.second = _ask_model(stores, writer, part, ask, now, report)
    elsewhere = _said_in_other_sessions(writer, session, reading.candidates)
    judged = reading.candidates
    for at in elsewhere:
        judged[at] = judged[at]._replace(outcome="keep", reasons=())
    judged = [_unless_changed(stores, each) for each in judged]
    wished = [*wishes, *(each for each in judged if each.outcome == "keep")]
    _tell_reading(done, part, reading)
    rows = tell_left_out(done, judged, "model")
    for text, why in reading.dropped:
        done.dropped.append({"text": _clean_line(text), "reasons": [why]})
    if dry_run:
        store_all(stores, wished, done, reading.model, now, dry_run=True)
        let_wait(writer, judged, done, today, dry_run=True)
        return done
    with writer.state() as state:
        if reading.model and (state.watermark(session) or "") != part.before:
            # the same turns, which another model's words describe: mostly not the same words
            raise Busy("Another process read this session meanwhile.", "Run the command again.")
    rows = [*store_all(stores, wished, done, reading.model, now), *rows]
    let_wait(writer, judged, done, today)
    texts = {canonical_key(each.worded.description) for each in wished if each.worded}
    with writer.lock_store(), writer.state() as state:
        waiting = pending.waiting_facts(writer.project) if texts else []
        ids = {each.id for each in waiting if canonical_key(each.description) in texts}
        pending.forget_stored(writer.project, ids.union(each.id for each in elsewhere.values()))
        rows += _count_failure(state, part, reading, done, now)
        evidence.record_evidence(state, rows, now)
        if done.watermark:
            state.set_watermark(session, done.watermark)
        if part.last and part.last != done.watermark:
            state.set_watermark(session, part.last, _REQUESTS)
    return done


# --- what is read


def _read_part(transcript: Transcript, state: State, again: bool) -> _Part:
    before = state.watermark(transcript.session) or ""
    marks = before, state.watermark(transcript.session, _REQUESTS) or ""
    # all of them: a request is found without a model, so no number of turns is too many
    later = transcript.turns[max(turns_read(transcript, mark) for mark in marks) :]
    answered = {*(state.watermark(transcript.session, ANSWERED) or "").split()}
    asked_in = [turn for turn in later if not {turn.id, words_id(turn.text)} & answered]
    turns = select_turns(transcript, "" if again else before)
    unread = len(transcript.turns) - turns_read(transcript, turns[-1].id) if turns else 0
    is_first = turns and (again or not turns_read(transcript, before))
    older = len(transcript.turns) - len(turns) - unread if is_first else 0
    return _Part(transcript, before, asked_in, redact_turns(turns), unread, older, again)


def _asked_for(part: _Part, dropped: list[dict[str, object]]) -> Iterator[Candidate]:
    """What the user asked to remember in messages that no hook heard, as they said it; what no note
    may hold is told in `dropped`."""
    for turn in part.asked_in:
        text = redact(without_unwanted(turn.text)[0])[0] if turn.role == "user" else ""
        for wish in notice_wishes(text).wishes:
            wish = _CONTROL.sub("", wish)
            why = "unfit" if says_something(wish) else "secret"
            try:
                fact = fact_as_said(wish) if why == "unfit" else None
            except BadNote:
                fact = None
            if fact is None:
                dropped.append({"text": _clean_line(wish), "reasons": [why]})
                continue
            yield Candidate(
                wish, quote=wish, source="explicit", outcome="keep", worded=fact, turn=turn.id
            )


def _tell_reading(done: Extracted, part: _Part, reading: SessionReading) -> None:
    """Tell `done` who read what, and how far."""
    done.model, done.failure = reading.model, reading.failure
    done.torn, done.unreadable = part.told.torn, reading.unreadable
    ids = [turn.id for turn in part.turns]
    if reading.failure is not None:
        done.watermark = reading.upto or part.before
    else:
        done.watermark = ids[-1] if reading.model and ids else part.last or part.before
    if reading.model:
        is_torn = reading.failure is not None and reading.upto in ids
        left = len(ids) - 1 - ids.index(reading.upto) if is_torn else 0
        done.unread, done.older = part.unread + left, part.older


# --- the model


def _ask_model(
    stores: Stores, writer: Writer, part: _Part, ask: Callable[[], Asking | None], now: datetime,
    report: Report,
) -> tuple[SessionReading, SecondLook | None]:  # fmt: skip
    """What the model found, judged, with its second look; every trouble with it is a failure that
    is told."""
    if not part.turns:
        return SessionReading(), None
    name, today = "the model", now.date().isoformat()
    wait = timedelta(milliseconds=writer.project.settings.whole("compact.interval_ms"))
    try:
        asking = ask()
        if asking is None:
            return SessionReading(), None
        name = asking.model.name or asking.model.kind
        letters = sum(len(turn.text) for turn in part.turns)
        if letters < MIN_SAID or not any(turn.text for turn in part.turns if turn.role == "user"):
            return SessionReading(name), None
        with writer.state() as state:
            key = part.told.session, part.before, name
            failed = None if part.again else unanswered.failed_since(state, *key, now - wait)
        if failed:
            raise Waits(failed + wait)
        notes = shown_notes(stores.sources())
        reading = ask_about(asking, part.turns, notes, today, near_in(writer.refresher), report)
    except MdmemoryError as problem:
        return SessionReading(name, failure=problem), None
    find = partial(find_note, stores.sources())
    judged = judge_candidates(reading.candidates, part.turns, find, reading.shown)
    # the second look is at those that would become notes; what a note says already in the same
    # words is counted, and not asked about
    places = []
    for at, each in enumerate(judged):
        if each.outcome == "keep" and each.worded:
            says = stating_test(keys_of_fact(each.worded.body))
            is_known = any(says(one.note.head.description, one.note.body) for one in notes)
            places += [at] if each.named or not is_known else []
    look = None
    if places:
        report(0, 1, f"asking {name} whether {len(places)} of them will last")
        proposed = [judged[at] for at in places]
        look = look_again(asking.reader, proposed, part.turns, today)
        judged = weigh_verdicts(judged, places, look)
    reading.candidates = judged
    return reading, look


def _said_in_other_sessions(
    writer: Writer, session: str, judged: Sequence[Candidate]
) -> dict[int, PendingFact]:
    """The candidates of which no reading could tell whether they last, and that wait already since
    another session, each with what waits."""
    doubtful = [at for at, each in enumerate(judged) if each.reasons == ("unclear",) and each.turn]
    if not doubtful:
        return {}
    waiting = [each for each in pending.waiting_facts(writer.project)
               if each.session != session and each.reasons == ("unclear",)]  # fmt: skip

    def is_same(one: str, other: str) -> bool:
        words = {*word_keys(one)}
        is_alike = bool(words) and words == {*word_keys(other)}
        alike = is_alike and not reversed_words(one, other)
        return alike or canonical_key(one) == canonical_key(other)

    pairs = ((at, fact) for at in doubtful for fact in waiting)
    return {at: fact for at, fact in pairs if is_same(judged[at].fact, fact.description)}


def _unless_changed(stores: Stores, each: Candidate) -> Candidate:
    """The candidate, left for a person where a note that it names changed while the model
    thought."""
    for note in each.named if each.outcome == "keep" else ():
        with suppress(MdmemoryError):
            if find_note(stores.sources(), note.file).stored.digest == note.stored.digest:
                continue
        outcome = "dropped" if each.worded is None else "pending"
        return each._replace(outcome=outcome, reasons=("note_changed",))
    return each


# --- what is written


def store_all(
    stores: Stores, candidates: Sequence[Candidate], done: Extracted, model: str, now: datetime, *,
    dry_run: bool = False,
) -> list[Evidence]:  # fmt: skip
    """Write these facts, in one commit for each store, and tell `done` of it; what is to be noted
    of them."""
    groups: dict[str, tuple[NoteSource, Route, list[Candidate]]] = {}
    for each in candidates:
        # beside the notes that it is about; what is about the person in their store alone
        personal = bool(each.worded and is_personal(each.worded.type, each.worded.body))
        is_theirs = not each.named or personal
        place = place_for(stores, personal, dry_run=dry_run) if is_theirs else None
        source, route = place or (each.named[0].source, ALL)
        groups.setdefault(source.prefix, (source, route, []))[2].append(each)
    rows: list[Evidence] = []
    for source, route, facts in groups.values():
        with nullcontext() if dry_run else source.writer.lock_store():
            rows += _write_facts(source, route, facts, done, model, now, dry_run=dry_run)
    return rows


def _write_facts(
    source: NoteSource, route: Route, facts: Sequence[Candidate], done: Extracted, model: str,
    now: datetime, *, dry_run: bool,
) -> Iterator[Evidence]:  # fmt: skip
    writer, prefix = source.writer, source.prefix
    batch = Batch(writer, now, route)
    # of notes in open conflicts only a person settles anything
    ledger = writer.refresher.store.ledger()
    gone = superseded_files(writer.refresher.store.notes()) if ledger else set()
    contested = {file for each in conflicts.open_entries(ledger, gone) for file in each.files}
    listed = {"added": done.added, "reinforced": done.reinforced}
    for each in facts:
        named = [note.stored for note in each.named if note.source.prefix == prefix]
        origin = Origin(each.source, done.session, each.turn)
        why = f"the user said: {description_of(each.quote)}"
        phase = "asked" if each.source == "explicit" else "model"
        if each.worded is None:
            put = batch.say_again(named[0], origin)
        elif known := batch.known_elsewhere(each.worded):
            done.dropped.append({"text": each.worded.description, "reasons": ["known"]})
            yield Evidence(done.session, phase, "known", (), known)
            continue
        else:
            put = batch.add(each.worded, origin)
            may = each.is_untrue and writer.refusal() is None
            free = [(note, why) for note in named if may and note.file not in contested]
            left = [note for note, _ in batch.replace(put.note, free)]
            left += [note for note in named if not may or note.file in contested]
            for note in left if put.outcome != "known" else ():
                batch.flag_pair(note, put.note, why)
                done.flagged.append(f"{prefix}{put.note.file}")
        file = f"{prefix}{put.note.file}"
        files = listed.get(put.outcome, done.updated)
        if put.outcome == "known" and file not in done.flagged:
            done.dropped.append({"text": put.note.note.head.description, "reasons": ["known"]})
        elif file not in done.flagged and file not in files:
            files.append(file)
        # a fact neither replaces nor flags what another store has
        others = [f"{at.prefix}{note.file}" for at, note in each.named if at.prefix != prefix]
        done.dropped += [{"text": file, "reasons": ["other_store"]} for file in others]
        yield Evidence(done.session, phase, put.outcome, (), put.note.file)
    done.flagged[:] = dict.fromkeys(done.flagged)
    done.superseded += [prefix_pair({**each.told()}, prefix) for each in batch.made]
    if dry_run:
        return
    is_models = any(each.source == "extraction" for each in facts)
    trailers = [("Memory-Model", " ".join(model.split()))] if is_models and model else []
    written = batch.write("extract", session=done.session, trailers=trailers, by_model=is_models)
    done.id, done.commit = done.id or written.id, done.commit or written.commit
    done.waits = done.waits or written.waits
    for file, _ in written.kept:
        # somebody saved it at the very moment of the write: a hand's edit wins
        for files in (done.added, done.updated, done.reinforced, done.flagged):
            files[:] = [each for each in files if each != f"{prefix}{file}"]
        done.dropped.append({"text": file, "reasons": ["note_changed"]})


def tell_left_out(done: Extracted, judged: Sequence[Candidate], phase: str) -> list[Evidence]:
    """Tell `done` which candidates become no note; what is to be noted of them, and why."""
    rows: list[Evidence] = []
    for each in judged:
        if each.outcome != "keep":
            waits, what = ["pending"] if each.outcome == "pending" else [], _clean_line(each.text)
            done.dropped.append({"text": what, "reasons": [*waits, *each.reasons]})
            # again after the cut: half of a text may look like what the whole did not
            preview = redact(what[:PREVIEW])[0]
            rows.append(Evidence(done.session, phase, each.outcome, each.reasons, preview))
    return rows


def let_wait(
    writer: Writer, judged: Sequence[Candidate], done: Extracted, today: str, *,
    dry_run: bool = False,
) -> None:  # fmt: skip
    """Put the candidates that wait for a person into the inbox, or only name them."""
    waiting = [
        PendingFact(
            fact.type, each.kind, fact.name, fact.description, fact.body, done.session, today,
            each.reasons, each.quote,
        )
        for each in judged
        if each.outcome == "pending" and (fact := each.worded) is not None
    ]  # fmt: skip
    if waiting and not dry_run:
        with writer.lock_store(), writer.state() as state:
            pending.put_facts(writer.project, state, waiting, today)
        there = {each.id for each in pending.waiting_facts(writer.project)}
        waiting = [each for each in waiting if each.id in there]
    done.pending += [each.id for each in waiting]


def _count_failure(
    state: State, part: _Part, reading: SessionReading, done: Extracted, now: datetime
) -> Iterator[Evidence]:
    """What went wrong with the model, for the log. A round without an answer that could be read is
    counted; after the last one the turns it was about are passed over."""
    failure = reading.failure
    if failure is None or isinstance(failure, Waits):
        return
    if failure.code == BadAnswer.code and unanswered.count_failed(
        state, done.session, done.watermark, reading.model, now
    ):
        before = turns_read(part.told, done.watermark) or len(part.told.turns) - len(part.turns)
        done.passed_over = turns_read(part.told, reading.failed) - before
        done.watermark = reading.failed
        unanswered.pass_over(state, done.session, done.passed_over)
        why = f"{done.passed_over} turns"
        yield Evidence(done.session, "run", "passed_over", ("bad_answer",), why)
    yield Evidence(done.session, "run", "failed", (failure.code,))


def _clean_line(text: str) -> str:
    return description_of(redact(text)[0])


# --- why a message would, or would not, be remembered


def explain_message(text: str, stores: Stores) -> dict[str, Any]:
    """What a message shows: `noticed` is explicit, perhaps or "", `wish` the facts that it asks to
    remember, `gate` the verdict on its form, as if a model proposed it, `near` notes near it."""
    visible, blocks = strip_private(bounds.beginning_of(text))
    remainder, unwanted = without_unwanted(visible)
    shown, kinds = redact(remainder)
    noticed, reasons, words = notice_wishes(shown), form_reasons(shown), {*word_keys(shown)}
    near = []
    for source in stores.sources():
        for each in in_force(near_notes(source.writer.refresher)(shown))[:NEAREST]:
            description = each.note.head.description
            score = likeness_of(words, {*word_keys(f"{description}\n{each.note.body}")})
            file = f"{source.prefix}{each.file}"
            near.append({"file": file, "description": description, "score": round(score, 2)})
    return {
        "text": shown, "private_removed": blocks + unwanted, "redacted": kinds,
        "noticed": "explicit" if noticed.wishes else "perhaps" if noticed.perhaps else "",
        "wish": [*noticed.wishes],
        "gate": {"accepted": not reasons, "reasons": [*reasons]},
        "near": near,
    }  # fmt: skip
