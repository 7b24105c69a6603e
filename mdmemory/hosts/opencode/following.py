"""Follows sessions while they go on: their messages, tools and answers.

Notices for the assistant wait for the next text that it reads: a message of the user, or the
output of a tool. For one thread.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from mdmemory import bounds
from mdmemory.config import person
from mdmemory.errors import MdmemoryError
from mdmemory.hosts import recall
from mdmemory.hosts.opencode.bridge_log import Log
from mdmemory.hosts.opencode.messages import Params, Used, counted, model_of, window_of
from mdmemory.memory import Memory
from mdmemory.session import recalls

if TYPE_CHECKING:
    from mdmemory.config.settings import Settings
    from mdmemory.session.session import SessionMemory
    from mdmemory.store.project import Project
    from mdmemory.store.state import State

HOOKS = ("tool", "said", "answered")  # what a host has to forward for it
MOST = 200  # sessions, of each kind
AGAIN = 60.0  # seconds between two tries to open a database that could not be used
REST = 0.1  # seconds; the answer, and the prompt that follows it, are under way by then
MAX_WAITING = 32_000_000  # characters of outputs that wait to be stored

Failed = Callable[[Exception], None]
_T = TypeVar("_T")


def wanted(settings: Settings) -> list[str]:
    """The names of the hooks that the settings need, [] where all is switched off."""
    from mdmemory.session.sections import is_followed

    if is_followed(settings):
        return list(HOOKS)
    return ["tool"] if settings.switch("observe.enabled") else []


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

    def drop(self, session: str) -> _T | None:
        """Forget the value and return it, or None."""
        return self._values.pop(session, None)


class Children(BySession[bool]):
    """Which sessions are a sub-agent's: no words of the user stand there."""

    def knows(self, session: str) -> bool:
        """Whether a session is known to be one."""
        return bool(self.get(session))

    def has(self, session: str, text: str) -> bool:
        """The same; one that is older than the bridge is looked up, but only if `text` asks to
        remember something."""
        from mdmemory.capture.requests import asks

        return (
            self.is_one(session)
            if self.get(session) is None and asks(text)
            else self.knows(session)
        )

    def is_one(self, session: str) -> bool:
        """The same; one that is older than the bridge is looked up."""
        from mdmemory.transcripts.opencode import parent

        is_child = self.get(session)
        if is_child is None:
            is_child = False
            with suppress(MdmemoryError):  # a host without such a database
                is_child = bool(parent(person.hosts().opencode, session))
            self.put(session, is_child)
        return is_child


class SessionMemories:
    """The memory of each session, and the database that all of them use."""

    def __init__(self) -> None:
        self._state: State | None = None
        self._file: tuple[Path, int] | None = None
        self._opened_at = 0.0
        self._sessions: BySession[tuple[Settings, SessionMemory]] = BySession()

    def of(self, memory: Memory, session: str) -> SessionMemory:
        """The memory of a session, made anew when the settings change."""
        from mdmemory.session.session import SessionMemory

        state, settings = self.state(memory), memory.project.settings
        entry = self._sessions.get(session)
        if entry is None or entry[0] != settings:
            entry = settings, SessionMemory(state, session, settings)
            self._sessions.put(session, entry)
        return entry[1]

    def state(self, memory: Memory) -> State:
        """The open database of the project; opened again when its file was removed or replaced."""
        path = memory.project.state_file
        old = self._state
        if old is not None and self._file == (path, _inode(path)) and not self._is_retry_due(old):
            return old
        fresh = memory.state()
        if old is not None and old.trouble and fresh.trouble:
            fresh.__exit__()  # both are in memory only, and the old one holds something
        else:
            self._sessions = BySession()
            if old is not None:
                old.__exit__()
            self._state = old = fresh
        self._file, self._opened_at = (path, _inode(path)), time.monotonic()
        return old

    def _is_retry_due(self, state: State) -> bool:
        return state.trouble is not None and time.monotonic() - self._opened_at > AGAIN

    def drop(self, session: str) -> None:
        """Forget a session."""
        self._sessions.drop(session)


def _inode(path: Path) -> int:
    """The inode number of the file at `path`, or 0."""
    try:
        return path.lstat().st_ino
    except OSError:
        return 0


class Afterwards:
    """Work that no answer waits for, done by a thread, one piece after the other.

    The end of the process waits for what is left.
    """

    def __init__(self) -> None:
        self._changing, self._working = threading.Lock(), threading.Lock()
        self._waiting: deque[tuple[str, int, Callable[[], None], Failed]] = deque()
        self._is_running = False

    def add(self, session: str, size: int, failed: Failed, work: Callable[[], None]) -> None:
        """Do `work` of a session later, or now if too much waits already.

        The thread calls `failed` with what the work raises.
        """
        with self._changing:
            if sum(each[1] for each in self._waiting) + size > MAX_WAITING:
                starts = None
            else:
                self._waiting.append((session, size, work, failed))
                starts, self._is_running = not self._is_running, True
        if starts is None:
            work()
        elif starts:
            try:
                threading.Thread(target=self._run).start()
            except RuntimeError:  # the system gives no thread
                self._run()

    def drop(self, session: str) -> None:
        """Forget the waiting work of a session, after the piece that is under way."""
        with self._working, self._changing:
            self._waiting = deque(each for each in self._waiting if each[0] != session)

    def _run(self) -> None:
        time.sleep(REST)
        while self._do_next():
            pass

    def _do_next(self) -> bool:
        with self._working:
            with self._changing:
                self._is_running = bool(self._waiting)
                if not self._is_running:
                    return False
                _, _, work, failed = self._waiting.popleft()
            try:
                work()
            except Exception as problem:  # noqa: BLE001 - nobody else would see it
                failed(problem)
        return True


