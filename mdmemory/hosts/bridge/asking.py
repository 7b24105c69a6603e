"""An event of a client, the line that brings it to a bridge, and the line that comes back.

Both lines are put together and cut as text: reading the JSON would cost a hook 8 ms for nothing.
"""

from __future__ import annotations

import time

from mdmemory.hosts.bridge import place
from mdmemory.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket

ASKING = 1.3  # seconds from our start until the bridge has to have answered
_BEFORE, _BEHIND = b'{"result": {"output": ', b"}}\n"
_OTHER = b'{"error": {"code": "version"'


class NoBridge(Exception):
    """No bridge answers for this folder, and another may be started."""


class Silent(Exception):
    """The bridge has the event, and gave no answer in time."""


class HookCall:
    """An event of the client `host` in `folder`: `data` is its JSON, as it came."""

    def __init__(
        self, host: str, folder: str, store: str, data: bytes, began: float, client: str = ""
    ) -> None:
        self.client = client  # the processes above this one
        self.host, self.folder, self.store, self.data = host, folder, store, data
        self.began = began  # by the monotonic clock

    def left(self) -> float:
        """The seconds that are left to ask a bridge."""
        return self.began + ASKING - time.monotonic()

    def request(self) -> bytes:
        """The line for the bridge, which reads the JSON: here nothing would be gained by it."""
        data = self.data.translate(_SPACES)  # line ends stand nowhere inside of JSON's strings
        head = (
            f'{{"version": {_json_string(VERSION)}, "method": "hook", "params": {{"host": '
            f'{_json_string(self.host)}, "folder": {_json_string(self.folder)}, "store": '
            f'{_json_string(self.store)}, "client": {_json_string(self.client)}, "event": '
        )
        return b"".join((head.encode("ascii"), data, b"}}\n"))


def ask_bridge(entry: place.MapEntry, event: HookCall) -> bytes:
    """The bridge's output for an event. Raises NoBridge where there is none, and Silent where it
    has the event but did not answer in time."""
    path = entry.socket()
    if not path:
        raise NoBridge
    try:
        connection = place.connect_socket(path, max(0.01, event.left()))
    except (TimeoutError, BlockingIOError) as problem:
        raise Silent from problem  # too many wait for it
    except OSError as problem:
        raise NoBridge from problem
    try:
        connection.sendall(event.request())
        line = _ask_line(connection, event)
    except OSError as problem:
        raise Silent from problem
    finally:
        connection.close()
    if line.startswith(_BEFORE) and line.endswith(_BEHIND):
        text = line[len(_BEFORE) : -len(_BEHIND)]
        return b"" if text == b"{}" else text
    if line.startswith(_OTHER):
        raise NoBridge  # of another version; it is ending
    return b""  # it has logged what failed


def _ask_line(connection: _socket.socket, event: HookCall) -> bytes:
    """The line that the bridge sends. Raises OSError where it does not come whole, or in time."""
    parts: list[bytes] = []
    while not parts or not parts[-1].endswith(b"\n"):
        if (left := event.left()) <= 0:
            raise TimeoutError
        connection.settimeout(left)
        part = connection.recv(1 << 16)
        if not part:
            raise ConnectionResetError("it ended")
        parts.append(part)
    return b"".join(parts)


def _json_string(text: str) -> str:
    """A string of JSON, in ASCII."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    import json  # few folders have such a name

    return json.dumps(text)


_SPACES = bytes(32 if each in b"\n\r" else each for each in range(256))
