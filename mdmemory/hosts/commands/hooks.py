"""What happens at the events of Claude Code, Codex and Gemini CLI, in a process that stays.

Each event looks for the stores of its own folder again, because they may have been made, moved or
removed since the last one. Where there is none, and nothing is to be kept, nothing is printed.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from mdmemory import protocol
from mdmemory.config import person
from mdmemory.errors import MdmemoryError
from mdmemory.files import digest, name_refusals, read_regular, write_atomic
from mdmemory.git.private_folder import make_folder
from mdmemory.hosts import following, texts
from mdmemory.hosts.background import FIRST_LOOK, LATER, Log, Starter, start_compactions
from mdmemory.hosts.commands import events
from mdmemory.hosts.commands.events import HookEvent
from mdmemory.hosts.conversation import Conversation, Shown, refresh_index
from mdmemory.hosts.following import BySession, Following
from mdmemory.hosts.notifications import Notifications
from mdmemory.memory import Memory

_READINGS, _END, _SIZE = "readings", ".json", 10_000  # bytes of one file
_NEEDED = tuple(
    "capture.store_fact capture.wishes prompt.message_part search.project search.sources "
    "session.heard session.session".split()
)
_ANY = "Remember that the lamp is red."
Params = Mapping[str, Any]
Output = dict[str, Any]
Start = Callable[[float], None]  # starts a process that reads the session after so many seconds


class CommandHooks:
    """The methods of a bridge for hooks that are commands.

    `open_layers` and `open_typed` are the conversation's, for a folder; `start` gives what starts
    mdmemory there, and `clock` seconds that only grow.
    """

    def __init__(
        self, open_layers: Callable[[Path], Memory], start: Callable[[Path], Starter], log: Log, *,
        open_typed: Callable[[Path], Memory] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._start, self._log = start, log
        self._conversation = Conversation(open_layers, log, open_typed)
        self._notifications = self._conversation.notifications
        self._following = self._conversation.following
        self._starting = Starting(log, self._following, self._notifications)
        self._folder: Path | None = None  # of the last event
        self._clock, self._readings = clock, Readings(clock)
        self._taken_up: set[Path] = set()  # the stores that were looked at for what waited there
        self._compaction_at = clock() + FIRST_LOOK
        self._told = ""  # what the last answer had for the person
        self._is_warm = False

    def hook(self, params: Params) -> Output:
        """Do what an event of a host asks for: `output` is what its hook prints, {} for nothing."""
        host, folder, given = params.get("host"), params.get("folder"), params.get("event")
        if not isinstance(host, str) or not isinstance(folder, str) or not isinstance(given, dict):
            return {"output": {}}
        event = events.read(host, given, Path(folder), params.get("client"))
        if event is None:
            return {"output": {}}
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
            seconds = LATER
            if self._folder is not None:
                around, start = partial(self._open, self._folder), self._start(self._folder)
                seconds = start_compactions(around, start, self._log)
            self._compaction_at = now + seconds
        left = self._compaction_at - now
        return left if next_reading is None else min(left, next_reading)

    def close(self) -> None:
        """Leave what waits to processes of their own: this one ends."""
        self._readings.look(is_end=True)

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
            from mdmemory.hosts.claude.own_memory_settings import withdraw_settings

            environment = person.person_places().environment
            self._log.try_work("start", partial(withdraw_settings, environment, event.folder))
        return events.hook_output(event, text, self._event_lines(layers, event))

    def _event_lines(self, layers: Memory, event: HookEvent) -> list[str]:
        """What the person is told at an event: what happened meanwhile, and what waits."""
        questions = _open_questions(layers) if event.kind == events.START else []
        tell = partial(self._notifications.at_event, layers, event.session)
        return [*questions, *(self._log.try_work(event.kind, tell) or [])]

    # --- the person says something

    def _answer_prompt(self, event: HookEvent) -> Output:
        command = texts.read_typed(event.words)
        if command is not None and command.name in texts.TYPED:
            done = self._conversation.do_typed(command.name, command.words, event.folder)
            text = events.frame_texts(events.harmless_text(done.text))
            lines = [message] if (message := done.toast.get("message")) else []
            return events.hook_output(event, text, lines)
        words = command.said if command is not None else event.words
        spoken = events.spoken_message(event, words, command)
        try:
            layers = self._open(event.folder)
        except MdmemoryError as problem:
            return events.answer_output(event, self._conversation.put_by(spoken, problem))
        first = self._log.try_work("prompt", partial(self._starting.text, layers, event)) or ""
        shown = self._starting.shown.get(event.session) or ("", None)
        answer = self._conversation.take(layers, spoken, None if command else shown)
        lines = []
        if layers.there():
            self._log.try_work("prompt", partial(self._hear_words, layers, event, "user", words))
            lines = self._event_lines(layers, event)
        return events.answer_output(event, answer, lines, first)

    def _hear_words(self, layers: Memory, event: HookEvent, role: str, words: str) -> None:
        """Keep what was said as proof for a tool that another process runs."""
        from mdmemory.session import heard

        state, now = self._following.state(layers.main), layers.main.now()
        heard.put(state, event.session, event.turn, words, now, role, event.client)

    # --- a turn or a session ends

    def _stop(self, event: HookEvent) -> Output:
        layers = self._open(event.folder)
        lines = []
        if event.host == "claude":
            from mdmemory.hosts.claude.own_memory_notes import take_in

            environment = person.person_places().environment
            take = partial(take_in, layers, event.folder, environment)
            lines = self._log.try_work("stop", take) or []
        settle = partial(self._conversation.settle_wishes, layers, event.session)
        self._log.try_work("stop", settle)  # it may make the first store
        if layers.there():
            hear = partial(self._hear_words, layers, event, "assistant", event.answer)
            self._log.try_work("stop", hear)
            self._log.try_work("stop", partial(self._wait, layers, event.session, event.folder))
            lines += self._event_lines(layers, event)
        return events.hook_output(event, "", lines)

    def _end_session(self, event: HookEvent) -> Output:
        """Hand over, and be quick: Claude Code waits for 1.5 s."""
        layers = self._open(event.folder)
        if layers.there():
            self._log.try_work("end", partial(self._wait, layers, event.session, event.folder))
        return {}

    def _wait(self, layers: Memory, session: str, folder: Path) -> None:
        """Have a session read once it has been idle for a while."""
        project, log = layers.main.project, self._log.file

        def read(seconds: float) -> None:
            words = events.reading_words(session, seconds)
            self._log.try_work("reading", lambda: self._start(folder)(words, log))

        seconds, private = events.idle_seconds(project.settings), project.prepare_private()
        self._readings.put(session, seconds, read, private=private, folder=folder)

    def _take_up(self, layers: Memory) -> None:
        """Have the sessions read that waited when the bridge before was killed."""
        if (private := layers.main.project.private) in self._taken_up:
            return
        self._taken_up.add(private)
        for session, folder in waiting_sessions(private):
            self._wait(layers, session, folder)

    def _open(self, folder: Path) -> Memory:
        layers = self._conversation.open(folder)
        if layers.there():
            self._log.try_work("reading", partial(self._take_up, layers))
        return layers


def _warm_up() -> None:
    """Load what a message needs, before there is one: its hook has a second for all of it."""
    from datetime import date

    from mdmemory.search import by_message, query

    for name in _NEEDED:
        import_module(f"mdmemory.{name}")
    texts.read_request(_ANY)
    query.parse(_ANY, date.min)
    by_message.everyday_stems(_ANY)


def _open_questions(layers: Memory) -> list[str]:
    """What the person has to say before the project's store is used; [] for nothing."""
    question = layers.question
    return [question.sentences] if question is not None else []


