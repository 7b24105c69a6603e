"""The ops of several answers as one plan: what finds no room waits for the next pass. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations

from mdmemory.compact.guards import removable
from mdmemory.compact.plan import MAX_ANSWER, Delete, Flag, Merge, Op, as_json, named
from mdmemory.store.conflicts import Entry, known
from mdmemory.store.store import StoredNote

_MAX_PLAN = MAX_ANSWER // 2  # bytes of ops; the rest is for digests


def gathered(
    ops: Sequence[Op], notes: Sequence[StoredNote], ledger: Sequence[Entry]
) -> tuple[list[Op], bool]:
    """The ops, earlier ones first, that can stand in one plan, and whether any has to wait.

    No two name one file, and they remove no more notes than one plan may. A flag of pairs that are
    all in the ledger is left out: it would say nothing new.
    """
    by_file = {note.file: note for note in notes}
    going: list[Op] = []
    more = False
    taken: set[str] = set()
    removals = min(removable(len(notes)), len(notes) - 1)  # one stays at least
    room = _MAX_PLAN
    for op in ops:
        if isinstance(op, Flag) and _is_known(op, by_file, ledger):
            continue
        size = len(json.dumps(as_json(op)))
        if taken.isdisjoint(named(op)) and _removed(op) <= removals and size <= room:
            going.append(op)
            taken.update(named(op))
            removals -= _removed(op)
            room -= size
        else:
            more = True
    return going, more


def _removed(op: Op) -> int:
    if isinstance(op, Merge):
        return len(op.sources) - 1
    return int(isinstance(op, Delete))


def _is_known(op: Flag, notes: dict[str, StoredNote], ledger: Sequence[Entry]) -> bool:
    return all(known(ledger, notes[a], notes[b]) for a, b in combinations(op.files, 2))
