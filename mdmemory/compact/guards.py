"""The guards: what no plan may do, whatever planner wrote it.

Pure. What is wrong with an op costs that op and those that lean on it; the others go on. Only a
plan that would write a secret, name a path or empty the store is refused as a whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from mdmemory.compact.plan import Delete, Flag, Merge, Op, Plan, Rewrite, named, shown
from mdmemory.compact.removals import Count, find_circular, removable, settle
from mdmemory.compact.same import same_key
from mdmemory.compact.text_guards import bad_text, literal_refusals
from mdmemory.errors import BadNote
from mdmemory.files import to_bytes
from mdmemory.note import limits
from mdmemory.store import merged
from mdmemory.store.store import StoredNote, is_note_name
from mdmemory.store.superseding import Chains, superseded_files
from mdmemory.text import literals

__all__ = ["Verdict", "check", "removable"]

VERSION = 2  # raised when they let pass what they refused before: a model is then asked anew

_Judged = list[tuple[Op, str, str]]  # op, code, sentence


@dataclass(frozen=True, slots=True)
class Verdict:
    """What may be done. Where `refusals` is not empty the plan is refused and nothing else counts.

    `refused` holds (op, code, message), `skipped` (op, reason), `refusals` (code, message).
    """

    accepted: tuple[Op, ...] = ()
    refused: tuple[tuple[Op, str, str], ...] = ()
    skipped: tuple[tuple[Op, str], ...] = ()
    refusals: tuple[tuple[str, str], ...] = ()


def check(
    plan: Plan,
    notes: Sequence[StoredNote],
    *,
    open_conflicts: Collection[frozenset[str]] = (),
    held_files: Collection[str] = (),
    has_secret: Callable[[str], bool],
    gone: int = 0,
    refused_before: int = 0,
    sure: Collection[Op] = (),
) -> Verdict:
    """Judge a plan against all notes of the store.

    `open_conflicts` are the pairs of files of open ledger entries, `held_files` the held notes.
    `gone` counts the notes that automatic passes of the last days removed, `refused_before` the ops
    of the same plan that were refused on the way here. `sure` are those that code found.
    """
    store = {note.file: note for note in notes}
    refusals = (*_digest_names(plan, store), *_secrets(plan, has_secret), *_emptied(plan, store))
    if refusals:
        return Verdict(refusals=tuple(dict.fromkeys(refusals)))
    ops, misnamed = _well_named(plan, store)
    rest, skipped = _skip(ops, plan, store)
    in_conflict = frozenset().union(*open_conflicts)
    fine, wrong = judge(rest, World(store, in_conflict, frozenset(held_files), sure))
    circles = find_circular(rest)
    wrong += [(op, *circles[op]) for op in fine if op in circles]
    fine = [op for op in fine if op not in circles]
    before = refused_before + len(plan.flawed)
    planned = before + sum(op not in sure for op in plan.ops)
    count = Count(planned, before + len(misnamed) + len(wrong), gone, sure)
    last = settle(fine, store, count)
    left_out = last.refused.keys() | last.waiting.keys()
    refused = [*misnamed, *wrong, *((op, *why) for op, why in last.refused.items())]
    place = {id(op): at for at, op in enumerate(plan.ops)}
    return Verdict(
        tuple(op for op in fine if op not in left_out),
        tuple(sorted(refused, key=lambda row: place[id(row[0])])),
        (*skipped, *last.waiting.items()),
    )


# --- the plan as a whole


def _digest_names(plan: Plan, store: Mapping[str, StoredNote]) -> Iterator[tuple[str, str]]:
    for file in plan.digests:
        if file not in store and not _is_bare(file):
            yield "bad_name", f"The plan has a digest of {shown(file)}, which is no note's name."


def _emptied(plan: Plan, store: Mapping[str, StoredNote]) -> Iterator[tuple[str, str]]:
    in_force = store.keys() - superseded_files(store.values())
    if in_force and in_force <= {op.file for op in plan.ops if isinstance(op, Delete)}:
        yield "empties_store", f"The plan removes all of the {len(in_force)} notes."


# --- the names of an op


def _well_named(plan: Plan, store: Mapping[str, StoredNote]) -> tuple[list[Op], _Judged]:
    """The ops whose files are notes that no op before them names, and the others."""
    fine: list[Op] = []
    wrong: _Judged = []
    used: set[str] = set()
    for op in plan.ops:
        if problem := next(chain(_name_refusals(op, plan, store), _overlap(op, used)), None):
            wrong.append((op, *problem))
        else:
            fine.append(op)
            used.update(named(op))
    return fine, wrong


def _overlap(op: Op, used: Collection[str]) -> Iterator[tuple[str, str]]:
    for file, count in Counter(named(op)).items():
        if count > 1 or file in used:
            yield "overlap", f"The plan names {shown(file)} twice."


def _name_refusals(
    op: Op, plan: Plan, store: Mapping[str, StoredNote]
) -> Iterator[tuple[str, str]]:
    new = op.target if isinstance(op, Merge) and op.target not in op.sources else None
    for file in named(op):
        if file in store:
            continue
        if not _is_bare(file):
            yield "bad_name", f"{shown(file)} is not the bare name of a note."
        elif file != new and file not in plan.digests:
            yield "unknown_file", f"There is no note {shown(file)}."
    if isinstance(op, Merge):
        yield from _bad_target(op, store)


def _is_bare(file: str) -> bool:
    plain = file.isprintable() and not set("/\\:") & set(file)
    reserved = file.casefold() in ("readme.md", "memory.md")
    short = len(to_bytes(file)) <= 255
    return bool(file) and plain and short and not reserved and is_note_name(file)


def _bad_target(op: Merge, store: Mapping[str, StoredNote]) -> Iterator[tuple[str, str]]:
    target = store.get(op.target) if op.target in op.sources else None
    if target and target.note.head.name == op.name:
        return
    try:
        limits.check_name(op.name)
    except BadNote as problem:
        yield "bad_name", f"The merge into {shown(op.target)} has a bad name: {problem.message}"
        return
    if op.target in op.sources:
        return
    fits = op.type in limits.TYPES
    if not fits or op.target != limits.file_name(op.type, op.name):
        yield (
            "bad_name",
            f"The target {shown(op.target)} is no source and not the file of its type and name.",
        )


def _secrets(plan: Plan, has_secret: Callable[[str], bool]) -> Iterator[tuple[str, str]]:
    for op in plan.ops:
        texts = [op.reason]
        if isinstance(op, Merge):
            texts += [op.name, op.description, op.body]
        if isinstance(op, Rewrite):
            texts += [op.description or "", op.body]
        if any(map(has_secret, texts)):
            yield "secret", f"The op on {shown(named(op)[-1])} would write a secret."


# --- ops the world overtook


def _skip(
    ops: Sequence[Op], plan: Plan, store: Mapping[str, StoredNote]
) -> tuple[list[Op], list[tuple[Op, str]]]:
    rest: list[Op] = []
    skipped: list[tuple[Op, str]] = []
    files = {literals.fold_link(file) for file in store}
    names = Counter(literals.fold_link(note.note.head.name) for note in store.values())
    claimed: set[str] = set()
    for op in ops:
        reason = _overtake(op, plan, store)
        if not reason and isinstance(op, Merge):
            reason = _find_taken(op, store, files, names, claimed)
            claimed.add(literals.fold_link(op.name))
        if reason:
            skipped.append((op, reason))
        else:
            rest.append(op)
    return rest, skipped


def _overtake(op: Op, plan: Plan, store: Mapping[str, StoredNote]) -> str:
    for file in named(op):
        seen = plan.digests.get(file)
        if file not in store:
            if seen is not None:
                return f"{shown(file)} is gone."
        elif seen is not None and seen != store[file].digest:
            return f"{shown(file)} changed since the plan was made."
    return ""


def _find_taken(
    op: Merge,
    store: Mapping[str, StoredNote],
    files: Collection[str],
    names: Mapping[str, int],
    claimed: Collection[str],
) -> str:
    # Case twins count: on some file systems they are one file.
    if op.target not in op.sources and literals.fold_link(op.target) in files:
        return f"{shown(op.target)} is another note."
    name = literals.fold_link(op.name)
    own = sum(literals.fold_link(store[file].note.head.name) == name for file in op.sources)
    if names[name] > own or name in claimed:
        return f"The name of the merge into {shown(op.target)} belongs to another note."
    return ""


@dataclass(frozen=True)
class World:
    """What an op is judged against: all notes, files in an open conflict, and held files."""

    store: Mapping[str, StoredNote]
    in_conflict: frozenset[str]
    held_files: frozenset[str]
    sure: Collection[Op] = ()  # that code found; only these may remove a superseded note

    @cached_property
    def chains(self) -> Chains:
        return Chains([*self.store.values()])

    @cached_property
    def superseded(self) -> set[str]:
        """The notes that others replaced."""
        return superseded_files(self.store.values())


_Refusal = tuple[str, str]


def judge(ops: Sequence[Op], world: World) -> tuple[list[Op], list[tuple[Op, str, str]]]:
    """The ops that are fine by themselves, and the others with a code and a sentence each."""
    refused: dict[Op, _Refusal] = {}
    for op in ops:
        if refusal := next(_refusals(op, world), None):
            refused[op] = refusal
    accepted = [op for op in ops if op not in refused]
    return accepted, [(op, *refused[op]) for op in ops if op in refused]


def _refusals(op: Op, world: World) -> Iterator[_Refusal]:
    if isinstance(op, Flag):
        return
    yield from _untouchable(op, world)
    match op:
        case Merge():
            yield from _merge_refusals(op, world)
        case Rewrite():
            yield from _rewrite_refusals(op, world)
        case Delete():
            yield from _delete_refusals(op, world)


def _untouchable(op: Merge | Delete | Rewrite, world: World) -> Iterator[_Refusal]:
    for file in named(op):
        if file in world.superseded and op not in world.sure:
            yield "held", f"{shown(file)} is superseded, and stays as it is."
        if file in world.in_conflict:
            yield "in_conflict", f"{shown(file)} is in an open conflict, which a person clears."
        if file in world.held_files:
            yield "held", f"{shown(file)} is on hold: it seems to contain a secret."
        if file in world.store and not world.store[file].note.text:
            yield "held", f"{shown(file)} cannot be read, so it stays as it is."


def _merge_refusals(op: Merge, world: World) -> Iterator[_Refusal]:
    sources = [world.store[file].note for file in op.sources]
    files = ", ".join(map(shown, op.sources))
    if {source.head.type for source in sources} != {op.type}:
        yield "cross_type", f"{files} and the merged note are not all of one type."
    if len({source.head.status == "unconfirmed" for source in sources}) > 1:
        exact = len({same_key(source) for source in sources}) == 1
        if not exact:
            yield "held", f"{files}: an unconfirmed note is merged only with others like it."
    yield from bad_text(op, world.store)
    own = [name for source in sources for name in merged.note_names(source)]
    yield from literal_refusals(shown(op.target), sources, op.description, op.body, own)


def _rewrite_refusals(op: Rewrite, world: World) -> Iterator[_Refusal]:
    note = world.store[op.file].note
    description = note.head.description if op.description is None else op.description
    yield from bad_text(op, world.store)
    yield from literal_refusals(shown(op.file), [note], description, op.body)


def _delete_refusals(op: Delete, world: World) -> Iterator[_Refusal]:
    if replaced := world.chains.replaced_notes(world.store[op.file]):
        message = f"{shown(op.file)} replaced {shown(replaced[0].file)}, which names it."
        yield "dangling_link", message
