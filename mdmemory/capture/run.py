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
from typing import NamedTuple

from mdmemory.capture import pending, unanswered
from mdmemory.capture.batch import Batch, Origin, Put
from mdmemory.capture.candidates import (
    Candidate,
    SessionReading,
    ask_about,
    is_worth_asking,
    redact_turns,
)
from mdmemory.capture.extracted import Extracted, prefix_pair
from mdmemory.capture.fact import Fact, fact_as_said
from mdmemory.capture.judge import SecondLook, judge_candidates, look_again, weigh_verdicts
from mdmemory.capture.note_text import canonical_key, description_of, keys_of_fact, stating_test
from mdmemory.capture.notice import is_personal, notice_wishes, without_unwanted
from mdmemory.capture.pending import PendingFact
from mdmemory.capture.stores import ALL, Route, Stores, visible_notes
from mdmemory.capture.unanswered import Unanswered, Waits
from mdmemory.capture.wishes import ANSWERED, words_id
from mdmemory.errors import BadNote, Busy, MdmemoryError
from mdmemory.llm.answer import Asking
from mdmemory.llm.json_answer import BadAnswer
from mdmemory.privacy.redaction import redact, says_something
from mdmemory.search.near import near_in
from mdmemory.store import conflicts, evidence
from mdmemory.store.evidence import PREVIEW, Evidence
from mdmemory.store.sources import NoteSource, find_note
from mdmemory.store.state import State
from mdmemory.store.store import StoredNote
from mdmemory.store.superseding import in_force, superseded_files
from mdmemory.store.writer import Writer
from mdmemory.text.negation import reversed_words
from mdmemory.text.words import word_keys
from mdmemory.transcripts.sources import read
from mdmemory.transcripts.turns import Transcript, Turn, select_turns, turns_read

__all__ = ["Extracted", "extract_facts"]

# Requests are found in all turns at once, a model reads them part by part: so requests have a
# watermark of their own, and a note that a person removed in between is not stored again.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")  # as terminals paste them
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


class _Answer(NamedTuple):
    """What the model said about what it was shown; `model` is "" where none was chosen."""

    model: str
    reading: SessionReading
    judged: Sequence[Candidate] = ()
    look: SecondLook | None = None


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
    today = now.date().isoformat()
    with writer.state() as state:
        part = _read_part(chosen, state, again)
    left_out: list[dict[str, object]] = []
    transcript_read = [*_asked_for(part, left_out)]
    answer = _ask_model(stores, writer, part, ask, now, report)
    elsewhere = _said_in_other_sessions(writer, chosen.session, answer.judged)
    judged = [
        _unless_changed(
            stores, each._replace(outcome="keep", reasons=()) if number in elsewhere else each
        )
        for number, each in enumerate(answer.judged)
    ]
    wished = [*transcript_read, *(each for each in judged if each.outcome == "keep")]
    done = Extracted(chosen.session, model=answer.model, second=answer.look)
    done.failure = answer.reading.failure
    done.unread, done.older = _count_unread(part, answer), part.older if answer.model else 0
    done.watermark = _next_watermark(part, answer)
    done.torn = chosen.torn
    done.unreadable = answer.reading.unreadable
    done.dropped += left_out
    rows = tell_left_out(done, judged, "model")
    done.dropped += [
        {"text": _clean_line(text), "reasons": [why]} for text, why in answer.reading.dropped
    ]
    if dry_run:
        store_all(stores, wished, done, answer.model, now, dry_run=True)
        let_wait(writer, judged, done, today, dry_run=True)
        return done
    with writer.state() as state:
        if answer.model and (state.watermark(chosen.session) or "") != part.before:
            # the same turns, which another model's words describe: mostly not the same words
            raise Busy("Another process read this session meanwhile.", "Run the command again.")
    rows = [*store_all(stores, wished, done, answer.model, now), *rows]
    let_wait(writer, judged, done, today)
    with writer.lock_store(), writer.state() as state:
        pending.forget_stored(writer, [*elsewhere.values(), *_stored_facts(writer, wished)])
        _pass_over(state, part, answer, done, now)
        rows += _list_troubles(done, answer)
        evidence.record_evidence(state, rows, now)
        if done.watermark:
            state.set_watermark(chosen.session, done.watermark)
        if part.last and part.last != done.watermark:
            state.set_watermark(chosen.session, part.last, _REQUESTS)
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
    known = Unanswered() if again else unanswered.of_session(state, transcript.session)
    return _Part(transcript, before, asked_in, redact_turns(turns), unread, older, known)


