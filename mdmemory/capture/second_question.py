"""Asking the second question: which proposals it is about, the model's answer, and its record.

No answer, or one that cannot be read, loses nothing: the proposals wait in the inbox.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from mdmemory import assets
from mdmemory.capture import lasting, pending
from mdmemory.capture.candidates import Candidate
from mdmemory.capture.lasting import Cost, Proposed, Record, SecondLook, TimeVerdict
from mdmemory.capture.pending import PendingFact
from mdmemory.capture.proof import heard, prove
from mdmemory.capture.scene import Judged
from mdmemory.errors import MdmemoryError
from mdmemory.llm import sizes
from mdmemory.llm.answer import Asking, ContextExceeded, Model
from mdmemory.llm.json_answer import BadAnswer, listed
from mdmemory.llm.schemas import VERDICTS
from mdmemory.store.project import Project
from mdmemory.store.state import State
from mdmemory.transcripts.turns import Turn


def wanted(pairs: Iterable[tuple[Candidate, Judged]], turns: Sequence[Turn]) -> list[Proposed]:
    """The candidates that would become notes or change one, if only they last; `turns` are those
    that the model read (redacted). What is said again, waits for another reason or has not the
    form of a fact is not asked about."""
    said = heard(turns)
    places = {turn.id: at for at, turn in enumerate(turns)}
    found = []
    for candidate, judged in pairs:
        if judged.text is None or judged.outcome not in ("added", "updated", "flagged"):
            continue
        turn = prove(candidate, candidate.type, said).turn
        found.append(lasting.proposal(candidate, places.get(turn, -1), turns))
    return found


def ask(
    model: Model, proposed: Sequence[Proposed], turns: Sequence[Turn], today: str, before: Record
) -> SecondLook:
    """The second look at these proposals; its `failure` says what went wrong, if anything did.

    Where they are too many for the model, it is asked in parts; what it is not asked, or does not
    answer, waits.
    """
    asking = Asking(model, assets.read("protocol/lasting.md"))
    verdicts: dict[int, TimeVerdict] = {}
    cost = Cost()
    failure: MdmemoryError | None = None
    like = proposed[0].candidate.quote if proposed else ""
    room = sizes.room(asking, VERDICTS).characters(lasting.MAX_QUESTION, like)
    left = lasting.parts(proposed, turns, today, room)
    while left:
        places = left.pop(0)
        text = lasting.question(proposed, places, turns, today)
        try:
            answer = model.complete(asking.system, text, VERDICTS)
        except ContextExceeded as problem:
            cost += Cost(1, *problem.cost)
            failure = failure or (problem if len(places) == 1 else None)
            middle = len(places) // 2
            left = [*filter(None, (places[:middle], places[middle:])), *left] if middle else left
            continue
        except MdmemoryError as problem:
            failure = problem
            break
        cost += Cost(1, answer.input_tokens, answer.output_tokens)
        try:
            verdicts |= lasting.read(_objects(answer.text), places)
        except BadAnswer as problem:
            failure = problem
    look = lasting.looked(proposed, verdicts, before)
    return replace(look, cost=cost, failure=failure)


def _objects(answer: str) -> Sequence[object]:
    """The verdicts in an answer, as far as they can be read. Raises BadAnswer."""
    fields = ("number", "reason", "verdict")
    return listed(answer, "verdicts", fields=fields, mark="verdict").objects


def waiting(project: Project, open_state: Callable[[], State], but: str) -> tuple[PendingFact, ...]:
    """The facts of other sessions than `but` that wait for nothing but their time."""
    return tuple(
        fact
        for fact in pending.waiting(project, open_state)
        if fact.session != but and {*fact.reasons} <= {*lasting.REASONS}
    )


def said_again(look: SecondLook | None, judged: Iterable[Judged]) -> list[PendingFact]:
    """The facts that waited since another session, and that this one makes or finds notes of."""
    kept = [each.candidate for each in judged if each.outcome not in ("pending", "dropped")]
    waited = look.waiting if look else ()
    return [fact for fact in waited if any(lasting.is_same(each, fact) for each in kept)]


# --- how a model judged so far ---------------------------------------------------------------


def record(state: State, model: str) -> Record:
    """How this model judged so far."""
    query = "SELECT plain, affirmed, denied FROM second_look WHERE model = ?"
    return next((Record(*row) for row in state.rows(query, (model,))), Record())


def remember(state: State, model: str, this: Record) -> None:
    """Add what one answer shows of a model to its record."""
    known = (record(state, model) + this).aged()
    row = (model, known.plain, known.affirmed, known.denied)
    state.change(("INSERT OR REPLACE INTO second_look VALUES (?, ?, ?, ?)", row))