class Following:
    """Follows all sessions of the bridge."""

    def __init__(self) -> None:
        self._sessions = SessionMemories()
        self._texts: BySession[str] = BySession()  # of the answer that is being given
        self._answered: BySession[str] = BySession()  # the id of the last whole answer
        self._notices: BySession[list[str]] = BySession()
        self._windows: BySession[int] = BySession()  # by model
        self._afterwards = Afterwards()
        self._losses: deque[tuple[str, str]] = deque(maxlen=100)  # session and notice

    def state(self, memory: Memory) -> State:
        """The database of the project, which stays open."""
        return self._sessions.state(memory)

    def window(self, params: Params) -> None:
        """Remember the context window of the model that a prompt is for."""
        if model := model_of(params):
            self._windows.put(model, window_of(params))

    def at_hand(self, memory: Memory, session: str) -> str:
        """The session's own text for the prompt, which then stays until the next compaction."""
        own = self._own(memory, session)
        if own is None:
            return recall.at_hand(memory, session)
        own.new_epoch(now=memory.now())
        return own.blocks()

    def heard(self, memory: Memory, session: str, role: str, text: str) -> list[str]:
        """Follow a message that the assistant is about to read; the notices that go with it."""
        own = self._own(memory, session)
        notices = own.message(role, text, now=memory.now()) if own else []
        return notices or self._take_notices(session)

    def tool(self, memory: Memory, session: str, use: Used) -> str | None:
        """Follow the use of a tool; the text to show instead of its output, or None."""
        own = self._own(memory, session)
        pruned = None
        if own is not None:
            lose = partial(self._lose, memory.project, session)
            pruned = own.tool(
                use.tool, use.args, use.output, exit_code=use.exit_code, now=memory.now(),
                later=partial(self._afterwards.add, session, len(use.output), lose),
            )  # fmt: skip
        self._observe(memory, session, use)
        if not use.is_text:
            return None
        notices = self._take_notices(session)
        shown = use.output if pruned is None else pruned
        return "\n\n".join([shown, *notices]) if notices else pruned

    def said(self, session: str, text: str) -> None:
        """Collect a part of the assistant's answer."""
        self._texts.put(session, f"{self._texts.get(session) or ''}{text}\n"[: bounds.SAID])

    def answered(self, memory: Memory, session: str, message: str, params: Params) -> None:
        """Follow a whole answer, whose tokens the provider has counted. Safe to repeat."""
        if self._answered.get(session) == message:
            return
        self._answered.put(session, message)
        text = self._texts.drop(session) or ""
        own = self._own(memory, session)
        if own is None or params.get("summary"):  # `compacted` follows a summary
            return
        notices = own.message(
            "assistant", text, now=memory.now(), tokens=counted(params.get("tokens")),
            window=self._windows.get(model_of(params)) or 0,
        )  # fmt: skip
        if notices:
            self._notices.put(session, notices)

    def compacted(self, memory: Memory, session: str) -> None:
        """Begin anew: a summary stands for all messages before."""
        self._notices.drop(session)
        if os.path.lexists(memory.project.state_file):
            recalls.compacted(self.state(memory), session)
        if own := self._own(memory, session):
            own.new_epoch(now=memory.now(), compacted=True)

    def reverted(self, memory: Memory, session: str, message: str) -> None:
        """Notes that came with a message which the person took back may come again."""
        if os.path.lexists(memory.project.state_file):
            recalls.reverted(self.state(memory), session, message)

    def deleted(self, memory: Memory, session: str) -> None:
        """Forget a session that was deleted."""
        self._afterwards.drop(session)
        for each in (self._texts, self._answered, self._notices):
            each.drop(session)
        if os.path.lexists(memory.project.state_file):
            recalls.forget(self.state(memory), session)
        if own := self._own(memory, session):
            own.deleted()
        self._sessions.drop(session)

    def _own(self, memory: Memory, session: str) -> SessionMemory | None:
        return (
            self._sessions.of(memory, session)
            if "answered" in wanted(memory.project.settings)
            else None
        )

    def _take_notices(self, session: str) -> list[str]:
        notices = self._notices.drop(session) or []
        losses = [each for each in [*self._losses] if each[0] == session]
        for each in losses:
            self._losses.remove(each)
        return [*notices, *(notice for _, notice in losses)]

    def _lose(self, project: Project, session: str, problem: Exception) -> None:
        """Report an output that could not be stored: the assistant holds a mark that names it."""
        why = problem.message if isinstance(problem, MdmemoryError) else ""
        notice = f"A whole output could not be stored and is lost. {why}".rstrip()
        self._losses.append((session, notice))
        log = Log()
        log.belongs_to(project)
        log.failure("tool", problem)

    def _observe(self, memory: Memory, session: str, use: Used) -> None:
        observations = memory.observations()
        if observations.is_on and use.is_text:
            from mdmemory.observe.queue import tool_used

            tool_used(
                self._sessions.state(memory), session, use.tool, use.args, use.output, memory.now(),
                ignore=observations.ignored,
            )  # fmt: skip
