"""The sessions that a store remembers anything of: what was captured, and what was recalled."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mdmemory.store import evidence

if TYPE_CHECKING:  # as in `storage`
    from mdmemory.store.state import State


@dataclass
class KnownSession:
    """`time` is the last moment that anything is known of (ISO 8601), `outcomes` counts what became
    of the candidates found in it, `recalled` the notes that went along with its messages, and
    `tokens` what they cost."""

    id: str
    time: str = ""
    outcomes: Counter[str] = field(default_factory=Counter)
    recalled: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class NoteRecalled:
    """A note that went along with a message: its file (the person's as `me/FILE`), when (ISO 8601),
    its tokens, and whether the assistant still sees it."""

    file: str
    time: str
    tokens: int
    is_seen: bool


def list_sessions(state: State) -> list[KnownSession]:
    """All sessions, those with the newest word first."""
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
    return [
        NoteRecalled(file, at, tokens, bool(seen))
        for file, at, tokens, seen in state.rows(query, (session,))
    ]
