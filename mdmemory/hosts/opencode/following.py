"""A session followed while it goes on: what its messages, tools and answers tell its desk.

What the assistant is to be told of it waits for the next words that it is given: a message of the
user, or what a tool shows. For one thread.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmemory import bounds
from mdmemory.errors import MdmemoryError
from mdmemory.hosts.opencode import recall
from mdmemory.hosts.opencode.bridge_log import Log
from mdmemory.hosts.opencode.messages import Params, Used, counted, model_of, window_of
from mdmemory.memory import Memory

if TYPE_CHECKING:
    from mdmemory.config.settings import Settings
    from mdmemory.session.session import SessionMemory
    from mdmemory.store.project import Project
    from mdmemory.store.state import State

MOST = 200  # sessions, of each kind
AGAIN = 60.0  # seconds between two looks for a file that could not be used


class Desks:
    """One desk for each session, for one thread."""

    def __init__(self) -> None:
        self._state: State | None = None
        self._mark: tuple[Path, int] | None = None
        self._looked = 0.0
        self._desks: OrderedDict[str, tuple[Settings, SessionMemory]] = OrderedDict()

    def of(self, memory: Memory, session: str) -> SessionMemory:
        """The desk of a session, under the settings of now."""
        from mdmemory.session.session import SessionMemory

        state, settings = self.state(memory), memory.project.settings
        known = self._desks.get(session)
        if known is None or known[0] != settings:
            known = settings, SessionMemory(state, session, settings)
            self._desks[session] = known
            while len(self._desks) > MOST:
                self._desks.popitem(last=False)
        return known[1]

    def state(self, memory: Memory) -> State:
        """The database of the project, opened; anew where its file was removed or replaced."""
        path = memory.project.state_file
        if self._state is not None and self._mark == (path, _inode(path)) and not self._is_late():
            return self._state
        fresh = memory.state()
        if self._state is not None and fresh.trouble and self._state.trouble:
            fresh.__exit__()  # what is kept in memory meanwhile is worth more than nothing
        else:
            self.close()
            self._state = fresh
        self._mark, self._looked = (path, _inode(path)), time.monotonic()
        return self._state

    def _is_late(self) -> bool:
        """Whether a file that was not to be had is worth another look: a disk may have room."""
        assert self._state is not None
        return self._state.trouble is not None and time.monotonic() - self._looked > AGAIN

    def drop(self, session: str) -> None:
        """Forget a session's desk."""
        self._desks.pop(session, None)

    def close(self) -> None:
        """Let go of the database."""
        self._desks.clear()
        if self._state is not None:
            self._state.__exit__()
        self._state, self._mark = None, None


def _inode(path: Path) -> int:
    """Which file lies at a path; 0 for none."""
    try:
        return path.lstat().st_ino
    except OSError:
        return 0


