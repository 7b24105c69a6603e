"""Which notes came with the messages of a session, so that none comes twice, and the sessions that
a store remembers anything of. State, never notes.

What the host compacts away may come again, and so may what came with a message that was taken back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # as in `storage`
    from mdmemory.store.state import State


class KnownSession:
    """`time` is the last moment that anything is known of (ISO 8601), `outcomes` counts what became
    of the candidates found in it, `recalled` the notes that went along with its messages, and
    `tokens` what they cost."""

    def __init__(self, id: str) -> None:
        self.id, self.time, self.outcomes = id, "", Counter[str]()
        self.recalled = self.tokens = 0


class NoteRecalled(NamedTuple):
    """A note that went along with a message: its file (the person's as `me/FILE`), when (ISO 8601),
    its tokens, and whether the assistant still sees it."""

    file: str
    time: str
    tokens: int
    is_seen: bool


def list_sessions(state: State) -> list[KnownSession]:
    """All sessions, those with the newest word first."""
    from mdmemory.store import evidence  # which no message needs

    sessions: dict[str, KnownSession] = {}
    for each in evidence.recorded_evidence(state):
        session = sessions.setdefault(each.session, KnownSession(each.session))
        session.time = max(session.time, each.time)
        if each.phase != "run":
            session.outcomes[each.outcome] += 1
    query = "SELECT session, count(*), sum(tokens), max(at) FROM recalled GROUP BY session"
    for id, count, tokens, at in state.rows(query):
        session = sessions.setdefault(id, KnownSession(id))
        session.time = max(session.time, at)
        session.recalled, session.tokens = count, tokens
    return sorted(sessions.values(), key=lambda each: (each.time, each.id), reverse=True)


def list_recalled(state: State, session: str) -> list[NoteRecalled]:
    """The notes that went along with the messages of a session, in their order."""
    query = "SELECT file, at, tokens, seen FROM recalled WHERE session = ? ORDER BY id"
    rows = state.rows(query, (session,))
    return [NoteRecalled(file, at, tokens, bool(seen)) for file, at, tokens, seen in rows]


KEPT_DAYS = 30


class Recalled(NamedTuple):
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


def count_files(state: State) -> list[tuple[str, int]]:
    """How often each note came with a message, in all sessions that are remembered."""
    query = "SELECT file, count(*) FROM recalled GROUP BY file ORDER BY 2 DESC, 1"
    return [(file, count) for file, count in state.rows(query)]
