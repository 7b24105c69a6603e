"""What a hook does where no bridge answers it: it starts one, or does without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mdmemory.errors import MdmemoryError
from mdmemory.hosts.bridge import asking, requests, starting
from mdmemory.hosts.bridge.place import MapEntry
from mdmemory.hosts.bridge_log import Log
from mdmemory.hosts.opencode.bridge import parsed

_START, _END = "SessionStart", "SessionEnd"
_WAITED = 1.1  # seconds from the hook's start that a bridge is waited for


def output(entry: MapEntry, event: asking.HookCall, *, may_start: bool) -> bytes:
    """What the host is to read: JSON, or nothing.

    A session's start waits for a bridge; any other event goes without, and starts one for the next.
    """
    try:
        told = requests.event({"event": parsed(event.data)})
    except MdmemoryError as problem:
        Log().failure("hook", problem)
        return b""
    name = told.get("hook_event_name")
    if may_start and name == _START:
        try:
            return _from_new(entry, event)
        except (asking.NoBridge, asking.Silent, OSError):
            return _alone(event, told)[0]
    text, has_kept = _alone(event, told)
    if may_start and name != _END:
        try:
            # a wish may make the store that a bridge missed a moment ago
            starting.start(entry, event.folder, 0.0 if has_kept else starting.LATER)
        except OSError as problem:
            Log().say(f"hook: no bridge can be started: {problem.strerror or problem}.")
    return text


def _from_new(entry: MapEntry, event: asking.HookCall) -> bytes:
    """The output of a bridge that is started now. Raises NoBridge, Silent or OSError."""
    late = asking.ASKING - _WAITED
    started = starting.start(entry, event.folder, starting.SOON)
    while starting.until_there(started, lambda: event.left() < late):
        try:
            return asking.asked(entry, event)
        except asking.NoBridge:
            continue
    return asking.asked(entry, event)  # of two that start at once the second only names the first


def _alone(event: asking.HookCall, told: dict[str, Any]) -> tuple[bytes, bool]:
    """What the host is to read, and whether a wish was kept."""
    from mdmemory.hosts.commands import alone

    output, has_kept = alone.answer(event.host, told, Path(event.folder))
    return json.dumps(output).encode("ascii") if output else b"", has_kept
