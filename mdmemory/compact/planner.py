"""What a planner is: notes in, the JSON text of a plan out.

The text passes `plan.parse` and `guards.check` whoever wrote it, ourselves included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from mdmemory.compact.looks import Looks
from mdmemory.compact.plan import Op, PlanRefused, parse
from mdmemory.llm.answer import Model
from mdmemory.store.conflicts import Entry
from mdmemory.store.store import StoredNote


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a proposal cost: tokens in and out, and model calls."""

    input: int = 0
    output: int = 0
    calls: int = 0


@dataclass(frozen=True, slots=True)
class ProposedPlan:
    """An answer as it came, a plan with its digests when all went well, and its cost.

    `more`: a limit left work that another pass would find, with no note changed. `model` is the
    one that was asked, if any. Of a planner that judges answers before it hands them on: `refused`
    are ops that it left out (op, code, sentence), `refusals` why it left out whole answers and
    `failed` why there was none to read (code, sentence), `rejected` the answers all this is about,
    and `sure` the ops of the plan that code found, without a model. `looks` says what became of
    the notes that a model was to be shown. `doubts` are what a second reading says of ops that are
    done all the same (op, sentence).
    """

    answer: str | bytes
    tokens: Tokens = Tokens()
    more: bool = False
    model: str = ""
    refused: tuple[tuple[Op, str, str], ...] = ()
    refusals: tuple[tuple[str, str], ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    rejected: tuple[str, ...] = ()
    sure: tuple[Op, ...] = ()
    looks: Looks | None = None
    doubts: tuple[tuple[Op, str], ...] = ()


class Planner(Protocol):
    """Proposes; never writes."""

    @property
    def kind(self) -> str:
        """The word for it in settings, status and the compact JSON."""

    def propose(self, notes: Sequence[StoredNote], *, conflicts: Sequence[Entry]) -> ProposedPlan:
        """A plan for these notes. `conflicts` are all entries of the ledger, cleared ones too.

        The caller leaves out what must not be read by a planner, such as held notes.
        """


@dataclass(frozen=True, slots=True)
class Given:
    """The planner of `compact --plan`: somebody else's answer, as it came. Where `find_verifier`
    finds a model, it reads the plan again; what it doubts is said, and hinders nothing."""

    plan: str | bytes
    find_verifier: Callable[[], Model | None] = lambda: None
    kind: str = "given"

    def propose(self, notes: Sequence[StoredNote], *, conflicts: Sequence[Entry]) -> ProposedPlan:
        """The plan that was given."""
        verifier = self.find_verifier()
        if verifier is None:
            return ProposedPlan(self.plan)
        from mdmemory.compact import second_reading

        known = {note.file: note for note in notes}
        try:
            ops = second_reading.readable(parse(self.plan).ops, known)
        except PlanRefused:
            return ProposedPlan(self.plan)  # which is refused for its own reasons
        reading = second_reading.read_again(verifier, ops, known)
        cost = Tokens(reading.input, reading.output, reading.calls)
        return ProposedPlan(self.plan, cost, model=verifier.name, doubts=reading.sentences(ops))
