"""Notes whose time is over, superseded long ago or by their own date: a pass of any planner deletes
them; git keeps the text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import islice

from mdmemory.compact import guards
from mdmemory.compact.pass_history import basis, read_undone
from mdmemory.compact.plan import Delete, Op, Plan, named
from mdmemory.compact.removals import removable, removed
from mdmemory.git.commits_of_store import History
from mdmemory.store.store import StoredNote
from mdmemory.store.superseding import Chains, superseded_files

KEPT = timedelta(days=30)  # from the day that a note was superseded
_AT_ONCE = 100  # notes that are looked at together


def outlived(notes: Sequence[StoredNote], today: str) -> list[StoredNote]:
    """The notes whose own last day is past, and those that were superseded over 30 days ago, and
    that a note in force stands for.

    One that replaced a superseded note waits until that one is gone, so that no mark names a note
    that is not there. A mark without a day is never old.
    """
    superseded = superseded_files(notes)
    day = date.fromisoformat(today)
    expired = [note for note in notes if _parse_date(note.note.head.expires) < day]
    old = [
        note for note in notes
        if note.file in superseded and _parse_date(note.note.head.superseded) < day - KEPT
    ]  # fmt: skip
    if not old and not expired:
        return []
    chains = Chains(notes)
    gone = {note.file: note for note in (*expired, *(note for note in old if chains.last(note)))}
    return [note for note in gone.values() if not chains.has_replaced(note)]


def _parse_date(written: str) -> date:
    try:
        return date.fromisoformat(written)
    except ValueError:
        return date.max


def with_outlived(
    plan: Plan, notes: Mapping[str, StoredNote], today: str, history: History | None,
    may_go: Callable[[StoredNote], bool], has_secret: Callable[[str], bool],
    held_files: Collection[str],
) -> tuple[Plan, list[Op], bool]:  # fmt: skip
    """The plan with a delete for each outlived note that `may_go`, as far as the number of notes
    that a plan may remove has room for it; these deletes; and whether others have to wait.

    A note that something links to stays, and so does one that an undo brought back. Of very many
    notes some hundred go in one pass: whether one may go is a question to git.
    """
    busy = {file for op in plan.ops for file in named(op)}
    free = [note for note in outlived([*notes.values()], today) if note.file not in busy]
    if not free:
        return plan, [], False
    undone = read_undone(history) if history is not None else ()
    deletes: list[Op] = []
    rest = iter(free)
    while len(deletes) < _AT_ONCE and (some := [*islice(rest, _AT_ONCE)]):
        fresh = [_delete_outlived(note) for note in some if may_go(note)]
        fresh = [op for op in fresh if basis(op, notes) not in undone]
        if not fresh:
            continue
        deletes += fresh
        verdict = guards.check(
            Plan((*plan.ops, *deletes)), [*notes.values()], held_files=held_files,
            has_secret=has_secret, sure=deletes,
        )  # fmt: skip
        refused = {op for op, code, _ in verdict.refused if code != "budget"}
        deletes = [op for op in deletes if op not in refused]
    if not deletes:
        return plan, [], False
    room = max(0, removable(len(notes)) - sum(map(removed, plan.ops)))
    ops: list[Op] = [*deletes[:room]]
    digests = {file: notes[file].digest for op in ops for file in named(op)}
    whole = replace(plan, ops=(*plan.ops, *ops), digests={**plan.digests, **digests})
    return whole, ops, len(deletes) > room or next(rest, None) is not None


def _delete_outlived(note: StoredNote) -> Delete:
    head = note.note.head
    superseded = f"superseded on {head.superseded}"
    return Delete(note.file, superseded if head.superseded else f"held until {head.expires}")
