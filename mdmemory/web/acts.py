"""What was done in this run, so that each page can say it and take it back."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass

MOST = 200  # acts that are remembered; older ones are taken back on the page of changes


@dataclass(frozen=True, slots=True)
class Act:
    """`said` is a sentence; `back` takes it back and says so, None where nothing can be; `then` is
    the page that shows what became of it."""

    id: str
    said: str
    back: Callable[[], str] | None = None
    then: str = "/inbox"


class Acts:
    """The acts of this run by their ids."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, Act] = {}

    def add(self, said: str, back: Callable[[], str] | None = None, then: str = "/inbox") -> Act:
        """Remember an act."""
        act = Act(secrets.token_hex(6), said, back, then)
        with self._lock:
            self._known[act.id] = act
            while len(self._known) > MOST:
                del self._known[next(iter(self._known))]
        return act

    def get(self, id: str) -> Act | None:
        """The act with this id, or None."""
        with self._lock:
            return self._known.get(id)

    def used(self, id: str) -> None:
        """Forget that an act can be taken back: it was."""
        with self._lock:
            if act := self._known.get(id):
                self._known[id] = Act(act.id, act.said, None, act.then)
