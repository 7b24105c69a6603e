"""What becomes of each candidate of a model: kept, left to a person, or dropped, and why.

Guards of form and of the user's words alone. Whether a fact lasts, and whether it makes a note
untrue, is a second reading's to say (`second_question`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mdmemory import assets
from mdmemory.capture import quote_proof
from mdmemory.capture.candidates import clean_candidate
from mdmemory.capture.fact import Candidate, Fact, NotStored, fact_as_said, fact_of
from mdmemory.capture.note_text import whole_text
from mdmemory.capture.quote_proof import fold_text
from mdmemory.errors import BadNote, MdmemoryError
from mdmemory.llm import sizes, verdicts
from mdmemory.llm.answer import Asking, ContextExceeded, Model
from mdmemory.llm.schemas import VERDICTS
from mdmemory.note.note import SUPERSEDED
from mdmemory.privacy.redaction import redact
from mdmemory.store.writer import StoredIn
from mdmemory.transcripts.turns import Turn

_WAITS = {"invented": "invented", "other_words": "weak_evidence", "reversed": "reversed"}
_DROPPED = {"not_said": "no_evidence", "no_quote": "no_evidence", "unheard": "no_evidence",
            "question": "question"}  # fmt: skip
# forms that a fact may have all the same: where the user's words prove it, a person decides
_ODD_FORMS = frozenset(("path_heavy", "command_line", "code"))
Find = Callable[[str], StoredIn]  # a note by its file; raises NotFound


def judge_candidates(
    candidates: Sequence[Candidate], turns: Sequence[Turn], find: Find,
    shown: Mapping[str, str], *, is_read_once: bool = False,
) -> list[Candidate]:  # fmt: skip
    """What becomes of the candidates of one answer by the words of the session (`turns`, redacted).
    `shown` are the digests of the notes that the model saw, by file. `is_read_once`: no second
    reading follows, so the user's words have to prove a fact by themselves; and nothing is dropped
    for want of proof, for the model may have heard what is not here."""
    judged = []
    for each in map(clean_candidate, candidates):
        outcome, reasons, more = _judge_candidate(each, turns, find, shown, is_read_once)
        judged.append(each._replace(outcome=outcome, reasons=reasons, **more))
    return judged


def _judge_candidate(
    candidate: Candidate, turns: Sequence[Turn], find: Find, shown: Mapping[str, str],
    is_read_once: bool,
) -> tuple[str, tuple[str, ...], dict[str, Any]]:  # fmt: skip
    """The outcome, its reasons, and what else is known of the candidate by then."""
    named: list[StoredIn] = []
    is_again = candidate.action == "reinforce"
    for file in candidate.replaces:
        try:
            note = find(file)
        except MdmemoryError:
            return "dropped", ("unknown_file",), {}
        why = ""
        if file not in shown:
            why = "unknown_file"
        elif note.stored.digest != shown[file]:
            why = "note_changed"
        elif note.stored.note.head.status == SUPERSEDED:
            why = "superseded"
        if why:
            waits = {} if is_again else {"worded": _make_fact(candidate)[0]}
            return "dropped" if is_again else "pending", (why,), waits
        named.append(note)
    quote, words = candidate.quote, [whole_text(note.stored.note) for note in named]
    if is_again:
        claim = named[0].stored.note.head.description
        proof = quote_proof.of_fact(claim, quote, turns, words[:1])
        if proof.turn:
            return "keep", (), {"turn": proof.turn, "named": (named[0],)}
        return "dropped", ("not_the_users_words",), {"named": (*named,)}
    fact, reasons = _make_fact(candidate)
    if fact is None and reasons and _ODD_FORMS.issuperset(reasons):
        fact = fact_as_said(candidate.fact, candidate.type, candidate.kind)
    more: dict[str, Any] = {"named": (*named,), "worded": fact}
    if fact is None:
        return "dropped", reasons, more
    prove = quote_proof.of_fact if is_read_once else quote_proof.of_reading
    proof = prove(fact.body, quote, turns, words)
    if proof.turn:
        return "pending" if reasons else "keep", reasons, more | {"turn": proof.turn}
    if reasons:
        return "dropped", reasons, more
    doubted, wanted = "pending" if is_read_once else "dropped", fold_text(quote)
    if any(turn.role == "assistant" and wanted in fold_text(turn.text) for turn in turns):
        return doubted, ("assistant_said",), more
    if proof.why in _WAITS:
        return "pending", (_WAITS[proof.why],), more
    return doubted, (_DROPPED.get(proof.why, proof.why),), more


def _make_fact(candidate: Candidate) -> tuple[Fact | None, tuple[str, ...]]:
    try:
        fact = fact_of(candidate.fact, candidate.title, candidate.type, candidate.why)
    except NotStored as problem:
        return None, problem.reasons
    except BadNote:
        return None, ("unfit",)
    return fact._replace(kind=candidate.kind), ()


def weigh_verdicts(
    judged: Sequence[Candidate], places: Sequence[int], look: SecondLook
) -> list[Candidate]:
    """The candidates with the verdicts of the second look; `places` are those of the ones that it
    was asked about, in the order of its question."""
    weighed = [*judged]
    for number, at in enumerate(places):
        each, verdict = judged[at], look.verdicts.get(number, FactVerdict())
        if verdict.word == MOMENT:
            weighed[at] = each._replace(outcome="dropped", reasons=("momentary",))
        elif verdict.word != LASTING:
            weighed[at] = each._replace(outcome="pending", reasons=("unclear",))
        else:
            may = each.action == "update" or (each.replaces and each.action != "flag")
            weighed[at] = each._replace(is_untrue=bool(may and verdict.untrue))
    return weighed


LASTING, MOMENT, UNCLEAR = "lasting", "moment", "unclear"
_FIELDS = ("number", "reason", "verdict", "untrue")
MAX_QUESTION = 40_000  # characters
_BESIDE = 400  # characters of the turns before and after
_TURN = 2_000  # characters of the turn itself
_REPLACED = 1_000  # characters of a note that it is to replace


class FactVerdict(NamedTuple):
    """`word` is lasting, moment or unclear; `untrue`: what it replaces is untrue now."""

    word: str = UNCLEAR
    untrue: bool = False


@dataclass
class SecondLook(verdicts.Spent):
    """The verdicts on the proposals of one run, by their places."""

    verdicts: dict[int, FactVerdict] = field(default_factory=dict)
    asked: int = 0

    def as_json(self) -> dict[str, Any]:
        """What programs are told of it."""
        cost = {"input": self.input, "output": self.output, "calls": self.calls}
        row = {"asked": self.asked, "tokens": cost}
        return row | ({"failure": self.failure.code} if self.failure else {})

    def as_text(self) -> str:
        """The same for people, in one line."""
        spent = f"{self.input:,} tokens in, {self.output:,} out"
        sentence = f"Asked once more whether what it found lasts ({self.asked}; {spent})."
        if self.failure is None:
            return sentence
        return f"{sentence} {self.failure.message} What had no answer waits."


def look_again(
    model: Model, proposed: Sequence[Candidate], turns: Sequence[Turn], today: str
) -> SecondLook:
    """The second look at these proposals; `turns` are those that the model read (redacted). Where
    they are too many for it, it is asked in parts."""
    asking = Asking(model, assets.read("protocol/lasting.md"))
    look = SecondLook(asked=len(proposed))
    like = proposed[0].quote if proposed else ""
    room = sizes.room(asking, VERDICTS).characters(MAX_QUESTION, like)

    def ask_about(places: Sequence[int]) -> None:
        text = second_question(proposed, places, turns, today)
        if len(text) > room and len(places) > 1:
            raise ContextExceeded("The question is too long for the model.", 0)
        look.verdicts |= read_verdicts(verdicts.ask(asking, text, VERDICTS, _FIELDS, look), places)

    verdicts.ask_in_parts([range(len(proposed))] if proposed else (), ask_about, look)
    return look


def read_verdicts(objects: Sequence[object], places: Sequence[int]) -> dict[int, FactVerdict]:
    """The verdicts of an answer on these places."""

    def read_verdict(word: str, row: Mapping[str, Any]) -> FactVerdict:
        is_untrue = str(row.get("untrue", "")).strip().casefold() in ("yes", "true")
        return FactVerdict(word if word in (LASTING, MOMENT) else UNCLEAR, is_untrue)

    return verdicts.by_place(objects, places, read_verdict)


# --- the question


def second_question(
    proposed: Sequence[Candidate], places: Sequence[int], turns: Sequence[Turn], today: str
) -> str:
    """The question about the proposals at these places."""
    facts: list[Mapping[str, Any]] = [
        {
            "number": str(at + 1), "text": proposed[at].fact,
            "quote": proposed[at].quote,
            "replaces": [redact(whole_text(note.stored.note).strip())[0][:_REPLACED]
                         for note in proposed[at].named],
            "around": _turns_around(proposed[at], turns),
        }
        for at in places
    ]  # fmt: skip
    return json.dumps({"today": today, "facts": facts}, ensure_ascii=False)


def _turns_around(proposed: Candidate, turns: Sequence[Turn]) -> list[dict[str, str]]:
    """The turn that a quote stands in, and a line of those before and after it."""
    at = next((number for number, turn in enumerate(turns) if turn.id == proposed.turn), None)
    if at is None:
        return []
    text = turns[at].text
    begin = max(0, min(text.find(proposed.quote[:40]) - _TURN // 2, len(text) - _TURN))
    around = [(turn, turn.text[-_BESIDE:]) for turn in turns[max(0, at - 1) : at]]
    around.append((turns[at], text[begin : begin + _TURN]))
    around += [(turn, turn.text[:_BESIDE]) for turn in turns[at + 1 : at + 2]]
    return [{"role": turn.role, "text": shown} for turn, shown in around]
