"""What becomes of each candidate of a model: kept, left to a person, or dropped, and why.

Guards of form and of the user's words alone. Whether a fact lasts, and whether it makes a note
untrue, is a second reading's to say (`second_question`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from mdmemory.capture import quote_proof
from mdmemory.capture.candidates import Candidate, cleaned
from mdmemory.capture.claims import fold
from mdmemory.capture.fact import Fact, NotStored, fact_as_said, fact_of
from mdmemory.capture.second_question import LASTING, MOMENT, SecondLook
from mdmemory.errors import BadNote, MdmemoryError
from mdmemory.note.note import SUPERSEDED
from mdmemory.store.sources import StoredIn
from mdmemory.transcripts.turns import Turn

_WAITS = {"invented": "invented", "other_words": "weak_evidence", "reversed": "reversed"}
_DROPPED = {"not_said": "no_evidence", "no_quote": "no_evidence", "unheard": "no_evidence",
            "question": "question"}  # fmt: skip
# forms that a fact may have all the same: where the user's words prove it, a person decides
_ODD_FORMS = frozenset(("path_heavy", "command_line", "code"))
Find = Callable[[str], StoredIn]  # a note by its file; raises NotFound


@dataclass(frozen=True, slots=True)
class Judged:
    """One candidate: `outcome` is keep, pending or dropped, with its reasons. `turn` is the id of
    the user's turn that proves it, `named` the notes that it is about. `replaces`: they are untrue
    now, by both readings; else it is flagged with them where it changes them."""

    candidate: Candidate
    outcome: str
    reasons: tuple[str, ...] = ()
    fact: Fact | None = None
    turn: str = ""
    named: tuple[StoredIn, ...] = ()
    replaces: bool = False


def judge(
    candidates: Sequence[Candidate], turns: Sequence[Turn], find: Find,
    shown: Mapping[str, str], *, is_read_once: bool = False,
) -> list[Judged]:  # fmt: skip
    """What becomes of the candidates of one answer by the words of the session (`turns`, redacted).
    `shown` are the digests of the notes that the model saw, by file. `is_read_once`: no second
    reading follows, so the user's words have to prove a fact by themselves; and nothing is dropped
    for want of proof, for the model may have heard what is not here."""
    return [_judged(cleaned(each), turns, find, shown, is_read_once) for each in candidates]


def _judged(
    candidate: Candidate, turns: Sequence[Turn], find: Find, shown: Mapping[str, str],
    is_read_once: bool,
) -> Judged:  # fmt: skip
    named: list[StoredIn] = []
    for file in candidate.replaces:
        try:
            note = find(file)
        except MdmemoryError:
            note = None
        why = _trouble(note, file, shown)
        if why and (candidate.action == "reinforce" or note is None):
            return Judged(candidate, "dropped", (why,))
        if why:
            return Judged(candidate, "pending", (why,), _fact(candidate)[0])
        named += [note] if note else []
    if candidate.action == "reinforce":
        return _said_again(candidate, turns, named)
    fact, reasons = _fact(candidate)
    if fact is None and reasons and _ODD_FORMS.issuperset(reasons):
        fact = fact_as_said(candidate.fact, candidate.type, candidate.kind)
    if fact is None:
        return Judged(candidate, "dropped", reasons)
    texts = [f"{each.stored.note.head.description}\n{each.stored.note.body}" for each in named]
    prove = quote_proof.of_fact if is_read_once else quote_proof.of_reading
    proof = prove(fact.body, candidate.quote, turns, texts)
    if proof.turn:
        outcome = "pending" if reasons else "keep"
        return Judged(candidate, outcome, reasons, fact, proof.turn, tuple(named))
    if reasons:
        return Judged(candidate, "dropped", reasons)
    if _is_said_by_assistant(candidate.quote, turns):
        outcome = "pending" if is_read_once else "dropped"
        return Judged(candidate, outcome, ("assistant_said",), fact, named=tuple(named))
    if proof.why in _WAITS:
        waits = (_WAITS[proof.why],)
        return Judged(candidate, "pending", waits, fact, named=tuple(named))
    outcome = "pending" if is_read_once else "dropped"
    return Judged(candidate, outcome, (_DROPPED.get(proof.why, proof.why),), fact)


def _said_again(candidate: Candidate, turns: Sequence[Turn], named: Sequence[StoredIn]) -> Judged:
    note = named[0].stored.note
    text = f"{note.head.description}\n{note.body}"
    proof = quote_proof.of_fact(note.head.description, candidate.quote, turns, [text])
    if not proof.turn:
        return Judged(candidate, "dropped", ("not_the_users_words",), named=tuple(named))
    return Judged(candidate, "keep", (), None, proof.turn, tuple(named[:1]))


def _trouble(note: StoredIn | None, file: str, shown: Mapping[str, str]) -> str:
    """What is wrong with a note that a candidate names; "" when nothing is."""
    if note is None or file not in shown:
        return "unknown_file"
    if note.stored.digest != shown[file]:
        return "note_changed"
    return "superseded" if note.stored.note.head.status == SUPERSEDED else ""


def _fact(candidate: Candidate) -> tuple[Fact | None, tuple[str, ...]]:
    try:
        fact = fact_of(candidate.fact, candidate.title, candidate.type, candidate.why)
    except NotStored as problem:
        return None, problem.reasons
    except BadNote:
        return None, ("unfit",)
    return fact._replace(kind=candidate.kind), ()


def _is_said_by_assistant(quote: str, turns: Sequence[Turn]) -> bool:
    wanted = fold(quote)
    return any(turn.role == "assistant" and wanted in fold(turn.text) for turn in turns)


def weighed(judged: Sequence[Judged], places: Sequence[int], look: SecondLook) -> list[Judged]:
    """The candidates with the verdicts of the second look; `places` are those of the ones that it
    was asked about, in the order of its question."""
    found = [*judged]
    for number, at in enumerate(places):
        each, verdict = judged[at], look.verdicts.get(number)
        if verdict is None:
            found[at] = replace(each, outcome="pending", reasons=("unclear",))
        elif verdict.word == MOMENT:
            found[at] = replace(each, outcome="dropped", reasons=("momentary",))
        elif verdict.word != LASTING:
            found[at] = replace(each, outcome="pending", reasons=("unclear",))
        else:
            is_said = each.candidate.action == "update" or bool(each.candidate.replaces)
            replaces = is_said and each.candidate.action != "flag" and verdict.untrue
            found[at] = replace(each, replaces=replaces)
    return found
