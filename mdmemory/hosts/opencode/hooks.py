"""Answers the hooks of a host's plugin: every rule stands here, none in the plugin.

A method takes and returns JSON values. Each looks for the store again, because the store may have
been made, moved or removed since the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from mdmemory.errors import MdmemoryError, UsageError
from mdmemory.hosts import conversation, following, texts
from mdmemory.hosts.background import FIRST_LOOK, Log, Starter, start_compactions
from mdmemory.hosts.commands import events
from mdmemory.hosts.conversation import Conversation, Shown, refresh_index, transcript_of
from mdmemory.hosts.following import BySession
from mdmemory.hosts.notifications import facts_of
from mdmemory.hosts.opencode import watching
from mdmemory.hosts.opencode.watching import (
    Children,
    Params,
    Watching,
    caller_of,
    message_of,
    named_id,
)
from mdmemory.memory import Memory
from mdmemory.prompt.lines import of_summary
from mdmemory.version import VERSION

if TYPE_CHECKING:  # each is loaded by the method that needs it
    from mdmemory.tools.tool import Tool
    from mdmemory.transcripts.turns import Turn

PROTOCOL = 1
# The hooks that a plugin has to forward; a hook that is not named costs nothing.
HOOKS = tuple("message system compacting created idle compacted deleted command reverted".split())

Result = dict[str, Any]


class Hooks:
    """The methods of the bridge. `open_layers` and `open_typed` are the conversation's."""

    def __init__(
        self, open_layers: Callable[[], Memory], start: Starter, log: Log, *,
        open_typed: Callable[[], Memory] | None = None,
    ) -> None:  # fmt: skip
        self._start, self._log = start, log
        self._conversation = Conversation(open_layers, log, open_typed)
        self._open = self._conversation.open
        self._notifications = self._conversation.notifications
        self._following = self._conversation.following
        self._children = Children()
        # the text of each prompt: the same bytes from a session's start, or compaction, to the next
        self._frozen: BySession[str] = BySession()
        self._watching = Watching(self._following)
        self._commands: BySession[bool] = BySession()  # whose next message is a command's text
        self._reverted: BySession[str] = BySession()  # the message that the client went back to
        self._numbered: BySession[dict[str, str]] = BySession()  # the notes of a summary request
        self._looked = False
        self._attended = True  # a person watches, unless the host says otherwise
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

    def news(self) -> Result | None:
        """What to tell the person now, unasked: `{"toast": ...}`, or None."""
        toast = self._log.try_work("news", self._notifications.next)
        return None if toast is None else {"toast": toast}

    def look(self) -> float:
        """Start a compaction if one is due, as its own process; the seconds to the next look."""
        if not self._looked:
            self._looked = True
            return FIRST_LOOK
        return start_compactions(self._open, self._start, self._log)

    def hello(self, params: Params) -> Result:
        """Our version, the hooks to forward, the file that the prompt has to hold, and the tools
        of the assistant."""
        from mdmemory.tools import table

        if params.get("protocol") != PROTOCOL:
            raise UsageError(
                f"The plugin speaks another protocol than mdmemory {VERSION}.",
                "Bring it up to date: `mdmemory init --opencode`.",
            )
        self._attended = params.get("mode") != "run"
        self._notifications.shows = params.get("shows") is True and self._attended
        tools: list[Tool] = []
        hooks = list(HOOKS)
        self._indexes = []
        try:
            layers = self._open()
            # what is said here may make a store: tools and hooks are there before it
            if layers.settings.switch("session.memory"):
                hooks += watching.HOOKS
            elif layers.settings.switch("observe.enabled"):
                hooks.append("tool")
            tools = table.offered_tools(layers.settings)
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
        session = named_id(params, "session")
        message = message_of(session, params, self._children)
        is_remember = False  # the text of our command to remember
        if message.turn is not None and self._commands.get(session):
            command = texts.read_typed(message.turn.text)
            is_remember = command is not None and command.name == texts.REMEMBER
        message = message._replace(attended=self._attended, at_once=is_remember)
        try:
            layers = self._open()
        except MdmemoryError as problem:
            return self._conversation.put_by(message, problem)
        # what the prompt holds; None where no notes go along: with a command, or to an agent
        shown: Shown | None = (self._frozen.get(session) or "", None)
        if self._commands.drop(session) or message.turn is None or self._children.is_one(session):
            shown = None
        answer = self._conversation.take(layers, message, shown)
        if self._indexes in (None, layers.indexes()):
            return answer
        self._indexes = layers.indexes()
        return answer | {"instructions": self._indexes}

    def system(self, params: Params) -> Result:
        """The blocks of a session. They change only at its start and at a compaction."""
        session = named_id(params, "session")
        layers = self._open()
        for memory in layers.there():
            refresh_index(memory)
        self._watching.window(params)
        if not layers.there():
            return {"text": ""}
        make = partial(self._session_prompt, layers, session)
        return {"text": self._frozen.get_or_make(session, make)}

    def _session_prompt(self, layers: Memory, session: str) -> str:
        blocks = [
            partial(following.by_hand, layers, session),
            partial(self._following.at_hand, layers.main, session),
            partial(following.recall_observations, layers, session),
        ]
        if not self._children.knows(session):
            blocks.insert(0, partial(self._notifications.line, layers, session))
        texts = (self._log.try_work("system", each) for each in blocks)
        return "\n\n".join(filter(None, texts))

    def compacting(self, params: Params) -> Result:
        """Texts for the prompt of the host's own summary: our request, and notes by number."""
        session = named_id(params, "session")
        if self._children.knows(session) or not (layers := self._open()).there():
            return {"context": []}
        memory, texts = layers.main, list[str]()
        if (request := self._log.try_work("compacting", layers.summary_request)) is not None:
            texts, notes = [request[0]], request[1]
            self._numbered.put(session, notes)
        self._log.try_work("compacting", partial(self._observe_rest, memory, session))
        return {"context": [*texts, *following.for_compaction(memory, session)]}

    def _observe_rest(self, memory: Memory, session: str) -> None:
        observations = memory.observations()
        if observations.is_on and not observations.brought_up(session):
            self._observe_session(memory, session)

    def compacted(self, params: Params) -> Result:
        """Store the facts of a summary (`summary`, or the session's newest) and the session's own
        decisions; `saved` are the written files. The next prompt gets new blocks."""
        session = named_id(params, "session")
        self._frozen.drop(session)
        notes = self._numbered.drop(session)
        layers = self._open()
        if layers.there():
            begin = partial(self._following.compacted, layers.main, session)
            self._log.try_work("compacted", begin)
        if not layers.there() or self._children.knows(session):
            return {"saved": []}
        whole = transcript_of(session)
        files: list[str] = []
        text = params.get("summary") or (whole.summaries[-1].text if whole.summaries else "")
        if isinstance(text, str) and text:
            take = partial(layers.summary, session, text, whole.turns, shown=notes)
            done = self._log.try_work("compacted", take)
            files += done.files() if done else []
        promoted = partial(self._promote_session, layers, session, whole.turns)
        files += self._log.try_work("compacted", promoted) or []
        self._notifications.toast(of_summary(facts_of(layers, files)))
        return {"saved": files}

    def _promote_session(self, layers: Memory, session: str, turns: Sequence[Turn]) -> list[str]:
        if not layers.settings.switch("session.memory"):
            return []
        done = layers.promote(session, turns)
        if done.failure:  # tried again at the next compaction
            self._log.failure("compacted", done.failure)
        return done.promoted

    def _observe_session(self, memory: Memory, session: str) -> None:
        words = ["session", session, "--work"]
        self._start.alone(memory.project, words, self._log.file)

    def tool(self, params: Params) -> Result:
        """Follow a tool of the host; `output` is shown in place of its own, where there is one."""
        session, memory = named_id(params, "session"), self._main()
        output = self._watching.tool(memory, session, params) if memory else None
        return {} if output is None else {"output": output}

    def said(self, params: Params) -> Result:
        """Collect a part of an answer that is not whole yet."""
        session, text = named_id(params, "session"), params.get("text")
        if isinstance(text, str):
            self._watching.said(session, text)
        return {}

    def answered(self, params: Params) -> Result:
        """Follow a whole answer, whose tokens the provider has counted."""
        session, message = named_id(params, "session"), named_id(params, "message")
        if memory := self._main():
            self._watching.answered(memory, session, message, params)
        return {}

    def call(self, params: Params) -> Result:
        """Run a tool of ours for the assistant of a session; `text` is its output."""
        from mdmemory.tools import table

        session, name = named_id(params, "session"), params.get("tool")
        arguments = params.get("arguments", {})
        if not isinstance(name, str) or not isinstance(arguments, dict):
            raise UsageError("A call needs the name of a `tool` and an object of `arguments`.")
        with self._watching.answering():
            answer = table.call_tool(self._open(), name, arguments, caller_of(session, name))
        self._notifications.toast(answer.toast)
        return {"text": answer.text}

    def command(self, params: Params) -> Result:
        """Do what a command of ours is for; of any other only note that its text comes next."""
        self._commands.put(named_id(params, "session"), True)
        name, words = params.get("command"), params.get("arguments")
        if name not in texts.TYPED:
            return {}
        words = words if isinstance(words, str) else ""
        done = self._conversation.do_typed(str(name), words)
        self._notifications.toast(done.toast)
        return {"parts": [done.text]}

    def reverted(self, params: Params) -> Result:
        """Tell the person which notes stay; what came with the messages may come again."""
        session, message = named_id(params, "session"), named_id(params, "message")
        if memory := self._main():
            again = partial(self._following.reverted, memory, session, message)
            self._log.try_work("reverted", again)
        if self._reverted.get(session) != message:
            self._reverted.put(session, message)
            self._notifications.toast(conversation.still_there(self._open(), session, message))
        return {}

    def created(self, params: Params) -> Result:
        """Note a new session; one with a `parent` is a sub-agent's, without words of the user."""
        session = named_id(params, "session")
        self._frozen.drop(session)
        self._children.put(session, bool(params.get("parent")))
        return {}

    def idle(self, params: Params) -> Result:
        """Start a process that reads the session once it has been idle for a while."""
        session = named_id(params, "session")
        self._commands.drop(session)  # what comes next is the person's
        layers = self._open()
        self._log.try_work("idle", partial(self._conversation.settle_wishes, layers, session))
        if not layers.there():
            return {}
        memory = layers.main
        if not self._children.knows(session):
            words = events.reading_words(session, events.idle_seconds(memory.project.settings))
            self._start(words, self._log.file)
        if memory.observations().is_on:
            self._observe_session(memory, session)
        return {}

    def deleted(self, params: Params) -> Result:
        """Forget a deleted session. A process that waits to read it has its copy."""
        session = named_id(params, "session")
        self._frozen.drop(session)
        self._numbered.drop(session)
        self._children.drop(session)
        self._conversation.forget(session)
        self._watching.deleted(session)
        if memory := self._main():
            self._following.deleted(memory, session)
        return {}

    def close(self) -> None:
        """The client is gone."""
        self._log.try_work("end", lambda: self._conversation.end(self._open()))

    def _main(self) -> Memory | None:
        """The memory that sessions are followed in, or None where nothing was kept yet."""
        layers = self._open()
        return layers.first
