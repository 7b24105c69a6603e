"""What a session's prompt holds of the memory, and what is kept of sessions while they go on, with
their messages. For every host.

Notices for the assistant wait for the next text that it reads. For one thread.
"""

from __future__ import annotations

import os
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from mdmemory.memory import Memory
from mdmemory.prompt import lines
from mdmemory.session import recalls

if TYPE_CHECKING:
    from mdmemory.config.settings import Settings
    from mdmemory.session.session import SessionMemory
    from mdmemory.store.state import State

MOST = 200  # sessions, of each kind
AGAIN = 60.0  # seconds between two tries to open a database that could not be used
OBSERVATIONS = 4_000  # tokens of what earlier sessions saw
_OF_SUMMARY = 2_000  # tokens of observations that a summary is told
_KEPT = (
    "What the session keeps at hand besides the summary. It stays in the prompt by itself, so that "
    "the summary need not repeat it:"
)

_T = TypeVar("_T")


class BySession(Generic[_T]):
    """A value for each of the MOST sessions that were used last."""

    def __init__(self) -> None:
        self._values: OrderedDict[str, _T] = OrderedDict()

    def put(self, session: str, value: _T) -> None:
        """Remember a value."""
        self._values[session] = value
        self._values.move_to_end(session)
        while len(self._values) > MOST:
            self._values.popitem(last=False)

    def get(self, session: str) -> _T | None:
        """The value, or None."""
        if session in self._values:
            self._values.move_to_end(session)
        return self._values.get(session)

    def get_or_make(self, session: str, make: Callable[[], _T]) -> _T:
        """The value; `make` gives it where there is none."""
        if session not in self._values:
            self.put(session, make())
        self._values.move_to_end(session)
        return self._values[session]

    def sessions(self) -> list[str]:
        """Those that have a value."""
        return [*self._values]

    def drop(self, session: str) -> _T | None:
        """Forget the value and return it, or None."""
        return self._values.pop(session, None)


# --- texts for the prompt; "" where the settings switch one off


def at_hand(memory: Memory, session: str) -> str:
    """The memory of the session."""
    if not os.path.lexists(memory.project.state_file):
        return ""  # reading does not make the file
    with memory.session(session) as own:
        return own.blocks()


def by_hand(layers: Memory, _session: str) -> str:
    """A line for each layer that other hands changed and no commit holds so yet."""
    looks = [look for memory in layers.there() if (look := memory.unadopted())]
    return "\n".join(filter(None, (lines.by_hand(look.found, look.lost) for look in looks)))


def recall_observations(layers: Memory, _session: str) -> str:
    """The observations of earlier sessions, the newest in full."""
    observations = layers.main.observations()
    return observations.block(budget=OBSERVATIONS) if observations.is_on else ""


def for_compaction(memory: Memory, session: str) -> list[str]:
    """Texts for the prompt of the host's own summary of the session."""
    own, observations = at_hand(memory, session), memory.observations()
    texts = [f"{_KEPT}\n{own}"] if own else []
    if observations.is_on and (seen := observations.block(session=session, budget=_OF_SUMMARY)):
        texts.append(seen)
    return texts


class Following:
    """Follows all sessions of one client, or of one store, in a database that stays open."""

    def __init__(self) -> None:
        self._state: State | None = None
        self._file: tuple[Path, int] | None = None
        self._opened_at = 0.0
        self._sessions: BySession[tuple[Settings, SessionMemory]] = BySession()
        self._notices: BySession[list[str]] = BySession()
        self._losses: deque[tuple[str, str]] = deque(maxlen=100)  # session and notice

    def state(self, memory: Memory) -> State:
        """The open database of the project; opened again when its file was removed or replaced."""
        old, path = self._state, memory.project.state_file
        is_due = time.monotonic() - self._opened_at > AGAIN
        if old and self._file == _with_inode(path) and not (old.trouble and is_due):
            return old
        fresh = memory.state()
        if old is not None and old.trouble and fresh.trouble:
            fresh.__exit__()  # both are in memory only, and the old one holds something
        else:
            self._sessions = BySession()
            if old is not None:
                old.__exit__()
            self._state = old = fresh
        self._file, self._opened_at = _with_inode(path), time.monotonic()
        return old

    def at_hand(self, memory: Memory, session: str) -> str:
        """The session's own text for the prompt, which then stays until the next compaction."""
        own = self.own(memory, session)
        if own is None:
            return at_hand(memory, session)
        own.new_epoch(now=memory.now())
        return own.blocks()

    def heard(self, memory: Memory, session: str, role: str, text: str) -> list[str]:
        """Follow a message that the assistant is about to read; the notices that go with it."""
        own = self.own(memory, session)
        notices = own.message(role, text, now=memory.now()) if own else []
        return notices or self.take_notices(session)

    def compacted(self, memory: Memory, session: str) -> None:
        """Begin anew: a summary stands for all messages before."""
        self._notices.drop(session)
        if os.path.lexists(memory.project.state_file):
            recalls.mark_compacted(self.state(memory), session)
        if own := self.own(memory, session):
            own.new_epoch(now=memory.now(), compacted=True)

    def reverted(self, memory: Memory, session: str, message: str) -> None:
        """Notes that came with a message which the person took back may come again."""
        if os.path.lexists(memory.project.state_file):
            recalls.revert_message(self.state(memory), session, message)

    def deleted(self, memory: Memory, session: str) -> None:
        """Forget a session that was deleted."""
        self._notices.drop(session)
        if os.path.lexists(memory.project.state_file):
            recalls.forget(self.state(memory), session)
        if own := self.own(memory, session):
            own.delete()
        self._sessions.drop(session)

    def own(self, memory: Memory, session: str) -> SessionMemory | None:
        """The memory of a session; None where the settings keep none."""

        settings = memory.project.settings
        if not settings.switch("session.memory"):
            return None
        from mdmemory.session.session import SessionMemory

        state, entry = self.state(memory), self._sessions.get(session)
        if entry is None or entry[0] != settings:  # made anew when the settings change
            entry = settings, SessionMemory(state, session, settings)
            self._sessions.put(session, entry)
        return entry[1]

    def notify(self, session: str, notices: Sequence[str]) -> None:
        """Have these wait for the next text that the assistant reads."""
        self._notices.put(session, [*notices])

    def lost(self, session: str, notice: str) -> None:
        """Add a notice of a loss, from any thread."""
        self._losses.append((session, notice))

    def take_notices(self, session: str) -> list[str]:
        """What waits for a session, once."""
        notices = self._notices.drop(session) or []
        losses = [each for each in [*self._losses] if each[0] == session]
        for each in losses:
            self._losses.remove(each)
        return [*notices, *(notice for _, notice in losses)]


def _with_inode(path: Path) -> tuple[Path, int]:
    """A file, and its inode number, or 0."""
    try:
        return path, path.lstat().st_ino
    except OSError:
        return path, 0
