"""The store that a Memory stands for, and the rooms below it, each made when it is needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mdmemory.doors import machine
from mdmemory.errors import GOING_ON, NoGit
from mdmemory.store.project import Project
from mdmemory.store.refresh import Refresher
from mdmemory.store.store import Store, StoredNote

if TYPE_CHECKING:  # each is loaded by the method that needs it, so that reading stays quick
    from datetime import datetime

    from mdmemory.store.history import History
    from mdmemory.store.lock import Patience
    from mdmemory.store.state import State
    from mdmemory.store.writer import Writer


class Opened:
    """`clock` gives the present moment in UTC; `holder` is who other processes are told is at work;
    `automatic`: no person typed what is done, so that no branch of theirs moves by it.

    `tell` hears in sentences what became of a write that an earlier process could not finish, and
    where state is not to be had. `patience` says how long a write waits for others (5 seconds).
    """

    def __init__(
        self, project: Project, *, holder: str = "a Python program",
        clock: Callable[[], datetime] = machine.now, tell: Callable[[str], None] = lambda _: None,
        automatic: bool = False, patience: Patience | None = None,
    ) -> None:  # fmt: skip
        self.project = project
        self._automatic, self._patience = automatic, patience
        self._holder = holder
        self._clock = clock
        self._tell = _once(tell)

    def notes(self) -> list[StoredNote]:
        """All notes, sorted by file."""
        return self._store().notes()

    def now(self) -> datetime:
        """The present moment in UTC, by the clock that this was opened with."""
        return self._clock()

    def _state(self) -> State:
        from mdmemory.store.state import State

        return State(self.project.state_file, self._tell)

    def _today(self) -> str:
        return self._clock().date().isoformat()

    def _store(self) -> Store:
        refresher = self._refresher()
        refresher.keep_fresh()
        return refresher.store

    def _refresher(self) -> Refresher:
        return Refresher(self.project, is_secret)

    def _writer(self) -> Writer:
        from mdmemory.store.lock import USUAL
        from mdmemory.store.writer import Writer

        return Writer(
            self.project, is_secret, self._holder, self._tell, self._automatic,
            self._patience or USUAL,
        )  # fmt: skip

    def _history(self) -> History:
        writer = self._writer()
        writer.refresher.keep_fresh()
        if writer.history is None:
            refusal = writer.refusal()
            raise refusal or NoGit("There is no git repository.")
        return writer.history


def state(opened: Opened) -> State:
    """What is remembered of our own work; where that is not to be had, `tell` hears so."""
    return opened._state()


def _once(tell: Callable[[str], None]) -> Callable[[str], None]:
    """Says no sentence twice, and once only that there is no state: each part of it is missed."""
    said: set[str] = set()

    def told(sentence: str) -> None:
        kind = GOING_ON if GOING_ON in sentence else sentence
        if kind not in said:
            said.add(kind)
            tell(sentence)

    return told


def is_secret(text: str) -> bool:
    """Whether a text holds what looks like a secret."""
    from mdmemory.privacy.redaction import has_secret

    return has_secret(text)


def redacted(text: str) -> str:
    """A text with a mark in place of each secret."""
    from mdmemory.privacy.redaction import redact

    return redact(text)[0]