def _asked_for(part: _Part, dropped: list[dict[str, object]]) -> Iterator[Candidate]:
    """What the user asked to remember in messages that no hook heard, as they said it; what no note
    may hold is told in `dropped`."""
    for turn in part.asked_in:
        if turn.role != "user":
            continue
        for wish in notice_wishes(redact(without_unwanted(turn.text)[0])[0]).wishes:
            wish = _CONTROL.sub("", wish)
            if not says_something(wish):
                dropped.append({"text": _clean_line(wish), "reasons": ["secret"]})
                continue
            try:
                fact = fact_as_said(wish)
            except BadNote:
                dropped.append({"text": _clean_line(wish), "reasons": ["unfit"]})
                continue
            yield Candidate(
                "add", fact=wish, quote=wish, source="explicit", outcome="keep", worded=fact,
                turn=turn.id,
            )  # fmt: skip


def _next_watermark(part: _Part, answer: _Answer) -> str:
    if answer.reading.failure is not None:
        return answer.reading.upto or part.before
    if answer.model and part.turns:
        return part.turns[-1].id
    return part.last or part.before


def _count_unread(part: _Part, answer: _Answer) -> int:
    """How many turns the model has yet to read."""
    ids = [turn.id for turn in part.turns]
    if not answer.model or answer.reading.failure is None or answer.reading.upto not in ids:
        return part.unread if answer.model else 0
    return part.unread + len(ids) - 1 - ids.index(answer.reading.upto)


# --- the model


def _ask_model(
    stores: Stores, writer: Writer, part: _Part, ask: Callable[[], Asking | None], now: datetime,
    report: Report,
) -> _Answer:  # fmt: skip
    """The model's answer, judged and looked at once more; every trouble with it is a failure that
    is told."""
    if not part.turns:
        return _Answer("", SessionReading())
    model, today = "the model", now.date().isoformat()
    try:
        asking = ask()
        if asking is None:
            return _Answer("", SessionReading())
        model = asking.model.name or asking.model.kind
        if not is_worth_asking(part.turns):
            return _Answer(model, SessionReading())
        if until := part.unanswered.until(part.before, model, now, _pass_interval(writer)):
            raise Waits(until)
        notes = _visible_notes(stores)
        reading = ask_about(asking, part.turns, notes, today, near_in(writer.refresher), report)
    except MdmemoryError as problem:
        return _Answer(model, SessionReading(failure=problem))
    find = partial(find_note, stores.sources())
    judged = judge_candidates(reading.candidates, part.turns, find, reading.shown)
    judged, look = _looked_at(asking, judged, part.turns, notes, today, model, report)
    return _Answer(model, reading, judged, look)


def _looked_at(
    asking: Asking, judged: list[Candidate], turns: Sequence[Turn], notes: Sequence[StoredNote],
    today: str, model: str, report: Report,
) -> tuple[list[Candidate], SecondLook | None]:  # fmt: skip
    """The candidates with the second look at those that would become notes."""
    places = [
        at for at, each in enumerate(judged)
        if each.outcome == "keep" and each.worded
        and (each.named or not _is_known(each.worded, notes))
    ]  # fmt: skip
    if not places:
        return judged, None
    proposed = [judged[at] for at in places]
    report(0, 1, f"asking {model} whether {len(proposed)} of them will last")
    look = look_again(asking.reader, proposed, turns, today)
    return weigh_verdicts(judged, places, look), look


