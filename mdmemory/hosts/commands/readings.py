"""Sessions that wait to be read: each once it has been idle for a while, by a process of its own.

A bridge keeps the time, so that a turn costs no process. Where it ends before, the process is
started at once, and waits itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Start = Callable[[float], None]  # starts a process that reads the session after so many seconds


@dataclass(frozen=True, slots=True)
class _Reading:
    due: float
    start: Start


class Readings:
    """The sessions of one bridge. `clock` gives seconds that only grow."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._waiting: dict[str, _Reading] = {}

    def put(self, session: str, seconds: float, start: Start) -> None:
        """Have a session read `seconds` from now, and not before: it went on."""
        self._waiting[session] = _Reading(self._clock() + seconds, start)

    def look(self) -> float | None:
        """Start what is due; the seconds until the next is, None where none waits."""
        now = self._clock()
        for session, reading in [*self._waiting.items()]:
            if reading.due <= now:
                del self._waiting[session]
                reading.start(0.0)
        return min((each.due - now for each in self._waiting.values()), default=None)

    def close(self) -> None:
        """Start all that wait, each for the time that is left."""
        now = self._clock()
        for session, reading in [*self._waiting.items()]:
            del self._waiting[session]
            reading.start(max(0.0, reading.due - now))
