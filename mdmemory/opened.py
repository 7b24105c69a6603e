"""One store, opened: what every method of the Python interface stands on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

from mdmemory.config import person
from mdmemory.errors import GOING_ON
from mdmemory.privacy import is_secret
from mdmemory.store.project import Project
from mdmemory.store.refresh import Refresher
from mdmemory.store.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from mdmemory.git.commits_of_store import History
    from mdmemory.git.lock import Patience
    from mdmemory.search.project import Search
    from mdmemory.store.adopt import Look
    from mdmemory.store.state import State
    from mdmemory.store.writer import Writer


class _Room(ModuleType):
    """A package of ours, whose modules are loaded when they are first used: reading stays quick."""

    def __getattr__(self, module: str) -> ModuleType:
        return import_module(f"mdmemory.{self.__name__}.{module}")


__all__ = ["Opened", "actions", "capture", "citing", "compact", "imports", "llm", "observe",
           "search", "sessions", "store"]  # fmt: skip

if TYPE_CHECKING:
    from mdmemory import actions, capture, citing, compact, llm, observe, search, store
    from mdmemory import session as sessions
    from mdmemory.actions import memory_folder  # noqa: F401 - what functions return
    from mdmemory.capture import imports, wishes  # noqa: F401
    from mdmemory.citing import check  # noqa: F401
    from mdmemory.search import sources  # noqa: F401
else:
    actions, capture, compact = _Room("actions"), _Room("capture"), _Room("compact")
    llm, observe, search = _Room("llm"), _Room("observe"), _Room("search")
    citing = _Room("citing")
    imports, sessions, store = _Room("capture.imports"), _Room("session"), _Room("store")


class Opened:
    """One store, opened. `clock` gives the present moment in UTC, `holder` is the name that other
    processes see while this one writes, and `tell` gets a sentence for each write that an earlier
    process could not finish. `automatic`: no person typed the command; in a repository of theirs
    its writes are kept beside the branches, and wait for a command that they type. `watched`:
    whoever opened it brings the index up to date, so that reading a note or history does not."""

    def __init__(
        self, project: Project, *, holder: str = "a Python program",
        clock: Callable[[], datetime] = person.now, tell: Callable[[str], None] = lambda _: None,
        automatic: bool = False, patience: Patience | None = None, watched: bool = False,
    ) -> None:  # fmt: skip
        self.project = project
        self._automatic, self._patience, self._watched = automatic, patience, watched
        self._holder, self._clock, self._tell = holder, clock, tell
        self._sentences: set[str] = set()
        self._at_hand: Writer | None = None
        self._by_hand: list[Look | None] = []  # at one look, once it was asked what hands did

    @contextmanager
    def at_one_look(self) -> Iterator[None]:
        """Answer all that is asked in the block by one look at the notes. For what only reads, and
        is soon done."""
        self._at_hand = self._at_hand or self._writer()
        try:
            yield
        finally:
            self._at_hand = None
            self._by_hand.clear()

    def now(self) -> datetime:
        """The present moment in UTC, by the clock that this was opened with."""
        return self._clock()

    def state(self) -> State:
        """The database of our own work, as a context. Its trouble goes to `tell`."""
        return store.state.State(self.project.state_file, self._tell_once)

    def _tell_once(self, sentence: str) -> None:
        kind = GOING_ON if GOING_ON in sentence else sentence
        if kind not in self._sentences:
            self._sentences.add(kind)
            self._tell(sentence)

    def _today(self) -> str:
        return self._clock().date().isoformat()

    def _refresher(self) -> Refresher:
        return self._at_hand.refresher if self._at_hand else Refresher(self.project, is_secret)

    def _fresh(self) -> Refresher:
        """The refresher, whose index is brought up to date unless somebody else does so."""
        refresher = self._refresher()
        if not self._watched:
            refresher.current()
        return refresher

    def _store(self) -> Store:
        return self._fresh().store

    def _writer(self) -> Writer:
        return self._at_hand or store.writer.Writer(
            self.project, is_secret, self._holder, self._tell_once, self._automatic, self._patience
        )

    def _history(self) -> History:
        return actions.note_history.history_of(self._writer(), fresh=not self._watched)

    def _search(self, source: str = "memory", meaning: bool = True) -> Search:
        return search.sources.search(self._refresher(), source, self._today(), meaning=meaning)
