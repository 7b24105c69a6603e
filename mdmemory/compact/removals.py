"""Which removals of a plan stand when the ops that were refused are out. Pure.

Ops lean on each other: a note may go since another one takes its text in. So all removals are
judged again until nothing changes, and they may only become fewer.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from mdmemory.compact.plan import Delete, Merge, Op, Rewrite, shown
from mdmemory.compact.text_guards import as_one
from mdmemory.note.limits import TYPES
from mdmemory.store import merged
from mdmemory.store.store import StoredNote
from mdmemory.store.superseding import superseded_files
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
