"""A compaction pass from end to end: due, plan, guards, checkpoint, one commit.

The planner is asked while no lock is held; the notes are read again under the lock, and the
guards judge the plan against what they are then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from itertools import islice
from pathlib import Path

from mdmemory.compact import guards, left_out, pass_history
from mdmemory.compact import plan as plans
from mdmemory.compact.guards import removable, removed
from mdmemory.compact.pass_history import basis, read_undone
from mdmemory.compact.plan import Merge, Op, Plan, PlanRefused, Rewrite, named
from mdmemory.compact.planner import Offline, Planner, ProposedPlan, Tokens
from mdmemory.compact.result import changes as changes_of
from mdmemory.compact.result import pairs, subject_of
from mdmemory.errors import Busy, NoState, NotFound, Unwritable
from mdmemory.files import digest, read_regular, to_bytes, to_text
from mdmemory.git.lock import hold_turn
from mdmemory.git.objects import pack_if_due
from mdmemory.git.transaction import Change
from mdmemory.llm.answer import Asking, Model
from mdmemory.privacy import redacted_text
from mdmemory.store import conflicts
from mdmemory.store.conflicts import Entry
from mdmemory.store.store import LEDGER, StoredNote
from mdmemory.store.superseding import Chains, in_force, superseded_files
from mdmemory.store.writer import Group, Writer

Report = Callable[[int, int, str], None]  # done, total, what

KEPT = timedelta(days=30)  # from the day that a note was superseded
_AT_ONCE = 100  # notes whose time is over that are looked at together
_BUSY = "Another compaction is under way."
_PATIENCE = 5.0  # seconds that a person waits for another pass; one that is merely due does not
NOTHING_NEW = "No note is new since a model last saw it. `--all` shows it all notes."
# Refusals of an op's names and number, which leave nothing of a plan where they hold for all of it.
OF_THE_PLAN = ("bad_name", "unknown_file", "overlap", "budget")


@dataclass
class Outcome:
    """How a pass ended: `outcome` is applied, noop, refused, not_due, dry_run, busy or failed.

    `refused` and `skipped` are single ops that were left out; `refusals` say why a whole plan was,
    or why there was none (of one batch, where the others went on). `more`: it was applied, and a
    limit left work for the next pass. `automatic`: nobody typed it, it was due. `model` is the one
    that was asked, "" when none was; `waiting` are the skipped ops that a limit keeps for another
    pass; `doubts` are what a second reading says of ops that are done all the same; `about` is the
    subject of the commit without "memory:"; `digests` are those of the notes
    that the ops in `applied` name, as the pass saw them.
    """

    outcome: str
    planner: str
    tokens: Tokens = field(default_factory=Tokens)
    planned: list[Op] = field(default_factory=list)
    applied: list[Op] = field(default_factory=list)
    skipped: list[tuple[Op, str]] = field(default_factory=list)
    refused: list[tuple[Op, str, str]] = field(default_factory=list)
    refusals: list[tuple[str, str]] = field(default_factory=list)
    id: str | None = None
    checkpoint: str | None = None
    commit: str | None = None
    why: str = ""
    more: bool = False
    model: str = ""
    waiting: list[tuple[Op, str]] = field(default_factory=list)
    automatic: bool = False
    about: str = ""
    digests: dict[str, str] = field(default_factory=dict)
    doubts: list[tuple[Op, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Given:
    """The planner of `compact --plan`: somebody else's answer, as it came. Where `find_verifier`
    finds a model, it reads the plan again; what it doubts is said, and hinders nothing."""

    text: str | bytes
    find_verifier: Callable[[], Model | None] = lambda: None
    kind: str = "given"

    def propose(self, notes: Sequence[StoredNote], *, conflicts: Sequence[Entry]) -> ProposedPlan:
        """The plan that was given."""
        try:
            plan = plans.parse(self.text)
        except PlanRefused as problem:
            return ProposedPlan(Plan(()), refusals=problem.refusals)
        verifier = self.find_verifier()
        if verifier is None:
            return ProposedPlan(plan)
        from mdmemory.compact.dialogue import read_again

        known = {note.file: note for note in notes}
        texts = (op for op in plan.ops if isinstance(op, Merge | Rewrite))
        ops = [op for op in texts if known.keys() >= {*plans.sources_of(op)}]
        reading = read_again(verifier, ops, known)
        failure = reading.failure.message if reading.failure else "It was asked, and did not say."
        doubts: list[tuple[Op, str]] = []
        for op in ops:
            if (doubt := reading.doubts.get(op)) is None:
                doubts.append((op, f"No second reading: {failure}"))
            elif doubt:
                doubts.append((op, f"A second reading says that it {doubt}."))
        cost = Tokens(reading.input, reading.output, reading.calls)
        read = tuple(op for op in ops if reading.doubts.get(op) == "")
        return ProposedPlan(plan, cost, model=verifier.name, doubts=tuple(doubts), read=read)


@dataclass(frozen=True)
class Compactor:
    """What a pass needs. `redact` cleans a refused answer before it is kept; `now` is UTC."""

    writer: Writer
    planner: Planner
    redact: Callable[[str], str]
    now: datetime
    _known: dict[str, StoredNote] = field(default_factory=dict)

    def run(self, *, if_due: bool = False, dry_run: bool = False) -> Outcome:
        """One pass. Raises MdmemoryError where nothing could be taken back (no git, a merge), and
        Busy where another process is at work, unless the pass was merely due.

        A model that fails is an outcome; what else a planner raises goes through, with the store
        as it was. MEMORY.md is up to date afterwards whatever the outcome, but for a dry run.
        """
        outcome = self._turn(if_due, dry_run)
        if not dry_run and outcome.outcome != "busy":  # who is at work then sees to it
            self.writer.refresher.settle()
            if self.writer.is_own and self.writer.repository:
                pack_if_due(self.writer.repository)
        return outcome

    def _turn(self, if_due: bool, dry_run: bool) -> Outcome:
        if if_due and pass_history.why_due(self.writer, self.now) is None:
            return Outcome("not_due", self.planner.kind)
        if dry_run:
            return self._pass(dry_run)
        if refusal := self.writer.refusal():
            raise refusal
        try:
            with hold_turn(self._place(), 0.0 if if_due else _PATIENCE, _BUSY):
                # another's pass may have ended between the question and our turn
                if if_due and pass_history.why_due(self.writer, self.now) is None:
                    return Outcome("not_due", self.planner.kind)
                return self._pass(dry_run, if_due)
        except Busy as problem:
            if not if_due:
                raise
            return Outcome("busy", self.planner.kind, why=problem.message)

    def _pass(self, dry_run: bool, if_due: bool = False) -> Outcome:
        notes = self._notes()
        before = _digests(notes)
        proposal = self._proposal(notes, dry_run)
        try:
            with nullcontext() if dry_run else self.writer.lock_store():
                outcome = self._judge_and_apply(proposal, dry_run, if_due)
        except Busy as problem:
            if not if_due:
                raise
            return Outcome("busy", self.planner.kind, proposal.tokens, why=problem.message)
        done = outcome.outcome == "applied"
        at_limit = done and (proposal.more or outcome.more)
        outcome.more = at_limit or (done and bool(proposal.failed))
        if proposal.looks and outcome.outcome == "noop" and not proposal.tokens.calls:
            outcome.why = NOTHING_NEW
        if not dry_run:
            with self.writer.state() as state:
                last = state.last_pass()
            how = pass_history.end_of(outcome.outcome, outcome.more, at_limit, last, before)
            self._record(how, proposal, outcome)
            self._keep(proposal, outcome)
        return outcome

    def _proposal(self, notes: Sequence[StoredNote], dry_run: bool) -> ProposedPlan:
        try:
            replaced = superseded_files(notes)
            entries = conflicts.parse(self._ledger())
            entries = [entry for entry in entries if replaced.isdisjoint(entry.files)]
            # not the held notes, not the superseded ones, and not what cannot be read
            on_hold = self.writer.refresher.catalog().held
            free = [note for note in in_force(notes) if note.file not in on_hold and note.note.text]
            return self.planner.propose(free, conflicts=entries)
        except Exception:
            if not dry_run:
                self._record("failed")
            raise

    def _judge_and_apply(self, proposal: ProposedPlan, dry_run: bool, if_due: bool) -> Outcome:
        outcome = Outcome(
            "noop", self.planner.kind, proposal.tokens, model=proposal.model, automatic=if_due,
            planned=[*proposal.plan.ops, *(op for op, _, _ in proposal.refused)],
            doubts=[*proposal.doubts],
        )  # fmt: skip
        notes = {note.file: note for note in self._notes()}
        plan, undone = pass_history.drop_undone(proposal.plan, notes, self.writer.history)
        sure = [*proposal.sure]
        if not isinstance(self.planner, Given):  # a person's own plan is done as it is
            plan, ops, more = self._with_outlived(plan, notes)
            sure += ops
            outcome.planned += ops
            outcome.more = outcome.more or more
        removals = outcome.automatic and any(map(removed, plan.ops))
        pairs_open = conflicts.open_entries(self._ledger(), superseded_files(notes.values()))
        verdict = guards.check(
            plan,
            list(notes.values()),
            open_conflicts=[frozenset(entry.files) for entry in pairs_open],
            held_files=self.writer.refresher.catalog().held,
            has_secret=self.writer.refresher.is_secret,
            gone=pass_history.gone_lately(self.writer.history, self.now) if removals else 0,
            refused_before=len(proposal.refused),
            sure=sure,
            read=proposal.read,
        )
        outcome.skipped = [*undone, *verdict.skipped]
        outcome.waiting = [*verdict.skipped]
        outcome.refused = [*verdict.refused, *proposal.refused]
        flawed = [("schema", problem) for problem in plan.flawed]
        outcome.refusals = [*verdict.refusals, *flawed, *proposal.refusals, *proposal.failed]
        groups = [] if verdict.refusals else self._groups(verdict.accepted, notes, outcome)
        outcome.applied = [op for ops, _ in groups for op in ops]
        seen = (notes[file] for op in outcome.applied for file in named(op) if file in notes)
        outcome.digests = {note.file: note.digest for note in seen}
        refused = verdict.refusals or flawed or proposal.refusals or outcome.refused
        if verdict.refusals or (refused and not verdict.accepted):
            outcome.outcome = "refused"
            # where not one op could be read as it stood, that is why there was no plan
            outcome.refusals += [
                (code, why) for _, code, why in verdict.refused if code in OF_THE_PLAN
            ]
        elif proposal.failed and not groups:
            outcome.outcome = "failed"
        elif dry_run:
            outcome.outcome = "dry_run"
        elif groups:
            self._write([group for _, group in groups], outcome, notes)
        return outcome

    def _with_outlived(
        self, plan: Plan, notes: Mapping[str, StoredNote]
    ) -> tuple[Plan, list[Op], bool]:
        """The plan with a delete for each outlived note that nobody else works on, as far as the
        number of notes that a plan may remove has room for it; these deletes; and whether others
        have to wait. Git keeps the text.

        A note that something links to stays, and so does one that an undo brought back. Of very
        many notes some hundred go in one pass: whether one may go is a question to git.
        """
        from mdmemory.actions.replacing import tell_anothers

        is_anothers = tell_anothers(self.writer, many=True)
        busy = {file for op in plan.ops for file in named(op)}
        today = self.now.date().isoformat()
        free = [note for note in outlived([*notes.values()], today) if note.file not in busy]
        undone = read_undone(self.writer.history) if free and self.writer.history else {}
        rest = iter(free)
        deletes: list[Op] = []
        while len(deletes) < _AT_ONCE and (some := [*islice(rest, _AT_ONCE)]):
            fresh: list[Op] = []
            for head in (note.note.head for note in some if not is_anothers(note)):
                why = f"superseded on {head.superseded}"
                why = why if head.superseded else f"held until {head.expires}"
                fresh.append(plans.Delete(head.file, why))
            fresh = [op for op in fresh if basis(op, notes) not in undone]
            if not fresh:
                continue
            deletes += fresh
            verdict = guards.check(
                Plan((*plan.ops, *deletes)), [*notes.values()], sure=deletes,
                held_files=self.writer.refresher.catalog().held,
                has_secret=self.writer.refresher.is_secret,
            )  # fmt: skip
            refused = {op for op, code, _ in verdict.refused if code != "budget"}
            deletes = [op for op in deletes if op not in refused]
        room = max(0, removable(len(notes)) - sum(map(removed, plan.ops)))
        ops = deletes[:room]
        digests = {file: notes[file].digest for op in ops for file in named(op)}
        whole = replace(plan, ops=(*plan.ops, *ops), digests={**plan.digests, **digests})
        return whole, ops, len(deletes) > room or next(rest, None) is not None

    def _groups(
        self, ops: Sequence[Op], notes: Mapping[str, StoredNote], outcome: Outcome
    ) -> list[tuple[list[Op], Group]]:
        """The ops that change something, each with its files; the flags share the ledger. A flag
        beyond the lines that a person reads waits, and `outcome` is told."""
        groups: list[tuple[list[Op], Group]] = []
        before = self._ledger()
        ledger = conflicts.Ledger(before)
        flags: list[Op] = []
        today = self.now.date().isoformat()
        lines = plans.MAX_PASS_LINES
        for op in ops:
            if isinstance(op, plans.Flag):
                found_pairs = pairs(op, notes)
                if len(found_pairs) > lines:
                    outcome.waiting.append((op, "Enough was flagged in this pass; this waits."))
                    outcome.skipped.append(outcome.waiting[-1])
                    outcome.more = True
                elif ledger.add(found_pairs, today):
                    flags.append(op)
                    lines -= len(found_pairs)
            elif changes := changes_of(op, notes, today):
                groups.append(([op], Group(plans.describe(op), tuple(changes))))
        if flags:
            old = digest(to_bytes(before)) if before else None
            change = Change(LEDGER, old, to_bytes(ledger.text()))
            groups.append((flags, Group("\n".join(map(plans.describe, flags)), (change,))))
        return groups

    def _write(
        self, groups: Sequence[Group], outcome: Outcome, notes: Mapping[str, StoredNote]
    ) -> None:
        changes = [change for group in groups for change in group.changes]
        about = subject_of(outcome.applied, changes, notes)
        outcome.about = about.removeprefix("memory: ")
        count = sum(map(removed, outcome.applied)) if outcome.automatic else 0
        written = self.writer.write(
            about,
            groups,
            kind="compact",
            destructive=True,
            trailers=(
                ("Memory-Planner", self.planner.kind),
                *([("Memory-Model", " ".join(outcome.model.split()))] if outcome.model else []),
                *((pass_history.BASIS, basis(op, notes)) for op in outcome.applied),
                *([(pass_history.REMOVED, str(count))] if count else []),
            ),
            by_model=True,
            checkpoint=None
            if self.writer.waits
            else self.writer.checkpoint_all([change.file for change in changes]),
        )
        outcome.outcome = "applied" if written.done else "noop"
        outcome.id, outcome.commit = written.id, written.commit
        outcome.checkpoint = written.checkpoint
        late = dict(written.kept)
        outcome.skipped += [
            (op, late[file]) for op in outcome.applied for file in named(op) if file in late
        ]

    def _record(
        self, how: str, proposal: ProposedPlan | None = None, outcome: Outcome | None = None
    ) -> None:
        notes = self._notes()
        with self.writer.state() as state:
            state.record_pass(self.now.isoformat(), how, _digests(notes))
            if proposal and proposal.looks and outcome:
                waiting = [op for op, _ in outcome.waiting]
                today = self.now.date().isoformat()
                pass_history.remember_looks(
                    state, proposal.looks, notes, today, outcome.applied, waiting
                )

    def _keep(self, proposal: ProposedPlan, outcome: Outcome) -> None:
        answers = [*proposal.rejected]
        if isinstance(self.planner, Given) and outcome.outcome == "refused":
            text = self.planner.text
            answers.append(text if isinstance(text, str) else text.decode("utf-8", "replace"))
        try:
            folder = self.writer.project.prepare_private()
            left_out.keep_answers(folder / "refused", answers, self.redact, self.now)
            if outcome.refused:
                notes = {note.file: note for note in self._notes()}
                left_out.keep(folder, outcome.refused, notes, self.now.date().isoformat())
        except Unwritable as problem:
            if answers:
                self.writer.tell(f"A refused answer could not be kept. {problem.message}")

    def _notes(self) -> list[StoredNote]:
        """All notes, read anew: a hand may change one at any moment of a pass."""
        notes = self.writer.refresher.store.notes(self._known)
        self._known.update((note.file, note) for note in notes)
        return notes

    def _ledger(self) -> str:
        try:
            path = self.writer.project.store / LEDGER
            return to_text(read_regular(path))
        except NotFound:
            return ""

    def _place(self) -> Path:
        """The file that a pass holds, so that no other begins."""
        try:
            return self.writer.project.prepare_private() / "compact.lock"
        except NoState:
            if self.writer.repository is None:
                raise
            return self.writer.repository.common_dir / "mdmemory-compact.lock"


def compact(
    writer: Writer, now: datetime, *, plan: str | bytes | None, model: Model | None, offline: bool,
    if_due: bool, dry_run: bool, everything: bool, report: Report,
) -> Outcome:  # fmt: skip
    """One pass by the given `plan`, by no model where none is chosen or `offline`, else by `model`
    or the one that the settings choose, which is shown what is new, or `everything`. Errors are
    those of `Compactor.run`.

    `report(done, total, what)` hears of each question to a model.
    """
    planner = _planner(writer, now.date().isoformat(), plan, model, offline, everything, report)
    return Compactor(writer, planner, redacted_text, now).run(if_due=if_due, dry_run=dry_run)


def _planner(
    writer: Writer, today: str, plan: str | bytes | None, model: Model | None, offline: bool,
    everything: bool, report: Report,
) -> Planner:  # fmt: skip
    from mdmemory.llm import choose

    if plan is not None:
        return Given(plan, lambda: model or choose.verifier(writer.project, today))
    kind = model.kind if model else writer.project.settings.text("planner")
    if offline or kind == "offline":
        return Offline(writer.history)
    from mdmemory.compact.model_planner import ModelPlanner

    def ask() -> Asking:
        chosen = choose.asking("compact", writer.project, today, model)
        assert chosen is not None, "a planner with a model is chosen"
        return chosen

    def record(notes: Sequence[StoredNote]) -> pass_history.LookRecord:
        with writer.state() as state:
            return pass_history.read_looks(state, writer.history, notes, today)

    first = Offline(writer.history)
    by_pairs = model is None and writer.project.settings.text("llm.questions") == "pairs"
    return ModelPlanner(
        kind, ask, today, redacted_text, report, first, record, everything, by_pairs
    )


def outlived(notes: Sequence[StoredNote], today: str) -> list[StoredNote]:
    """The notes whose own last day is past, and those that were superseded over 30 days ago, and
    that a note in force stands for.

    One that replaced a superseded note waits until that one is gone, so that no mark names a note
    that is not there. A mark without a day is never old.
    """
    superseded = superseded_files(notes)
    day = date.fromisoformat(today)
    expired = [note for note in notes if _parse_date(note.note.head.expires) < day]
    old = [
        note for note in notes
        if note.file in superseded and _parse_date(note.note.head.superseded) < day - KEPT
    ]  # fmt: skip
    if not old and not expired:
        return []
    chains = Chains(notes)
    gone = {note.file: note for note in (*expired, *(note for note in old if chains.last(note)))}
    return [note for note in gone.values() if not chains.has_replaced(note)]


def _parse_date(written: str) -> date:
    try:
        return date.fromisoformat(written)
    except ValueError:
        return date.max


def _digests(notes: Sequence[StoredNote]) -> dict[str, str]:
    return {note.file: note.digest for note in notes}
