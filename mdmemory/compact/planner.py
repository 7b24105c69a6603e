"""What a planner is: notes in, a plan out; and the planner without a model.

A plan passes `guards.check` whoever made it, ourselves included. What is found without a model
stays within the removal budget and names no file twice; the rest waits for the next pass."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Protocol

from mdmemory.compact import plan as plans
from mdmemory.compact.guards import World, removable
from mdmemory.compact.pass_history import Looks, basis, read_undone
from mdmemory.compact.plan import MAX_PASS_LINES, Flag, Merge, Op, Plan, named
from mdmemory.compact.result import best
from mdmemory.compact.text_guards import same_key, wording
from mdmemory.store.conflicts import Entry, is_known
from mdmemory.store.note_links import has_own_keys
from mdmemory.store.store import StoredNote
from mdmemory.store.superseding import superseded_files
from mdmemory.text import conflict

if TYPE_CHECKING:
    from mdmemory.git.commits_of_store import History


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a proposal cost: tokens in and out, and model calls."""

    input: int = 0
    output: int = 0
    calls: int = 0


@dataclass(frozen=True, slots=True)
class ProposedPlan:
    """A plan with the digests of its files, without an op where none was to be had, and its cost.

    `more`: a limit left work that another pass would find, with no note changed. `model` is the
    one that was asked, if any. Of a planner that judges answers before it hands them on: `refused`
    are ops that it left out (op, code, sentence), `refusals` why it left out whole answers and
    `failed` why there was none to read (code, sentence), `rejected` the answers all this is about,
    and `sure` the ops of the plan that code found, without a model. `looks` says what became of
    the notes that a model was to be shown. `doubts` are what a second reading says of ops that are
    done all the same (op, sentence), and `read` the ops that it affirms.
    """

    plan: Plan
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
    read: tuple[Op, ...] = ()


class Planner(Protocol):
    """Proposes; never writes."""

    @property
    def kind(self) -> str:
        """The word for it in settings, status and the compact JSON."""

    def propose(self, notes: Sequence[StoredNote], *, conflicts: Sequence[Entry]) -> ProposedPlan:
        """A plan for these notes. `conflicts` are all entries of the ledger, cleared ones too.

        The caller leaves out what must not be read by a planner, such as held notes.
        """


def plan_of(ops: Sequence[Op], notes: Iterable[StoredNote]) -> Plan:
    """The ops as a plan, with the digests of those of these notes that they name."""
    files = {file for op in ops for file in named(op)}
    return Plan(tuple(ops), {note.file: note.digest for note in notes if note.file in files})


_IsOld = Callable[[Op], bool]  # whether the op was done once and taken back
Differences = Mapping[frozenset[str], str]  # pairs of files, and why they differ


@dataclass(frozen=True, slots=True)
class Offline:
    """The default planner: merges notes that are the same but for case, punctuation and the order
    of sentences, and flags pairs that have the same words but for one literal. Sends nothing
    anywhere, costs no tokens.

    With a `history`, what was taken back counts for no limit: it would hide the rest for good.
    """

    history: History | None = None
    kind: str = "offline"

    def propose(self, notes: Sequence[StoredNote], *, conflicts: Sequence[Entry]) -> ProposedPlan:
        """A plan of merges and flags, the same for the same notes and ledger. What was taken back
        stands in it, too, and may name a file for the second time: whoever applies it leaves
        that out."""
        ops, taken_back, more = self.ops(notes, conflicts=conflicts)
        ops += taken_back
        return ProposedPlan(plan_of(ops, notes), more=more)

    def ops(
        self, notes: Sequence[StoredNote], *, conflicts: Sequence[Entry]
    ) -> tuple[list[Op], list[Op], bool]:
        """The ops of that plan, which no two name one file; those that were done once and taken
        back; and whether a limit keeps more for another pass."""
        notes = sorted(notes, key=lambda note: note.file)
        store = {note.file: note for note in notes}
        undone = read_undone(self.history) if self.history else {}

        def is_old(op: Op) -> bool:
            return bool(undone) and basis(op, store) in undone

        # A note that may hold secrets is left alone: a plan that quotes one is refused whole.
        free = [note for note in notes if note.note.text and not note.note.head.secrets]
        open_files = {file for entry in conflicts if not entry.cleared for file in entry.files}
        gone = superseded_files(notes)
        shown = [note for note in free if note.file not in gone]
        heads = [note.note.head for note in shown]
        pairs = conflict.find_pairs([h.description for h in heads], [h.type for h in heads])
        near = [(shown[one], shown[other]) for one, other in pairs]
        groups = _same_notes([note for note in free if note.file not in open_files])
        merges, old_merges, more = _merge_groups(groups, removable(len(notes)), is_old)
        # what the guards do not let pass would be refused in every pass
        accepted, _ = World(store).judge(merges)
        merges = [op for op in merges if op in accepted]
        busy = {file for op in merges for file in named(op)}
        flags, old_flags, waits = _flag(_differences(near, busy, conflicts), is_old)
        return [*merges, *flags], [*old_merges, *old_flags], more or waits


