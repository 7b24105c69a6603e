"""Answers the hooks of a host's plugin: every rule stands here, none in the plugin.

A method takes and returns JSON values. Each looks for the store again, because the store may have
been made, moved or removed since the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmemory.errors import MdmemoryError, UsageError
from mdmemory.hosts import recall
from mdmemory.hosts.background import Starter
from mdmemory.hosts.opencode.bridge_log import Log
from mdmemory.hosts.opencode.following import BySession, Children, Following, wanted
from mdmemory.hosts.opencode.messages import (
    Params,
    caller_of,
    named,
    put_by,
    requests_of,
    taken_back,
    turn_of,
    unread,
    used,
)
from mdmemory.hosts.opencode.places import from_home
from mdmemory.hosts.opencode.taking_back import TakingBack
from mdmemory.hosts.telling import Telling
from mdmemory.layers import Layers
from mdmemory.memory import Memory
from mdmemory.privacy import is_secret
from mdmemory.prompt.blocks import joined
from mdmemory.prompt.lines import of_wishes
from mdmemory.prompt.receipts import saved, tell_withdrawn, toast, told, written
from mdmemory.store.adopt import SETTLED
from mdmemory.store.refresh import Refresher
from mdmemory.version import VERSION

if TYPE_CHECKING:  # each is loaded by the method that needs it
    from mdmemory.capture.run import Extracted
    from mdmemory.hosts.opencode.compacting import Compacting
    from mdmemory.hosts.opencode.recalling import Recalling
    from mdmemory.tools.tool import Tool
    from mdmemory.transcripts.turns import Turn

PROTOCOL = 1
# The hooks that a plugin has to forward; a hook that is not named costs nothing.
HOOKS = tuple("message system compacting created idle compacted deleted command reverted".split())
FIRST_LOOK = 1.0  # seconds after the start until a compaction that is due begins

Result = dict[str, Any]
# Text for the prompt of a session, from its id and its user's last message; "" for none.
Block = Callable[[Layers, str, str], str]


class Hooks:
    """The methods of the bridge.

    `open_layers` finds the project's store and the person's; either may be missing. `blocks` make
    the parts of a session's prompt besides MEMORY.md and the session's own text. `open_typed` is
    for what the person typed as a command, which waits for no other one.
    """

    def __init__(
        self, open_layers: Callable[[], Layers], start: Starter, log: Log, *,
        blocks: Sequence[Block] = (), open_typed: Callable[[], Layers] | None = None,
    ) -> None:  # fmt: skip
        self._open_layers, self._start, self._log = open_layers, start, log
        self._blocks = blocks
        self._children = Children()
        self._messages: BySession[str] = BySession()  # the user's last one
        # the text of each prompt: the same bytes from a session's start, or compaction, to the next
        self._frozen: BySession[str] = BySession()
        self._following = Following()
        self._telling = Telling(self._open)
        self._taking_back = TakingBack(self._open, open_typed or open_layers, self._telling)
        self._looked = False
        self._indexes: list[str] | None = None  # that the host was told to read

    def methods(self) -> dict[str, Callable[[Params], Result]]:
        """The methods that a request may name, by their names."""
        return {
            "hello": self.hello, "message": self.message, "system": self.system,
            "compacting": self.compacting, "compacted": self.compacted, "tool": self.tool,
            "said": self.said, "answered": self.answered, "call": self.call,
            "created": self.created, "idle": self.idle, "deleted": self.deleted,
            "command": self.command, "reverted": self.reverted,
        }  # fmt: skip

    @cached_property
    def _recalling(self) -> Recalling:
        from mdmemory.hosts.opencode.recalling import Recalling

        return Recalling(self._log, self._following, self._children)

    @cached_property
    def _compacting(self) -> Compacting:
        from mdmemory.hosts.opencode.compacting import Compacting  # few sessions come to it

        return Compacting(
            self._open, self._log, self._children, self._following, self._telling, self._observe
        )

    def news(self) -> Result | None:
        """What to tell the person now, unasked: `{"toast": ...}`, or None."""
        toast = self._log.tried("news", self._telling.next)
        return None if toast is None else {"toast": toast}

    def look(self) -> float:
        """Start a compaction if one is due, as its own process; the seconds to the next look."""
        if not self._looked:
            self._looked = True
            return FIRST_LOOK
        try:
            layers = self._open()
            for memory in layers.there():
                words = ["--store", str(memory.project.root)] if memory is not layers.main else []
                words += ["compact", "--if-due"]
                self._start.alone(memory.project, words, self._log.file)
        except MdmemoryError as problem:
            self._log.failure("compact", problem)
            return 600.0
        return layers.settings.whole("compact.poll_ms") / 1000

    def hello(self, params: Params) -> Result:
        """Our version, the hooks to forward, the file that the prompt has to hold, and the tools
        of the assistant."""
        from mdmemory.tools import table

        if params.get("protocol") != PROTOCOL:
            raise UsageError(
                f"The plugin speaks another protocol than mdmemory {VERSION}.",
                "Bring it up to date: `mdmemory init --opencode`.",
            )
        self._telling.shows = params.get("shows") is True and params.get("mode") != "run"
        tools: list[Tool] = []
        hooks = list(HOOKS)
        self._indexes = []
        try:
            layers = self._open()
            # what is said here may make a store: tools and hooks are there before it
            hooks += wanted(layers.settings)
            tools = table.offered(layers.settings)
            self._indexes = layers.indexes()
        except MdmemoryError as problem:  # without a store every tool would fail
            self._log.failure("hello", problem)
        return {
            "protocol": PROTOCOL, "version": VERSION, "hooks": hooks,
            "instructions": self._indexes,
            "tools": [
                {"name": each.name, "description": each.description, "parameters": each.parameters}
                for each in tools
            ],
        }  # fmt: skip

    def message(self, params: Params) -> Result:
        """Store the facts that the user asks to remember, and update the index, before the turn.

        `parts` are texts for the assistant, `saved` the written files, `toast` a line for the user.
        """
        session = named(params, "session")
        turn, is_private = turn_of(session, params)
        done: Extracted | None = None
        try:
            layers = self._open()
            known = [each.project.store for each in layers.there()]
            if not self._children.knows(session):
                self._telling.begin(session)
            if turn is not None and not self._children.has(session, turn.text):
                done = layers.keep(turn.text, session=session, turn=turn.id)
        except MdmemoryError as problem:
            is_users = turn is not None and not self._children.has(session, turn.text)
            return self._receipt(turn, put_by(session, turn if is_users else None, problem), False)
        fresh: list[Refresher | None] = []
        if done is None or done.failure is None:
            self._log.tried("message", partial(self._write_wishes, layers))
        for memory in layers.there():
            if done is not None:
                self._uncommitted(memory, done)
            self._log.tried("message", partial(memory.adopt, settled=SETTLED))
            fresh.append(self._log.tried("message", partial(_refresh, memory)))
        answer = self._places(layers, known, self._receipt(turn, done, is_private))
        if turn is not None:
            if done is not None:
                last = self._messages.get(session) or ""
                withdraw = partial(taken_back, layers, session, turn, last)
                tell_withdrawn(answer, self._log.tried("message", withdraw))
            if any(answer.get(key) for key in ("parts", "saved", "toast")):
                notes = []  # the message was about the memory itself
            else:
                notes = self._recalling.notes(layers, session, turn, self._frozen, fresh)
            answer["parts"] += [*notes, *unread(params)]
            self._messages.put(session, turn.text)
            if main := layers.project or layers.person:
                # another agent's words decide nothing
                role = "assistant" if self._children.knows(session) else "user"
                heard = partial(self._following.heard, main, session, role, turn.text)
                answer["parts"] += self._log.tried("message", heard) or []
        if "toast" in answer:
            self._telling.shown()
        return answer

    def _places(self, layers: Layers, known: Sequence[Path], answer: Result) -> Result:
        """The answer with the stores that were made for it, and where the prompt's indexes are."""
        stores = [each.project.store for each in layers.there()]
        if made := [from_home(store) for store in stores if store not in known]:
            where = " and ".join(made)
            answer["parts"].append(f"mdmemory made a store for it: {where}.")
            if "toast" in answer:
                answer["toast"]["message"] += f" (new store: {where})"
        if self._indexes in (None, layers.indexes()):
            return answer
        self._indexes = layers.indexes()
        return answer | {"instructions": self._indexes}

    def _receipt(self, turn: Turn | None, done: Extracted | None, is_private: bool) -> Result:
        """The answer to a message whose requests were stored, or refused, as `done` says."""
        if turn is None or done is None:
            return {"parts": [], "saved": []}
        if done.failure is not None:
            self._log.failure("message", done.failure)
        facts, quoted = self._log.tried("message", partial(requests_of, turn)) or ([], [])
        line = toast(done, facts, is_private)
        answer: Result = {"parts": told(done, is_private, quoted), "saved": saved(done)}
        return answer if line is None else answer | {"toast": line}

    def _write_wishes(self, layers: Layers) -> None:
        if report := written(layers.write_wishes()):
            self._log.say(report)
            self._telling.toast(of_wishes(report))

    def _uncommitted(self, memory: Memory, done: Extracted) -> None:
        """Log why a stored note is in no commit: a person counts on git."""
        if saved(done) and not (done.commit or done.waits) and (why := memory.refusal()):
            self._log.say(f"message: a stored note is in no commit. {why.message} {why.hint}")

    def system(self, params: Params) -> Result:
        """The blocks of a session. They change only at its start and at a compaction."""
        session = named(params, "session")
        layers = self._open()
        for memory in layers.there():
            _refresh(memory)
        self._following.window(params)
        if not layers.there():
            return {"text": ""}
        return {"text": self._frozen.get_or_make(session, lambda: self._prompt(layers, session))}

    def _prompt(self, layers: Layers, session: str) -> str:
        message = self._messages.get(session) or ""
        first = [] if self._children.knows(session) else [self._telling.line]
        blocks: list[Block] = [*first, recall.by_hand, self._at_hand, *self._blocks]
        texts = [
            self._log.tried("system", partial(each, layers, session, message)) for each in blocks
        ]
        return joined(filter(None, texts))

    def _at_hand(self, layers: Layers, session: str, _message: str) -> str:
        return self._following.at_hand(layers.main, session)

    def compacting(self, params: Params) -> Result:
        """Texts for the prompt of the host's own summary."""
        return self._compacting.before(params)

    def compacted(self, params: Params) -> Result:
        """Store the facts of a summary; the next prompt gets new blocks."""
        self._frozen.drop(named(params, "session"))
        return self._compacting.after(params)

    def _observe(self, memory: Memory, session: str) -> None:
        words = ["observe", "work", f"--session={session}"]
        self._start.alone(memory.project, words, self._log.file)

    def tool(self, params: Params) -> Result:
        """Follow a tool of the host; `output` is shown in place of its own, where there is one."""
        session, use = named(params, "session"), used(params)
        memory = self._main()
        output = self._following.tool(memory, session, use) if memory else None
        return {} if output is None else {"output": output}

    def said(self, params: Params) -> Result:
        """Collect a part of an answer that is not whole yet."""
        session, text = named(params, "session"), params.get("text")
        if isinstance(text, str):
            self._following.said(session, text)
        return {}

    def answered(self, params: Params) -> Result:
        """Follow a whole answer, whose tokens the provider has counted."""
        session, message = named(params, "session"), named(params, "message")
        if memory := self._main():
            self._following.answered(memory, session, message, params)
        return {}

    def call(self, params: Params) -> Result:
        """Run a tool of ours for the assistant of a session; `text` is its output."""
        from mdmemory.tools import table

        session, name = named(params, "session"), params.get("tool")
        arguments = params.get("arguments", {})
        if not isinstance(name, str) or not isinstance(arguments, dict):
            raise UsageError("A call needs the name of a `tool` and an object of `arguments`.")
        # some models send null for a parameter that they leave out
        given = {key: value for key, value in arguments.items() if value is not None}
        answer = table.call(self._open(), name, given, caller_of(session, name))
        self._telling.toast(answer.toast)
        return {"text": answer.text}

    def command(self, params: Params) -> Result:
        """Do what a command of ours is for; of any other only note that its text comes next."""
        self._recalling.commanded(named(params, "session"))
        return self._taking_back.command(params)

    def reverted(self, params: Params) -> Result:
        """Tell the person which notes stay; what came with the messages may come again."""
        session, message = named(params, "session"), named(params, "message")
        if memory := self._main():
            again = partial(self._following.reverted, memory, session, message)
            self._log.tried("reverted", again)
        return self._taking_back.reverted(params)

    def created(self, params: Params) -> Result:
        """Note a new session; one with a `parent` is a sub-agent's, without words of the user."""
        session = named(params, "session")
        self._frozen.drop(session)
        self._children.put(session, bool(params.get("parent")))
        return {}

    def idle(self, params: Params) -> Result:
        """Start a process that reads the session once it has been idle for a while."""
        session = named(params, "session")
        self._recalling.idle(session)
        layers = self._open()
        if not layers.there():
            return {}
        memory = layers.main
        self._log.tried("idle", partial(self._write_wishes, layers))
        if not self._children.knows(session):
            # without a delay it would be a command that a person typed, which waits for nobody
            milliseconds = max(100, memory.project.settings.whole("extract.debounce_ms"))
            after = f"--after={milliseconds / 1000:g}"
            self._start(["extract", f"--session={session}", after], self._log.file)
        if memory.observations().is_on:
            self._observe(memory, session)
        return {}

    def deleted(self, params: Params) -> Result:
        """Forget a deleted session. A process that waits to read it has its copy."""
        session = named(params, "session")
        self._frozen.drop(session)
        self._compacting.deleted(session)
        for each in (self._children, self._messages):
            each.drop(session)
        if memory := self._main():
            self._following.deleted(memory, session)
        return {}

    def _open(self) -> Layers:
        layers = self._open_layers()
        if memory := layers.project or layers.person:
            self._log.belongs_to(memory.project)
        self._telling.look_in(layers)
        return layers

    def _main(self) -> Memory | None:
        """The memory that sessions are followed in, or None where nothing was kept yet."""
        layers = self._open()
        return layers.project or layers.person


def _refresh(memory: Memory) -> Refresher:
    """MEMORY.md follows the notes; nothing is read where nothing changed."""
    refresher = Refresher(memory.project, is_secret)
    refresher.keep_fresh()
    return refresher
