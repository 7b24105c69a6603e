"""The planner with a model: it is shown the notes batch by batch, and what it answers is judged.

Nothing of an answer is believed. The guards judge it here, so that what they refuse can be put to
the model once more, and again under the lock.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

from mdmemory.compact import guards
from mdmemory.compact.guards import Verdict
from mdmemory.compact.model_question import (
    Around,
    as_text,
    batches,
    brief,
    correction,
    linked,
    may_be_shown,
    question,
    size,
    whole,
)
from mdmemory.compact.offline import Offline
from mdmemory.compact.plan import (
    MAX_ANSWER,
    Flag,
    Merge,
    Op,
    Plan,
    as_json,
    flagged_pairs,
    named,
    render,
    shown,
)
from mdmemory.compact.planner import ProposedPlan
from mdmemory.compact.removals import removable, removed
from mdmemory.compact.talk import Talk
from mdmemory.llm.answer import Asking
from mdmemory.store.conflicts import Entry, known
from mdmemory.store.store import StoredNote

_MAX_PLAN = MAX_ANSWER // 2  # bytes of ops; the rest is for digests


def gathered(
    ops: Sequence[Op], notes: Sequence[StoredNote], ledger: Sequence[Entry]
) -> tuple[list[Op], bool]:
    """The ops, earlier ones first, that can stand in one plan, and whether any has to wait.

    No two name one file, and they remove no more notes than one plan may. A flag of pairs that are
    all in the ledger is left out: it would say nothing new.
    """
    by_file = {note.file: note for note in notes}
    going: list[Op] = []
    more = False
    taken: set[str] = set()
    removals = min(removable(len(notes)), len(notes) - 1)  # one stays at least
    room = _MAX_PLAN
    for op in ops:
        if isinstance(op, Flag) and _is_known(op, by_file, ledger):
            continue
        size = len(json.dumps(as_json(op)))
        if taken.isdisjoint(named(op)) and removed(op) <= removals and size <= room:
            going.append(op)
            taken.update(named(op))
            removals -= removed(op)
            room -= size
        else:
            more = True
    return going, more


def _is_known(op: Flag, notes: dict[str, StoredNote], ledger: Sequence[Entry]) -> bool:
    return all(known(ledger, notes[a], notes[b]) for a, b in flagged_pairs(op.files))


MAX_CHARS = 60_000  # of the notes of one question, as they are shown

_AROUND = 150  # tokens of a question besides its notes

_Part = Sequence[StoredNote]
_Show = Callable[[StoredNote], dict[str, str]]
Report = Callable[[int, int, str], None]  # done, total, what


@dataclass(frozen=True)
class ModelPlanner:
    """The planner of this `kind` ("openai", "opencode").

    `ask` finds the model, `today` is the day (YYYY-MM-DD) that it is told, `redact` cleans text of
    secrets, and `report` hears of each question before it is asked. What `first` finds without a
    model is part of the plan, whatever becomes of the model, which is shown what is left.
    """

    kind: str
    ask: Callable[[], Asking]
    today: str
    redact: Callable[[str], str]
    report: Report = lambda *_: None
    first: Offline | None = None

    def propose(self, notes: Sequence[StoredNote], *, conflicts: Sequence[Entry]) -> ProposedPlan:
        """A plan in which what the model said stands as far as the guards let it pass.

        Notes that redaction would change are not shown. A model that fails is told as `failed`.
        """
        talk = Talk(self.ask)
        return _Pass(self, talk, notes, conflicts).proposal()


@dataclass
class _Pass:
    planner: ModelPlanner
    talk: Talk
    notes: Sequence[StoredNote]
    conflicts: Sequence[Entry]
    sure: list[Op] = field(default_factory=list)  # found without the model
    ops: list[Op] = field(default_factory=list)
    flags: list[Op] = field(default_factory=list)  # between batches
    refused: list[tuple[Op, str, str]] = field(default_factory=list)
    refusals: list[tuple[str, str]] = field(default_factory=list)
    batch_of: dict[str, int] = field(default_factory=dict)  # the question that showed a note whole

    def proposal(self) -> ProposedPlan:
        waits = self._find_sure()
        merged = {file for op in self.sure if isinstance(op, Merge) for file in op.sources}
        left = (note for note in self.notes if note.file not in merged)
        free = [note for note in left if may_be_shown(note, self.planner.redact)]
        parts = self._batches(free, whole) if len(free) > 1 else []
        heads = self._batches(free, brief) if len(parts) > 1 else []
        self._ask_all(parts, heads)
        # a contradiction that was seen goes before whatever else its notes were named for
        ops, more = gathered([*self.sure, *self.flags, *self.ops], self.notes, self.conflicts)
        files = {file for op in ops for file in named(op)}
        digests = {note.file: note.digest for note in self.notes if note.file in files}
        return ProposedPlan(
            render(ops, digests), self.talk.tokens, more or waits or bool(self.talk.failed),
            self.talk.name, tuple(self.refused), tuple(self.refusals), tuple(self.talk.failed),
            tuple(self.talk.rejected), tuple(self.sure),
        )  # fmt: skip

    def _find_sure(self) -> bool:
        """Find what is sure without a model; whether a limit leaves more of it for another pass."""
        if self.planner.first is None:
            return False
        found = self.planner.first.ops(self.notes, conflicts=self.conflicts)
        self.sure = found.ops
        return found.more

    def _batches(self, notes: _Part, show: _Show) -> list[_Part]:
        """The notes in batches that fit one question each. What alone is too long for the model
        is left out, and said."""
        room = self.talk.room().without(_AROUND)
        measure = room.measure(MAX_CHARS)
        sizes = {note.file: measure(as_text(show(note))) + len(", ") for note in notes}
        for note in notes:
            if sizes[note.file] > MAX_CHARS >= size(show(note)):
                self._leave_out(note)
        return [*batches(notes, lambda note: sizes[note.file], MAX_CHARS)]

    def _leave_out(self, note: StoredNote) -> None:
        said = f"The note {shown(note.file)} is too long for {self.talk.name or 'the model'}"
        self.refusals.append(("context", f"{said}, which was not asked about it."))

    def _ask_all(self, parts: Sequence[_Part], heads: Sequence[_Part]) -> None:
        waiting = deque([(part, True) for part in parts] + [(part, False) for part in heads])
        done = 0
        while waiting:
            part, is_whole = waiting.popleft()
            total = done + 1 + len(waiting)
            if self.talk.is_over:
                return self.talk.leave_out(total - done)
            what = f"{len(part)} note{'' if len(part) == 1 else 's'}"
            what = what if is_whole else f"the descriptions of {what}"
            self.planner.report(done, total, f"asking about {what}")
            again = self._batch(part) if is_whole else self._across(part)
            waiting.extendleft((each, is_whole) for each in reversed(again))
            done += 1
        return self.planner.report(done, done, "asked")

    def _smaller(self, part: _Part, show: _Show) -> list[_Part]:
        """The notes of a question that was too long for the model, in more questions."""
        fitting = self._batches(part, show)
        if [len(each) for each in fitting] != [len(part)]:
            return fitting
        if len(part) == 1:
            self._leave_out(part[0])
        return _halves(part)

    def _ops(
        self, shown: Sequence[Mapping[str, str]], pairs: Sequence[tuple[str, str]]
    ) -> list[Op] | None:
        asked = question(self._around(pairs), shown)
        if self.planner.redact(asked) != asked:
            # it would be sent with a gap, which could come back as the text of a note
            self.talk.failed.append(("secret", "Notes that together read like a secret stay here."))
            return None
        return self.talk.ops(asked)

    # one batch

    def _batch(self, part: _Part) -> list[_Part]:
        """Ask about these notes. What is left of them to ask about: all, in more questions, where
        they were too many for the model; those that a cut answer did not come to."""
        ops = self._ops([whole(note) for note in part], self._open_pairs())
        if self.talk.is_too_long:
            return self._smaller(part, whole)
        if ops is None:
            return []
        self.batch_of.update(dict.fromkeys((note.file for note in part), len(self.batch_of)))
        is_cut, there = self.talk.is_cut, {file for op in ops for file in named(op)}
        self._judge(ops, part)
        return _halves([note for note in part if note.file not in there]) if is_cut else []

    def _judge(self, ops: Sequence[Op], part: _Part) -> None:
        first = last = self._judged(ops, part)
        if first.refusals or first.refused:
            last = self._corrected(ops, first, part)
        if last.refusals or last.refused:
            self.talk.reject()
        self.ops += _passed(last)
        self.refused += last.refused
        self.refusals += last.refusals
        self.refusals += [("schema", problem) for problem in self.talk.flawed]

    def _corrected(self, ops: Sequence[Op], first: Verdict, part: _Part) -> Verdict:
        """The verdict after the model was told, once, what was refused; the first one where its
        second answer is of no use."""
        wrong = list(ops) if first.refusals else [op for op, _, _ in first.refused]
        why = [(None, *each) for each in first.refusals] or first.refused
        asked = correction(self._around(self._open_pairs()), part, wrong, why)
        again = self.talk.ops(asked)
        if again is None:
            return first
        fine = _passed(first)
        last = self._judged([*fine, *again], part)
        return first if last.refusals and not first.refusals else last

    def _judged(self, ops: Sequence[Op], part: _Part) -> Verdict:
        hidden = {note.file for note in self.notes} - {note.file for note in part}
        strange: list[tuple[Op, str, str]] = []
        known: list[Op] = []
        for op in ops:
            files = op.sources if isinstance(op, Merge) else named(op)
            if file := next((file for file in files if file in hidden), None):
                strange.append((op, "unknown_file", f"The note {shown(file)} was not shown."))
            else:
                known.append(op)
        found = guards.check(
            Plan(tuple(known)), self.notes,
            open_conflicts=[frozenset(pair) for pair in self._open_pairs()],
            has_secret=lambda text: self.planner.redact(text) != text,
            refused_before=len(strange),
        )  # fmt: skip
        return replace(found, refused=(*strange, *found.refused))

    # across batches

    def _across(self, part: _Part) -> list[_Part]:
        """Flags between notes that no batch held together. No other op counts here, for the
        descriptions are all that was shown. What is left to ask about, as for a batch."""
        flagged = [op.files for op in (*self.ops, *self.flags) if isinstance(op, Flag)]
        pairs = self._open_pairs()
        pairs += [pair for files in flagged for pair in combinations(files, 2)]
        ops = self._ops([brief(note) for note in part], pairs)
        if self.talk.is_too_long:
            return self._smaller(part, brief)
        flags = [op for op in ops or () if isinstance(op, Flag)]
        verdict = self._judged(flags, part)
        self.refusals += verdict.refusals
        crossing = (op for op in flags if _crosses(op.files, self.batch_of))
        self.flags += [] if verdict.refusals else crossing
        return []

    def _around(self, pairs: Sequence[tuple[str, str]]) -> Around:
        return Around(self.planner.today, pairs, self._linked, removable(len(self.notes)))

    @cached_property
    def _linked(self) -> frozenset[str]:
        return linked(self.notes)

    def _open_pairs(self) -> list[tuple[str, str]]:
        """The conflicts that wait for a person, as far as both notes can be read, and those that
        this pass will add without the model."""
        there = {note.file for note in self.notes}
        pairs = [entry.files for entry in self.conflicts if not entry.cleared]
        flags = (op for op in self.sure if isinstance(op, Flag))
        pairs += [pair for flag in flags for pair in flagged_pairs(flag.files)]
        return list(dict.fromkeys(pair for pair in pairs if there.issuperset(pair)))


def _halves(part: _Part) -> list[_Part]:
    """The notes in two parts; none of what cannot be parted."""
    middle = len(part) // 2
    return [part[:middle], part[middle:]] if middle else []


def _passed(verdict: Verdict) -> list[Op]:
    """What may go on. The skipped, too: the runner skips them, and says why."""
    return [*verdict.accepted, *(op for op, _ in verdict.skipped)]


def _crosses(files: Collection[str], batch_of: dict[str, int]) -> bool:
    return len({batch_of.get(file, file) for file in files}) > 1
