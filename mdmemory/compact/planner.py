"""The planner without a model: merges notes that are the same but for case, punctuation and the
order of sentences, and flags pairs that have the same words but for one literal.

It proposes only what the guards let pass, so it stays within the removal budget and names no file
twice; what finds no room waits for the next pass.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from mdmemory.compact.guards import World, judge, removable
from mdmemory.compact.plan import (
    MAX_FLAGGED,
    MAX_PASS_LINES,
    Flag,
    Merge,
    Op,
    flagged_pairs,
    named,
    render,
)
from mdmemory.compact.result import best
from mdmemory.compact.text_guards import same_key, wording
from mdmemory.note.note import Note
from mdmemory.store.conflicts import Entry, is_known
from mdmemory.store.merged import has_own_keys
from mdmemory.store.store import StoredNote
from mdmemory.store.superseding import superseded_files
from mdmemory.text import conflict

if TYPE_CHECKING:
    from mdmemory.git.commits_of_store import History
from typing import Protocol

from mdmemory.compact.pass_history import Looks
from mdmemory.compact.plan import PlanRefused, parse
from mdmemory.llm.answer import Model


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


MAX_FLAGS = MAX_PASS_LINES  # pairs per pass; a person reads them

_SAME = "the same words"

_IsOld = Callable[[Op], bool]  # whether the op was done once and taken back
Group = tuple[list[StoredNote], str]  # the note that stays comes first; why they are one


@dataclass(frozen=True, slots=True)
class SureOps:
    """What is proposed without a model: `ops` to be done, those that were done once and taken back,
    and whether a limit keeps `more` for another pass."""

    ops: list[Op]
    taken_back: list[Op]
    more: bool


@dataclass(frozen=True, slots=True)
class Offline:
    """The default planner. Sends nothing anywhere, costs no tokens.

    With a `history`, what was taken back counts for no limit: it would hide the rest for good.
    """

    history: History | None = None
    kind: str = "offline"

    def propose(self, notes: Sequence[StoredNote], *, conflicts: Sequence[Entry]) -> ProposedPlan:
        """A plan of merges and flags, the same for the same notes and ledger. What was taken back
        stands in it, too, and may name a file for the second time: whoever applies it leaves
        that out."""
        sure = self.ops(notes, conflicts=conflicts)
        ops = [*sure.ops, *sure.taken_back]
        files = {file for op in ops for file in named(op)}
        digests = {note.file: note.digest for note in notes if note.file in files}
        return ProposedPlan(render(ops, digests), more=sure.more)

    def ops(self, notes: Sequence[StoredNote], *, conflicts: Sequence[Entry]) -> SureOps:
        """The ops of that plan, which no two name one file."""
        notes = sorted(notes, key=lambda note: note.file)
        is_old = self._find_undone({note.file: note for note in notes})
        # A note that may hold secrets is left alone: a plan that quotes one is refused whole.
        free = [note for note in notes if note.note.text and not note.note.head.secrets]
        open_files = {file for entry in conflicts if not entry.cleared for file in entry.files}
        gone = superseded_files(notes)
        told = [note for note in free if note.file not in gone]
        heads = [note.note.head for note in told]
        pairs = conflict.find_pairs([h.description for h in heads], [h.type for h in heads])
        near = [(told[one], told[other]) for one, other in pairs]
        groups = [*_exact(free, open_files)]
        merges, old_merges, more = _within(groups, removable(len(notes)), is_old)
        merges = _sound(merges, notes)
        busy = {file for op in merges for file in named(op)}
        flags, old_flags, waits = _flag(_differences(near, busy, conflicts), is_old)
        return SureOps([*merges, *flags], [*old_merges, *old_flags], more or waits)

    def _find_undone(self, notes: Mapping[str, StoredNote]) -> _IsOld:
        if self.history is None:
            return lambda op: False
        from mdmemory.compact.pass_history import basis, read_undone  # with it comes the database

        old = read_undone(self.history)
        return lambda op: bool(old) and basis(op, notes) in old


def _sound(merges: Sequence[Merge], notes: Sequence[StoredNote]) -> list[Merge]:
    """The merges that the guards let pass; the others would be refused in every pass."""
    store = {note.file: note for note in notes}
    accepted, _ = judge(merges, World(store, frozenset(), frozenset()))
    return [op for op in merges if op in accepted]


def _within(
    groups: Sequence[Group], budget: int, is_old: _IsOld
) -> tuple[list[Merge], list[Merge], bool]:
    """A merge for each group that shares no note with another; those that were taken back, which
    cost nothing; and whether any had to wait."""
    merges: list[Merge] = []
    old: list[Merge] = []
    busy: set[str] = set()
    for (first, *rest), why in groups:
        going = [note for note in rest if note.file not in busy][:budget]
        while going and first.file not in busy:
            op = _merge([first, *going], why)
            if not is_old(op):
                budget -= len(going)
                busy.update(op.sources)
                merges.append(op)
                break
            old.append(op)
            rest = [note for note in rest if note not in going]
            going = [note for note in rest if note.file not in busy][:budget]
    done = busy.union(*(op.sources for op in old))
    return merges, old, any(note.file not in done for (_, *rest), _ in groups for note in rest)


def _merge(group: Sequence[StoredNote], why: str) -> Merge:
    head = group[0].note.head
    # the fullest of bodies that are the same but for spaces and signs
    fullest = max(group, key=lambda note: len(note.note.body.strip()))
    return Merge(
        sources=tuple(note.file for note in group),
        target=head.file,
        name=head.name,
        type=head.type,
        description=head.description,
        body=fullest.note.body.replace("\r\n", "\n"),
        reason=why,
    )


# --- which notes are one


def _exact(notes: Sequence[StoredNote], fixed: Collection[str]) -> Iterator[Group]:
    """Groups of notes that say exactly the same, each with the best note first."""
    free = [note for note in notes if note.file not in fixed]
    # each key is dearer than the one before
    for some in _split([free], wording):
        for group in _split([some], same_key):
            first = best(group)
            yield from _group([first, *(note for note in group if note is not first)])


def _split(
    groups: Iterable[Sequence[StoredNote]], key: Callable[[Note], Hashable]
) -> Iterator[list[StoredNote]]:
    """The groups cut into those of one key, where it has two notes at least."""
    for group in groups:
        alike: dict[Hashable, list[StoredNote]] = defaultdict(list)
        for note in group if len(group) > 1 else ():
            alike[key(note.note)].append(note)
        yield from (same for same in alike.values() if len(same) > 1)


def _group(notes: Sequence[StoredNote]) -> Iterator[Group]:
    """The group, if any note of it may go; a person's own note stays first."""
    own = [note for note in notes if has_own_keys(note.note)]
    first = own[0] if own else notes[0]
    rest = [note for note in notes if note is not first and note not in own]
    if rest:
        yield [first, *rest], _SAME