def _is_known(fact: Fact, notes: Sequence[StoredNote]) -> bool:
    """Whether a note says it already, in the same words: it is counted, and not asked about."""
    says = stating_test(keys_of_fact(fact.body))
    return any(says(each.note.head.description, each.note.body) for each in notes)


def _pass_interval(writer: Writer) -> timedelta:
    return timedelta(milliseconds=writer.project.settings.whole("compact.interval_ms"))


def _visible_notes(stores: Stores) -> list[StoredNote]:
    """The notes that a model may see, under the names that they have in answers."""
    return [
        note._replace(file=f"{source.prefix}{note.file}")
        for source in stores.sources()
        for note in in_force(visible_notes(source.writer))
    ]


def _said_in_other_sessions(
    writer: Writer, session: str, judged: Sequence[Candidate]
) -> dict[int, PendingFact]:
    """The candidates of which no reading could tell whether they last, and that wait already since
    another session, each with what waits."""
    doubtful = [at for at, each in enumerate(judged) if each.reasons == ("unclear",) and each.turn]
    if not doubtful:
        return {}
    waiting = [each for each in pending.waiting_facts(writer.project, writer.state)
               if each.session != session and each.reasons == ("unclear",)]  # fmt: skip
    return {at: fact for at in doubtful for fact in waiting if _is_same(judged[at], fact)}


def _is_same(candidate: Candidate, fact: PendingFact) -> bool:
    if canonical_key(candidate.fact) == canonical_key(fact.description):
        return True
    one, other = {*word_keys(candidate.fact)}, {*word_keys(fact.description)}
    return bool(one) and one == other and not reversed_words(candidate.fact, fact.description)


def _unless_changed(stores: Stores, each: Candidate) -> Candidate:
    """The candidate, left for a person where a note that it names changed while the model
    thought."""
    if not each.named or each.outcome != "keep":
        return each
    sources = stores.sources()
    for note in each.named:
        with suppress(MdmemoryError):
            now = find_note(sources, f"{note.source.prefix}{note.stored.file}")
            if now.stored.digest == note.stored.digest:
                continue
        outcome = "dropped" if each.worded is None else "pending"
        return each._replace(outcome=outcome, reasons=("note_changed",))
    return each


def _stored_facts(writer: Writer, candidates: Sequence[Candidate]) -> list[PendingFact]:
    """What waits and is a note by now, in the same words."""
    texts = {canonical_key(each.worded.description) for each in candidates if each.worded}
    waiting = pending.waiting_facts(writer.project, writer.state) if texts else []
    return [each for each in waiting if canonical_key(each.description) in texts]


# --- what is written


def store_all(
    stores: Stores, candidates: Sequence[Candidate], done: Extracted, model: str, now: datetime, *,
    dry_run: bool = False,
) -> list[Evidence]:  # fmt: skip
    """Write these facts, in one commit for each store, and tell `done` of it; what is to be noted
    of them."""
    groups: dict[str, tuple[NoteSource, Route, list[Candidate]]] = {}
    for each in candidates:
        source, route = _choose_place(stores, each, dry_run=dry_run)
        groups.setdefault(source.prefix, (source, route, []))[2].append(each)
    rows: list[Evidence] = []
    for source, route, facts in groups.values():
        lock = nullcontext() if dry_run else source.writer.lock_store()
        with lock:
            rows += _write_facts(source, route, facts, done, model, now, dry_run=dry_run)
    return rows


def _choose_place(stores: Stores, each: Candidate, *, dry_run: bool) -> tuple[NoteSource, Route]:
    """The store of a fact: that of the notes that it is about, else where it belongs; what is about
    the person stands in no other store than theirs."""
    fact = each.worded
    personal = fact and is_personal(fact.type, fact.body)
    if each.named and not personal:
        return each.named[0].source, ALL
    sources = stores.sources()
    if dry_run and sources:  # which makes no store
        return sources[-1 if personal else 0], ALL
    return stores.open_for(bool(personal))


