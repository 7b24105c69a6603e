"""The guards: what no plan may do, whatever planner wrote it.

Pure. What is wrong with an op costs that op and those that lean on it; the others go on. Only a
plan that would write a secret, name a path or empty the store is refused as a whole.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from mdmemory.compact.plan import Delete, Flag, Merge, Op, Plan, Rewrite, named, shown
from mdmemory.compact.text_guards import as_one, bad_text, literal_refusals, same_key
from mdmemory.errors import BadNote
from mdmemory.files import to_bytes
from mdmemory.note import limits
from mdmemory.note.limits import TYPES
from mdmemory.store import merged
from mdmemory.store.store import StoredNote, is_note_name
from mdmemory.store.superseding import Chains, superseded_files
from mdmemory.text import literals
from mdmemory.text.negation import reversed_words
from mdmemory.text.normal_form import normal_form
from mdmemory.text.words import word_keys

Refusal = tuple[str, str]  # code, sentence
Store = Mapping[str, StoredNote]

# Reasons by which a note is not out of date: what it says is said to stand elsewhere.
_ELSEWHERE = re.compile(
    r"(?i)merg(?:e|ed|ing)\b|duplicat|\bdup(?:e|es)?\b|redundan|identical|consolidat|subsum|absorb|"
    r"already (?:in|said|stated|covered|noted|stored|kept|there|captured|recorded|present|part)\b|"
    r"\bsame (?:as|fact|thing|note|rule|content|information|matter)\b|says? the same|"
    r"\b(?:covered|contained|included|repeated|restated|captured|combined) (?:by|in|with)|"
    r"\brepeats\b|folded into|moved (?:in)?to|equivalent to|overlaps? with|"
    r"(?:said|stated|noted) (?:in|twice|elsewhere|again)|"
    r"doppel|dublette|duplikat|zusammengef|enthalten in|steht (?:schon|bereits|auch)|identisch|"
    r"(?:bereits|schon) (?:in|gesagt|notiert|enthalten)|dasselbe|das gleiche|wiederhol|"
    r"fusionn|doublon|déjà dit|duplicad|fusionad|"
    r"重复|重複|合并|合併|统合|統合|已有|已在|相同|중복|병합|통합|동일"
)

_TYPED = re.compile(rf"(?:{'|'.join(TYPES)})-(?:(?![\u3040-\uffff])[\w-])+")  # 已并入project-plan
_NAMES = re.compile(r"\w+(?:-\w+)+")


def removable(total: int) -> int:
    """How many of `total` notes one plan may remove: 25 %, and at least 3."""
    return max(3, total // 4)


def removed(op: Op) -> int:
    """How many notes an op removes."""
    if isinstance(op, Merge):
        return len(op.sources) - 1
    return int(isinstance(op, Delete))


@dataclass(frozen=True)
class Count:
    """What a plan is counted against: `planned` ops in all, of which `refused` are refused by now,
    and `gone`, the notes that automatic passes of the last days removed. The ops in `sure` are
    none of these: code found them, and how bad the rest of a plan is says nothing of them."""

    planned: int
    refused: int
    gone: int = 0
    sure: Collection[Op] = ()


@dataclass
class Settled:
    """What became of the ops: those that are not named here stand."""

    refused: dict[Op, Refusal] = field(default_factory=dict)
    waiting: dict[Op, str] = field(default_factory=dict)


def settle(ops: Sequence[Op], store: Store, count: Count) -> Settled:
    """Judge the removals among ops that are fine by themselves."""
    refusals = Settled()
    while True:
        standing = [op for op in ops if op not in refusals.refused and op not in refusals.waiting]
        new = _dangling(standing, store) | _unfounded(standing, store)
        if not new:
            new, waiting = _beyond(standing, store, count.gone)
            refusals.waiting |= waiting
        refused = count.refused + len(refusals.refused) + len(new)
        if not new and 2 * refused > count.planned:
            why = "More than half of the plan was refused, so no note is removed."
            new = {op: ("budget", why) for op in standing if removed(op) and op not in count.sure}
            new = {op: why for op, why in new.items() if op not in refusals.waiting}
        if not new and len(standing) == len(ops) - len(refusals.refused) - len(refusals.waiting):
            return refusals
        refusals.refused |= new


def texts_after(ops: Sequence[Op], store: Store) -> dict[str, str]:
    """What the notes say when these ops are done, file by file."""
    texts = {file: note.note.text for file, note in store.items()}
    for op in ops:
        match op:
            case Delete():
                del texts[op.file]
            case Rewrite():
                text = store[op.file].note.head.description
                texts[op.file] = as_one(text if op.description is None else op.description, op.body)
            case Merge():
                for file in op.sources:
                    del texts[file]
                texts[op.target] = as_one(op.description, op.body)
    return texts


# --- how many


def _beyond(ops: Sequence[Op], store: Store, gone: int) -> tuple[dict[Op, Refusal], dict[Op, str]]:
    """The removals for which there is no room: in this plan, and in these days. Merges come
    first, for they keep what the notes say."""
    most, left = removable(len(store)), removable(len(store) + gone) - gone
    refused: dict[Op, Refusal] = {}
    waiting: dict[Op, str] = {}
    planned = going = 0
    for op in sorted(filter(removed, ops), key=lambda op: isinstance(op, Delete)):
        if planned + removed(op) > most:
            message = f"The plan may remove {most} of {len(store)} notes, and this would be more."
            refused[op] = ("budget", message)
            continue
        planned += removed(op)
        if going + removed(op) > left:
            waiting[op] = f"Automatic passes removed {gone} notes in 7 days; this one waits."
        else:
            going += removed(op)
    return refused, waiting


# --- what is said elsewhere


def find_circular(ops: Sequence[Op]) -> dict[Op, Refusal]:
    """The deletes of which each names the other as the note that says the same: with both of them
    the fact would go, and which of them should is left open."""
    deletes = [op for op in ops if isinstance(op, Delete)]
    called = {op.file: {*_NAMES.findall(op.reason)} for op in deletes}
    refusals: dict[Op, Refusal] = {}
    for op in deletes:
        for other in deletes:
            vouches = not called[other.file].isdisjoint(_names(op.file))
            if other is not op and vouches and not called[op.file].isdisjoint(_names(other.file)):
                message = f"{shown(op.file)} and {shown(other.file)} would each go for the other."
                refusals[op] = ("literal_lost", message)
    return refusals


def _unfounded(ops: Sequence[Op], store: Store) -> dict[Op, Refusal]:
    """The deletes whose reason is that the note is merged or a duplicate, or names another note,
    and whose content then stands in no note."""
    deletes = [op for op in ops if isinstance(op, Delete)]
    names = {name for file in store for name in _names(file)} if deletes else set()
    claimed = [op for op in deletes if _ELSEWHERE.search(op.reason) or _names_another(op, names)]
    if not claimed:
        return {}
    superseded = superseded_files(store.values())  # what they say holds no more
    texts = {f: text for f, text in texts_after(ops, store).items() if f not in superseded}
    words = {file: _words(text) for file, text in texts.items()}
    refusals: dict[Op, Refusal] = {}
    for op in claimed:
        note = store[op.file].note
        text = as_one(note.head.description, note.body)
        needed = _words(text)
        own = merged.note_names(note)
        holders = (texts[file] for file, known in words.items() if needed <= known)
        if not any(_covers(holder, text, own) for holder in holders):
            message = (
                f"{shown(op.file)} would go as said elsewhere, and no note that stays says it. "
                "Merge it, or give the reason why it is out of date."
            )
            refusals[op] = ("literal_lost", message)
    return refusals


def _names(file: str) -> tuple[str, str]:
    """What a note is called in a reason: with its type, and without."""
    stem = file.removesuffix(".md")
    return stem, stem.partition("-")[2]


def _names_another(op: Delete, names: Collection[str]) -> bool:
    """Whether the reason names another note, or one that is to be made: that one is then said to
    hold what this one says."""
    called = {name for name in _NAMES.findall(op.reason) if name in names}
    called |= {*_TYPED.findall(op.reason), *literals.linked_names(op.reason)}
    return not called <= {*_names(op.file)}


def _covers(holder: str, text: str, own: set[str]) -> bool:
    lost, _ = literals.audit_literals([normal_form(text)], normal_form(holder), merged=own)
    return not lost and not reversed_words(text, holder)


def _words(text: str) -> frozenset[str]:
    return frozenset(word_keys(text))


# --- links


def _dangling(ops: Sequence[Op], store: Store) -> dict[Op, Refusal]:
    """The deletes among these ops that would leave a [[link]] without a target.

    One that is refused keeps its note, whose own links may keep others: until nothing moves.
    """
    deletes = [op for op in ops if isinstance(op, Delete)]
    if not deletes:
        return {}
    owners: dict[str, list[Delete]] = defaultdict(list)
    for op in deletes:
        for name in merged.note_names(store[op.file].note):
            owners[name].append(op)
    gone = {op.file for op in deletes}
    stay = (note.note for file, note in store.items() if file not in gone)
    found_anyway = owners.keys() & {name for note in stay for name in merged.note_names(note)}
    refusals: dict[Op, Refusal] = {}
    texts = list(texts_after(ops, store).items())
    while texts:
        file, text = texts.pop()
        for name in literals.linked_names(text) if "[[" in text else ():
            for op in owners.get(name, ()) if name not in found_anyway else ():
                if op not in refusals:
                    refusals[op] = ("dangling_link", f"{shown(file)} links to {shown(op.file)}.")
                    texts.append((op.file, store[op.file].note.text))
    return refusals


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
