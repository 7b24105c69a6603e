"""The index and the strengths of made-up notes, as the store makes them of its catalog."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from operator import attrgetter
from typing import Any

from mdmemory.note.note import Head
from mdmemory.store.index import Index, IndexColumns, arrange, clean, line, section, trace, weigh


def build(heads: Iterable[Head], *, held: Collection[str] = (), **how: Any) -> Index:
    """The index of a store with these notes, in any order; `held` are files on hold."""
    ordered = sorted(heads, key=attrgetter("file"))
    columns = IndexColumns(
        files=[head.file for head in ordered],
        sections=[section(head, head.file in held) for head in ordered],
        names=[clean(head.name) for head in ordered],
        lines=[line(head) for head in ordered],
        traces=[trace(head) for head in ordered],
        held=sum(head.file in held for head in ordered),
    )
    return arrange(columns, **how)


def strengths(heads: Iterable[Head]) -> dict[str, float]:
    """The strength of each note by file, where these are all notes of a store."""
    traces = {head.file: trace(head) for head in heads}
    known = weigh(traces.values())
    return {file: known[each] for file, each in traces.items()}
