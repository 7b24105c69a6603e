"""What the person typed lately, as hooks saw it: proof for what an assistant asks of the memory.

State, never notes: without private text, injected memory and secrets, for two days, and bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from mdmemory.files import digest
from mdmemory.transcripts.session_files import parse_moment
from mdmemory.transcripts.turns import ROLES, Turn, as_text, clean, is_id

if TYPE_CHECKING:  # as in `storage`
    from mdmemory.store.state import State

KEPT_DAYS = 2
KEPT_ROWS = 200  # turns of a store
MOST = 8_000  # characters of a turn, half of them from either end


def put(
    state: State, session: str, turn: str, text: str, now: datetime, role: str = "user",
    client: str = "",
) -> None:  # fmt: skip
    """Keep the words of a turn; the same turn again takes the place of the first. Of the assistant
    (`role`) an answer is kept so that a "yes" after it says what it means. `client` are processes
    of which one is the client, as `client_process` names them. `now` is UTC."""
    if role not in ROLES:
        raise ValueError(role)
    from mdmemory.bounds import ends_of
    from mdmemory.privacy import redacted_text

    words = redacted_text(clean(as_text(text).replace("\0", "")))
    # again after the cut: half of a text may look like what the whole did not
    words = redacted_text(ends_of(words, MOST)).strip()
    if not words:
        return
    at = now.isoformat(timespec="milliseconds")
    insert = (
        "INSERT INTO heard (session, turn, role, text, at, client) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (session, turn, role) DO UPDATE SET text = excluded.text"
    )
    state.change(
        (insert, (_as_id(session), _as_id(turn or f"{words}{at}"), role, words, at, client)),
        ("DELETE FROM heard WHERE at < ?", (_oldest(now),)),
        ("DELETE FROM heard WHERE id <= (SELECT max(id) FROM heard) - ?", (KEPT_ROWS,)),
    )


def of_client(state: State, client: str, now: datetime) -> tuple[str, list[Turn]]:
    """The session that a client's hooks heard last, and its turns of the last two days; "" and []
    where no hook of this process was heard."""
    query = (
        "SELECT session FROM heard WHERE at >= ? AND ' ' || client || ' ' LIKE ?"
        " ORDER BY id DESC LIMIT 1"
    )
    if not client or not (row := state.rows(query, (_oldest(now), f"% {client} %"))):
        return "", []
    session = str(row[0][0])
    query = "SELECT turn, role, text, at FROM heard WHERE session = ? AND at >= ? ORDER BY id"
    rows = state.rows(query, (session, _oldest(now)))
    return session, [Turn(turn, role, text, parse_moment(at)) for turn, role, text, at in rows]


def forget(state: State, sessions: Sequence[str]) -> None:
    """Forget what was said in sessions that were deleted."""
    query = "DELETE FROM heard WHERE session = ?"
    state.change(*((query, (_as_id(session),)) for session in sessions))


def _as_id(given: str) -> str:
    """A host's id as it is, or one word that stands for it."""
    return given if is_id(given) else digest(given)


def _oldest(now: datetime) -> str:
    return (now - timedelta(days=KEPT_DAYS)).isoformat(timespec="milliseconds")
