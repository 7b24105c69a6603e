"""The guards: what no plan may do, whatever planner wrote it.

Pure. A refusal of the plan stops everything; a refused or skipped op lets the others go on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mdmemory import note as notes_format
from mdmemory.compact import literals, near, result
from mdmemory.compact.contradiction import (
    Profile,
    contradiction,
    first_contradiction,
    profile,
    profile_of,
)
from mdmemory.compact.plan import Delete, Flag, Merge, Op, Plan, Rewrite, named
from mdmemory.compact.statement import Statement
from mdmemory.errors import BadNote
from mdmemory.store.store import StoredNote, is_note_name

_ANY_DAY = "2000-01-01"  # only to see whether a head can be edited at all
_LISTED = 5  # literals named in one message
# What tries to pass for the system's voice, or hides from the reader: bidi and tag characters.
_INJECTION = re.compile(
    r"(?i)\b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+|the\s+|your\s+)*"
    r"(?:previous|prior|above|earlier|preceding|system)\s+(?:\w+\s+)?"
    r"(?:instructions?|prompts?|rules|messages?)"
    r"|</?(?:system|system-reminder|assistant|instructions)\b|<\|[a-z_]{2,20}\|>"
    r"|[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)


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
    world = _World(store, in_conflict, frozenset(held))
    accepted, refused = _judge(rest, world)
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
        notes_format.check_name(op.name)
    except BadNote as problem:
        yield "bad_name", f"The merge into {shown(op.target)} has a bad name: {problem.message}"
        return
    if op.target in op.sources:
        return
    fits = op.type in notes_format.TYPES
    if not fits or op.target != notes_format.file_name(op.type, op.name):
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


# --- ops one by one


@dataclass(frozen=True, slots=True)
class _World:
    store: Mapping[str, StoredNote]
    in_conflict: frozenset[str]
    held: frozenset[str]
    profiles: dict[str, Profile] = field(default_factory=dict)

    def profile(self, file: str) -> Profile:
        if file not in self.profiles:
            self.profiles[file] = profile(self.store[file].note)
        return self.profiles[file]


_Refusal = tuple[str, str]


def _judge(ops: Sequence[Op], world: _World) -> tuple[list[Op], list[tuple[Op, str, str]]]:
    refused: dict[Op, _Refusal] = {}
    for op in ops:
        if refusal := next(_refusals(op, world), None):
            refused[op] = refusal
    # A delete that is refused keeps a note, whose links may keep others: until nothing moves.
    while more := _dangling([op for op in ops if op not in refused], world.store):
        refused |= more
    accepted = [op for op in ops if op not in refused]
    return accepted, [(op, *refused[op]) for op in ops if op in refused]


def _refusals(op: Op, world: _World) -> Iterator[_Refusal]:
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


def _untouchable(op: Merge | Delete | Rewrite, world: _World) -> Iterator[_Refusal]:
    for file in named(op):
        if file in world.in_conflict:
            yield "in_conflict", f"{shown(file)} is in an open conflict, which a person clears."
        if file in world.held:
            yield "held", f"{shown(file)} is held back: it seems to contain a secret."
        if file in world.store and not world.store[file].note.text:
            yield "held", f"{shown(file)} cannot be read, so it stays as it is."


def _merge_refusals(op: Merge, world: _World) -> Iterator[_Refusal]:
    sources = [world.store[file].note for file in op.sources]
    files = ", ".join(map(shown, op.sources))
    if {source.head.type for source in sources} != {op.type}:
        yield "cross_type", f"{files} and the merged note are not all of one type."
    if len({source.head.status == "unconfirmed" for source in sources}) > 1:
        exact = len({near.same_key(source) for source in sources}) == 1
        if not exact:
            yield "held", f"{files}: an unconfirmed note is merged only with others like it."
    yield from _bad_text(op, op.target, op.description, op.body, world)
    for at, one in enumerate(op.sources):
        others = op.sources[at + 1 :]
        profiles = [world.profile(file) for file in others]
        if found := first_contradiction(world.profile(one), profiles):
            other, why = found
            yield "contradiction", f"{shown(one)} and {shown(others[other])} contradict: {why}."
    merged = [name for source in sources for name in _names(source.head)]
    texts = [f"{source.head.description}\n{source.body}" for source in sources]
    yield from _loss(op.target, texts, f"{op.description}\n{op.body}", merged)


def _rewrite_refusals(op: Rewrite, world: _World) -> Iterator[_Refusal]:
    note = world.store[op.file].note
    description = note.head.description if op.description is None else op.description
    yield from _bad_text(op, op.file, op.description, op.body, world)
    before = f"{note.head.description}\n{note.body}"
    yield from _loss(op.file, [before], f"{description}\n{op.body}", ())
    after = profile_of(note.head.type, description, op.body)
    if why := contradiction(world.profile(op.file), after):
        yield "negation", f"The new text of {shown(op.file)} contradicts the old one: {why}."


def _delete_refusals(op: Delete, world: _World) -> Iterator[_Refusal]:
    mine = world.profile(op.file)
    others = [
        file
        for file, note in world.store.items()
        if file != op.file and note.note.head.type == mine.type
    ]
    if found := first_contradiction(mine, [world.profile(file) for file in others]):
        other, why = found
        yield (
            "contradiction",
            f"{shown(op.file)} and {shown(others[other])} contradict, so both stay: {why}.",
        )


def _bad_text(
    op: Op, file: str, description: str | None, body: str, world: _World
) -> Iterator[_Refusal]:
    try:
        notes_format.check_body(body)
    except BadNote as problem:
        yield "body", f"The body for {shown(file)} is refused: {problem.message}"
    if _INJECTION.search(f"{description or ''}\n{body}"):
        yield "body", f"The text for {shown(file)} reads like instructions to an assistant."
    try:
        if description is not None:
            notes_format.check_description(description)
    except BadNote as problem:
        yield "description", f"The description for {shown(file)} is refused: {problem.message}"
    try:
        result.changes(op, world.store, _ANY_DAY)
    except BadNote as problem:
        yield "body", f"{shown(file)} cannot be written: {problem.message}"


def _loss(
    file: str, before: Sequence[str], after: str, merged: Sequence[str]
) -> Iterator[_Refusal]:
    lost, invented = literals.audit(before, after, merged=merged)
    if lost:
        yield "literal_lost", f"{shown(file)} would lose {_some(lost)}."
    if invented:
        yield "literal_invented", f"{shown(file)} would gain {_some(invented)} from nowhere."
    if any(Statement(text).negated for text in before) != bool(Statement(after).negated):
        yield "negation", f"{shown(file)} would lose or gain a negation."


def _some(tokens: Sequence[str]) -> str:
    more = f" and {len(tokens) - _LISTED} more" if len(tokens) > _LISTED else ""
    return ", ".join(token[:80] for token in tokens[:_LISTED]) + more


# --- links


def _dangling(ops: Sequence[Op], store: Mapping[str, StoredNote]) -> dict[Op, _Refusal]:
    """The deletes among these ops that would leave a [[link]] without a target."""
    deletes = [op for op in ops if isinstance(op, Delete)]
    if not deletes:
        return {}
    texts = _texts_after(ops, store)
    removed = {op.file for op in deletes}
    resolved = {
        name for file in store if file not in removed for name in _names(store[file].note.head)
    }
    linked = {name: file for file, text in texts.items() for name in literals.links(text)}
    found: dict[Op, _Refusal] = {}
    for op in deletes:
        for name in _names(store[op.file].note.head):
            if name in linked and name not in resolved:
                message = f"{shown(linked[name])} links to {shown(op.file)}."
                found[op] = ("dangling_link", message)
    return found


def _texts_after(ops: Sequence[Op], store: Mapping[str, StoredNote]) -> dict[str, str]:
    texts = {file: note.note.text for file, note in store.items()}
    for op in ops:
        match op:
            case Delete():
                del texts[op.file]
            case Rewrite():
                kept = store[op.file].note.head.description
                texts[op.file] = f"{kept if op.description is None else op.description}\n{op.body}"
            case Merge():
                for file in op.sources:
                    del texts[file]
                texts[op.target] = f"{op.description}\n{op.body}"
    return texts


def _names(head: notes_format.Head) -> set[str]:
    return {literals.fold(head.name), literals.fold(head.file)}


def shown(file: str) -> str:
    """A file name as it may stand in a message, whatever it is."""
    return file if file.isprintable() and 0 < len(file) <= 120 else ascii(file[:60])
