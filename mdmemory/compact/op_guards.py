"""The guards of single ops: each code of a refused op, and what it looks at.

Pure. An op is refused for the first thing found; the others of its plan go on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from mdmemory.compact.meaning_guards import meaning
from mdmemory.compact.near import Neighbours
from mdmemory.compact.plan import Delete, Flag, Merge, Op, Rewrite, named, shown
from mdmemory.compact.same import same_key
from mdmemory.compact.text_guards import bad_text
from mdmemory.store import merged
from mdmemory.store.store import StoredNote
from mdmemory.text.contradiction import Profile, contradiction, profile


@dataclass(frozen=True)
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

    def contradicted(self, file: str) -> tuple[str, str] | None:
        """A note that contradicts this one, and in what."""
        near = (self._files[at] for at in self._neighbours.near(self._at[file]))
        return self._first((file, other) for other in near)

    def contradicting(self, files: Sequence[str]) -> tuple[str, str, str] | None:
        """Two of these notes that contradict each other, and in what."""
        near = Neighbours([self.store[file].note for file in files])
        for one, other in near.pairs():
            if found := self._first([(files[one], files[other])]):
                return (files[one], *found)
        return None

    def _first(self, pairs: Iterable[tuple[str, str]]) -> tuple[str, str] | None:
        for one, other in pairs:
            if why := contradiction(self.profile(one), self.profile(other)):
                return other, why
        return None

    # Cutting all notes up is dear: only a plan that deletes needs it, and once.

    @cached_property
    def _files(self) -> list[str]:
        return list(self.store)

    @cached_property
    def _at(self) -> dict[str, int]:
        return {file: at for at, file in enumerate(self._files)}

    @cached_property
    def _neighbours(self) -> Neighbours:
        return Neighbours([self.store[file].note for file in self._files])


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
        exact = len({same_key(source) for source in sources}) == 1
        if not exact:
            yield "held", f"{files}: an unconfirmed note is merged only with others like it."
    yield from bad_text(op, world.store)
    if found := world.contradicting(op.sources):
        one, other, why = found
        yield "contradiction", f"{shown(one)} and {shown(other)} contradict: {why}."
    own = [name for source in sources for name in merged.names(source)]
    yield from meaning(shown(op.target), sources, op.description, op.body, own)


def _rewrite_refusals(op: Rewrite, world: World) -> Iterator[_Refusal]:
    note = world.store[op.file].note
    description = note.head.description if op.description is None else op.description
    yield from bad_text(op, world.store)
    yield from meaning(shown(op.file), [note], description, op.body)
    after = Profile(note.head.type, description, op.body)
    if why := contradiction(world.profile(op.file), after):
        yield "negation", f"The new text of {shown(op.file)} contradicts the old one: {why}."


def _delete_refusals(op: Delete, world: World) -> Iterator[_Refusal]:
    if found := world.contradicted(op.file):
        other, why = found
        message = f"{shown(op.file)} and {shown(other)} contradict, so both stay: {why}."
        yield "contradiction", message
