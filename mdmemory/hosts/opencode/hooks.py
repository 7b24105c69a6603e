"""What the hooks of a host's plugin are answered: every rule that the plugin itself must not have.

A method takes and gives JSON values. The store is found anew for each: it may come, go, or be
another's by now.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mdmemory.config import person
from mdmemory.errors import MdmemoryError, UsageError
from mdmemory.hosts.opencode import recall
from mdmemory.hosts.opencode.bridge_log import Log
from mdmemory.hosts.opencode.following import BySession, Following, wanted
from mdmemory.hosts.opencode.idle import Starter
from mdmemory.hosts.opencode.messages import Params, named, turn_of, unread, used
from mdmemory.hosts.opencode.places import INDEX_FILE
from mdmemory.memory import Memory
from mdmemory.prompt.blocks import joined
from mdmemory.prompt.epochs import Epochs
from mdmemory.prompt.receipts import saved, toast, told, waiting, written
from mdmemory.store.refresh import Refresher
from mdmemory.version import VERSION

if TYPE_CHECKING:  # each is loaded by the method that needs it
    from mdmemory.capture.run import Extracted
    from mdmemory.tools.tool import Caller, Tool
    from mdmemory.transcripts.turns import Transcript, Turn

PROTOCOL = 1
# The hooks that a plugin has to forward; what is not named here costs nothing.
HOOKS = ("message", "system", "compacting", "created", "idle", "compacted", "deleted")
FIRST_LOOK = 1.0  # seconds after the start until a compaction that is due begins

Result = dict[str, Any]
_T = TypeVar("_T")
# Text for the prompt of a session, by its user's last message; "" when there is nothing.
Block = Callable[[Memory, str, str], str]


class Hooks:
    """The methods, by name. `open_store` finds the store or raises NoStore; `blocks` are what the
    prompt of a session holds besides MEMORY.md and what the session itself keeps."""

    def __init__(
        self, open_store: Callable[[], Memory], start: Starter, log: Log, *,
        blocks: Sequence[Block] = (),
    ) -> None:  # fmt: skip
        self._open_store, self._start, self._log = open_store, start, log
        self._blocks = blocks
        self._children, self._numbered, self._asked = BySession(), BySession(), BySession()
        self._frozen, self._following = Epochs(), Following()
        self._looked = False

    def methods(self) -> dict[str, Callable[[Params], Result]]:
        """Every method that a request may name."""
        return {
            "hello": self.hello, "message": self.message, "system": self.system,
            "compacting": self.compacting, "compacted": self.compacted, "tool": self.tool,
            "said": self.said, "answered": self.answered, "call": self.call,
            "created": self.created, "idle": self.idle, "deleted": self.deleted,
        }  # fmt: skip

    def look(self) -> float:
        """Begin a compaction if one is due, in a process of its own; seconds to the next look."""
        if not self._looked:
            self._looked = True
            return FIRST_LOOK
        try:
            memory = self._open()
            self._start.alone(memory.project, ["compact", "--if-due"], self._log.file)
        except MdmemoryError as problem:
            self._log.failure("compact", problem)
            return 600.0
        return memory.project.settings.whole("compact.poll_ms") / 1000

    # what the host asks

    def hello(self, params: Params) -> Result:
        """Our version, the hooks to forward, the file that the prompt has to hold, and the tools
        of the assistant."""
        if params.get("protocol") != PROTOCOL:
            raise UsageError(
                f"The plugin speaks another protocol than mdmemory {VERSION}.",
                "Bring it up to date: `mdmemory init --opencode`.",
            )
        tools: list[Tool] = []
        hooks, instructions = list(HOOKS), []
        try:
            memory = self._open()
            hooks += wanted(memory)
            tools = _offered(memory)
            instructions = [os.path.realpath(memory.project.store / INDEX_FILE)]
        except MdmemoryError as problem:  # the session goes on, without tools that would only fail
            self._log.failure("hello", problem)
        return {
            "protocol": PROTOCOL, "version": VERSION, "hooks": hooks,
            "instructions": instructions,
            "tools": [
                {"name": each.name, "description": each.description, "parameters": each.parameters}
                for each in tools
            ],
        }  # fmt: skip

    def message(self, params: Params) -> Result:
        """Store what the user asks for, before the turn begins; bring the index up to date."""
        session = named(params, "session")
        turn, is_private = turn_of(session, params)
        try:
            memory = self._open()
        except MdmemoryError as problem:
            return self._without_store(session, turn, problem)
        done: Extracted | None = None
        if turn is not None and not self._is_child(session, turn):
            done = memory.keep(turn.text, session=session, turn=turn.id)
            self._uncommitted(memory, done)
        if done is None or done.failure is None:
            self._tried("message", partial(self._write_wishes, memory))
        self._tried("message", partial(_refresh, memory))
        answer = self._receipt(turn, done, is_private)
        if turn is not None:
            answer["parts"] += unread(params)
            self._asked.put(session, turn.text)
            # another agent's words decide nothing
            role = "assistant" if self._children.get(session) else "user"
            heard = partial(self._following.heard, memory, session, role, turn.text)
            answer["parts"] += self._tried("message", heard) or []
        return answer

    def _receipt(self, turn: Turn | None, done: Extracted | None, is_private: bool) -> Result:
        """What became of a request: `parts` for the assistant, a `toast` for the user."""
        if turn is None or done is None:
            return {"parts": [], "saved": []}
        if done.failure is not None:
            self._log.failure("message", done.failure)
        asked = self._tried("message", partial(_asked, turn)) or ([], [])
        shown = toast(done, asked[0], is_private)
        answer: Result = {"parts": told(done, is_private, asked[1]), "saved": saved(done)}
        return answer if shown is None else answer | {"toast": shown}

    def _without_store(self, session: str, turn: Turn | None, problem: MdmemoryError) -> Result:
        """A wish is kept even where the store cannot be opened; for all else that is the answer."""
        from mdmemory.capture.requests import put_by, wishes_in
        from mdmemory.capture.wishes import inbox_without_store

        if turn is None or self._is_child(session, turn) or not wishes_in(turn.text, turn.id):
            raise problem
        today = person.now().date().isoformat()
        inbox = inbox_without_store(Path.cwd())
        done = put_by([inbox], turn.text, session, turn.id, today, problem)
        return self._receipt(turn, done, False)

    def _write_wishes(self, memory: Memory) -> None:
        if said := written(memory.write_wishes()):
            self._log.say(said)

    def _uncommitted(self, memory: Memory, done: Extracted) -> None:
        """Say why a note that was stored stands in no commit: a person counts on git."""
        if saved(done) and not (done.commit or done.waits) and (why := memory.refusal()):
            self._log.say(f"message: what was stored is in no commit. {why.message} {why.hint}")

    def system(self, params: Params) -> Result:
        """The blocks of a session, the same bytes from its start or a compaction to the next."""
        session = named(params, "session")
        memory = self._open()
        _refresh(memory)
        self._following.window(params)
        return {"text": self._frozen.text(session, lambda: self._prompt(memory, session))}

    def _prompt(self, memory: Memory, session: str) -> str:
        """The blocks as they are now."""
        asked = self._asked.get(session) or ""
        blocks: list[Block] = [_waiting, self._following.at_hand, *self._blocks]
        found = [self._tried("system", partial(each, memory, session, asked)) for each in blocks]
        return joined(filter(None, found))

    def _tried(self, method: str, work: Callable[[], _T]) -> _T | None:
        """What a part of an answer comes to; None where it fails, for the rest is as good."""
        try:
            return work()
        except Exception as problem:  # noqa: BLE001 - the log tells of it
            self._log.failure(method, problem)
            return None

    def compacting(self, params: Params) -> Result:
        """What the host's own summary is asked for, and the notes it may refer to by number."""
        session = named(params, "session")
        if self._children.get(session):
            return {"context": []}
        memory = self._open()
        request, shown = memory.summary_request()
        self._numbered.put(session, shown)
        self._tried("compacting", partial(self._observed, memory, session))
        return {"context": [request, *recall.for_compaction(memory, session)]}

    def _observed(self, memory: Memory, session: str) -> None:
        """A summary of the session's observations is made of all that it showed until now."""
        found = memory.observations()
        if found.is_on and not found.brought_up(session):
            self._observe(memory, session)

    def _observe(self, memory: Memory, session: str) -> None:
        words = ["observe", "work", f"--session={session}"]
        self._start.alone(memory.project, words, self._log.file)

    def compacted(self, params: Params) -> Result:
        """Take the facts out of a summary, the one that is given or the newest there is, and out of
        what the session itself decided. The prompt's next epoch begins."""
        session = named(params, "session")
        self._frozen.end(session)
        shown = self._numbered.drop(session)
        memory = self._open()
        self._tried("compacted", partial(self._following.compacted, memory, session))
        if self._children.get(session):
            return {"saved": []}
        whole = _transcript(session)
        files: list[str] = []
        text = params.get("summary") or (whole.summaries[-1].text if whole.summaries else "")
        if isinstance(text, str) and text:
            take = partial(memory.summary, session, text, whole.turns, shown=shown)
            done = self._tried("compacted", take)
            files += saved(done) if done else []
        promoted = partial(self._promoted, memory, session, whole.turns)
        return {"saved": files + (self._tried("compacted", promoted) or [])}

    def _promoted(self, memory: Memory, session: str, said: Sequence[Turn]) -> list[str]:
        if not memory.project.settings.switch("session.hot"):
            return []
        done = memory.promote(session, said)
        if done.failure:  # tried again at the next compaction
            self._log.failure("compacted", done.failure)
        return done.promoted

    def tool(self, params: Params) -> Result:
        """A tool of the host was used. The output that is shown instead, where it is another."""
        session, use = named(params, "session"), used(params)
        shown = self._following.tool(self._open(), session, use)
        return {} if shown is None else {"output": shown}

    def said(self, params: Params) -> Result:
        """The assistant said something, as a part of an answer that is not ended yet."""
        session, text = named(params, "session"), params.get("text")
        if isinstance(text, str):
            self._following.said(session, text)
        return {}

    def answered(self, params: Params) -> Result:
        """An answer of the assistant is whole, and the provider has counted its tokens."""
        session, message = named(params, "session"), named(params, "message")
        self._following.answered(self._open(), session, message, params)
        return {}

    def call(self, params: Params) -> Result:
        """A tool of ours is called by the assistant of a session."""
        from mdmemory.tools import table

        session, name = named(params, "session"), params.get("tool")
        arguments = params.get("arguments", {})
        if not isinstance(name, str) or not isinstance(arguments, dict):
            raise UsageError("A call needs the name of a `tool` and an object of `arguments`.")
        # a parameter that is left out comes as null from some models
        given = {key: value for key, value in arguments.items() if value is not None}
        answer = table.call(self._open(), name, given, _caller(session, name))
        return {"text": answer.text}

    def created(self, params: Params) -> Result:
        """A session began; that of a sub-agent (`parent`) holds no user's words."""
        session = named(params, "session")
        self._frozen.end(session)
        self._children.put(session, bool(params.get("parent")))
        return {}

    def idle(self, params: Params) -> Result:
        """A turn ended: the session is read once it has been quiet for a while."""
        session = named(params, "session")
        memory = self._open()
        self._tried("idle", partial(self._write_wishes, memory))
        if not self._children.get(session):
            # at least a moment: without one it would be a person's command, which waits for nobody
            milliseconds = max(100, memory.project.settings.whole("extract.debounce_ms"))
            after = f"--after={milliseconds / 1000:g}"
            self._start(["extract", f"--session={session}", after], self._log.file)
        if memory.observations().is_on:
            self._observe(memory, session)
        return {}

    def deleted(self, params: Params) -> Result:
        """A session is gone. Whoever waits to read it has its copy."""
        session = named(params, "session")
        self._frozen.end(session)
        for kept in (self._children, self._numbered, self._asked):
            kept.drop(session)
        self._following.deleted(self._open(), session)
        return {}

    def _open(self) -> Memory:
        memory = self._open_store()
        self._log.belongs_to(memory.project)
        return memory

    def _is_child(self, session: str, turn: Turn) -> bool:
        """Whether the session is a sub-agent's. One that began before us is looked up, and only
        where its words would store something."""
        from mdmemory.capture.requests import asks

        known = self._children.get(session)
        if known is None and asks(turn.text):
            try:
                known = bool(_transcript(session).parent)
            except MdmemoryError:  # a host without such a database
                known = False
            self._children.put(session, known)
        return bool(known)


