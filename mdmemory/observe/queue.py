"""The queue of what tools showed: pending, processing, completed or failed, in `state.db`.

No transaction is open while a model is asked. An event that is taken twice is kept once.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from mdmemory.errors import MdmemoryError
from mdmemory.llm.answer import Model
from mdmemory.observe import shelf
from mdmemory.observe.compress import compressed
from mdmemory.observe.event import Event, by_its_metadata, event_of
from mdmemory.observe.observation import Draft
from mdmemory.observe.shelf import KEPT_DAYS, Statement
from mdmemory.store.state import State

BATCH = 5
STALE = 300  # seconds after which whoever took an event is taken for dead
MAX_RETRIES = 3
REST = 86_400  # seconds until what failed is tried again
PATIENCE = 7 * 86_400  # seconds; what no model made short by then is kept by its metadata
MAX_WAITING = 300  # events; the oldest give way
MAX_DONE = 200  # completed events that are remembered, so that the same is not taken again

_EVENT = "SELECT id, session, tool, at, input, output, files, taken FROM observed"


@dataclass(frozen=True, slots=True)
class Worked:
    """`kept` counts new observations, `waiting` what is left in the queue, `failed` what rests
    until tomorrow; `failure` is why a model could not be used."""

    kept: int = 0
    waiting: int = 0
    failed: int = 0
    failure: MdmemoryError | None = None


def tool_used(
    state: State, session: str, tool: str, args: Mapping[str, Any], output: str, now: datetime,
    *, ignore: Collection[str] = (),
) -> bool:  # fmt: skip
    """Let a use of a tool wait to be made short; False where there is nothing in it for that.

    `ignore` names tools besides those that never count. Private text and secrets are gone before
    anything is written. The caller asks whether observations are switched on.
    """
    event = event_of(session, tool, args, output, int(now.timestamp()), ignore)
    if event is None:
        return False
    row = (
        event.session, event.tool, event.at, event.input, event.output,
        json.dumps(event.files, ensure_ascii=False), event.key, event.at,
    )  # fmt: skip
    state.change(
        ("INSERT OR IGNORE INTO observed (session, tool, at, input, output, files, key, status,"
         " retries, taken, changed) VALUES (?, ?, ?, ?, ?, ?, ?, 'pending', 0, 0, ?)", row),
        _beyond("status != 'completed'", MAX_WAITING),
    )  # fmt: skip
    return True


def work(
    state: State, model: Model | None, now: datetime, *, batches: int = 1, days: int = KEPT_DAYS
) -> Worked:
    """Make batches of five short: by `model`, or without one by their metadata; then forget what
    is older than `days`. What goes wrong with the model is told as `failure`."""
    seconds = int(now.timestamp())
    _refresh(state, seconds)
    kept = _settle_old(state, seconds)
    failure = None
    for _ in range(batches):
        events = _taken(state, seconds)
        if not events:
            break
        try:
            found = _short(events, model)
        except MdmemoryError as problem:
            failure = problem
            _give_back(state, events, seconds, counts=problem.code != "over_cap")
            break
        kept += _finish(state, events, found, model.name if model else "", seconds)
    shelf.expire(state, now, days)
    state.change(_beyond("status = 'completed'", MAX_DONE))
    counts = waiting(state)
    return Worked(kept, counts["pending"] + counts["processing"], counts["failed"], failure)


def waiting(state: State) -> dict[str, int]:
    """How many events are in each state."""
    found = dict.fromkeys(("pending", "processing", "completed", "failed"), 0)
    return found | dict(state.rows("SELECT status, count(*) FROM observed GROUP BY status"))


def _short(events: Sequence[Event], model: Model | None) -> dict[int, Draft]:
    if model is None:
        return {event.id: by_its_metadata(event) for event in events}
    return compressed(events, model)


# --- states ----------------------------------------------------------------------------------


def _refresh(state: State, now: int) -> None:
    """Free what a dead process holds, and try again what has rested; by seconds, and a clock that
    was set back counts as well."""
    state.change(
        ("UPDATE observed SET status = 'pending', retries = retries + 1, changed = ?"
         " WHERE status = 'processing' AND abs(? - changed) >= ?", (now, now, STALE)),
        ("UPDATE observed SET status = 'failed', changed = ?"
         " WHERE status = 'pending' AND retries >= ?", (now, MAX_RETRIES)),
        ("UPDATE observed SET status = 'pending', retries = 0, changed = ?"
         " WHERE status = 'failed' AND abs(? - changed) >= ?", (now, now, REST)),
    )  # fmt: skip


def _taken(state: State, now: int, where: str = "status = 'pending'") -> list[Event]:
    """The next few of one session, the oldest first; they are ours for a while."""
    events: list[Event] = []

    def take(rows: Sequence[Any]) -> list[Statement]:
        events.extend(_event(*row) for row in rows)
        claim = "UPDATE observed SET status = 'processing', taken = ?, changed = ? WHERE id = ?"
        return [(claim, (event.taken, now, event.id)) for event in events]

    oldest = f"SELECT session FROM observed WHERE {where} ORDER BY id LIMIT 1"
    query = f"{_EVENT} WHERE {where} AND session = ({oldest}) ORDER BY id LIMIT ?"
    state.amend(query, (BATCH,), take)
    return events


def _settle_old(state: State, now: int) -> int:
    """Keep by its metadata what has waited too long for a model."""
    kept = 0
    where = f"status IN ('pending', 'failed') AND at < {now - PATIENCE:d}"
    while events := _taken(state, now, where):
        kept += _finish(state, events, _short(events, None), "", now)
    return kept


def _give_back(state: State, events: Sequence[Event], now: int, *, counts: bool) -> None:
    """Let them wait again; after three failures they rest."""
    back = (
        "UPDATE observed SET status = CASE WHEN retries + ? >= ? THEN 'failed' ELSE 'pending' END,"
        " retries = retries + ?, changed = ? WHERE id = ? AND taken = ? AND status = 'processing'"
    )
    state.change(*(
        (back, (counts, MAX_RETRIES, counts, now, event.id, event.taken)) for event in events
    ))  # fmt: skip


def _finish(
    state: State, events: Sequence[Event], found: Mapping[int, Draft], model: str, now: int
) -> int:
    """Keep what was made of the events that are still ours; how many that were."""
    held = {event.id: event for event in events}
    kept: list[Statement] = []

    def done(rows: Sequence[Any]) -> list[Statement]:
        statements: list[Statement] = []
        for id, taken in rows:
            event = held[id]
            if taken != event.taken:
                continue  # taken for dead meanwhile: another answers for it
            if id in found:
                at = datetime.fromtimestamp(event.at, UTC).isoformat(timespec="seconds")
                kept.append(shelf.insertion(event.session, at, event.tool, model, found[id]))
            statements.append((
                "UPDATE observed SET status = 'completed', input = '', output = '', changed = ?"
                " WHERE id = ?", (now, id),
            ))  # fmt: skip
        return [*kept, *statements]

    marks = ", ".join("?" * len(held))
    query = f"SELECT id, taken FROM observed WHERE status = 'processing' AND id IN ({marks})"
    state.amend(f"{query} ORDER BY id", [*held], done)
    return len(kept)


def _beyond(where: str, most: int) -> Statement:
    some = f"SELECT id FROM observed WHERE {where} ORDER BY id DESC LIMIT -1 OFFSET ?"
    return f"DELETE FROM observed WHERE id IN ({some})", (most,)


def _event(
    id: int, session: str, tool: str, at: int, input: str, output: str, files: str, taken: int
) -> Event:
    named = tuple(map(str, json.loads(files)))
    return Event(id, session, tool, at, input, output, named, taken + 1)
