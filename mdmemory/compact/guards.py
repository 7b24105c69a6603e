"""The guards: what no plan may do, whatever planner wrote it. Pure.

What is wrong with an op costs that op and those that lean on it; the others go on: a note may go
since another one takes its text in. Only a plan that would write a secret, name a path or empty the
store is refused as a whole."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from mdmemory.compact.plan import Delete, Flag, Merge, Op, Plan, Rewrite, named, shown
from mdmemory.compact.text_guards import Refusal, as_one, bad_text, literal_refusals, same_key
from mdmemory.errors import BadNote
from mdmemory.files import to_bytes
from mdmemory.note import limits
from mdmemory.note.limits import TYPES
from mdmemory.store import note_links
from mdmemory.store.store import StoredNote, is_note_name
from mdmemory.store.superseding import Chains, superseded_files
from mdmemory.text import literals
from mdmemory.text.conflict import reversed_words
from mdmemory.text.normal_form import normal_form
from mdmemory.text.words import word_keys

VERSION = 3  # raised when they let pass what they refused before: a model is then asked anew

Judged = list[tuple[Op, str, str]]  # op, code, sentence
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
    read: Collection[Op] = (),
) -> Verdict:
    """Judge a plan against all notes of the store.

    `open_conflicts` are the pairs of files of open ledger entries, `held_files` the held notes.
    `gone` counts the notes that automatic passes of the last days removed, `refused_before` the ops
    of the same plan that were refused on the way here. `sure` are those that code found: how bad
    the rest of a plan is says nothing of them. `read` are those that a second reading affirms, or
    is asked about before they are done.
    """
    store = {note.file: note for note in notes}
    if refusals := tuple(dict.fromkeys(_plan_refusals(plan, store, has_secret))):
        return Verdict(refusals=refusals)
    ops, misnamed = _well_named(plan, store)
    rest, skipped = _skip(ops, plan, store)
    world = World(store, frozenset().union(*open_conflicts), held_files, sure, read)
    fine, wrong = world.judge(rest)
    before = refused_before + len(plan.flawed)
    planned = before + sum(op not in sure for op in plan.ops)
    before += len(misnamed) + len(wrong)
    last_refused, waiting = _settle(fine, store, planned, before, gone, sure)
    refused = [*misnamed, *wrong, *((op, *why) for op, why in last_refused.items())]
    place = {id(op): at for at, op in enumerate(plan.ops)}
    return Verdict(
        tuple(op for op in fine if op not in last_refused and op not in waiting),
        tuple(sorted(refused, key=lambda row: place[id(row[0])])),
        (*skipped, *waiting.items()),
    )


# --- the plan as a whole, and the names of its ops


def _plan_refusals(
    plan: Plan, store: Store, has_secret: Callable[[str], bool]
) -> Iterator[Refusal]:
    for file in plan.digests:
        if file not in store and not _is_bare(file):
            yield "bad_name", f"The plan has a digest of {shown(file)}, which is no note's name."
    for op in plan.ops:
        texts = [op.reason]
        if isinstance(op, Merge):
            texts += [op.name, op.description, op.body]
        if isinstance(op, Rewrite):
            texts += [op.description or "", op.body]
        if any(map(has_secret, texts)):
            yield "secret", f"The op on {shown(named(op)[-1])} would write a secret."
    in_force = store.keys() - superseded_files(store.values())
    if in_force and in_force <= {op.file for op in plan.ops if isinstance(op, Delete)}:
        yield "empties_store", f"The plan removes all of the {len(in_force)} notes."


def _well_named(plan: Plan, store: Store) -> tuple[list[Op], Judged]:
    """The ops whose files are notes that no op before them names, and the others."""
    fine: list[Op] = []
    wrong: Judged = []
    used: set[str] = set()
    for op in plan.ops:
        again = (file for file, n in Counter(named(op)).items() if n > 1 or file in used)
        if problem := next(_name_refusals(op, plan, store), None):
            wrong.append((op, *problem))
        elif twice := next(again, None):
            wrong.append((op, "overlap", f"The plan names {shown(twice)} twice."))
        else:
            fine.append(op)
            used.update(named(op))
    return fine, wrong


def _name_refusals(op: Op, plan: Plan, store: Store) -> Iterator[Refusal]:
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


def _bad_target(op: Merge, store: Store) -> Iterator[Refusal]:
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
    if op.type not in TYPES or op.target != limits.file_name(op.type, op.name):
        yield (
            "bad_name",
            f"The target {shown(op.target)} is no source and not the file of its type and name.",
        )


# --- ops the world overtook


def _skip(ops: Sequence[Op], plan: Plan, store: Store) -> tuple[list[Op], list[tuple[Op, str]]]:
    rest: list[Op] = []
    skipped: list[tuple[Op, str]] = []
    # case twins count: on some file systems they are one file
    files = {literals.fold_link(file) for file in store}
    names = Counter(literals.fold_link(note.note.head.name) for note in store.values())
    claimed: set[str] = set()
    for op in ops:
        reason = _overtake(op, plan, store)
        if not reason and isinstance(op, Merge):
            name = literals.fold_link(op.name)
            own = sum(literals.fold_link(store[file].note.head.name) == name for file in op.sources)
            if op.target not in op.sources and literals.fold_link(op.target) in files:
                reason = f"{shown(op.target)} is another note."
            elif names[name] > own or name in claimed:
                reason = f"The name of the merge into {shown(op.target)} belongs to another note."
            claimed.add(name)
        if reason:
            skipped.append((op, reason))
        else:
            rest.append(op)
    return rest, skipped


def _overtake(op: Op, plan: Plan, store: Store) -> str:
    for file in named(op):
        seen = plan.digests.get(file)
        if file not in store:
            if seen is not None:
                return f"{shown(file)} is gone."
        elif seen is not None and seen != store[file].digest:
            return f"{shown(file)} changed since the plan was made."
    return ""


@dataclass(frozen=True)
class World:
    """What an op is judged against: all notes, files in an open conflict, and held files."""

    store: Store
    in_conflict: Collection[str] = ()
    held_files: Collection[str] = ()
    sure: Collection[Op] = ()  # that code found; only these may remove a superseded note
    read: Collection[Op] = ()  # whose wording is a second reading's to judge

    @cached_property
    def chains(self) -> Chains:
        return Chains([*self.store.values()])

    @cached_property
    def superseded(self) -> set[str]:
        """The notes that others replaced."""
        return superseded_files(self.store.values())

    def judge(self, ops: Sequence[Op]) -> tuple[list[Op], Judged]:
        """The ops that are fine by themselves, and the others with a code and a sentence each."""
        refused = {op: why for op in ops if (why := next(self._refusals(op), None))}
        accepted = [op for op in ops if op not in refused]
        return accepted, [(op, *refused[op]) for op in ops if op in refused]

    def _refusals(self, op: Op) -> Iterator[Refusal]:
        if isinstance(op, Flag):
            return
        for file in named(op):
            if file in self.superseded and op not in self.sure:
                yield "held", f"{shown(file)} is superseded, and stays as it is."
            if file in self.in_conflict:
                yield "in_conflict", f"{shown(file)} is in an open conflict, which a person clears."
            if file in self.held_files:
                yield "held", f"{shown(file)} is on hold: it seems to contain a secret."
            if file in self.store and not self.store[file].note.text:
                yield "held", f"{shown(file)} cannot be read, so it stays as it is."
        match op:
            case Merge():
                yield from self._merge_refusals(op)
            case Rewrite():
                note, description = self.store[op.file].note, op.description
                description = note.head.description if description is None else description
                yield from bad_text(op, self.store)
                yield from literal_refusals(
                    shown(op.file), [note], description, op.body, is_read=op in self.read
                )
            case Delete():
                if replaced := self.chains.replaced_notes(self.store[op.file]):
                    names = f"replaced {shown(replaced[0].file)}, which names it."
                    yield "dangling_link", f"{shown(op.file)} {names}"

    def _merge_refusals(self, op: Merge) -> Iterator[Refusal]:
        sources = [self.store[file].note for file in op.sources]
        files = ", ".join(map(shown, op.sources))
        if {source.head.type for source in sources} != {op.type}:
            yield "cross_type", f"{files} and the merged note are not all of one type."
        is_mixed = len({source.head.status == "unconfirmed" for source in sources}) > 1
        if is_mixed and len({same_key(source) for source in sources}) != 1:
            yield "held", f"{files}: an unconfirmed note is merged only with others like it."
        yield from bad_text(op, self.store)
        own = [name for source in sources for name in note_links.note_names(source)]
        yield from literal_refusals(
            shown(op.target), sources, op.description, op.body, own, is_read=op in self.read
        )


# --- which removals stand when the ops that were refused are out


def _settle(
    ops: Sequence[Op],
    store: Store,
    planned: int,
    refused_before: int,
    gone: int,
    sure: Collection[Op],
) -> tuple[dict[Op, Refusal], dict[Op, str]]:
    """Judge the removals among ops that are fine by themselves, again until nothing changes, and
    they may only become fewer: those that are refused, and those that wait.

    Of the `planned` ops `refused_before` are refused by now, the `sure` ones not among them.
    """
    refused: dict[Op, Refusal] = {}
    waiting: dict[Op, str] = {}
    while True:
        standing = [op for op in ops if op not in refused and op not in waiting]
        new = _dangling(standing, store) | _unfounded(standing, store)
        if not new:
            new, more = _beyond(standing, store, gone)
            waiting |= more
        if not new and 2 * (refused_before + len(refused)) > planned:
            why = "More than half of the plan was refused, so no note is removed."
            new = {op: ("budget", why) for op in standing if removed(op) and op not in sure}
            new = {op: why for op, why in new.items() if op not in waiting}
        if not new and len(standing) == len(ops) - len(refused) - len(waiting):
            return refused, waiting
        refused |= new


def _texts_after(ops: Sequence[Op], store: Store) -> dict[str, str]:
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


def _unfounded(ops: Sequence[Op], store: Store) -> dict[Op, Refusal]:
    """The deletes whose reason is that the note is merged or a duplicate, or names another note,
    and whose content then stands in no note; as where two notes would each go for the other."""
    deletes = [op for op in ops if isinstance(op, Delete)]
    names = {name for file in store for name in _names(file)} if deletes else set()
    claimed = []
    for op in deletes:
        # the reason names another note, or one that is to be made: that one is then said to hold
        # what this one says
        called = {name for name in _NAMES.findall(op.reason) if name in names}
        called |= {*_TYPED.findall(op.reason), *literals.linked_names(op.reason)}
        if _ELSEWHERE.search(op.reason) or not called <= {*_names(op.file)}:
            claimed.append(op)
    if not claimed:
        return {}
    superseded = superseded_files(store.values())  # what they say holds no more
    texts = {f: text for f, text in _texts_after(ops, store).items() if f not in superseded}
    words = {file: frozenset(word_keys(text)) for file, text in texts.items()}
    refusals: dict[Op, Refusal] = {}
    for op in claimed:
        note = store[op.file].note
        text = as_one(note.head.description, note.body)
        needed = frozenset(word_keys(text))
        own = note_links.note_names(note)
        holders = (texts[file] for file, known in words.items() if needed <= known)
        if not any(
            not literals.audit_literals([normal_form(text)], normal_form(holder), merged=own)[0]
            and not reversed_words(text, holder)
            for holder in holders
        ):
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
        for name in note_links.note_names(store[op.file].note):
            owners[name].append(op)
    gone = {op.file for op in deletes}
    stay = (note.note for file, note in store.items() if file not in gone)
    found_anyway = owners.keys() & {name for note in stay for name in note_links.note_names(note)}
    refusals: dict[Op, Refusal] = {}
    texts = list(_texts_after(ops, store).items())
    while texts:
        file, text = texts.pop()
        for name in literals.linked_names(text) if "[[" in text else ():
            for op in owners.get(name, ()) if name not in found_anyway else ():
                if op not in refusals:
                    refusals[op] = ("dangling_link", f"{shown(file)} links to {shown(op.file)}.")
                    texts.append((op.file, store[op.file].note.text))
    return refusals
