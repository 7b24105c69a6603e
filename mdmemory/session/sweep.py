"""Keeping a project's session state small: what is old or too much goes, and a log says so.

Swept are the full outputs (300 files, 7 days), the state of sessions (200 of them, 30 days), the
journal of promotions, and rows of deleted sessions. Notes are never touched.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from mdmemory.session import kept, outputs, promotion

if TYPE_CHECKING:  # as in `kept`
    from mdmemory.store.state import State

EVERY = 500  # events
MAX_SESSIONS = 200
MAX_DAYS = 30
KEPT_ROWS = 50  # of the log


@dataclass(frozen=True, slots=True)
class Swept:
    """One sweep: when (ISO 8601, UTC), and how many files, bytes and sessions went; `errors`
    counts files that could not be removed."""

    at: str
    files: int
    bytes: int
    sessions: int
    errors: int


def is_due(state: State) -> bool:
    """Whether the event that was just counted is one after which to sweep."""
    return kept.events(state) % EVERY == 0


def sweep(state: State, now: datetime, *, deleted: Collection[str] = ()) -> Swept:
    """Remove what is over the limits, and all of the sessions in `deleted`."""
    oldest = (now - timedelta(days=MAX_DAYS)).isoformat(timespec="seconds")
    sessions = kept.sessions(state)
    gone = [
        session
        for at, (session, updated) in enumerate(sessions)
        if at >= MAX_SESSIONS or updated < oldest or session in deleted
    ]
    folder = state.path.parent / outputs.FOLDER
    freed = [outputs.sweep(folder, now), *(outputs.forget(folder, each) for each in gone)]
    kept.forget(state, gone)
    done = Swept(
        now.isoformat(timespec="seconds"),
        sum(each.files for each in freed), sum(each.bytes for each in freed), len(gone),
        sum(each.errors for each in freed),
    )  # fmt: skip
    _expire(state, now)
    _log(state, done)
    return done


def log(state: State, limit: int = KEPT_ROWS) -> list[Swept]:
    """The newest sweeps first."""
    query = "SELECT at, files, bytes, sessions, errors FROM sweep ORDER BY id DESC LIMIT ?"
    return [Swept(*row) for row in state.rows(query, (limit,))]


def forget(state: State, session: str, now: datetime) -> Swept:
    """Remove all that a deleted session kept, but what is on its way to notes."""
    freed = outputs.forget(state.path.parent / outputs.FOLDER, session)
    there = session in {each for each, _ in kept.sessions(state)}
    kept.forget(state, [session])
    at = now.isoformat(timespec="seconds")
    done = Swept(at, freed.files, freed.bytes, int(there), freed.errors)
    if there or freed.files:
        _log(state, done)
    return done


def _expire(state: State, now: datetime) -> None:
    oldest = (now - timedelta(days=promotion.KEPT_DAYS)).date().isoformat()
    state.change(("DELETE FROM promotion WHERE since < ?", (oldest,)))


def _log(state: State, done: Swept) -> None:
    row = (done.at, done.files, done.bytes, done.sessions, done.errors)
    state.change(
        ("INSERT INTO sweep (at, files, bytes, sessions, errors) VALUES (?, ?, ?, ?, ?)", row),
        ("DELETE FROM sweep WHERE id <= (SELECT max(id) FROM sweep) - ?", (KEPT_ROWS,)),
    )