def _refresh(memory: Memory) -> None:
    """MEMORY.md follows the notes; nothing is read where nothing changed."""
    Refresher(memory.project, _is_secret).keep_fresh()


def _waiting(memory: Memory, _session: str, _asked: str) -> str:
    """What waits in the inbox, in one line; looking is no reason to make the database."""
    pending = len(memory.pending()) if os.path.lexists(memory.project.state_file) else 0
    return waiting(len(memory.kept_wishes()), pending)


def _asked(turn: Turn) -> tuple[list[str], list[str]]:
    """The facts of a turn as they were asked for, and the requests in what it only quotes."""
    from mdmemory.capture import foreign
    from mdmemory.capture.requests import wishes_in

    return [each.text for each in wishes_in(turn.text, turn.id)], foreign.requests(turn.text)


def _is_secret(text: str) -> bool:
    from mdmemory.privacy.redaction import has_secret  # only where a note changed

    return has_secret(text)


def _transcript(session: str) -> Transcript:
    from mdmemory.transcripts.sources import copy, read

    return read(copy(person.hosts(), session))


def _tools() -> list[Tool]:
    from mdmemory.tools import table

    return list(table.TOOLS)


def _offered(memory: Memory) -> list[Tool]:
    from mdmemory.tools import table

    return table.offered(memory)


def _caller(session: str, name: str) -> Caller:
    """Who calls. What the user said counts only for a tool that stores: reading it takes time."""
    from mdmemory.tools.tool import Caller

    said: tuple[str, ...] = ()
    if any(each.name == name and not each.read_only for each in _tools()):
        try:
            turns = _transcript(session).turns
            said = tuple(turn.text for turn in turns if turn.role == "user")
        except MdmemoryError:  # a host without such a database
            said = ()
    return Caller(session, said)