class Starting:
    """What the prompt of each session of a store is given once: the protocol, the indexes, and what
    the session keeps. One that has had it, and still has it, is not given it again."""

    def __init__(self, log: Log, following: Following, notifications: Notifications) -> None:
        self._log, self._following, self._notifications = log, following, notifications
        # what the prompt of a session holds: our own text, and the indexes as they were then
        self.shown: BySession[Shown] = BySession()
        self._carried: BySession[Path] = BySession()  # by folder: what Claude itself puts there
        self._given: BySession[bool] = BySession()

    def text(self, layers: Memory, event: HookEvent) -> str:
        """The text for an event, "" where the session needs none. It goes with the start; of Gemini
        CLI with the first message, for what its start gives gets into the person's words, and is
        lost with them."""
        carried = self._log.try_work("start", partial(self._carried_by, event))
        session, is_time = event.session, event.kind == events.START
        if event.host == "gemini":
            is_time = event.kind == events.PROMPT and not self._given.get(session)
        if not layers.there() or not is_time:
            return ""
        stores: list[tuple[str, Path]] = []
        for memory in layers.there():
            self._log.try_work("start", partial(refresh_index, memory))
            stores.append((memory.layer, memory.project.store))
        rest = [*filter(None, (self._log.try_work("start", each) for each in (
            partial(self._following.at_hand, layers.main, session),
            lambda: events.harmless_text(self._notifications.line(layers, session)),
            lambda: events.harmless_text(following.by_hand(layers, session)),
        )))]  # fmt: skip
        text, indexes = events.start_text(event, protocol.for_tools(), stores, carried, rest)
        self._given.put(session, True)
        if text:
            self.shown.put(session, ("\n".join(rest), indexes))
        return text

    def lost(self, session: str) -> None:
        """Note that the answer to a message did not arrive: in Gemini CLI it may have had the text,
        which the next one brings."""
        self._given.drop(session)

    def _carried_by(self, event: HookEvent) -> Path | None:
        """The store whose index the client itself puts into the prompt; it looked at its start."""
        if event.host != "claude" or event.kind != events.START:
            return None
        folder = str(event.folder)
        if event.source in events.GOES_ON and (known := self._carried.get(folder)):
            return known if known != Path() else None
        from mdmemory.hosts.claude.own_memory_settings import carried_folder

        carried = carried_folder(event.folder, person.person_places().environment)
        self._carried.put(folder, carried or Path())
        return carried