# --- which notes are one


def _same_notes(notes: Sequence[StoredNote]) -> list[list[StoredNote]]:
    """Groups of notes that say exactly the same, each with the one that stays first: a person's
    own note, else the best; without those of which no note may go."""
    groups = [[*notes]]
    for key in (wording, same_key):  # each is dearer than the one before
        parts: list[list[StoredNote]] = []
        for group in groups:
            alike: dict[Hashable, list[StoredNote]] = defaultdict(list)
            for note in group if len(group) > 1 else ():
                alike[key(note.note)].append(note)
            parts += [same for same in alike.values() if len(same) > 1]
        groups = parts
    ordered = []
    for group in groups:
        leading = best(group)
        group = [leading, *(note for note in group if note is not leading)]
        own = [note for note in group if has_own_keys(note.note)]
        first = own[0] if own else leading
        rest = [note for note in group if note is not first and note not in own]
        ordered += [[first, *rest]] if rest else []
    return ordered


def _merge_groups(
    groups: Sequence[Sequence[StoredNote]], budget: int, is_old: _IsOld
) -> tuple[list[Merge], list[Merge], bool]:
    """A merge for each group; those that were taken back, which cost nothing; and whether any had
    to wait."""
    merges: list[Merge] = []
    old: list[Merge] = []
    waits = False
    for first, *rest in groups:
        while going := rest[:budget]:
            # the fullest of bodies that are the same but for spaces and signs
            fullest = max((first, *going), key=lambda note: len(note.note.body.strip()))
            head, files = first.note.head, tuple(note.file for note in (first, *going))
            body = fullest.note.body.replace("\r\n", "\n")
            texts = (head.name, head.type, head.description, body)
            op = Merge(files, head.file, *texts, reason="the same words")
            rest = rest[budget:]
            if not is_old(op):
                budget -= len(going)
                merges.append(op)
                break
            old.append(op)
        waits = waits or bool(rest)
    return merges, old, waits


# --- which have the same words but for one literal


def _differences(
    near: Iterable[tuple[StoredNote, StoredNote]], busy: set[str], conflicts: Sequence[Entry]
) -> Differences:
    reasons: dict[frozenset[str], str] = {}
    for one, other in near:
        pair = frozenset((one.file, other.file))
        texts = (note.note.head.description for note in (one, other))
        odd = None if busy & pair else conflict.other_literal(*texts)
        if odd and not is_known(conflicts, one, other):
            reasons[pair] = conflict.why_contrary(odd)
    return reasons


def _flag(differences: Differences, is_old: _IsOld) -> tuple[list[Flag], list[Flag], bool]:
    """Flags for a person to read, those that were taken back, and whether any had to wait."""
    old: list[Flag] = []
    flags = _group_flags(differences)
    while again := [flag for flag in flags if is_old(flag)]:
        old += again
        gone = {frozenset(pair) for flag in again for pair in combinations(flag.files, 2)}
        # their notes are free for other groups
        differences = {pair: why for pair, why in differences.items() if pair not in gone}
        flags = _group_flags(differences)
    pairs = {frozenset(pair) for flag in flags for pair in plans.flagged_pairs(flag.files)}
    return flags, old, bool(differences.keys() - pairs)


def _group_flags(differences: Differences) -> list[Flag]:
    """Contradictions as groups that share no file, each file of a group against each other."""
    files: set[str] = set()
    flags: list[Flag] = []
    lines = MAX_PASS_LINES
    for pair, why in differences.items():
        if files & pair or not lines:
            continue
        group = sorted(pair)
        others = {file for each in differences if each & pair for file in each} - pair
        for other in sorted(others):
            fits = all(frozenset((other, file)) in differences for file in group)
            if fits and other not in files and len(group) < plans.MAX_FLAGGED:
                group.append(other)
        if len(plans.flagged_pairs(group)) > lines:
            group = sorted(pair)
        lines -= len(plans.flagged_pairs(group))
        files.update(group)
        flags.append(Flag(tuple(group), why))
    return flags