def _write_facts(
    source: NoteSource, route: Route, facts: Sequence[Candidate], done: Extracted, model: str,
    now: datetime, *, dry_run: bool,
) -> Iterator[Evidence]:  # fmt: skip
    writer, prefix = source.writer, source.prefix
    batch = Batch(writer, now, route)
    contested = _contested_files(writer)
    flagged: set[str] = set()
    for each in facts:
        named = [note.stored for note in each.named if note.source.prefix == prefix]
        origin = Origin(each.source, done.session, each.turn)
        why = f"the user said: {description_of(each.quote)}"
        if each.worded is None:
            put = batch.say_again(named[0], origin)
        elif known := batch.known_elsewhere(each.worded):
            done.dropped.append({"text": each.worded.description, "reasons": ["known"]})
            yield Evidence(done.session, _phase_of(each), "known", (), known)
            continue
        else:
            put = batch.add(each.worded, origin)
            may = each.is_untrue and writer.refusal() is None
            free = [(note, why) for note in named if may and note.file not in contested]
            left = [note for note, _ in batch.replace(put.note, free)]
            left += [note for note in named if not may or note.file in contested]
            for note in left if put.outcome != "known" else ():
                batch.flag_pair(note, put.note, why)
                flagged.add(put.note.file)
        _tell_put(done, put, prefix, is_flagged=put.note.file in flagged)
        # a fact neither replaces nor flags what another store has
        others = [f"{at.prefix}{note.file}" for at, note in each.named if at.prefix != prefix]
        done.dropped += [{"text": file, "reasons": ["other_store"]} for file in others]
        yield Evidence(done.session, _phase_of(each), put.outcome, (), put.note.file)
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
        for listed in (done.added, done.updated, done.reinforced, done.flagged):
            listed[:] = [each for each in listed if each != f"{prefix}{file}"]
        done.dropped.append({"text": file, "reasons": ["note_changed"]})


def _contested_files(writer: Writer) -> set[str]:
    """The files of the notes in open conflicts: only a person settles them."""
    store = writer.refresher.store
    ledger = store.ledger()
    gone = superseded_files(store.notes()) if ledger else set()
    return {file for each in conflicts.open_entries(ledger, gone) for file in each.files}


def _phase_of(each: Candidate) -> str:
    return "asked" if each.source == "explicit" else "model"


def _tell_put(done: Extracted, put: Put, prefix: str, *, is_flagged: bool) -> None:
    file = f"{prefix}{put.note.file}"
    if is_flagged:
        listed = done.flagged
    elif put.outcome == "added":
        listed = done.added
    elif put.outcome == "reinforced":
        listed = done.reinforced
    elif put.outcome == "known":
        done.dropped.append({"text": put.note.note.head.description, "reasons": ["known"]})
        return
    else:
        listed = done.updated
    if file not in listed:
        listed.append(file)


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
        there = {each.id for each in pending.waiting_facts(writer.project, writer.state)}
        waiting = [each for each in waiting if each.id in there]
    done.pending += [each.id for each in waiting]


def _list_troubles(done: Extracted, answer: _Answer) -> list[Evidence]:
    """What went wrong with the model, for the log."""
    rows = []
    if done.passed_over:
        why = f"{done.passed_over} turns"
        rows.append(Evidence(done.session, "run", "passed_over", ("bad_answer",), why))
    if answer.reading.failure is not None and not isinstance(answer.reading.failure, Waits):
        rows.append(Evidence(done.session, "run", "failed", (answer.reading.failure.code,)))
    return rows


def _clean_line(text: str) -> str:
    return description_of(redact(text)[0])


def _pass_over(state: State, part: _Part, answer: _Answer, done: Extracted, now: datetime) -> None:
    """Count a round without an answer that could be read; after the last one the turns it was
    about are passed over."""
    if answer.reading.failure is None or answer.reading.failure.code != BadAnswer.code:
        return
    if unanswered.count_failed(state, done.session, done.watermark, answer.model, now):
        read = turns_read(part.told, done.watermark) or len(part.told.turns) - len(part.turns)
        done.passed_over = turns_read(part.told, answer.reading.failed) - read
        done.watermark = answer.reading.failed
        unanswered.pass_over(state, done.session, done.passed_over)
