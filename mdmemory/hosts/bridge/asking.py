"""Asks a bridge: an event of a client as a line, the line that comes back, and the map from folders
to sockets, one small file each, so that a hook needs neither git nor settings.

`socket` would cost each hook 6 ms, and JSON 8 ms: both lines are put together and cut as text.
"""

from __future__ import annotations

import _socket
import os
import sys
import time
from binascii import crc32

from mdmemory.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ASKING = 1.3  # seconds from our start until the bridge has to have answered
SOCKET = "bridge.sock"
_MAP = "bridges"
_LONGEST = 100  # bytes of a path; macOS takes 103, Linux 107
_CREDENTIALS = 76  # bytes of macOS' struct xucred: its version, the user, groups
_BEFORE, _BEHIND = b'{"result": {"output": ', b"}}\n"
_OTHER = b'{"error": {"code": "version"'
_SPACES = bytes(32 if each in b"\n\r" else each for each in range(256))


class NoBridge(Exception):
    """No bridge answers for this folder, and another may be started."""


class Silent(Exception):
    """The bridge has the event, and gave no answer in time."""


class HookCall:
    """An event of the client `host` in `folder`: `data` is its JSON, as it came, `began` a moment
    of the monotonic clock, `client` the processes above this one."""

    def __init__(
        self, host: str, folder: str, store: str, data: bytes, began: float, client: str = ""
    ) -> None:
        self.host, self.folder, self.store, self.data = host, folder, store, data
        self.began, self.client = began, client

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


def _json_string(text: str) -> str:
    """A string of JSON, in ASCII."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    import json  # few folders have such a name

    return json.dumps(text)


def ask_bridge(entry: MapEntry, event: HookCall) -> bytes:
    """The bridge's output for an event. Raises NoBridge where there is none, and Silent where it
    has the event but did not answer whole, or in time."""
    path = entry.socket()
    if not path:
        raise NoBridge
    try:
        connection = connect_socket(path, max(0.01, event.left()))
    except (TimeoutError, BlockingIOError) as problem:
        raise Silent from problem  # too many wait for it
    except OSError as problem:
        raise NoBridge from problem
    line = b""
    try:
        connection.sendall(event.request())
        while not line.endswith(b"\n"):
            if (left := event.left()) <= 0:
                raise TimeoutError
            connection.settimeout(left)
            part = connection.recv(1 << 16)
            if not part:
                raise ConnectionResetError("it ended")
            line += part
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


# --- where a bridge is met


class MapEntry:
    """What the map says of a folder: the socket of the bridge that serves it.

    `store` is the store that the session names (MDMEMORY_STORE), or "". The entry may be old:
    whoever connects finds out.
    """

    def __init__(self, environment: Mapping[str, str], folder: str, store: str) -> None:
        self.folder = os.path.join(state_folder(environment), _MAP)
        self._key = b"\0".join((os.fsencode(folder), os.fsencode(store), b""))
        self.file = os.path.join(self.folder, f"{crc32(self._key):08x}")
        # its time says when a bridge for the folder was last started; gone once it ran
        self.mark = f"{self.file}.starting"

    def socket(self) -> str:
        """The path of the socket; "" where none is known."""
        try:
            handle = os.open(self.file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return ""
        try:
            data = os.read(handle, 1 << 14)
        except OSError:
            return ""
        finally:
            os.close(handle)
        # another folder may have the same checksum
        return os.fsdecode(data[len(self._key) :]) if data.startswith(self._key) else ""

    def text(self, socket: str) -> bytes:
        """The bytes of the entry's file for a bridge at the path `socket`."""
        return self._key + os.fsencode(socket)


def state_folder(environment: Mapping[str, str]) -> str:
    """What `person.state_folder` gives, but a hook has no time to load that."""
    named = environment.get("XDG_STATE_HOME", "")
    base = named if os.path.isabs(named) else os.path.expanduser("~/.local/state")
    return os.path.join(base, "mdmemory")


def connect_socket(path: str, seconds: float) -> _socket.socket:
    """A connection to the bridge of this user at `path`, whose calls take up to `seconds` each.
    Raises OSError where there is none, or where another user's process is there."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        call_with_short_path(path, connection.connect)
        if peer_user(connection) != os.geteuid():
            raise PermissionError(f"{path} is another user's")
    except BaseException:
        connection.close()
        raise
    return connection


def call_with_short_path(path: str, call: Callable[[str], object]) -> None:
    """Call `call` with a path of the socket at `path` that is short enough for the system."""
    if len(os.fsencode(path)) <= _LONGEST:
        call(path)
        return
    folder, name = os.path.split(path)
    here = os.open(".", getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.chdir(folder)
        try:
            call(name)
        finally:
            os.fchdir(here)
    finally:
        os.close(here)


def peer_user(connection: _socket.socket) -> int:
    """The user at the other end. Raises OSError where the system does not say."""
    if sys.platform == "linux":
        data = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    else:
        data = connection.getsockopt(0, 1, _CREDENTIALS)  # SOL_LOCAL, LOCAL_PEERCRED
    return int.from_bytes(data[4:8], sys.byteorder)  # behind the process, or the struct's version