class Readings:
    """Sessions that wait to be read: each once it has been idle for a while, by a process of its
    own. `clock` gives seconds that only grow.

    A bridge keeps the time, so that a turn costs no process. Where it ends before, the process is
    started at once, and waits itself; where it is killed, the next bridge finds what waited in a
    folder beside the store's state.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._waiting: dict[str, tuple[float, Start, Path]] = {}  # when it is due, and its file

    def put(
        self, session: str, seconds: float, start: Start, *, private: Path, folder: Path
    ) -> None:
        """Have a session read `seconds` from now, and not before: it went on. It runs in `folder`;
        `private` is the store's `.mdmemory`. Without a place for it only this process knows."""
        file = private / _READINGS / f"{digest(session.encode('utf-8'))[:16]}{_END}"
        if session not in self._waiting:
            record = json.dumps({"session": session, "folder": str(folder)})
            with suppress(MdmemoryError):
                with name_refusals(file.parent):
                    make_folder(file.parent)
                write_atomic(file, record.encode("ascii"), mode=0o600)
        self._waiting[session] = self._clock() + seconds, start, file

    def look(self, *, is_end: bool = False) -> float | None:
        """Start what is due, and at the end all that wait, each for the time that is left; the
        seconds until the next is due, None where none waits."""
        now = self._clock()
        for session, (due, start, file) in [*self._waiting.items()]:
            if is_end or due <= now:
                del self._waiting[session]
                start(max(0.0, due - now))
                with suppress(OSError):
                    file.unlink()
        return min((due - now for due, *_ in self._waiting.values()), default=None)


def waiting_sessions(private: Path) -> Iterator[tuple[str, Path]]:
    """The sessions that a killed bridge left, and the folders in which they ran."""
    try:
        names = sorted(name for name in os.listdir(private / _READINGS) if name.endswith(_END))
    except OSError:
        return
    for name in names:
        with suppress(MdmemoryError, ValueError, LookupError, TypeError):
            record = json.loads(read_regular(private / _READINGS / name, _SIZE))
            yield str(record["session"]), Path(str(record["folder"]))
