"""The planner without a model: merges exact duplicates, flags contradictions by form.

It proposes only what the guards let pass, so it stays within the removal budget and names no file
twice; what finds no room waits for the next pass.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence

from mdmemory.compact.contradiction import contradiction, profile
from mdmemory.compact.guards import check, removable
from mdmemory.compact.near import candidates, plain, same_key
from mdmemory.compact.plan import MAX_FLAGGED, Flag, Merge, Op, Plan, named, render
from mdmemory.compact.planner import Proposal
from mdmemory.compact.result import best
from mdmemory.store.conflicts import Entry, known
from mdmemory.store.store import StoredNote

MAX_FLAGS = 50  # per pass; a person reads them


class Offline:
    """The default planner. Sends nothing anywhere, costs no tokens."""

    kind = "offline"

    def propose(self, notes: Sequence[StoredNote], *, conflicts: Sequence[Entry]) -> Proposal:
        """A plan of merges and flags, the same for the same notes and ledger."""
        # A note that may hold secrets is left alone: a plan that quotes one is refused whole.
        notes = sorted(notes, key=lambda note: note.file)
        free = [note for note in notes if note.note.text and not note.note.head.secrets]
        open_files = {file for entry in conflicts if not entry.cleared for file in entry.files}
        movable = [note for note in free if note.file not in open_files]
        merges = _sound(list(_merges(movable, removable(len(notes)))), notes)
        busy = {file for op in merges for file in named(op)}
        flags = list(_flags([note for note in free if note.file not in busy], conflicts))
        ops: list[Op] = [*merges, *flags]
        files = {file for op in ops for file in named(op)}
        digests = {note.file: note.digest for note in notes if note.file in files}
        return Proposal(render(ops, digests))


def _sound(merges: Sequence[Merge], notes: Sequence[StoredNote]) -> tuple[Op, ...]:
    """The merges that the guards let pass; the others would be refused in every pass."""
    return check(Plan(tuple(merges)), notes, has_secret=lambda text: False).accepted


def _merges(notes: Iterable[StoredNote], budget: int) -> Iterator[Merge]:
    for group in _duplicates(notes):
        group = group[: budget + 1]
        if len(group) > 1:
            budget -= len(group) - 1
            yield _merge(group)


def _duplicates(notes: Iterable[StoredNote]) -> Iterator[list[StoredNote]]:
    """Groups of notes that say exactly the same, each with the best note first."""
    alike: dict[Hashable, list[StoredNote]] = defaultdict(list)
    for note in notes:
        head = note.note.head
        alike[(head.type, plain(head.description), plain(note.note.body))].append(note)
    for rough in alike.values():
        exact: dict[Hashable, list[StoredNote]] = defaultdict(list)
        for note in rough if len(rough) > 1 else ():
            exact[same_key(note.note)].append(note)
        for group in exact.values():
            first = best(group)
            yield [first, *(note for note in group if note is not first)]


def _merge(group: Sequence[StoredNote]) -> Merge:
    head = group[0].note.head
    fullest = max(group, key=lambda note: len(note.note.body.strip()))
    return Merge(
        sources=tuple(note.file for note in group),
        target=head.file,
        name=head.name,
        type=head.type,
        description=head.description,
        body=fullest.note.body.replace("\r\n", "\n"),
        reason="the same, word for word",
    )


def _flags(notes: Sequence[StoredNote], conflicts: Sequence[Entry]) -> Iterator[Flag]:
    """Contradictions as groups that share no file, each file of a group against each other."""
    differences = _differences(notes, conflicts)
    taken: set[str] = set()
    flagged = 0
    for pair, why in differences.items():
        if taken & pair or flagged == MAX_FLAGS:
            continue
        group = _grown(pair, differences, taken)
        taken.update(group)
        flagged += 1
        yield Flag(tuple(group), why)


def _differences(
    notes: Sequence[StoredNote], conflicts: Sequence[Entry]
) -> dict[frozenset[str], str]:
    profiles = [profile(note.note) for note in notes]
    found: dict[frozenset[str], str] = {}
    entries = defaultdict(list)
    for entry in conflicts:
        entries[frozenset(entry.files)].append(entry)
    for left, right in candidates([note.note for note in notes]):
        pair = frozenset((notes[left].file, notes[right].file))
        why = contradiction(profiles[left], profiles[right])
        if why and not known(entries[pair], notes[left], notes[right]):
            found[pair] = why
    return found


def _grown(
    pair: frozenset[str], differences: Collection[frozenset[str]], taken: Collection[str]
) -> list[str]:
    group = sorted(pair)
    for other in sorted({file for two in differences if two & pair for file in two} - pair):
        fits = all(frozenset((other, file)) in differences for file in group)
        if fits and other not in taken and len(group) < MAX_FLAGGED:
            group.append(other)
    return group