# --- which have the same words but for one literal


def _differences(
    near: Iterable[tuple[StoredNote, StoredNote]],
    busy: AbstractSet[str],
    conflicts: Sequence[Entry],
) -> dict[frozenset[str], str]:
    entries = defaultdict(list)
    for entry in conflicts:
        entries[frozenset(entry.files)].append(entry)
    reasons: dict[frozenset[str], str] = {}
    for one, other in near:
        pair = frozenset((one.file, other.file))
        if busy & pair or is_known(entries[pair], one, other):
            continue
        texts = (note.note.head.description for note in (one, other))
        if odd := conflict.other_literal(*texts):
            reasons[pair] = conflict.why_contrary(odd)
    return reasons


def _flag(
    differences: Mapping[frozenset[str], str], is_old: _IsOld
) -> tuple[list[Flag], list[Flag], bool]:
    """Flags for a person to read, those that were taken back, and whether any had to wait."""
    old: list[Flag] = []
    flags = _flags(differences)
    while again := [flag for flag in flags if is_old(flag)]:
        old += again
        gone = {frozenset(pair) for flag in again for pair in combinations(flag.files, 2)}
        # their notes are free for other groups
        differences = {pair: why for pair, why in differences.items() if pair not in gone}
        flags = _flags(differences)
    pairs = {frozenset(pair) for flag in flags for pair in flagged_pairs(flag.files)}
    return flags, old, bool(differences.keys() - pairs)


def _flags(differences: Mapping[frozenset[str], str]) -> list[Flag]:
    """Contradictions as groups that share no file, each file of a group against each other."""
    by_file: dict[str, set[str]] = defaultdict(set)
    for pair in differences:
        for file in pair:
            by_file[file] |= pair
    files: set[str] = set()
    flags: list[Flag] = []
    lines = MAX_FLAGS
    for pair, why in differences.items():
        if not files & pair:
            group = _grow(pair, differences, by_file, files)
            if len(flagged_pairs(group)) > lines:
                group = sorted(pair) if lines else []
            lines -= len(flagged_pairs(group))
            files.update(group)
            flags += [Flag(tuple(group), why)] if group else []
    return flags


def _grow(
    pair: frozenset[str],
    differences: Collection[frozenset[str]],
    by_file: Mapping[str, set[str]],
    files: Collection[str],
) -> list[str]:
    group = sorted(pair)
    for other in sorted({file for each in pair for file in by_file[each]} - pair):
        fits = all(frozenset((other, file)) in differences for file in group)
        if fits and other not in files and len(group) < MAX_FLAGGED:
            group.append(other)
    return group
