"""The guards of single ops: each code of a refused op, and what it looks at.

Pure. An op is refused for the first thing found; the others of its plan go on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
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
from mdmemory.compact.plan import Delete, Flag, Merge, Op, Rewrite, named, shown
from mdmemory.compact.statement import Statement
from mdmemory.errors import BadNote
from mdmemory.store.store import StoredNote

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
class World:
    """What an op is judged against: all notes, files in an open conflict, and held files."""

    store: Mapping[str, StoredNote]
    in_conflict: frozenset[str]
    held: frozenset[str]
    profiles: dict[str, Profile] = field(default_factory=dict)

    def profile(self, file: str) -> Profile:
        if file not in self.profiles:
            self.profiles[file] = profile(self.store[file].note)
        return self.profiles[file]


_Refusal = tuple[str, str]


def judge(ops: Sequence[Op], world: World) -> tuple[list[Op], list[tuple[Op, str, str]]]:
    """The ops that may be done, and the others with a code and a sentence each."""
    refused: dict[Op, _Refusal] = {}
    for op in ops:
        if refusal := next(_refusals(op, world), None):
            refused[op] = refusal
    # A delete that is refused keeps a note, whose links may keep others: until nothing moves.
    while more := _dangling([op for op in ops if op not in refused], world.store):
        refused |= more
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
        if file in world.in_conflict:
            yield "in_conflict", f"{shown(file)} is in an open conflict, which a person clears."
        if file in world.held:
            yield "held", f"{shown(file)} is held back: it seems to contain a secret."
        if file in world.store and not world.store[file].note.text:
            yield "held", f"{shown(file)} cannot be read, so it stays as it is."


def _merge_refusals(op: Merge, world: World) -> Iterator[_Refusal]:
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


def _rewrite_refusals(op: Rewrite, world: World) -> Iterator[_Refusal]:
    note = world.store[op.file].note
    description = note.head.description if op.description is None else op.description
    yield from _bad_text(op, op.file, op.description, op.body, world)
    before = f"{note.head.description}\n{note.body}"
    yield from _loss(op.file, [before], f"{description}\n{op.body}", ())
    after = profile_of(note.head.type, description, op.body)
    if why := contradiction(world.profile(op.file), after):
        yield "negation", f"The new text of {shown(op.file)} contradicts the old one: {why}."


def _delete_refusals(op: Delete, world: World) -> Iterator[_Refusal]:
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
    op: Op, file: str, description: str | None, body: str, world: World
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
