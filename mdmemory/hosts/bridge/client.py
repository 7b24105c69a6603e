"""`mdmemory hook HOST`: a client's event goes to its folder's bridge, and the answer comes out.

It never fails a turn and never takes over two seconds. Where a bridge answers,
nothing is loaded but this file, `asking` and `place`: a client starts this for every event.
"""

from __future__ import annotations

import _thread
import os
import time

from mdmemory.hosts.bridge import asking, place
from mdmemory.session.client_process import list_ancestors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

HOSTS = ("claude", "codex", "gemini")
MOST = 16 * 1024 * 1024  # bytes of an event
_ALL = 1.8  # seconds from our start to our end, whatever hangs


def run(words: list[str]) -> bool:
    """Answer the event on standard input, as the words behind `hook` say. False, with nothing done,
    where they are a person's or name no host."""
    if len(words) != 1 or words[0].startswith("-"):
        return False
    if os.environ.get("MDMEMORY_DISABLE"):
        return True
    if words[0] not in HOSTS or os.isatty(0):
        return False
    answer_event(words[0], os.environ.get("MDMEMORY_STORE", ""))
    return True


def answer_event(host: str, store: str) -> None:
    """Read the event from standard input, and write what the host is to do, if anything."""
    began = time.monotonic()
    _thread.start_new_thread(_end_after, (_ALL,))
    try:
        data = _read()
        if data:
            if is_headless(host, os.environ):
                data = data.replace(b"{", b'{"attended": false, ', 1)
            call = asking.HookCall(host, _current_folder(), store, data, began, list_ancestors())
            _write(event_output(call, os.environ))
    except (Exception, KeyboardInterrupt) as problem:  # noqa: BLE001 - no hook fails a turn
        _log_problem(problem)


def event_output(event: asking.HookCall, environment: Mapping[str, str]) -> bytes:
    """What the host is to read: JSON, or nothing."""
    entry = place.MapEntry(environment, event.folder, event.store)
    try:
        return asking.ask_bridge(entry, event)
    except (asking.NoBridge, asking.Silent) as problem:
        from mdmemory.hosts.bridge import without

        return without.output_without(entry, event, may_start=isinstance(problem, asking.NoBridge))


def is_headless(host: str, environment: Mapping[str, str]) -> bool:
    """Whether a program started the client (`claude -p`, its SDK), so that nobody watches. Codex
    says so in its transcript, Gemini CLI nowhere."""
    return host == "claude" and environment.get("CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk-")


def _current_folder() -> str:
    """Where the client runs; the root where that folder was removed."""
    try:
        return os.getcwd()
    except OSError:
        return "/"


def _read() -> bytes:
    """The event on standard input; nothing where it is too long."""
    parts: list[bytes] = []
    size = 0
    while part := os.read(0, 1 << 16):
        size += len(part)
        if size > MOST:
            return b""
        parts.append(part)
    return b"".join(parts).removeprefix(b"\xef\xbb\xbf").strip()


def _write(text: bytes) -> None:
    while text:
        text = text[os.write(1, text) :]


def _end_after(seconds: float) -> None:
    """End this process, whatever it hangs in: the host goes on without us."""
    time.sleep(seconds)
    os._exit(0)


def _log_problem(problem: BaseException) -> None:
    """Log what went wrong; where that fails too, there is nobody to tell."""
    try:
        from mdmemory.hosts.bridge_log import Log

        if isinstance(problem, Exception):
            Log().failure("hook", problem)
    except Exception:  # noqa: BLE001
        return
