"""What a hook does where no bridge answers it: it starts one, or answers the event by itself.

Then it ends at once, and so must load little: a wish is kept in the inbox, and written by what
comes next; the index is given as it lies there.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from mdmemory import assets
from mdmemory.config import person
from mdmemory.errors import MdmemoryError
from mdmemory.hosts.background import NAME, Log, Process, Starter
from mdmemory.hosts.bridge import asking
from mdmemory.hosts.bridge.asking import MapEntry
from mdmemory.hosts.commands import events
from mdmemory.hosts.commands.events import HookEvent
from mdmemory.hosts.opencode.bridge import parse_request
from mdmemory.store.project import Project, of_person, of_project
from mdmemory.transcripts.turns import as_text, clean

SOON = 5.0  # seconds that a bridge may need to start; until then another is only waited for
LATER = 300.0  # seconds until what failed is tried again
_LOOK = 0.02  # seconds between two looks for it
_WAITED = 1.1  # seconds from the hook's start that a bridge is waited for

Output = dict[str, Any]
Stores = list[tuple[str, Project]]


def output_without(entry: MapEntry, event: asking.HookCall, *, may_start: bool) -> bytes:
    """What the host is to read: JSON, or nothing.

    It waits for the bridge that it starts: at a message once that was answered without one, lest a
    wish be lost where none comes in time.
    """
    fields = parse_request(event.data)
    if not fields:
        Log().say("hook: The event of the hook is no JSON object.")
        return b""
    kind = events.KINDS[event.host].get(as_text(fields.get("hook_event_name")))
    if not may_start or kind == events.END:
        return _printed_output(answer_alone(event, fields))
    if kind != events.PROMPT:
        started = _try_start(entry, event, SOON if kind == events.START else LATER)
        answer = _from_new(entry, event, started) if started or kind == events.START else None
        return _printed_output(answer_alone(event, fields)) if answer is None else answer
    alone = answer_alone(event, fields)
    # a wish may make the store that a bridge missed a moment ago
    started = _try_start(entry, event, 0.0 if alone.has_kept else LATER)
    answer = _from_new(entry, event, started) if started and not alone.is_refused else None
    return _printed_output(alone) if answer is None else answer


def _printed_output(alone: Alone) -> bytes:
    return json.dumps(alone.output).encode("ascii") if alone.output else b""


# --- a bridge is started, as a process of its own, which outlives the hook


def _try_start(entry: MapEntry, event: asking.HookCall, rest: float) -> Process | None:
    try:
        return start_bridge(entry, event.folder, rest)
    except OSError as problem:
        Log().say(f"hook: no bridge can be started: {problem.strerror or problem}.")
        return None


def start_bridge(entry: MapEntry, folder: str, rest: float) -> Process | None:
    """Start a bridge for `folder`, unless that was tried in the last `rest` seconds: many clients
    that start together start one, and what fails is not tried at every event.

    Raises OSError where the map cannot be written: then nobody would find the bridge.
    """
    if not sys.executable:
        return None
    os.makedirs(entry.folder, mode=0o700, exist_ok=True)
    try:
        os.close(os.open(entry.mark, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        with suppress(FileNotFoundError):
            # a clock that was turned back leaves marks of the future: they are old, too
            if 0 <= time.time() - os.stat(entry.mark).st_mtime < rest:
                return None
            os.utime(entry.mark)
    # -P: modules are not searched in the current folder; a pool of each thread's own costs 2 MB
    words = ["/usr/bin/env", "MALLOC_ARENA_MAX=1", sys.executable, "-P", "-m", "mdmemory"]
    starter = Starter(lambda: words, Path(folder))
    return starter(["bridge", "--listen"], Log().file)


def _from_new(entry: MapEntry, event: asking.HookCall, started: Process | None) -> bytes | None:
    """The output of a bridge that is being started; None where it does not come in time."""
    late = asking.ASKING - _WAITED
    is_coming = True
    while is_coming:
        # of two that start at once the second only names the first: one more try behind its end
        is_coming = wait_briefly(started, lambda: event.left() < late)
        try:
            return asking.ask_bridge(entry, event)
        except asking.NoBridge:
            continue
        except asking.Silent:
            break
    return None


def wait_briefly(started: Process | None, is_late: Callable[[], bool]) -> bool:
    """Wait a moment for a bridge; False once it is late, or ended, so that none will come."""
    if is_late() or (started is not None and started.poll() is not None):
        return False
    time.sleep(_LOOK)
    return True


# --- an event is answered without one


class Alone(NamedTuple):
    """What the hook prints for an event, {} for nothing, and whether a wish was kept: then a bridge
    has something to do. `is_refused`: a command has to be typed once more, and nobody is to do it
    meanwhile."""

    output: Output
    has_kept: bool = False
    is_refused: bool = False


def answer_alone(call: asking.HookCall, fields: Mapping[str, Any]) -> Alone:
    """The answer to an event, whose JSON says these `fields`. Raises MdmemoryError."""
    event = events.read(call.host, fields, Path(call.folder), call.client)
    if event is None:
        return Alone({})
    places = person.person_places()
    stores: Stores = []  # with their layers, the project's first
    with suppress(MdmemoryError):  # who can ask about it tells it
        if (project := of_project(event.folder, None, places)) is not None:
            stores.append(("project", project))
    own = of_person(places)
    if own is not None and all(own.root != project.root for _, project in stores):
        stores.append(("user", own))
    if event.kind == events.PROMPT:
        return _answer_prompt(event, stores)
    if event.kind == events.START:
        text = _start_text(event, stores) if stores else ""
        return Alone(events.hook_output(event, text, _write_kept(event, stores)))
    if stores:  # a process reads the session once it has been idle for a while
        from mdmemory.hosts.git_hooks import program_words

        project = stores[0][1]
        words = events.reading_words(event.session, events.idle_seconds(project.settings))
        Starter(program_words, event.folder)(words, project.prepare_private() / NAME)
    lines = _write_kept(event, stores) if event.kind == events.STOP else ()
    return Alone(events.hook_output(event, "", lines))


def _start_text(event: HookEvent, stores: Stores) -> str:
    """The protocol and the indexes, where it is time for them and the session lacks them."""
    if (event.host == "gemini") != (event.kind == events.PROMPT):
        return ""
    carried = None
    if event.host == "claude":
        from mdmemory.hosts.claude.own_memory_settings import carried_folder

        carried = carried_folder(event.folder, person.person_places().environment)
    places = [(layer, project.store) for layer, project in stores]
    return events.start_text(event, assets.read("protocol/TOOLS.md"), places, carried)[0]


def _answer_prompt(event: HookEvent, stores: Stores) -> Alone:
    """Keep what the person asks to remember, and say so."""
    first = _start_text(event, stores) if stores else ""
    if not clean(event.words):  # what follows takes long to load
        return Alone(events.hook_output(event, first))
    from mdmemory.capture import wishes
    from mdmemory.hosts import texts

    command = texts.read_typed(event.words)
    if command is not None and command.name in texts.TYPED:
        notice = f"mdmemory is just starting. Have the user type {command.name} once more."
        once_more = ["Not done yet: type it once more."]
        output = events.hook_output(event, events.frame_texts(notice), once_more)
        return Alone(output, is_refused=True)
    words = command.said if command else event.words
    spoken = events.spoken_message(event, words, command)
    heard, answer = texts.hear_request(spoken), Output(parts=[])
    if stores and stores[0][0] == "project":
        inboxes = wishes.open_inboxes(stores[0][1])
    else:
        inboxes = [wishes.inbox_without_store(event.folder)]
    keep = partial(wishes.keep_wishes, inboxes, now=person.now())
    has_kept = heard is not None and texts.keep_request(answer, spoken, heard, keep, Log())
    if stores:
        Log().try_work("prompt", partial(_hear_words, event, stores[0][1], words))
    answer["parts"] = texts.parts_for(spoken, heard)
    return Alone(events.answer_output(event, answer, first=first), has_kept)


def _hear_words(event: HookEvent, project: Project, words: str) -> None:
    """Keep what was said as proof for a tool of the same turn, as a bridge does."""
    from mdmemory.session import heard
    from mdmemory.store.state import State

    with State(project.state_file) as state:
        heard.put(state, event.session, event.turn, words, person.now(), client=event.client)


def _write_kept(event: HookEvent, stores: Stores) -> list[str]:
    """Write what was kept earlier, and say what became of it; mostly there is nothing."""
    inbox = person.state_folder() / "inbox"  # of wishes from where no store was yet
    if not any(project.has_wishes() for _, project in stores) and not any(inbox.glob("*")):
        return []
    from mdmemory.capture import wishes

    session = event.session if event.kind == events.STOP else ""
    boxes = [box for _, project in stores for box in wishes.open_inboxes(project)]
    boxes.append(wishes.inbox_without_store(event.folder))
    if not any(wish.is_due(person.now(), session) for box in boxes for _, wish in box.wishes()):
        return []  # their turns go on: what writes them takes long to load
    from mdmemory.hosts.conversation import name_new_stores, stores_with_notes
    from mdmemory.memory import Memory
    from mdmemory.prompt.lines import of_as_said

    layers = Memory.around(event.folder, holder="a hook", automatic=True)
    before = stores_with_notes(layers)
    line = of_as_said(layers.settle_wishes(session), name_new_stores(layers, before))
    return [line["message"]] if line else []
