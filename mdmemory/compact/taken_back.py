"""Ops that were done once and taken back since: they are not done again.

Each compaction commit names its ops by kind and source bytes. An op of a commit that an undo or a
`git revert` took back is known by that, whoever proposes it, until one of its notes changes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace

from mdmemory.compact.plan import Op, Plan, as_json, named
from mdmemory.git.commits_of_store import History
from mdmemory.git.log import ID_TRAILER
from mdmemory.store.store import StoredNote

TRAILER = "Memory-Basis"  # one an op, of the commit that did it


def basis(op: Op, notes: Mapping[str, StoredNote]) -> str:
    """12 hex digits for what an op does to which bytes; its words and its reason do not count."""
    files = sorted((file, notes[file].digest) for file in named(op) if file in notes)
    text = json.dumps([as_json(op)["op"], files])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def trailers(ops: Iterable[Op], notes: Mapping[str, StoredNote]) -> tuple[tuple[str, str], ...]:
    """The lines by which a commit remembers its ops."""
    return tuple((TRAILER, basis(op, notes)) for op in ops)


def without(
    plan: Plan, notes: Mapping[str, StoredNote], history: History | None
) -> tuple[Plan, list[tuple[Op, str]]]:
    """The plan without the ops that were taken back, and these with the reason."""
    gone = taken(history) if history and plan.ops else {}
    if not gone:
        return plan, []
    skipped = {op: gone[key] for op in plan.ops if (key := basis(op, notes)) in gone}
    rest = tuple(op for op in plan.ops if op not in skipped)
    return replace(plan, ops=rest), [
        (op, f"It was done in {id} and taken back since.") for op, id in skipped.items()
    ]


def taken(history: History) -> dict[str, str]:
    """Of every op that was taken back its `basis`, and the Memory-Id that did it."""
    undone = history.undone()
    return {
        value: entry.get(ID_TRAILER) or entry.commit
        for entry in history.log()
        if entry.commit in undone
        for name, value in entry.trailers
        if name == TRAILER
    }
