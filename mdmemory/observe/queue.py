"""The queue of tool calls in `state.db`: pending, processing, completed or failed.

No transaction is open while a model works. An event that two processes take is stored once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from mdmemory.errors import MdmemoryError
from mdmemory.llm.answer import Model
from mdmemory.observe import observation
from mdmemory.observe.compress import Event, by_its_metadata, compress_events, event_of
from mdmemory.observe.observation import Draft
from mdmemory.store.state import State, Statement

BATCH = 5
STALE = 300  # seconds after which the taker of an event counts as dead
MAX_RETRIES = 3
REST = 86_400  # seconds until a failed event is tried again
PATIENCE = 7 * 86_400  # seconds; an event that still waits then is stored by its metadata
MAX_WAITING = 300  # events; the oldest give way
MAX_DONE = 200  # completed events that are remembered, so that none is taken again

_EVENT = "SELECT id, session, tool, at, input, output, files, taken FROM observed"


@dataclass(frozen=True, slots=True)
class Worked:
    """`kept` counts new observations, `waiting` the events left in the queue, `failed` those that
    rest until tomorrow; `failure` is why a model could not be used."""

    kept: int = 0
    waiting: int = 0
    failed: int = 0
    failure: MdmemoryError | None = None


def tool_used(
    state: State, session: str, tool: str, args: Mapping[str, Any], output: str, now: datetime
) -> bool:
    """Queue a call of a tool; False for a call that is ignored or says too little.

    The written text holds no private parts and secrets. The caller checks whether observations
    are on.
    """
    event = event_of(session, tool, args, output, int(now.timestamp()))
    if event is None:
        return False
    row = (
        event.session, event.tool, event.at, event.input, event.output,
        json.dumps(event.files, ensure_ascii=False), event.key, event.at,
    )  # fmt: skip
    state.change(
        ("INSERT OR IGNORE INTO observed (session, tool, at, input, output, files, key, status,"
         " retries, taken, changed) VALUES (?, ?, ?, ?, ?, ?, ?, 'pending', 0, 0, ?)", row),
        _delete_beyond("status != 'completed'", MAX_WAITING),
    )  # fmt: skip
    return True


def work(state: State, model: Model | None, now: datetime) -> Worked:
    """Turn a batch of five events into observations, by `model` or by their metadata; then remove
    observations that are too old. A failed model is reported as `failure`."""
    seconds = int(now.timestamp())
    _refresh(state, seconds)
    stored = 0
    # events that waited too long for a model are stored by their metadata
    old = f"status IN ('pending', 'failed') AND at < {seconds - PATIENCE:d}"
    while events := _take_events(state, seconds, old):
        stored += _finish(state, events, _make_drafts(events, None), "", seconds)
    failure = None
    if events := _take_events(state, seconds):
        try:
            drafts = _make_drafts(events, model)
        except MdmemoryError as problem:
            failure = problem
            _give_back(state, events, seconds, counts=problem.code != "over_cap")
        else:
            stored += _finish(state, events, drafts, model.name if model else "", seconds)
    observation.expire(state, now)
    state.change(_delete_beyond("status = 'completed'", MAX_DONE))
    counts = waiting(state)
    return Worked(stored, counts["pending"] + counts["processing"], counts["failed"], failure)


def waiting(state: State) -> dict[str, int]:
    """The number of events in each state."""
    none = dict.fromkeys(("pending", "processing", "completed", "failed"), 0)
    return none | dict(state.rows("SELECT status, count(*) FROM observed GROUP BY status"))


def _make_drafts(events: Sequence[Event], model: Model | None) -> dict[int, Draft]:
    if model is None:
        return {event.id: by_its_metadata(event) for event in events}
    return compress_events(events, model)


# --- states


def _refresh(state: State, now: int) -> None:
    """Free events of dead processes, and retry failed ones after their rest; a clock that was set
    back counts too."""
    state.change(
        ("UPDATE observed SET status = 'pending', retries = retries + 1, changed = ?"
         " WHERE status = 'processing' AND abs(? - changed) >= ?", (now, now, STALE)),
        ("UPDATE observed SET status = 'failed', changed = ?"
         " WHERE status = 'pending' AND retries >= ?", (now, MAX_RETRIES)),
        ("UPDATE observed SET status = 'pending', retries = 0, changed = ?"
         " WHERE status = 'failed' AND abs(? - changed) >= ?", (now, now, REST)),
    )  # fmt: skip


def _take_events(state: State, now: int, where: str = "status = 'pending'") -> list[Event]:
    """The next events of one session, the oldest first; they are ours for a while."""
    events: list[Event] = []

    def take(rows: Sequence[Any]) -> list[Statement]:
        for id, session, tool, at, input, output, files, takes in rows:
            named = tuple(map(str, json.loads(files)))
            events.append(Event(id, session, tool, at, input, output, named, takes + 1))
        claim = "UPDATE observed SET status = 'processing', taken = ?, changed = ? WHERE id = ?"
        return [(claim, (event.taken, now, event.id)) for event in events]

    oldest = f"SELECT session FROM observed WHERE {where} ORDER BY id LIMIT 1"
    query = f"{_EVENT} WHERE {where} AND session = ({oldest}) ORDER BY id LIMIT ?"
    state.amend(query, (BATCH,), take)
    return events


def _give_back(state: State, events: Sequence[Event], now: int, *, counts: bool) -> None:
    """Return events to the queue; after three failures they rest."""
    back = (
        "UPDATE observed SET status = CASE WHEN retries + ? >= ? THEN 'failed' ELSE 'pending' END,"
        " retries = retries + ?, changed = ? WHERE id = ? AND taken = ? AND status = 'processing'"
    )
    state.change(
        *((back, (counts, MAX_RETRIES, counts, now, event.id, event.taken)) for event in events)
    )


def _finish(
    state: State, events: Sequence[Event], drafts: Mapping[int, Draft], model: str, now: int
) -> int:
    """Store the drafts of the events that are still ours; returns their number."""
    ours = {event.id: event for event in events}
    insertions: list[Statement] = []

    def store_drafts(rows: Sequence[Any]) -> list[Statement]:
        statements: list[Statement] = []
        for id, takes in rows:
            event = ours[id]
            if takes != event.taken:
                continue  # it took so long that another process took the event
            if id in drafts:
                at = datetime.fromtimestamp(event.at, UTC).isoformat(timespec="seconds")
                insertions.append(
                    observation.insert_statement(event.session, at, event.tool, model, drafts[id])
                )
            statements.append((
                "UPDATE observed SET status = 'completed', input = '', output = '', changed = ?"
                " WHERE id = ?", (now, id),
            ))  # fmt: skip
        return [*insertions, *statements]

    marks = ", ".join("?" * len(ours))
    query = f"SELECT id, taken FROM observed WHERE status = 'processing' AND id IN ({marks})"
    state.amend(f"{query} ORDER BY id", [*ours], store_drafts)
    return len(insertions)


def _delete_beyond(where: str, most: int) -> Statement:
    some = f"SELECT id FROM observed WHERE {where} ORDER BY id DESC LIMIT -1 OFFSET ?"
    return f"DELETE FROM observed WHERE id IN ({some})", (most,)
