"""What happens at the events of Claude Code, Codex and Gemini CLI, in a process that stays.

Each event looks for the stores of its own folder again, because they may have been made, moved or
removed since the last one. Where there is none, and nothing is to be kept, nothing is printed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmemory.config import person
from mdmemory.errors import MdmemoryError
from mdmemory.hosts.background import Starter, start_compactions
from mdmemory.hosts.bridge_log import Log
from mdmemory.hosts.commands import context, events
from mdmemory.hosts.commands.events import HookEvent
from mdmemory.hosts.commands.readings import Readings, waiting_sessions
from mdmemory.hosts.commands.starting import Starting
from mdmemory.hosts.conversation import Conversation, Spoken
from mdmemory.hosts.following import Following
from mdmemory.hosts.notifications import Notifications
from mdmemory.layers import Layers
from mdmemory.store.refresh import Refresher

if TYPE_CHECKING:  # each is loaded by the method that needs it
    from mdmemory.hosts.by_message import ByMessage, Near
    from mdmemory.hosts.texts import Typed

_NEEDED = (
    "capture.store_fact", "capture.wishes", "hosts.by_message", "hosts.typed_commands",
    "prompt.message_part", "prompt.typed", "search.project", "search.sources", "session.heard",
    "session.session",
)  # fmt: skip
_ANY = "Remember that the lamp is red."
Params = Mapping[str, Any]
Output = dict[str, Any]
FIRST_LOOK = 1.0  # seconds after the start until a compaction that is due begins
_LATER = 600.0  # seconds to the next look where one failed


class CommandHooks:
    """The methods of a bridge for hooks that are commands.

    `open_layers` opens the stores of a folder, `open_typed` those for a command that the person
    typed, which waits for no other one; `start` gives what starts mdmemory there, and `clock`
    seconds that only grow.
    """

    def __init__(
        self, open_layers: Callable[[Path], Layers], start: Callable[[Path], Starter], log: Log, *,
        open_typed: Callable[[Path], Layers] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._open_layers, self._start, self._log = open_layers, start, log
        self._open_typed = open_typed or open_layers
        self._following = Following()
        self._notifications = Notifications(lambda: self._open(self._folder or Path.cwd()))
        self._conversation = Conversation(log, self._notifications, self._following)
        self._starting = Starting(log, self._following, self._notifications)
        self._folder: Path | None = None  # of the last event
        self._clock, self._readings = clock, Readings(clock)
        self._taken_up: set[Path] = set()  # the stores that were looked at for what waited there
        self._compaction_at = clock() + FIRST_LOOK
        self._told = ""  # what the last answer had for the person
        self._is_warm = False

    def methods(self) -> dict[str, Callable[[Params], Output]]:
        """The methods that a request may name, by their names."""
        return {"hook": self.hook}

    def hook(self, params: Params) -> Output:
        """Do what an event of a host asks for: `output` is what its hook prints, {} for nothing."""
        host, folder, given = params.get("host"), params.get("folder"), params.get("event")
        if not isinstance(host, str) or not isinstance(folder, str) or not isinstance(given, dict):
            return {"output": {}}
        event = events.read(host, given, Path(folder))
        if event is None:
            return {"output": {}}
        if isinstance(client := params.get("client"), str):
            event = replace(event, client=client)
        self._folder = event.folder
        self._notifications.shows = event.attended
        do = {
            events.START: self._begin_session,
            events.PROMPT: self._answer_prompt,
            events.STOP: self._stop,
            events.END: self._end_session,
        }[event.kind]
        try:
            output = do(event)
        except MdmemoryError as problem:
            self._log.failure(event.kind, problem)
            # said once: a turn that goes on without its memory needs no more words
            sentences = problem.sentences
            output = events.hook_output(event, "", [sentences] if do == self._begin_session else [])
        self._told = str(output.get("systemMessage", ""))
        return {"output": output}

    def lost(self, request: Params) -> None:
        """Note that nobody took the last answer, which was to `request`: the next events tell
        again what it told. The index of a session that starts its hook has found by itself."""
        params = request.get("params")
        if not isinstance(params, dict) or not isinstance(given := params.get("event"), dict):
            return
        event = events.read(str(params.get("host")), given, Path())
        if event is not None and event.kind == events.PROMPT:
            self._starting.lost(event.session)
        for line in self._told.splitlines():
            self._notifications.toast({"message": line.removeprefix(events.MARK)})

    def look(self) -> float:
        """Start what is due: the reading of sessions, and a compaction; the seconds until the next
        is. It may be called at any time."""
        if self._folder is not None and not self._is_warm:
            self._is_warm = True
            _warm_up()
        next_reading = self._readings.look()
        if (now := self._clock()) >= self._compaction_at:
            self._compaction_at = now + self._start_compaction()
        left = self._compaction_at - now
        return left if next_reading is None else min(left, next_reading)

    def close(self) -> None:
        """Leave what waits to processes of their own: this one ends."""
        self._readings.close()

    def _start_compaction(self) -> float:
        """Start a compaction if one is due; the seconds until it is looked for again."""
        if self._folder is None:
            return _LATER
        try:
            layers, start = self._open(self._folder), self._start(self._folder)
            return start_compactions(layers, start, self._log.file)
        except MdmemoryError as problem:
            self._log.failure("compact", problem)
            return _LATER

    # --- a session starts, or starts anew

    def _begin_session(self, event: HookEvent) -> Output:
        layers = self._open(event.folder)
        self._log.try_work("start", partial(self._conversation.settle_wishes, layers))
        if not layers.there():
            return events.hook_output(event, "", _open_questions(layers))
        if event.source == "compact":
            compacted = partial(self._following.compacted, layers.main, event.session)
            self._log.try_work("start", compacted)
        text = self._starting.text(layers, event)
        if event.host == "claude":  # a session that lasts seconds may have no other event of ours
            self._log.try_work("start", partial(_leave_claude, event.folder))
        return events.hook_output(event, text, self._event_lines(layers, event))

    def _event_lines(self, layers: Layers, event: HookEvent) -> list[str]:
        """What the person is told at an event: what happened meanwhile, and what waits."""
        questions = _open_questions(layers) if event.kind == events.START else []
        tell = partial(self._notifications.at_event, layers, event.session)
        return [*questions, *(self._log.try_work(event.kind, tell) or [])]

    # --- the person says something

    def _answer_prompt(self, event: HookEvent) -> Output:
        from mdmemory.hosts import texts, typed_commands

        command = texts.read_typed(event.words)
        if command is not None and command.name in typed_commands.NAMES:
            return self._run_typed(event, command)
        words = command.said if command is not None else event.words
        message, notes = (
            _spoken_message(event, words, command),
            partial(self._notes_for, event, command),
        )
        try:
            layers = self._open(event.folder)
        except MdmemoryError as problem:
            return _answer_output(event, self._conversation.put_by(message, problem))
        first = self._log.try_work("prompt", partial(self._starting.text, layers, event)) or ""
        answer = self._conversation.take(layers, message, notes)
        lines = []
        if layers.there():
            self._log.try_work("prompt", partial(self._hear_words, layers, event, "user", words))
            lines = self._event_lines(layers, event)
        return _answer_output(event, answer, lines, first)

    def _run_typed(self, event: HookEvent, command: Typed) -> Output:
        """Do what the person typed as a command of ours, before the assistant answers."""
        from mdmemory.hosts import typed_commands

        done = typed_commands.run(command.name, command.words, self._open_typed(event.folder))
        lines = [message] if (message := done.toast.get("message")) else []
        return events.hook_output(
            event, context.frame_texts(context.harmless_text(done.text)), lines
        )

    def _notes_for(
        self, event: HookEvent, command: object, layers: Layers,
        fresh: Sequence[Refresher | None], with_shown: bool,
    ) -> Near:  # fmt: skip
        """The notes that go with what the person typed."""
        from mdmemory.hosts.by_message import Heard, Near

        if command is not None or not layers.there():
            return Near()
        heard = Heard(
            event.session, event.turn, event.words, self._starting.frozen.get(event.session) or "",
            self._starting.indexes.get(event.session),
        )  # fmt: skip
        return self._by_message.near(layers, heard, fresh, with_shown=with_shown)

    @cached_property
    def _by_message(self) -> ByMessage:
        from mdmemory.hosts.by_message import ByMessage

        return ByMessage(self._following)

    def _hear_words(self, layers: Layers, event: HookEvent, role: str, words: str) -> None:
        """Keep what was said as proof for a tool that another process runs."""
        from mdmemory.session import heard

        memory = layers.main
        state = self._following.state(memory)
        turn, now = event.turn, memory.now()
        heard.put(state, event.session, turn, words, now, role, event.client)

    # --- a turn or a session ends

    def _stop(self, event: HookEvent) -> Output:
        layers = self._open(event.folder)
        lines = []
        if event.host == "claude":
            lines = self._log.try_work("stop", partial(_claudes_own, layers, event.folder)) or []
        settle = partial(self._conversation.settle_wishes, layers, event.session)
        self._log.try_work("stop", settle)  # it may make the first store
        if layers.there():
            hear = partial(self._hear_words, layers, event, "assistant", event.answer)
            self._log.try_work("stop", hear)
            self._log.try_work("stop", partial(self._hand_over, layers, event))
            lines += self._event_lines(layers, event)
        return events.hook_output(event, "", lines)

    def _end_session(self, event: HookEvent) -> Output:
        """Hand over, and be quick: Claude Code waits for 1.5 s."""
        layers = self._open(event.folder)
        if layers.there():
            self._log.try_work("end", partial(self._hand_over, layers, event))
        return {}

    def _hand_over(self, layers: Layers, event: HookEvent) -> None:
        """Have the session read once it has been idle for a while."""
        self._wait(layers, event.session, event.folder)

    def _wait(self, layers: Layers, session: str, folder: Path) -> None:
        project, log = layers.main.project, self._log.file

        def read(seconds: float) -> None:
            words = events.reading_words(session, seconds)
            self._log.try_work("reading", lambda: self._start(folder)(words, log))

        seconds, private = events.idle_seconds(project.settings), project.prepare_private()
        self._readings.put(session, seconds, read, private=private, folder=folder)

    def _take_up(self, layers: Layers) -> None:
        """Have the sessions read that waited when the bridge before was killed."""
        if (private := layers.main.project.private) in self._taken_up:
            return
        self._taken_up.add(private)
        for session, folder in waiting_sessions(private):
            self._wait(layers, session, folder)

    def _open(self, folder: Path) -> Layers:
        layers = self._open_layers(folder)
        if memory := layers.project or layers.person:
            self._log.belongs_to(memory.project)
            self._log.try_work("reading", partial(self._take_up, layers))
        self._notifications.look_in(layers)
        return layers


def _warm_up() -> None:
    """Load what a message needs, before there is one: its hook has a second for all of it."""
    from datetime import date

    from mdmemory.hosts.conversation import read_request
    from mdmemory.search import by_message, query

    for name in _NEEDED:
        import_module(f"mdmemory.{name}")
    read_request(_ANY)
    query.parse(_ANY, date.min)
    by_message.everyday_stems(_ANY)


def _open_questions(layers: Layers) -> list[str]:
    """What the person has to say before the project's store is used; [] for nothing."""
    question = layers.question
    return [question.sentences] if question is not None else []


