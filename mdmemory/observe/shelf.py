"""The observations in `state.db`: kept, read, forgotten. At most 2,000, for as long as is set."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from mdmemory.observe.observation import Draft, Observation
from mdmemory.store.state import State

KEPT = 2_000
KEPT_DAYS = 90
_COLUMNS = (
    "id, session, at, tool, model, type, title, narrative, facts, concepts, files, importance"
)
_SELECT = f"SELECT {_COLUMNS} FROM observation"
_INSERT = (
    "INSERT INTO observation (session, at, tool, model, type, title, narrative, facts, concepts,"
    " files, importance) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
Statement = tuple[str, Sequence[object]]


def insertion(session: str, at: str, tool: str, model: str, draft: Draft) -> Statement:
    """What keeps a draft."""
    lists = (json.dumps(each, ensure_ascii=False) for each in _lists(draft))
    return _INSERT, (
        session, at, tool, model, draft.type, draft.title, draft.narrative, *lists,
        draft.importance,
    )  # fmt: skip


def _lists(draft: Draft) -> tuple[tuple[str, ...], ...]:
    return draft.facts, draft.concepts, draft.files


def add(state: State, session: str, draft: Draft, now: datetime) -> Observation:
    """Keep one that a person wrote."""
    state.change(insertion(session, now.isoformat(timespec="seconds"), "person", "", draft))
    return newest(state, 1)[0]


def newest(state: State, limit: int, session: str = "") -> list[Observation]:
    """The newest first; with `session`, of that one only."""
    order = "ORDER BY at DESC, id DESC LIMIT ?"
    if session:
        return _read(state, f"{_SELECT} WHERE session = ? {order}", (session, limit))
    return _read(state, f"{_SELECT} {order}", (limit,))


def get(state: State, ids: Iterable[int]) -> list[Observation]:
    """Those of these that there are, in the order given."""
    wanted = list(dict.fromkeys(ids))
    marks = ", ".join("?" * len(wanted))
    found = {each.id: each for each in _read(state, f"{_SELECT} WHERE id IN ({marks})", wanted)}
    return [found[id] for id in wanted if id in found]


def before(state: State, at: str, id: int, limit: int, session: str = "") -> list[Observation]:
    """The last ones before a moment (and number), the oldest of them first."""
    found = _beside(state, "<", "DESC", (at, id, limit), session)
    return found[::-1]


def after(state: State, at: str, id: int, limit: int, session: str = "") -> list[Observation]:
    """The first ones after a moment (and number)."""
    return _beside(state, ">", "ASC", (at, id, limit), session)


def _beside(
    state: State, side: str, way: str, values: tuple[str, int, int], session: str
) -> list[Observation]:
    at, id, limit = values
    query = (
        f"{_SELECT} WHERE (at, id) {side} (?, ?) AND (? = '' OR session = ?)"
        f" ORDER BY at {way}, id {way} LIMIT ?"
    )
    return _read(state, query, (at, id, session, session, limit))


def count(state: State, session: str = "") -> int:
    """How many there are."""
    query = "SELECT count(*) FROM observation WHERE ? = '' OR session = ?"
    return int(state.rows(query, (session, session))[0][0])


def expire(state: State, now: datetime, days: int = KEPT_DAYS) -> None:
    """Forget what is too old or too much."""
    oldest = (now - timedelta(days=days)).isoformat(timespec="seconds")
    state.change(
        ("DELETE FROM observation WHERE at < ?", (oldest,)),
        ("DELETE FROM observation WHERE id IN"
         " (SELECT id FROM observation ORDER BY at DESC, id DESC LIMIT -1 OFFSET ?)", (KEPT,)),
    )  # fmt: skip


def forget(state: State, ids: Iterable[int]) -> None:
    """Drop these."""
    state.change(*(("DELETE FROM observation WHERE id = ?", (id,)) for id in ids))


def _read(state: State, query: str, values: Sequence[object]) -> list[Observation]:
    return [_made(*row) for row in state.rows(query, values)]


def _made(
    id: int, session: str, at: str, tool: str, model: str, type: str, title: str, narrative: str,
    facts: str, concepts: str, files: str, importance: int,
) -> Observation:  # fmt: skip
    draft = Draft(
        type, title, narrative, _texts(facts), _texts(concepts), _texts(files), importance
    )
    return Observation(id, session, at, tool, model, draft)


def _texts(stored: str) -> tuple[str, ...]:
    return tuple(map(str, json.loads(stored)))
