"""The guards: what no plan may do, whatever planner wrote it.

Pure. A refusal of the plan stops everything; a refused or skipped op lets the others go on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mdmemory import limits
from mdmemory.claims import literals
from mdmemory.compact.op_guards import World, judge
from mdmemory.compact.plan import Delete, Merge, Op, Plan, Rewrite, named, shown
from mdmemory.errors import BadNote
from mdmemory.store.store import StoredNote, is_note_name


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
    held: Collection[str] = (),
    has_secret: Callable[[str], bool],
) -> Verdict:
    """Judge a plan against all notes of the store.

    `open_conflicts` are the pairs of files of open ledger entries, `held` the files of held notes.
    """
    store = {note.file: note for note in notes}
    refusals = (
        *_name_refusals(plan, store),
        *_overlaps(plan),
        *_removal_refusals(plan, store),
        *_secrets(plan, has_secret),
    )
    if refusals:
        return Verdict(refusals=tuple(dict.fromkeys(refusals)))
    rest, skipped = _skip(plan, store)
    in_conflict = frozenset().union(*open_conflicts)
    world = World(store, in_conflict, frozenset(held))
    accepted, refused = judge(rest, world)
    return Verdict(tuple(accepted), tuple(refused), tuple(skipped))


def removable(total: int) -> int:
    """How many of `total` notes one plan may remove: 25 %, and at least 3."""
    return max(3, total // 4)


# --- the plan as a whole


def _name_refusals(plan: Plan, store: Mapping[str, StoredNote]) -> Iterator[tuple[str, str]]:
    for file in plan.digests:
        if file not in store and not _is_bare(file):
            yield "bad_name", f"The plan has a digest of {shown(file)}, which is no note's name."
    for op in plan.ops:
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
    short = len(file.encode("utf-8", "surrogateescape")) <= 255
    return bool(file) and plain and short and not reserved and is_note_name(file)


def _bad_target(op: Merge, store: Mapping[str, StoredNote]) -> Iterator[tuple[str, str]]:
    kept = store.get(op.target) if op.target in op.sources else None
    if kept and kept.note.head.name == op.name:
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


def _overlaps(plan: Plan) -> Iterator[tuple[str, str]]:
    counts = Counter(file for op in plan.ops for file in named(op))
    for file, count in counts.items():
        if count > 1:
            yield "overlap", f"The plan names {shown(file)} {count} times."


def _removal_refusals(plan: Plan, store: Mapping[str, StoredNote]) -> Iterator[tuple[str, str]]:
    removed = sum(_removed(op, store) for op in plan.ops)
    if removed > removable(len(store)):
        most = removable(len(store))
        yield "budget", f"The plan removes {removed} of {len(store)} notes; at most {most} may go."
    if removed and removed >= len(store):
        yield "empties_store", f"The plan removes all of the {len(store)} notes."


def _removed(op: Op, store: Mapping[str, StoredNote]) -> int:
    match op:
        case Delete():
            return int(op.file in store)
        case Merge():
            return max(0, sum(file in store for file in op.sources) - 1)
        case _:
            return 0


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


def _skip(plan: Plan, store: Mapping[str, StoredNote]) -> tuple[list[Op], list[tuple[Op, str]]]:
    rest: list[Op] = []
    skipped: list[tuple[Op, str]] = []
    files = {literals.fold(file) for file in store}
    names = Counter(literals.fold(note.note.head.name) for note in store.values())
    claimed: set[str] = set()
    for op in plan.ops:
        reason = _overtaken(op, plan, store)
        if not reason and isinstance(op, Merge):
            reason = _taken(op, store, files, names, claimed)
            claimed.add(literals.fold(op.name))
        if reason:
            skipped.append((op, reason))
        else:
            rest.append(op)
    return rest, skipped


def _overtaken(op: Op, plan: Plan, store: Mapping[str, StoredNote]) -> str:
    for file in named(op):
        seen = plan.digests.get(file)
        if file not in store:
            if seen is not None:
                return f"{shown(file)} is gone."
        elif seen is not None and seen != store[file].digest:
            return f"{shown(file)} changed since the plan was made."
    return ""


def _taken(
    op: Merge,
    store: Mapping[str, StoredNote],
    files: Collection[str],
    names: Mapping[str, int],
    claimed: Collection[str],
) -> str:
    # Case twins count: on some file systems they are one file.
    if op.target not in op.sources and literals.fold(op.target) in files:
        return f"{shown(op.target)} is another note."
    name = literals.fold(op.name)
    own = sum(literals.fold(store[file].note.head.name) == name for file in op.sources)
    if names[name] > own or name in claimed:
        return f"The name of the merge into {shown(op.target)} belongs to another note."
    return ""
