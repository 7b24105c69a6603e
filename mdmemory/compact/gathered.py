"""The ops of several answers as one plan: what finds no room waits for the next pass. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence

from mdmemory.compact.plan import MAX_ANSWER, Flag, Op, as_json, flagged_pairs, named
from mdmemory.compact.removals import removable, removed
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
        if taken.isdisjoint(named(op)) and removed(op) <= removals and size <= room:
            going.append(op)
            taken.update(named(op))
            removals -= removed(op)
            room -= size
        else:
            more = True
    return going, more


def _is_known(op: Flag, notes: dict[str, StoredNote], ledger: Sequence[Entry]) -> bool:
    return all(known(ledger, notes[a], notes[b]) for a, b in flagged_pairs(op.files))
