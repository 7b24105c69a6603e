"""Which notes came with the messages of a session, so that none comes twice. State, never notes.

What the host compacts away may come again, and so may what came with a message that was taken back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # as in `storage`
    from mdmemory.store.state import State

KEPT_DAYS = 30


@dataclass(frozen=True, slots=True)
class Recalled:
    """The files of the notes that the assistant still sees, the person's as `me/FILE`, each with
    the message that it came with; and the tokens of all that came in the session."""

    files: Mapping[str, str]
    tokens: int


def read(state: State, session: str) -> Recalled:
    """What came with the messages of a session so far."""
    query = "SELECT file, message, tokens, seen FROM recalled WHERE session = ? ORDER BY id"
    rows = state.rows(query, (session,))
    files = {file: message for file, message, _, seen in rows if seen}
    return Recalled(files, sum(tokens for _, _, tokens, _ in rows))


def add(state: State, session: str, message: str, files: Mapping[str, int], now: datetime) -> None:
    """Remember the notes that come with a message, each with its tokens."""
    at = now.isoformat(timespec="seconds")
    oldest = (now - timedelta(days=KEPT_DAYS)).isoformat(timespec="seconds")
    insert = "INSERT INTO recalled VALUES (NULL, ?, ?, ?, ?, ?, 1)"
    state.change(
        *((insert, (session, file, message, tokens, at)) for file, tokens in files.items()),
        ("DELETE FROM recalled WHERE at < ?", (oldest,)),
    )


def mark_compacted(state: State, session: str) -> None:
    """A summary stands for all messages so far: the assistant sees none of their notes any more."""
    state.change(("UPDATE recalled SET seen = 0 WHERE session = ?", (session,)))


def revert_message(state: State, session: str, message: str) -> None:
    """The person took back a message and all that came after it. A host's ids grow with time."""
    query = "DELETE FROM recalled WHERE session = ? AND message >= ?"
    state.change((query, (session, message)))


def forget(state: State, session: str) -> None:
    """Forget a session that was deleted."""
    state.change(("DELETE FROM recalled WHERE session = ?", (session,)))
