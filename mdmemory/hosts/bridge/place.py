"""Where a bridge is met: its socket beside a store's state, and the map from folders to sockets.

The map lies in the person's state folder, one small file for a folder, so that a hook needs neither
git nor settings to find its bridge. `socket` itself would cost each hook 6 ms.
"""

from __future__ import annotations

import _socket
import os
import sys
from binascii import crc32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SOCKET = "bridge.sock"
_MAP = "bridges"
_LONGEST = 100  # bytes of a path; macOS takes 103, Linux 107
_CREDENTIALS = 76  # bytes of macOS' struct xucred: its version, the user, groups


class MapEntry:
    """What the map says of a folder: the socket of the bridge that serves it.

    `store` is the store that the session names (MDMEMORY_STORE), or "". The entry may be old:
    whoever connects finds out.
    """

    def __init__(self, environment: Mapping[str, str], folder: str, store: str) -> None:
        self.folder = os.path.join(state_folder(environment), _MAP)
        self._key = b"\0".join((os.fsencode(folder), os.fsencode(store), b""))
        self.file = os.path.join(self.folder, f"{crc32(self._key):08x}")

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