class BySession:
    """What is remembered of sessions, the longest unused forgotten first."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Any] = OrderedDict()

    def put(self, session: str, value: Any) -> None:
        """Remember a value."""
        self._kept[session] = value
        self._kept.move_to_end(session)
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)

    def get(self, session: str) -> Any:
        """The value, or None."""
        if session in self._kept:
            self._kept.move_to_end(session)
        return self._kept.get(session)

    def drop(self, session: str) -> Any:
        """Forget it; the value, or None."""
        return self._kept.pop(session, None)


HOOKS = ("tool", "said", "answered")  # what a host has to forward for it
MAX_SAID = bounds.SAID
REST = 0.1  # seconds; the answer, and the prompt that follows it, are under way by then
MAX_WAITING = 32_000_000  # characters of outputs that wait to be kept
Failed = Callable[[Exception], None]


def wanted(memory: Memory) -> list[str]:
    """The hooks for what the settings have switched on; none where that is nothing."""
    is_on = memory.project.settings.switch
    if any(is_on(f"session.{part}") for part in ("hot", "working", "pruning", "pressure")):
        return list(HOOKS)
    return ["tool"] if is_on("observe.enabled") else []


class Afterwards:
    """What no answer waits for: a thread does it a moment later, one piece after the other. The
    end of the process waits for what is left."""

    def __init__(self) -> None:
        self._changing, self._working = threading.Lock(), threading.Lock()
        self._waiting: deque[tuple[str, int, Callable[[], None], Failed]] = deque()
        self._is_running = False

    def add(self, session: str, size: int, failed: Failed, work: Callable[[], None]) -> None:
        """Do a session's work later, or now where too much waits already. `failed` is told, in
        that thread, of what it raises later."""
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
            except RuntimeError:  # no thread is to be had
                self._run()

    def drop(self, session: str) -> None:
        """Leave undone what waits of a session; none of it is under way any more."""
        with self._working, self._changing:
            self._waiting = deque(each for each in self._waiting if each[0] != session)

    def _run(self) -> None:
        time.sleep(REST)
        while self._is_next_done():
            pass

    def _is_next_done(self) -> bool:
        with self._working:
            with self._changing:
                self._is_running = bool(self._waiting)
                if not self._is_running:
                    return False
                _, _, work, failed = self._waiting.popleft()
            try:
                work()
            except Exception as problem:  # noqa: BLE001 - nobody else would hear of it
                failed(problem)
        return True


class Following:
    """What is followed of all sessions."""

    def __init__(self) -> None:
        self._desks = Desks()
        self._said, self._answered, self._held = BySession(), BySession(), BySession()
        self._windows = BySession()  # by model
        self._afterwards = Afterwards()
        self._lost: deque[tuple[str, str]] = deque(maxlen=100)  # sessions and what to tell them

    def window(self, params: Params) -> None:
        """A prompt is made for a model, whose window the host states."""
        if model := model_of(params):
            self._windows.put(model, window_of(params))

    def at_hand(self, memory: Memory, session: str, _: str = "") -> str:
        """What the session keeps at hand, for the prompt of the epoch that begins."""
        desk = self._desk(memory, session)
        if desk is None:
            return recall.at_hand(memory, session)
        desk.new_epoch(now=memory.now())
        return desk.blocks()

    def heard(self, memory: Memory, session: str, role: str, text: str) -> list[str]:
        """A message that the assistant is about to read; what it is told besides."""
        desk = self._desk(memory, session)
        told = desk.message(role, text, now=memory.now()) if desk else []
        return told or self._told(session)

    def tool(self, memory: Memory, session: str, use: Used) -> str | None:
        """A tool was used; what is shown instead of its output, None for the output itself."""
        desk = self._desk(memory, session)
        pruned = None
        if desk:
            pruned = desk.tool(
                use.tool, use.args, use.output, exit_code=use.exit_code, now=memory.now(),
                later=partial(
                    self._afterwards.add, session, len(use.output),
                    partial(self._lose, memory.project, session),
                ),
            )  # fmt: skip
        self._observe(memory, session, use)
        if not use.is_text:
            return None
        held = self._told(session)
        shown = use.output if pruned is None else pruned
        return "\n\n".join([shown, *held]) if held else pruned

    def said(self, session: str, text: str) -> None:
        """The assistant said something, in an answer that is not whole yet."""
        self._said.put(session, f"{self._said.get(session) or ''}{text}\n"[:MAX_SAID])

    def answered(self, memory: Memory, session: str, message: str, params: Params) -> None:
        """An answer is whole, and the provider has counted its tokens. Twice is once."""
        if self._answered.get(session) == message:
            return
        self._answered.put(session, message)
        text = self._said.drop(session) or ""
        desk = self._desk(memory, session)
        if desk is None or params.get("summary"):  # of a summary tells the compaction
            return
        told = desk.message(
            "assistant", text, now=memory.now(), tokens=counted(params.get("tokens")),
            window=self._windows.get(model_of(params)) or 0,
        )  # fmt: skip
        if told:
            self._held.put(session, told)

    def compacted(self, memory: Memory, session: str) -> None:
        """All before is told in a summary: an epoch begins."""
        self._held.drop(session)
        if desk := self._desk(memory, session):
            desk.new_epoch(now=memory.now(), compacted=True)

    def deleted(self, memory: Memory, session: str) -> None:
        """The session is gone."""
        self._afterwards.drop(session)
        for kept in (self._said, self._answered, self._held):
            kept.drop(session)
        if desk := self._desk(memory, session):
            desk.deleted()
        self._desks.drop(session)

    def _desk(self, memory: Memory, session: str) -> SessionMemory | None:
        return self._desks.of(memory, session) if "answered" in wanted(memory) else None

    def _told(self, session: str) -> list[str]:
        told: list[str] = self._held.drop(session) or []
        lost = [each for each in [*self._lost] if each[0] == session]
        for each in lost:
            self._lost.remove(each)
        return [*told, *(sentence for _, sentence in lost)]

    def _lose(self, project: Project, session: str, problem: Exception) -> None:
        """The whole of an output could not be kept after all: the log says why, and the assistant
        is told, for it holds a mark that names the place."""
        why = problem.message if isinstance(problem, MdmemoryError) else ""
        self._lost.append((session, f"A whole output that was to be kept is lost. {why}".rstrip()))
        log = Log()
        log.belongs_to(project)
        log.failure("tool", problem)

    def _observe(self, memory: Memory, session: str, use: Used) -> None:
        found = memory.observations()
        if found.is_on and use.is_text:
            from mdmemory.observe.queue import tool_used

            tool_used(
                self._desks.state(memory), session, use.tool, use.args, use.output, memory.now(),
                ignore=found.ignored,
            )  # fmt: skip
