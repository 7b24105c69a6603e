"""What a hook does where no bridge answers it: it starts one, or does without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmemory.hosts.background import Process
from mdmemory.hosts.bridge import asking, starting
from mdmemory.hosts.bridge.place import MapEntry
from mdmemory.hosts.bridge_log import Log
from mdmemory.hosts.opencode.bridge import parse_request

if TYPE_CHECKING:
    from mdmemory.hosts.commands.alone import Alone

_START, _END = "SessionStart", "SessionEnd"
_MESSAGES = ("UserPromptSubmit", "BeforeAgent")
_WAITED = 1.1  # seconds from the hook's start that a bridge is waited for


def output_without(entry: MapEntry, event: asking.HookCall, *, may_start: bool) -> bytes:
    """What the host is to read: JSON, or nothing.

    It waits for the bridge that it starts: at a message once that was answered without one, lest a
    wish be lost where none comes in time.
    """
    fields = parse_request(event.data)
    if not fields:
        Log().say("hook: The event of the hook is no JSON object.")
        return b""
    name = fields.get("hook_event_name")
    if not may_start or name == _END:
        return _printed_output(_answer_alone(event, fields))
    if name not in _MESSAGES:
        started = _start_bridge(entry, event, starting.SOON if name == _START else starting.LATER)
        answer = _from_new(entry, event, started) if started or name == _START else None
        return _printed_output(_answer_alone(event, fields)) if answer is None else answer
    alone = _answer_alone(event, fields)
    # a wish may make the store that a bridge missed a moment ago
    started = _start_bridge(entry, event, 0.0 if alone.has_kept else starting.LATER)
    answer = _from_new(entry, event, started) if started and not alone.is_refused else None
    return _printed_output(alone) if answer is None else answer


def _start_bridge(entry: MapEntry, event: asking.HookCall, rest: float) -> Process | None:
    try:
        return starting.start_bridge(entry, event.folder, rest)
    except OSError as problem:
        Log().say(f"hook: no bridge can be started: {problem.strerror or problem}.")
        return None


def _from_new(entry: MapEntry, event: asking.HookCall, started: Process | None) -> bytes | None:
    """The output of a bridge that is being started; None where it does not come in time."""
    late = asking.ASKING - _WAITED
    is_coming = True
    while is_coming:
        # of two that start at once the second only names the first: one more try behind its end
        is_coming = starting.wait_briefly(started, lambda: event.left() < late)
        try:
            return asking.ask_bridge(entry, event)
        except asking.NoBridge:
            continue
        except asking.Silent:
            break
    return None


def _answer_alone(event: asking.HookCall, fields: dict[str, Any]) -> Alone:
    from mdmemory.hosts.commands import alone

    return alone.answer_alone(event.host, fields, Path(event.folder))


def _printed_output(alone: Alone) -> bytes:
    return json.dumps(alone.output).encode("ascii") if alone.output else b""
