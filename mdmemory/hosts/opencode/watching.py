"""Follows what the assistant does in OpenCode: its tools, and its answers with their tokens.

For one thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING

from mdmemory import bounds
from mdmemory.errors import MdmemoryError
from mdmemory.hosts.bridge_log import Log
from mdmemory.hosts.following import BySession, Following
from mdmemory.hosts.opencode.messages import Params, Used, count_tokens, model_of, window_of
from mdmemory.memory import Memory

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from mdmemory.config.settings import Settings
    from mdmemory.store.project import Project

HOOKS = ("tool", "said", "answered")  # what a host has to forward for it
REST = 0.1  # seconds; the answer, and the prompt that follows it, are under way by then
PATIENCE = 2.0  # seconds that it waits while the assistant asks one thing after the other
MAX_WAITING = 32_000_000  # characters of outputs that wait to be stored

Failed = Callable[[Exception], None]


def wanted_hooks(settings: Settings) -> list[str]:
    """The names of the hooks that the settings need, [] where all is switched off."""
    from mdmemory.session.sections import is_followed

    if is_followed(settings):
        return list(HOOKS)
    return ["tool"] if settings.switch("observe.enabled") else []


class Afterwards:
    """Work that no answer waits for, done by a thread, one piece after the other.

    A piece begins when the assistant has asked nothing for a moment: its answer would be late.
    The end of the process waits for what is left.
    """

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._waiting: list[tuple[str, int, Future[None]]] = []
        self._asked, self._last = 0, 0.0  # questions under way; when one began or ended

    @cached_property
    def _thread(self) -> ThreadPoolExecutor:
        from concurrent.futures import ThreadPoolExecutor  # few sessions come to it

        return ThreadPoolExecutor(1)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """A context in which a question is answered, which goes before the work."""
        self._ask_more(1)
        try:
            yield
        finally:
            self._ask_more(-1)

    def add(self, session: str, size: int, failed: Failed, work: Callable[[], None]) -> None:
        """Do `work` of a session later, or now if too much waits already.

        The thread calls `failed` with what the work raises.
        """
        self._waiting = [each for each in self._waiting if not each[2].done()]
        if sum(each[1] for each in self._waiting) + size > MAX_WAITING:
            work()
            return
        self._ask_more(0)  # an answer follows, and then a prompt
        try:
            piece = self._thread.submit(self._run, failed, work)
        except RuntimeError:  # the system gives no thread
            work()
        else:
            self._waiting.append((session, size, piece))

    def drop(self, session: str) -> None:
        """Forget the waiting work of a session, after the piece that is under way."""
        for owner, _, piece in self._waiting:
            if owner == session and not piece.cancel():
                piece.exception()

    def _ask_more(self, more: int) -> None:
        with self._changing:
            self._asked, self._last = self._asked + more, time.monotonic()

    def _run(self, failed: Failed, work: Callable[[], None]) -> None:
        self._let_ask()
        try:
            work()
        except Exception as problem:  # noqa: BLE001 - nobody else would see it
            failed(problem)

    def _let_ask(self) -> None:
        """Wait until nothing has been asked for a moment, but not for ever."""
        until = time.monotonic() + PATIENCE
        while True:
            with self._changing:
                now = time.monotonic()
                quiet = (now if self._asked else self._last) + REST
            if min(quiet, until) <= now:
                return
            time.sleep(min(quiet, until) - now)


class Watching:
    """Watches all sessions of the bridge, for `following`."""

    def __init__(self, following: Following) -> None:
        self._following = following
        self._texts: BySession[str] = BySession()  # of the answer that is being given
        self._answered: BySession[str] = BySession()  # the id of the last whole answer
        self._windows: BySession[int] = BySession()  # by model
        self._afterwards = Afterwards()
        self.answering = self._afterwards.answering

    def window(self, params: Params) -> None:
        """Remember the context window of the model that a prompt is for."""
        if model := model_of(params):
            self._windows.put(model, window_of(params))

    def tool(self, memory: Memory, session: str, use: Used) -> str | None:
        """Follow the use of a tool; the text to show instead of its output, or None."""
        own = self._following.own(memory, session)
        pruned = None
        if own is not None:
            lose = partial(self._report_loss, memory.project, session)
            pruned = own.tool(
                use.tool, use.args, use.output, exit_code=use.exit_code, now=memory.now(),
                later=partial(self._afterwards.add, session, len(use.output), lose),
            )  # fmt: skip
        self._observe_use(memory, session, use)
        if not use.is_text:
            return None
        notices = self._following.take_notices(session)
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
        own = self._following.own(memory, session)
        if own is None or params.get("summary"):  # `compacted` follows a summary
            return
        notices = own.message(
            "assistant", text, now=memory.now(), tokens=count_tokens(params.get("tokens")),
            window=self._windows.get(model_of(params)) or 0,
        )  # fmt: skip
        if notices:
            self._following.notify(session, notices)

    def deleted(self, session: str) -> None:
        """Forget a session that was deleted."""
        self._afterwards.drop(session)
        for each in (self._texts, self._answered):
            each.drop(session)

    def _report_loss(self, project: Project, session: str, problem: Exception) -> None:
        """Report an output that could not be stored: the assistant holds a mark that names it."""
        why = problem.message if isinstance(problem, MdmemoryError) else ""
        notice = f"A whole output could not be stored and is lost. {why}".rstrip()
        self._following.lost(session, notice)
        log = Log()
        log.belongs_to(project)
        log.failure("tool", problem)

    def _observe_use(self, memory: Memory, session: str, use: Used) -> None:
        observations = memory.observations()
        if observations.is_on and use.is_text:
            from mdmemory.observe.queue import tool_used

            state = self._following.state(memory)
            tool_used(state, session, use.tool, use.args, use.output, memory.now())
