"""The index and the strengths of made-up notes, as the store makes them of its catalog."""

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