def _spoken_message(event: HookEvent, words: str, command: Typed | None) -> Spoken:
    """The message as its session will show it later: without what is private, or ours."""
    from mdmemory.hosts.texts import REMEMBER
    from mdmemory.privacy.private import strip_private
    from mdmemory.transcripts.turns import Turn, clean

    text = clean(words)
    return Spoken(
        event.session, Turn(event.turn, "user", text) if text else None, event.folder,
        is_private=bool(strip_private(words)[1]), length=len(words), transcript=event.transcript,
        attended=event.attended, at_once=command is not None and command.name == REMEMBER,
    )  # fmt: skip


def _answer_output(
    event: HookEvent, answer: Output, lines: Sequence[str] = (), first: str = ""
) -> Output:
    """What the hook prints of the answer to a message, after `first`, and of more lines for the
    person."""
    parts = [each if _is_framed(each) else context.harmless_text(each) for each in answer["parts"]]
    toasts = [answer["toast"]["message"]] if "toast" in answer else []
    text = "\n\n".join(filter(None, (first, context.frame_texts(*parts))))
    return events.hook_output(event, text, [*toasts, *lines])


def _is_framed(text: str) -> bool:
    from mdmemory.prompt.blocks import CLOSE, OPEN

    return text.startswith(OPEN) and text.endswith(CLOSE)


def _leave_claude(folder: Path) -> None:
    """Let Claude Code keep its own memory in its own folder again, from its next session on."""
    from mdmemory.hosts.claude import own_memory_settings

    own_memory_settings.withdraw_settings(person.person_places().environment, folder)


def _claudes_own(layers: Layers, folder: Path) -> list[str]:
    from mdmemory.hosts.claude import own_memory_notes

    return own_memory_notes.take_in(layers, folder, person.person_places().environment)
