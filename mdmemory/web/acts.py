"""What was done in this run, so that a page can say it and take it back, and what forms showed."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

MOST = 1_000  # of each that are remembered; older acts are taken back on the page of changes
T = TypeVar("T")


class Remembered(Generic[T]):
    """Things by a name, the last so many."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, T] = {}

    def put(self, name: str, thing: T) -> None:
        """Remember a thing, in place of another of this name."""
        with self._lock:
            self._known.pop(name, None)
            self._known[name] = thing
            while len(self._known) > MOST:
                del self._known[next(iter(self._known))]

    def get(self, name: str) -> T | None:
        """The thing of this name, or None."""
        with self._lock:
            return self._known.get(name)


@dataclass(frozen=True, slots=True)
class Act:
    """`said` is a sentence; `back` takes it back and says so, None where nothing can be; `then` is
    the page that shows what became of it."""

    id: str
    said: str
    back: Callable[[], str] | None = None
    then: str = "/inbox"


class Acts(Remembered[Act]):
    """The acts of this run by their ids."""

    def add(self, text: str, back: Callable[[], str] | None = None, then: str = "/inbox") -> Act:
        """Remember an act."""
        act = Act(secrets.token_hex(6), text, back, then)
        self.put(act.id, act)
        return act

    def used(self, id: str) -> None:
        """Forget that an act can be taken back: it was."""
        if act := self.get(id):
            self.put(id, replace(act, back=None))
