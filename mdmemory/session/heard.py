"""What the person typed lately, as hooks saw it: proof for what an assistant asks of the memory.

State, never notes: without private text, injected memory and secrets, for two days, and bounded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING

from mdmemory.transcripts.turns import ROLES, Turn, as_text, cleaned, is_id

if TYPE_CHECKING:  # as in `storage`
    from mdmemory.store.state import State

KEPT_DAYS = 2
KEPT_ROWS = 200  # turns of a store
MOST = 8_000  # characters of a turn, half of them from either end
_BETWEEN = Turn("", "user", "")  # nothing points from one session into another


def put(
    state: State, session: str, turn: str, text: str, now: datetime, role: str = "user"
) -> None:
    """Keep the words of a turn; the same turn again takes the place of the first. Of the assistant
    (`role`) an answer is kept so that a "yes" after it says what it means. `now` is UTC."""
    if role not in ROLES:
        raise ValueError(role)
    words = _kept(text)
    if not words:
        return
    at = now.isoformat(timespec="milliseconds")
    insert = (
        "INSERT INTO heard (session, turn, role, text, at) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (session, turn, role) DO UPDATE SET text = excluded.text"
    )
    state.change(
        (insert, (_id(session), _id(turn or f"{words}{at}"), role, words, at)),
        ("DELETE FROM heard WHERE at < ?", (_oldest(now),)),
        ("DELETE FROM heard WHERE id <= (SELECT max(id) FROM heard) - ?", (KEPT_ROWS,)),
    )


def recent(state: State, now: datetime) -> list[Turn]:
    """The turns of the last two days, session by session: the one that spoke last comes last. An
    empty turn stands between two. Each id is `session:turn`, of one word."""
    query = "SELECT session, turn, role, text, at FROM heard WHERE at >= ? ORDER BY id"
    rows = state.rows(query, (_oldest(now),))
    last = {row[0]: at for at, row in enumerate(rows)}
    rows.sort(key=lambda row: last[row[0]])
    found: list[Turn] = []
    for session, said in groupby(rows, key=lambda row: str(row[0])):
        found += [_BETWEEN] if found else []
        found += [
            Turn(f"{session}:{turn}", role, text, _time(at)) for _, turn, role, text, at in said
        ]
    return found


def forget(state: State, sessions: Sequence[str]) -> None:
    """Forget what was said in sessions that were deleted."""
    query = "DELETE FROM heard WHERE session = ?"
    state.change(*((query, (_id(session),)) for session in sessions))


def _kept(text: str) -> str:
    from mdmemory.bounds import ends
    from mdmemory.privacy import redacted

    words = cleaned(as_text(text).replace("\0", ""))
    # again after the cut: half of a text may look like what the whole did not
    return redacted(ends(redacted(words), MOST)).strip()


def _id(given: str) -> str:
    """A host's id as it is, or one word that stands for it."""
    return given if is_id(given) else hashlib.sha256(given.encode("utf-8", "replace")).hexdigest()


def _oldest(now: datetime) -> str:
    return (now - timedelta(days=KEPT_DAYS)).isoformat(timespec="milliseconds")


def _time(at: str) -> int:
    return int(datetime.fromisoformat(at).timestamp() * 1000)
