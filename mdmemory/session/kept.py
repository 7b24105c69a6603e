"""What the parts of a session keep in `state.db`: one JSON document for each part of each session.

Operational state: it may be lost at any moment. Callers hand in only what is clean of secrets.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # reading a session's rules needs no database
    from mdmemory.store.state import State

Parts = dict[str, dict[str, Any]]  # part, such as "hot", to its document
Statement = tuple[str, Sequence[object]]

_READ = "SELECT part, content FROM session_part WHERE session = ?"
_WRITE = (
    "INSERT INTO session_part VALUES (?, ?, ?, ?) ON CONFLICT (session, part)"
    " DO UPDATE SET content = excluded.content, updated = excluded.updated"
)
_COUNT = (
    "INSERT INTO session_part VALUES ('', 'events', '1', ?) ON CONFLICT (session, part)"
    " DO UPDATE SET content = CAST(content AS INTEGER) + 1, updated = excluded.updated"
)


def read(state: State, session: str) -> Parts:
    """The documents of a session; one that cannot be read counts as none."""
    return _parts(state.rows(_READ, (session,)))


def change(
    state: State, session: str, edit: Callable[[Parts], None], now: datetime, *,
    counts: bool = False,
) -> None:  # fmt: skip
    """Let `edit` change the documents in place, and write those that it changed. Nobody else
    writes in between. `counts`: this is an event, for the sweep that comes after so many."""
    at = now.isoformat(timespec="seconds")

    def statements(rows: list[Any]) -> list[Statement]:
        parts = _parts(rows)
        edit(parts)
        before = dict(rows)
        written = {part: json.dumps(found, ensure_ascii=False) for part, found in parts.items()}
        done: list[Statement] = [
            (_WRITE, (session, part, text, at))
            for part, text in written.items()
            if text != before.get(part)
        ]
        return [*done, (_COUNT, (at,))] if counts else done

    state.amend(_READ, (session,), statements)


def events(state: State) -> int:
    """How many events there were, in all sessions."""
    rows = state.rows("SELECT content FROM session_part WHERE session = '' AND part = 'events'")
    return int(rows[0][0]) if rows else 0


def sessions(state: State) -> list[tuple[str, str]]:
    """Every session that keeps something, and when it last changed (ISO 8601), the newest first."""
    query = (
        "SELECT session, max(updated) FROM session_part WHERE session != ''"
        " GROUP BY session ORDER BY max(updated) DESC, session"
    )
    return [(session, at) for session, at in state.rows(query)]


def forget(state: State, gone: Sequence[str]) -> None:
    """Drop all that these sessions keep."""
    state.change(*(("DELETE FROM session_part WHERE session = ?", (each,)) for each in gone))


def _parts(rows: list[Any]) -> Parts:
    found: Parts = {}
    for part, content in rows:
        try:
            document = json.loads(content)
        except ValueError:
            continue
        if isinstance(document, dict):
            found[part] = document
    return found
