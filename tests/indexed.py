"""The index and the strengths of made-up notes, as the store makes them of its catalog."""

import hashlib
import random
from collections.abc import Collection, Iterable
from operator import attrgetter
from typing import Any

from mdmemory.note.note import Head
from mdmemory.store.index import (
    Index,
    IndexColumns,
    arrange_index,
    clean_line,
    note_line,
    section_of,
    trace_of,
    weigh_traces,
)


def build(heads: Iterable[Head], *, held: Collection[str] = (), **how: Any) -> Index:
    """The index of a store with these notes, in any order; `held` are files on hold."""
    ordered = sorted(heads, key=attrgetter("file"))
    columns = IndexColumns(
        files=[head.file for head in ordered],
        sections=[section_of(head, head.file in held) for head in ordered],
        names=[clean_line(head.name) for head in ordered],
        lines=[note_line(head) for head in ordered],
        traces=[trace_of(head) for head in ordered],
        held=sum(head.file in held for head in ordered),
    )
    return arrange_index(columns, **how)


def strengths(heads: Iterable[Head]) -> dict[str, float]:
    """The strength of each note by file, where these are all notes of a store."""
    traces = {head.file: trace_of(head) for head in heads}
    known = weigh_traces(traces.values())
    return {file: known[each] for file, each in traces.items()}


def fingerprint(seed: int) -> str:
    """What the index of a store with notes of all sorts comes to, in an order of this `seed`."""
    dice = random.Random(7)
    types, hooks = (
        ["user", "feedback", "project", "reference", "İx"],
        ["istanbul İı", "喜欢", "é e\u0301"],
    )
    store = []
    for number in range(300):
        type, hook = dice.choice(types), dice.choice(hooks)
        dates = {"created": f"2026-0{dice.randint(1, 9)}-1{dice.randint(0, 9)}"}
        more = {"kind": dice.choice(["", "decision"]), "reinforced": dice.randint(0, 3)}
        store.append(Head(f"{type}-n{number}.md", f"n{number}", hook, type, **dates, **more))
    random.Random(seed).shuffle(store)
    found = build(store, conflicts=2)
    parts = (found.memory, str(found.more), repr(found.listed), repr(found.strengths))
    return hashlib.sha256("".join(parts).encode()).hexdigest()
