"""What OpenCode's plugin sends, read: messages, and who says them; and what the assistant does,
followed: its tools, and its answers with their tokens. For one thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmemory import bounds
from mdmemory.config import person
from mdmemory.errors import MdmemoryError, UsageError
from mdmemory.hosts.background import Log
from mdmemory.hosts.conversation import transcript_of
from mdmemory.hosts.following import BySession, Following
from mdmemory.hosts.texts import Spoken
from mdmemory.memory import Memory

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from mdmemory.capture.extracted import Caller
    from mdmemory.store.project import Project
    from mdmemory.transcripts.turns import Turn

HOOKS = ("tool", "said", "answered")  # what a host has to forward for it
REST = 0.1  # seconds; the answer, and the prompt that follows it, are under way by then
PATIENCE = 2.0  # seconds that it waits while the assistant asks one thing after the other
MAX_WAITING = 32_000_000  # characters of outputs that wait to be stored

Params = Mapping[str, Any]
Failed = Callable[[Exception], None]


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
        until = time.monotonic() + PATIENCE
        while True:  # until nothing has been asked for a moment, but not for ever
            with self._changing:
                now = time.monotonic()
                quiet = (now if self._asked else self._last) + REST
            if min(quiet, until) <= now:
                break
            time.sleep(min(quiet, until) - now)
        try:
            work()
        except Exception as problem:  # noqa: BLE001 - nobody else would see it
            failed(problem)


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
        from mdmemory.session.session import usable

        if model := model_of(params):
            limit = params.get("limit")
            given = limit if isinstance(limit, dict) else {}
            sizes = (_whole_number(given.get(name)) for name in ("context", "input", "output"))
            self._windows.put(model, usable(*sizes))

    def tool(self, memory: Memory, session: str, params: Params) -> str | None:
        """Follow the use of a tool; the text to show instead of its output, or None. Raises
        UsageError where the request names no tool."""
        tool, args, output = params.get("tool"), params.get("args"), params.get("output")
        if not isinstance(tool, str) or not tool:
            raise UsageError("The request names no tool.")
        args = args if isinstance(args, dict) else {}
        text = output if isinstance(output, str) else ""
        own, code, pruned = self._following.own(memory, session), params.get("exit"), None
        if own is not None:
            lose = partial(self._report_loss, memory.project, session)
            pruned = own.tool(
                tool, args, text, exit_code=code if type(code) is int else None, now=memory.now(),
                later=partial(self._afterwards.add, session, len(text), lose),
            )  # fmt: skip
        if not isinstance(output, str):
            return None
        if memory.observations().is_on:
            from mdmemory.observe.queue import tool_used

            state = self._following.state(memory)
            tool_used(state, session, tool, args, text, memory.now())
        notices = self._following.take_notices(session)
        shown = text if pruned is None else pruned
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


# --- the parameters of a request


def named_id(params: Params, key: str) -> str:
    """The id under `key`. Raises UsageError where there is none."""
    from mdmemory.transcripts.turns import is_id

    value = params.get(key)
    if not isinstance(value, str) or not is_id(value):
        raise UsageError(f"The request names no {key}.")
    return value


def message_of(session: str, params: Params, children: Children) -> Spoken:
    """A message with the user's turn as its session will show it later."""
    from mdmemory.capture.notice import notice_wishes
    from mdmemory.privacy import strip_private
    from mdmemory.transcripts.opencode import build_transcript

    parts = params.get("parts", [])
    message = {"info": {"id": named_id(params, "message"), "role": "user"}, "parts": parts}
    turns = build_transcript({"id": session}, [message]).turns
    part_texts = [part.get("text") for part in parts if isinstance(part, dict)]
    texts = [text for text in part_texts if isinstance(text, str)]
    by_agent = children.knows(session)
    # one that is older than the bridge is looked up only where it asks to remember something
    if turns and children.get(session) is None and notice_wishes(turns[0].text):
        by_agent = children.is_one(session)
    return Spoken(
        session, turns[0] if turns else None, Path.cwd(),
        is_private=any(strip_private(text)[1] for text in texts),
        length=sum(map(len, texts)),
        by_agent=by_agent,
    )  # fmt: skip


class Children(BySession[bool]):
    """Which sessions are a sub-agent's: no words of the user stand there."""

    def knows(self, session: str) -> bool:
        """Whether a session is known to be one."""
        return bool(self.get(session))

    def is_one(self, session: str) -> bool:
        """The same; one that is older than the bridge is looked up."""
        from mdmemory.transcripts.opencode import find_session

        is_child = self.get(session)
        if is_child is None:
            is_child = False
            with suppress(MdmemoryError):  # a host without such a database
                row = find_session(person.host_places().opencode, session)
                is_child = bool(row and row.parent)
            self.put(session, is_child)
        return is_child


def caller_of(session: str, name: str) -> Caller:
    """The caller of a tool, with the turns of the session if it changes notes: to read them takes
    time."""
    from mdmemory.capture.extracted import Caller
    from mdmemory.tools.table import SESSION, TOOLS

    turns: tuple[Turn, ...] = ()
    changing = [each for each in TOOLS if not each.read_only and each is not SESSION]
    if any(each.name == name for each in changing):
        with suppress(MdmemoryError):  # a host without such a database
            turns = transcript_of(session).turns
    return Caller(session, turns)


def model_of(params: Params) -> str:
    """The model that a prompt is for, or ""."""
    model = params.get("model")
    return model if isinstance(model, str) else ""


def count_tokens(tokens: object) -> int:
    """The tokens of the context, as a provider counted them for one answer; 0: unknown."""
    if not isinstance(tokens, dict):
        return 0
    cache = tokens.get("cache")
    parts = [tokens.get("input"), tokens.get("output")]
    parts += [cache.get("read"), cache.get("write")] if isinstance(cache, dict) else []
    return _whole_number(tokens.get("total")) or sum(map(_whole_number, parts))


def _whole_number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value < 10**12 else 0
