"""`mdmemory hook HOST`: a client's event goes to its folder's bridge, and the answer comes out.

It never fails a turn and never takes over two seconds. Where a bridge answers, nothing is loaded
but this file and `asking`: a client starts this for every event.
"""

from __future__ import annotations

import _thread
import os
import time

from mdmemory.hosts.bridge.asking import HookCall, MapEntry, NoBridge, Silent, ask_bridge
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
        if data := _read():
            if is_headless(host, os.environ):
                data = data.replace(b"{", b'{"attended": false, ', 1)
            try:
                folder = os.getcwd()
            except OSError:
                folder = "/"  # the client's folder was removed
            event = HookCall(host, folder, store, data, began, list_ancestors())
            text = event_output(event, os.environ)
            while text:
                text = text[os.write(1, text) :]
    except (Exception, KeyboardInterrupt) as problem:  # noqa: BLE001 - no hook fails a turn
        try:
            from mdmemory.hosts.background import Log

            if isinstance(problem, Exception):
                Log().failure("hook", problem)
        except Exception:  # noqa: BLE001 - there is nobody to tell
            return


def is_headless(host: str, environment: Mapping[str, str]) -> bool:
    """Whether a program started the client (`claude -p`, its SDK), so that nobody watches. Codex
    says so in its transcript, Gemini CLI nowhere."""
    return host == "claude" and environment.get("CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk-")


def _end_after(seconds: float) -> None:
    """End this process, whatever it hangs in: the host goes on without us."""
    time.sleep(seconds)
    os._exit(0)


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


def event_output(event: HookCall, environment: Mapping[str, str]) -> bytes:
    """What the host is to read: JSON, or nothing."""
    entry = MapEntry(environment, event.folder, event.store)
    try:
        return ask_bridge(entry, event)
    except (NoBridge, Silent) as problem:
        from mdmemory.hosts.bridge import without

        return without.output_without(entry, event, may_start=isinstance(problem, NoBridge))
