"""Which user of this machine is at the other end of a connection, as Linux tells it.

Elsewhere nobody tells, and the token alone keeps other users out.
"""

from __future__ import annotations

import socket
import struct
from pathlib import Path

Place = tuple[str, int]  # address and port
_ESTABLISHED, _LISTENING = "01", "0A"
_MAPPED = "0000000000000000FFFF0000"  # an IPv4 address as a socket of IPv6 has it


def user_of(peer: Place, here: Place, tables: Path = Path("/proc/net")) -> int | None:
    """The id of the user whose connection from `peer` to `here` it is, -1 where it is nobody's that
    is known; None where this machine does not tell."""
    ours, theirs = _shown(here), _shown(peer)
    is_told = False
    for name in ("tcp", "tcp6"):
        for row in _rows(tables / name):
            local, remote, state = (word.removeprefix(_MAPPED) for word in row[1:4])
            if (local, remote, state) == (theirs, ours, _ESTABLISHED):
                return int(row[7])
            # a table without ourselves in it tells nothing
            is_told = is_told or (local == ours and state in (_ESTABLISHED, _LISTENING))
    return -1 if is_told else None


def _shown(place: Place) -> str:
    """An address and port as the table has them, in the byte order of the machine."""
    (number,) = struct.unpack("=I", socket.inet_aton(place[0]))
    return f"{number:08X}:{place[1]:04X}"


def _rows(table: Path) -> list[list[str]]:
    try:
        lines = table.read_text(encoding="ascii", errors="replace").splitlines()[1:]
    except OSError:
        return []
    return [row for line in lines if len(row := line.split()) > 7 and row[7].isdecimal()]
