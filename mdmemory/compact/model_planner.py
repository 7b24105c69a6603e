"""The planner with a model: it is shown the notes batch by batch, and what it answers is judged.

Nothing of an answer is believed. The guards judge it here, so that what they refuse can be put to
the model once more, and again under the lock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any

from mdmemory.compact import dialogue, guards
from mdmemory.compact import plan as plans
from mdmemory.compact.dialogue import Talk, as_text, batches, brief, find_linked, size, whole
from mdmemory.compact.guards import Verdict, removable, removed
from mdmemory.compact.pass_history import LookRecord, Looks, face
from mdmemory.compact.plan import (
    Delete,
    Flag,
    Merge,
    Op,
    Plan,
    PlanRefused,
    Rewrite,
    named,
    shown,
    sources_of,
)
from mdmemory.compact.planner import Offline, ProposedPlan, plan_of
from mdmemory.errors import MdmemoryError
from mdmemory.llm.answer import Asking, ContextExceeded
from mdmemory.llm.verdicts import halves
from mdmemory.store.conflicts import Entry, is_known
from mdmemory.store.store import StoredNote
from mdmemory.text.similarity import Ranking

NEAR = 5  # neighbours of a new note that are shown with it, whole where there is room
FAR = 2  # neighbours that are shown by their description, as they are or were asked about elsewhere
SHARE = 10  # of what a question holds a tenth is for the oldest notes
OF_NEW = 4  # or of what is new a quarter, which makes a fifth of all
_RAREST = 12  # words of a note that its neighbours are found by
_MAX_BODY = 2_000  # characters of a body that are looked at for it

MAX_CHARS = 60_000  # of the notes of one question, as they are shown
_PACKED = 90  # hundredths of a question, where there are several; the rest is for neighbours
_AROUND = 150  # tokens of a question besides its notes

Size = Callable[[Mapping[str, str]], int]  # of a note as it stands in a question
Report = Callable[[int, int, str], None]  # done, total, what
_Part = Sequence[StoredNote]


class Scope:
    """The notes that one pass is about, of those in `free`, which may be shown.

    `by` is who judges; `everything`: all of them are asked about, whatever the record says.
    """

    def __init__(
        self, free: Sequence[StoredNote], record: LookRecord, by: str, *, everything: bool
    ) -> None:
        self._free = free
        self._record = record
        self.new = list(free) if everything else record.new(free, by)
        self._oldest: set[str] = set()
        self._wanted = {note.file for note in self.new}

    def wanted(self, size: Size, most: int) -> list[StoredNote]:
        """What is new, and behind it the oldest as far as their share of the questions reaches,
        one at least; [] where nothing is new. A question holds `most` by `size`."""
        if not self.new:
            return []
        rest = (note for note in self._free if note.file not in self._wanted)
        new = sum(size(whole(note)) for note in self.new)
        room = max(most // SHARE, new // OF_NEW)
        old: list[StoredNote] = []
        for note in self._record.oldest(rest):
            length = size(whole(note))
            if length > most:
                continue  # no question holds it
            if old and length > room:
                break
            old.append(note)
            room -= length
        self._oldest = {note.file for note in old}
        self._wanted |= self._oldest
        return [*self.new, *old]

    def beside(
        self, part: Sequence[StoredNote], size: Size, room: int
    ) -> tuple[list[StoredNote], list[StoredNote]]:
        """The neighbours that are shown with the notes of one question, the nearest first, as far
        as `room` reaches: whole, and by their description only."""
        files = {note.file for note in part}
        if len(files) == len(self._free):
            return [], []
        notes: tuple[list[StoredNote], list[StoredNote]] = [], []
        near = [self._near(note) for note in part]
        for rank in range(NEAR):
            for note, others in zip(part, near, strict=True):
                if rank >= len(others) or others[rank].file in files:
                    continue
                other = others[rank]
                is_far = note.file in self._oldest or other.file in self._wanted
                if is_far and rank >= FAR:
                    continue
                for place, show in ((1, brief),) if is_far else ((0, whole), (1, brief)):
                    if (needed := size(show(other))) <= room:
                        notes[place].append(other)
                        files.add(other.file)
                        room -= needed
                        break
        return notes

    def find_nearest(self, note: StoredNote) -> StoredNote | None:
        """The note of its type that is nearest to this one, if any is near."""
        type = note.note.head.type
        return next((each for each in self._near(note) if each.note.head.type == type), None)

    def _near(self, note: StoredNote) -> list[StoredNote]:
        near = self._ranking.near(_text(note), _RAREST)[: NEAR + 1]
        return [other for at in near if (other := self._free[at]).file != note.file][:NEAR]

    @cached_property
    def _ranking(self) -> Ranking:
        return Ranking([_text(note) for note in self._free])


def _text(note: StoredNote) -> str:
    head = note.note.head
    return f"{head.name.replace('-', ' ')}\n{head.description}\n{note.note.body[:_MAX_BODY]}"


def gathered(
    ops: Sequence[Op], notes: Sequence[StoredNote], ledger: Sequence[Entry]
) -> tuple[list[Op], list[Op]]:
    """The ops, earlier ones first, that can stand in one plan, and those that have to wait.

    No two name one file, and they remove no more notes than one plan may. A flag of pairs that are
    all in the ledger, or in an earlier flag, is left out: it would say nothing new.
    """
    by_file = {note.file: note for note in notes}
    going: list[Op] = []
    waiting: list[Op] = []
    flagged: list[set[str]] = []
    used: set[str] = set()
    removals = min(removable(len(notes)), len(notes) - 1)  # one stays at least
    for op in ops:
        if isinstance(op, Flag):
            pairs = [(by_file[a], by_file[b]) for a, b in plans.flagged_pairs(op.files)]
            is_old = all(is_known(ledger, *pair) for pair in pairs)
            if is_old or any(each.issuperset(op.files) for each in flagged):
                continue
            flagged.append({*op.files})
        if used.isdisjoint(named(op)) and removed(op) <= removals:
            going.append(op)
            used.update(named(op))
            removals -= removed(op)
        else:
            waiting.append(op)
    return going, waiting


@dataclass(frozen=True)
class ModelPlanner:
    """The planner of this `kind` ("openai", "opencode").

    `ask` finds the model, `today` is the day (YYYY-MM-DD) that it is told, `redact` cleans text of
    secrets, and `report` hears of each question before it is asked. What `first` finds without a
    model is part of the plan, whatever becomes of the model, which is shown what is left: what is
    new by the `record` of these notes, or `everything`; without a record all notes are new. A small
    model is only asked `by_pairs` whether two notes say the same.
    """

    kind: str
    ask: Callable[[], Asking]
    today: str
    redact: Callable[[str], str]
    report: Report = lambda *_: None
    first: Offline | None = None
    record: Callable[[Sequence[StoredNote]], LookRecord] | None = None
    everything: bool = False
    by_pairs: bool = False

    def propose(self, notes: Sequence[StoredNote], *, conflicts: Sequence[Entry]) -> ProposedPlan:
        """A plan in which what the model said stands as far as the guards let it pass.

        Notes that redaction would change are not shown. A model that fails is told as `failed`.
        """
        return _Pass(self, Talk(self.ask), notes, conflicts).proposal()


@dataclass
class _Pass:
    planner: ModelPlanner
    talk: Talk
    notes: Sequence[StoredNote]
    conflicts: Sequence[Entry]
    sure: list[Op] = field(default_factory=list)  # found without the model
    ops: list[Op] = field(default_factory=list)
    flags: list[Op] = field(default_factory=list)  # between batches
    read: list[Op] = field(default_factory=list)  # that the second reading affirms
    refused: list[tuple[Op, str, str]] = field(default_factory=list)
    refusals: list[tuple[str, str]] = field(default_factory=list)
    scope: Scope = field(init=False)
    linked: frozenset[str] = frozenset()
    wanted: set[str] = field(default_factory=set)  # files that are to be asked about
    answered: set[str] = field(default_factory=set)
    unanswered: set[str] = field(default_factory=set)  # the model said nothing of use about them
    alone: set[str] = field(default_factory=set)  # files that leave a question no room for others

    def proposal(self) -> ProposedPlan:
        waits = False
        if first := self.planner.first:  # a limit may leave more of it for another pass
            self.sure, _, waits = first.ops(self.notes, conflicts=self.conflicts)
        merged = {file for op in self.sure if isinstance(op, Merge) for file in op.sources}
        free = []
        for note in self.notes:
            # a note reaches a model as it is: no secret, and a name that is text
            if note.file in merged or note.note.head.secrets or not note.file.isprintable():
                continue
            if self.planner.redact(text := as_text(whole(note))) == text:
                free.append(note)
        read_record = self.planner.record
        record = read_record(free) if read_record else LookRecord(self.planner.today)
        by = self.talk.judge()
        self.linked = find_linked(self.notes)
        self.scope = Scope(free, record, by, everything=self.planner.everything)
        if len(free) > 1 and self.talk.has_room():
            wanted = self.scope.wanted(self._size(), MAX_CHARS)
            self.wanted = {note.file for note in wanted}
            self._ask_all(self._batches(wanted))
        # a contradiction that was seen goes before whatever else its notes were named for
        ops, waiting = gathered([*self.sure, *self.flags, *self.ops], self.notes, self.conflicts)
        looks = Looks(
            by, {note.file: face(note) for note in free}, frozenset(self.answered),
            frozenset(self.unanswered),
            frozenset(self.wanted - self.answered - self.unanswered), tuple(self.sure),
        )  # fmt: skip
        looks = replace(looks, waiting=looks.waiting | looks.of_model(waiting))
        return ProposedPlan(
            plan_of(ops, self.notes), self.talk.tokens,
            bool(waiting) or waits, self.talk.name, tuple(self.refused), tuple(self.refusals),
            tuple(self.talk.failed), tuple(self.talk.rejected), tuple(self.sure), looks,
            read=tuple(self.read),
        )  # fmt: skip

    def _size(self) -> Size:
        """What a note as it is shown takes of a question, which holds MAX_CHARS."""
        measure = self.talk.room().less(_AROUND).measure(MAX_CHARS)
        return lambda shown: measure(as_text(shown)) + len(", ")

    def _batches(self, notes: _Part) -> list[_Part]:
        """The notes in batches that fit one question each. What alone is too long for the model
        is left out, and said."""
        measure = self._size()
        sizes = {note.file: measure(whole(note)) for note in notes}
        for note in notes:
            if sizes[note.file] > MAX_CHARS >= size(whole(note)):
                self._leave_out(note)
        fitting = [note for note in notes if sizes[note.file] <= MAX_CHARS]
        is_one = sum(sizes[note.file] for note in fitting) <= MAX_CHARS
        limit = MAX_CHARS if is_one else MAX_CHARS * _PACKED // 100
        return [*batches(fitting, lambda note: min(sizes[note.file], limit), limit)]

    def _leave_out(self, note: StoredNote) -> None:
        text = f"The note {shown(note.file)} is too long for {self.talk.name or 'the model'}"
        self.refusals.append(("context", f"{text}, which was not asked about it."))
        self.unanswered.add(note.file)

    def _ask_all(self, parts: Sequence[_Part]) -> None:
        waiting = deque(parts)
        done = 0
        while waiting:
            part = waiting.popleft()
            total = done + 1 + len(waiting)
            if self.talk.is_over:
                code = self.talk.failed[-1][0]
                left = f"{total - done} more batches were not asked about."
                return self.talk.failed.append((code, left))
            notes = f"{len(part)} note{'' if len(part) == 1 else 's'}"
            self.planner.report(done, total, f"asking about {notes}")
            waiting.extendleft(reversed(self._batch(part)))
            done += 1
        return self.planner.report(done, done, "asked")

    def _smaller(self, part: _Part, *, had_neighbours: bool) -> list[_Part]:
        """The notes of a question that was too long for the model, in more questions."""
        fitting = self._batches(part)
        if [len(each) for each in fitting] != [len(part)]:
            return fitting
        if len(part) > 1:
            return halves(part)
        (note,) = part
        if had_neighbours:
            self.alone.add(note.file)
            return [part]
        self._leave_out(note)
        return []

    # one batch

    def _batch(self, part: _Part) -> list[_Part]:
        """Ask about these notes. What is left of them to ask about: all, in more questions, where
        they were too many for the model; those that a cut answer did not come to."""
        if self.planner.by_pairs:
            return self._ask_by_pairs(part)
        more: list[StoredNote] = []
        heads: list[StoredNote] = []
        if not any(note.file in self.alone for note in part):
            size = self._size()
            room = MAX_CHARS - sum(size(whole(note)) for note in part)
            more, heads = self.scope.beside(part, size, room)
        notes = sorted([*part, *more], key=lambda note: note.file)
        files = {note.file for note in notes}
        shown = [*map(whole, notes), *map(brief, heads)]
        try:
            ops = self.talk.ops(as_text(self._question(shown)))
        except ContextExceeded:
            return self._smaller(part, had_neighbours=bool(more or heads))
        except PlanRefused:
            # nothing of use was said about these notes: whether they are asked about again is the
            # record's to say
            self.unanswered |= files
            return []
        except MdmemoryError:
            return []  # there was no answer at all
        is_cut, there = self.talk.is_cut, {file for op in ops for file in named(op)}
        self.answered |= files
        is_of_use = self._judge(ops, notes, {note.file for note in heads})
        if is_cut and ops:
            self.talk.count_cut(of_use=is_of_use)
        return halves([note for note in part if note.file not in there]) if is_cut else []

    def _ask_by_pairs(self, part: _Part) -> list[_Part]:
        """Ask whether notes of this part say what the one nearest to them says, where the guards
        let the two become one."""
        for first, other in dialogue.list_nearest(part, self.scope.find_nearest):
            op = dialogue.merge_pair(first, other)
            files = {first.file, other.file}
            if self.talk.is_over or not _list_passed(self._check([op], [first, other], ())):
                continue
            is_same = self.talk.is_same(first, other)
            (self.unanswered if is_same is None else self.answered).update(files)
            self.ops += [op] if is_same else []
        if not self.talk.is_over:
            self.answered |= {note.file for note in part} - self.unanswered
        return []

    def _judge(self, ops: Sequence[Op], part: _Part, heads: Collection[str]) -> bool:
        """Take over what the guards let pass of these ops; whether anything was."""
        first = last = self._check(ops, part, heads)
        if (first.refusals or first.refused) and not self.talk.is_asked_twice:
            last = self._correct(ops, first, part, heads)
        if last.refusals or last.refused:
            self.talk.reject()
        passed = self._prove(_list_passed(last))
        for op in passed:
            crosses = isinstance(op, Flag) and not set(heads).isdisjoint(op.files)
            (self.flags if crosses else self.ops).append(op)
        if last.refusals:
            self.unanswered.update(note.file for note in part)
        self.unanswered.update(file for op, _, _ in last.refused for file in named(op))
        self.refused += last.refused
        self.refusals += last.refusals
        self.refusals += [("schema", problem) for problem in self.talk.flawed]
        return bool(passed)

    def _prove(self, ops: Sequence[Op]) -> list[Op]:
        """Those of these ops that a second reading stands by, and flags; a delete waits for a
        person, who alone can say that a fact is no longer of use."""
        for op in ops:
            if isinstance(op, Delete):
                why = f"{shown(op.file)} would go: {op.reason}. Only you can say that."
                self.refused.append((op, "waits", why))
        wanted = [op for op in ops if isinstance(op, Merge | Rewrite)]
        doubts = self.talk.read_again(wanted, {note.file: note for note in self.notes})
        proven: list[Op] = [op for op in ops if isinstance(op, Flag)]
        for op in wanted:
            doubt = doubts.get(op)
            target = shown(op.target if isinstance(op, Merge) else op.file)
            if doubt == "":
                proven.append(op)
                self.read.append(op)
            elif doubt:
                why = f"A second reading says that {target} {doubt}."
                self.refused.append((op, "doubted", why))
            else:
                self.refused.append((op, "unread", f"No second reading of {target} was had."))
                self.unanswered.update(named(op))
        return proven

    def _correct(
        self, ops: Sequence[Op], first: Verdict, part: _Part, heads: Collection[str]
    ) -> Verdict:
        """The verdict after the model was told, once, what was refused; the first one where its
        second answer is of no use."""
        wrong = list(ops) if first.refusals else [op for op, _, _ in first.refused]
        about = {file for op in wrong for file in named(op)}
        question = self._question(
            [whole(note) for note in part if first.refusals or note.file in about]
        )
        if first.refusals:  # the plan as a whole is meant
            question["plan"] = {"ops": [plans.as_json(op) for op in wrong]}
            question["refused"] = [{"code": code, "message": why} for code, why in first.refusals]
        else:
            question["refused"] = [
                {"op": plans.as_json(op), "code": code, "message": why}
                for op, code, why in first.refused
            ]
        try:
            again = self.talk.ops(as_text(question), is_last=True)
        except MdmemoryError:
            return first
        fine = _list_passed(first)
        last = self._check([*fine, *again], part, heads)
        return first if last.refusals and not first.refusals else last

    def _check(self, ops: Sequence[Op], part: _Part, heads: Collection[str]) -> Verdict:
        hidden = {note.file for note in self.notes} - {note.file for note in part}
        strange: list[tuple[Op, str, str]] = []
        known: list[Op] = []
        for op in ops:
            seen = heads if isinstance(op, Flag) else ()
            if file := next((f for f in sources_of(op) if f in hidden and f not in seen), None):
                how = "by its description only, so it can only be flagged"
                how = f"shown {how}" if file in heads else "not shown"
                strange.append((op, "unknown_file", f"The note {shown(file)} was {how}."))
            else:
                known.append(op)
        verdict = guards.check(
            Plan(tuple(known)), self.notes,
            open_conflicts=[frozenset(pair) for pair in self._open_pairs()],
            has_secret=lambda text: self.planner.redact(text) != text,
            refused_before=len(strange),
            # a pair that a small model is asked about has no second reading
            read=() if self.planner.by_pairs else known,
        )  # fmt: skip
        return replace(verdict, refused=(*strange, *verdict.refused))

    def _question(self, shown: Sequence[Mapping[str, str]]) -> dict[str, Any]:
        """Ask for a plan for these notes. Of the conflicts that need no flag, for they wait or were
        flagged in this pass, and of the files that others link to, those that concern them."""
        files = {note["file"] for note in shown}
        flags = [op.files for op in (*self.ops, *self.flags) if isinstance(op, Flag)]
        pairs = [*self._open_pairs(), *(pair for each in flags for pair in combinations(each, 2))]
        return {
            "today": self.planner.today,
            "notes": list(shown),
            "linked": sorted(files & self.linked),
            "may_remove": removable(len(self.notes)),
            "conflicts": [list(pair) for pair in pairs if files & set(pair)],
        }

    def _open_pairs(self) -> list[tuple[str, str]]:
        """The conflicts that wait for a person, as far as both notes can be read, and those that
        this pass will add without the model."""
        there = {note.file for note in self.notes}
        pairs = [entry.files for entry in self.conflicts if not entry.cleared]
        flags = (op for op in self.sure if isinstance(op, Flag))
        pairs += [pair for flag in flags for pair in plans.flagged_pairs(flag.files)]
        return list(dict.fromkeys(pair for pair in pairs if there.issuperset(pair)))


def _list_passed(verdict: Verdict) -> list[Op]:
    """What may go on. The skipped, too: the runner skips them, and says why."""
    return [*verdict.accepted, *(op for op, _ in verdict.skipped)]
