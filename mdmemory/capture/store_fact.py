"""What an assistant hands over in its turn becomes a note, in one call and one commit for a store:
proven by the user's words, and then in place of the notes that it says are untrue now.

What is not proven is stored as unconfirmed, and replaces nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from mdmemory.capture import quote_proof
from mdmemory.capture.batch import Batch, Origin, Put, Route, Seen, Stores
from mdmemory.capture.extracted import Caller, prefix_pair
from mdmemory.capture.fact import Candidate, Fact, NotStored, clean_text, fact_as_said, fact_of
from mdmemory.capture.note_text import body_beside, description_of, whole_text
from mdmemory.capture.notice import FLOOR, is_personal, letter_weight
from mdmemory.capture.quote_proof import Proof
from mdmemory.capture.wishes import Inbox, Wish, mark_answered
from mdmemory.errors import MdmemoryError, NoteChanged
from mdmemory.note.note import SUPERSEDED, Note
from mdmemory.privacy.redaction import redact
from mdmemory.store import evidence
from mdmemory.store.evidence import PREVIEW, Evidence
from mdmemory.store.store import StoredNote
from mdmemory.store.writer import NoteSource, Writer, find_note
from mdmemory.text.similarity import likeness_of
from mdmemory.text.words import word_keys as words_of
from mdmemory.transcripts.turns import is_id

BY_ONE_QUOTE = 3  # notes that the index lists on the same unproven words
BY_ONE_TURN = 5  # notes that the words of one turn replace or remove
BY_A_HOST = 3  # notes in an hour that a client without hooks replaces
NEAR = 0.3  # from this share of words on, a note is told as near
_TEXT = 400  # characters of a near note that are told
_COUNTED = "settled"  # the watermark with the turns that replaced or removed notes
_BY_HOST = "settled-by-host"  # and that with the seconds at which clients without hooks did
_AS_SAID = "as-said"  # and that with the notes that only keep a turn's own words
_HOUR = 3600
_SAYS_SO = "the user's words make it untrue"


class NearNote(NamedTuple):
    """A note near a fact: its score is the share of their words, from 0 to 1."""

    file: str
    score: float
    text: str


class Stored(NamedTuple):
    """What became of a fact, `fact` in one line.

    `existed`: a note says it already, and `file` names that one. `near` are notes that the call did
    not name. `superseded` are those it replaced, as in `Extracted`, and `left` those that it named
    and did not replace, each with half a sentence on why. `why` says why the user's words do not
    prove it ("": they do). `redacted` are kinds of secrets that were taken out; `quoted`: the index
    lists it with a mark. `commit` is None where none was made; `waits` then says that the next
    command that a person types makes it. `ids` are Memory-Ids, one for each store that was written.
    `declined`: nothing was stored.
    """

    file: str = ""
    name: str = ""
    digest: str = ""
    commit: str | None = None
    status: str = ""
    existed: bool = False
    near: tuple[NearNote, ...] = ()
    redacted: tuple[str, ...] = ()
    waits: bool = False
    superseded: tuple[Mapping[str, str], ...] = ()
    left: tuple[tuple[str, str], ...] = ()
    why: str = ""
    ids: tuple[str, ...] = ()
    quoted: bool = False
    fact: str = ""
    declined: str = ""

    @property
    def id(self) -> str | None:
        """The Memory-Id of the newest commit; None for none."""
        return self.ids[-1] if self.ids else None


def store_fact(stores: Stores, call: Candidate, caller: Caller, *, now: datetime) -> Stored:
    """Keep a fact in the store of the notes that it replaces, else in the one that it belongs to;
    one about the user never in a store that others read. One that is declined is not kept.

    `now` is UTC. Raises NotStored with the reasons, BadNote for a text that no note may hold,
    NotFound for a name in `replaces` that is none, and whatever a write raises.
    """
    if call.declined:
        return Stored(declined=call.declined)
    caller = caller._replace(session=caller.session if is_id(caller.session) else "")
    sources = stores.sources()
    try:
        fact = fact_of(call.fact, call.title, call.type, call.why)
    except NotStored as refused:
        if sources:
            clean = description_of(clean_text(call.fact)[0])
            # again after the cut: half of a text may look like what the whole did not
            preview = redact(clean[:PREVIEW])[0]
            row = Evidence(caller.session, "assistant", "dropped", refused.reasons, preview)
            note_down(sources[0].writer, row, now)
        raise
    named = [find_note(sources, name) for name in dict.fromkeys(call.replaces)]
    texts = [whole_text(each.stored.note) for each in named]
    proof = quote_proof.of_fact(fact.body, call.quote, caller.turns, texts)
    # a client without hooks, by which what the user types would be known, is taken at its word
    may = bool(proof.turn) or (not caller.hears and proof.why in ("unheard", "not_said"))
    stays = named
    if may:  # but what others read a fact about the user does not replace
        stays = [each for each in named if fact.type == "user" and not each.source.writer.is_own]
        home = stores.open_for(True)[0].prefix if stays else ""
        stays = [each for each in stays if each.source.prefix != home]
    free = [each for each in named if each not in stays]
    places = [*{each.source.prefix: (each.source, Route()) for each in free}.values()]
    done: list[Stored] = []
    for source, route in places or [stores.open_for(is_personal(fact.type, fact.body))]:
        replaced = [each.stored for each in free if each.source.prefix == source.prefix]
        done.append(_store_in(source, route, fact, call, caller, proof, replaced, now))
    why = quote_proof.WHY["other_store"] if may else proof.reason()
    left = [(each.file, why) for each in stays]
    return done[0]._replace(
        superseded=tuple(pair for each in done for pair in each.superseded),
        left=(*left, *(pair for each in done for pair in each.left)),
        waits=any(each.waits for each in done),
        ids=tuple(id for each in done for id in each.ids),
    )


def _store_in(
    source: NoteSource, route: Route, fact: Fact, call: Candidate, caller: Caller, proof: Proof,
    replaced: Sequence[StoredNote], now: datetime, wish: str = "",
) -> Stored:  # fmt: skip
    """Write it into one store, with marks on the notes there that it replaces. `wish` is the key of
    the request of which it is all, as the user said it; "" for a call of an assistant."""
    writer, session, turn = source.writer, caller.session, proof.turn
    with writer.lock_store():
        batch = Batch(writer, now, route)
        if (known := batch.known_elsewhere(fact)) and not replaced:
            name = known.rpartition("/")[2].removesuffix(".md")
            done = Stored(known, name, existed=True, redacted=fact.redacted)
            return _named_with(done, source.prefix)
        origin = Origin("explicit", session, turn if is_id(turn) else "")
        if not (turn or wish):
            quote = _unproven_quote(call.quote, proof, caller, batch.seen)
            origin = Origin("assistant", session, "", quote, is_proven=False)
        put = batch.add(fact, origin)
        head = put.note.note.head
        room = room_left(writer, session, turn, now) if replaced else 0
        beyond = quote_proof.WHY["too_many" if turn else "too_often"]
        if head.status == SUPERSEDED:
            room, beyond = 0, "the fact itself was superseded"
        refused = batch.replace(put.note, [(each, _SAYS_SO) for each in replaced[:room]])
        left = [(old.file, why) for old, why in refused]
        left += [(old.file, beyond) for old in replaced[room:]]
        spend_budget(writer, session, turn, now, len(batch.made))
        is_in_force = head.status != SUPERSEDED
        if wish:
            verb, trailers = "remember", [("Memory-Wish", wish)]
        else:
            if turn and is_in_force and (old := _as_said(writer, session, turn, fact)):
                batch.take_out(old, put.note)
            trailers = [("Memory-Proof", "host")] if batch.made and not turn else []
            verb = put.verb or "supersede"
        written = batch.write(verb, session=session, trailers=trailers, by_model=not wish)
        if written.kept:
            file = written.kept[0][0]
            raise NoteChanged(f"{file} was changed at this very moment.", "Look and try again.")
        is_call = put.is_new and not wish
        near = _near_notes(batch.seen, source, fact, call, put, replaced) if is_call else ()
        if wish and put.is_new and turn:
            with writer.state() as state:
                known_rows = (state.watermark(session, _AS_SAID) or "").split()[-50:]
                row = f"{turn}={put.note.file}"
                state.set_watermark(session, " ".join([*known_rows, row]), _AS_SAID)
    outcome = head.status or "added" if put.is_new else put.outcome if wish else "known"
    phase, files = "asked" if wish else "assistant", tuple(each.file for each in near)
    note_down(writer, Evidence(session, phase, outcome, (), put.note.file, files), now)
    done = Stored(
        put.note.file, head.name, put.note.digest, written.commit, head.status, not put.is_new,
        near, fact.redacted, written.waits, tuple(each.told() for each in batch.made), tuple(left),
        proof.reason() if head.status and proof.why else "", (written.id,) if written.id else (),
        bool(head.quote), head.description,
    )  # fmt: skip
    return _named_with(done, source.prefix)


def _unproven_quote(quote: str, proof: Proof, caller: Caller, seen: Seen) -> str:
    """A quote as a note keeps it; "" for one that a client which hears the user did not hear, that
    is too short to say anything, or that so many notes stand on already."""
    clean = description_of(clean_text(quote)[0])
    is_refuted = proof.why in ("no_quote", "question") or (caller.hears and proof.why == "not_said")
    if is_refuted or letter_weight(clean) < FLOOR:
        return ""
    others = sum(note.note.head.quote == clean for note in seen.quoting(clean))
    return clean if others < BY_ONE_QUOTE else ""


def _as_said(writer: Writer, session: str, turn: str, fact: Fact) -> StoredNote | None:
    """The note that keeps these words of the user as they said them: a later call that is proven by
    the same turn words it anew."""
    with writer.state() as state:
        known = (state.watermark(session, _AS_SAID) or "").split()
    words = {*words_of(fact.body)}
    for row in known:
        of, _, file = row.partition("=")
        if of == turn and (writer.project.store / file).is_file():
            note = writer.refresher.store.read(file)
            there = {*words_of(whole_text(note.note))}
            if len(words & there) * 2 >= min(len(words), len(there)):
                return note
    return None


def _near_notes(
    seen: Seen, source: NoteSource, fact: Fact, call: Candidate, put: Put,
    replaced: Sequence[StoredNote],
) -> tuple[NearNote, ...]:  # fmt: skip
    """Notes near a fact that the call does not name, the nearest first."""
    names = {name.removeprefix(source.prefix).removesuffix(".md") for name in call.keeps}
    but = {put.note.file, *(each.file for each in replaced)}
    words, near = {*words_of(fact.body)}, []
    for note in seen.nearest(f"{fact.description}\n{fact.body}"):
        head = note.note.head
        is_named = not names.isdisjoint((note.file.removesuffix(".md"), head.name))
        score = round(likeness_of(words, {*words_of(whole_text(note.note))}), 2)
        is_other = note.file not in but and not is_named and head.status != SUPERSEDED
        if is_other and score >= NEAR:
            near.append(NearNote(note.file, score, shown_line(note.note)))
    return tuple(sorted(near, key=lambda each: (-each.score, each.file)))


# --- what nobody worded anew


def settle_wishes(
    stores: Stores, due: Sequence[tuple[Path, Wish]], *, now: datetime
) -> list[Stored]:
    """Store wishes whose turn has ended, in the order in which they were said. A wish that cannot
    be written yet stays where it is."""
    done = []
    for path, wish in due:
        with suppress(MdmemoryError, OSError):
            # in the person's own words, and whole
            source, route = stores.open_for(wish.is_personal)
            fact = fact_as_said(wish.text)
            said_in, turn = (each if is_id(each) else "" for each in (wish.session, wish.turn))
            of = fact, Candidate(wish.text), Caller(said_in), Proof(turn), (), now, wish.key
            done.append(_store_in(source, route, *of))
            _pass_over(stores, [wish])
            path.unlink(missing_ok=True)
    return done


def answer_wishes(
    stores: Stores, boxes: Sequence[Inbox], text: str, *, session: str = "", ends: bool = False
) -> None:
    """Note that a call of an assistant answers a part of the wishes that it speaks of, in this
    session or (with "") in any; those that are answered whole now, or that the call `ends`, are
    gone."""
    gone = []
    for box in boxes:
        for path, wish in box.wishes():
            if (session and wish.session != session) or not wish.touches_text(text):
                continue
            with suppress(MdmemoryError, OSError):
                if ends:
                    path.unlink(missing_ok=True)
                if ends or box.answer(path, wish.answered(text)):
                    gone.append(wish)
    _pass_over(stores, gone)


def _pass_over(stores: Stores, gone: Sequence[Wish]) -> None:
    """Have a later reading of their sessions pass over the messages of these wishes."""
    for source in stores.sources()[:1] if gone else ():
        with source.writer.state() as state:
            for wish in gone:
                mark_answered(state, wish.session, (wish.turn, wish.said))


# --- how much one turn settles


def room_left(writer: Writer, session: str, turn: str, now: datetime) -> int:
    """How many notes this turn ("": a client without hooks, in this hour) may still settle."""
    with writer.state() as state:
        spent = (state.watermark(*_budget_of(session, turn)) or "").split()
    if turn:
        return max(0, BY_ONE_TURN - spent.count(turn))
    late = now.timestamp() - _HOUR
    return max(0, BY_A_HOST - sum(float(each) > late for each in spent))


def spend_budget(writer: Writer, session: str, turn: str, now: datetime, count: int) -> None:
    """Remember that so many notes were settled."""
    if count:
        of, name = _budget_of(session, turn)
        each = turn or f"{now.timestamp():.0f}"
        with writer.state() as state:
            known = (state.watermark(of, name) or "").split()[-200:]
            state.set_watermark(of, " ".join([*known, *[each] * count]), name)


def _budget_of(session: str, turn: str) -> tuple[str, str]:
    return (session, _COUNTED) if turn else ("", _BY_HOST)


# --- texts


def shown_line(note: Note) -> str:
    """What a note says, in one line, as an answer tells it."""
    line = " ".join(note.head.description.split())
    more = " ".join(body_beside(note.head.description, note.body.strip()).split())
    return f"{line} · {more}"[:_TEXT] if more else line[:_TEXT]


def _named_with(done: Stored, prefix: str) -> Stored:
    """The answer with `prefix` before the files of the store."""
    if not prefix or done.file.startswith(prefix):
        return done
    return done._replace(
        file=f"{prefix}{done.file}",
        near=tuple(each._replace(file=f"{prefix}{each.file}") for each in done.near),
        superseded=tuple(prefix_pair({**each}, prefix) for each in done.superseded),
        left=tuple((f"{prefix}{file}", why) for file, why in done.left),
    )


def note_down(writer: Writer, row: Evidence, now: datetime) -> None:
    """Put what became of a call into the log of evidence."""
    with writer.state() as state:
        evidence.record_evidence(state, [row], now)
