"""Who may see and do anything here: one browser, by a token that works once, and by forms of ours;
and which user of this machine is at the other end of a connection, as Linux tells it.

The secrets are made anew for each run, and never written anywhere.
"""

from __future__ import annotations

import hmac
import secrets
import socket
import struct
from http.cookies import CookieError, SimpleCookie
from pathlib import Path

NAMES = ("127.0.0.1", "localhost", "[::1]")  # by which a browser may call us
ENTRY = "/open"  # the address that takes the token
FIELD = "form_token"  # of a form

Place = tuple[str, int]  # address and port
_ESTABLISHED, _LISTENING = "01", "0A"
_MAPPED = "0000000000000000FFFF0000"  # an IPv4 address as a socket of IPv6 has it


class Access:
    """The secrets of one run at a port."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.hosts = frozenset(f"{name}:{port}" for name in NAMES)
        self.origins = frozenset(f"http://{host}" for host in self.hosts)
        # cookies are not kept apart by port: two runs must not overwrite each other's
        self.cookie = f"mdmemory-{secrets.token_hex(6)}"
        self._token = secrets.token_urlsafe(32)
        self._session = secrets.token_urlsafe(32)
        self._forms = secrets.token_bytes(32)
        self._is_used = False

    def address(self) -> str:
        """The address that lets one browser in."""
        return f"http://127.0.0.1:{self.port}{ENTRY}?token={self._token}"

    def enter(self, token: str) -> bool:
        """Whether this is the token, for the first time."""
        if self._is_used or not _same(token, self._token):
            return False
        self._is_used = True
        return True

    def set_cookie(self) -> str:
        """The header by which a browser keeps its cookie until it is closed."""
        return f"{self.cookie}={self._session}; Path=/; HttpOnly; SameSite=Strict"

    def knows(self, cookies: str) -> bool:
        """Whether the Cookie header of a request has our cookie."""
        try:
            morsel = SimpleCookie(cookies).get(self.cookie)
        except CookieError:
            return False
        return morsel is not None and _same(morsel.value, self._session)

    def form_token(self, path: str) -> str:
        """A token for one form that posts to `path`."""
        nonce = secrets.token_hex(8)
        return f"{nonce}.{self._seal(nonce, path)}"

    def is_form_token(self, token: str, path: str) -> bool:
        """Whether a form of ours that posts to `path` had this token."""
        nonce, _, seal = token.partition(".")
        return _same(seal, self._seal(nonce, path))

    def _seal(self, nonce: str, path: str) -> str:
        return hmac.new(
            self._forms, f"{nonce} {path}".encode("utf-8", "replace"), "sha256"
        ).hexdigest()


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode())


# --- whose connection it is


def user_of(peer: Place, here: Place, tables: Path = Path("/proc/net")) -> int | None:
    """The id of the user whose connection from `peer` to `here` it is, -1 where it is nobody's that
    is known; None where this machine does not tell."""
    ours, theirs = _as_row(here), _as_row(peer)
    is_told = False
    for name in ("tcp", "tcp6"):
        for row in _rows(tables / name):
            local, remote, state = (word.removeprefix(_MAPPED) for word in row[1:4])
            if (local, remote, state) == (theirs, ours, _ESTABLISHED):
                return int(row[7])
            # a table without ourselves in it tells nothing
            is_told = is_told or (local == ours and state in (_ESTABLISHED, _LISTENING))
    return -1 if is_told else None


def _as_row(place: Place) -> str:
    """An address and port as the table has them, in the byte order of the machine."""
    (number,) = struct.unpack("=I", socket.inet_aton(place[0]))
    return f"{number:08X}:{place[1]:04X}"


def _rows(table: Path) -> list[list[str]]:
    try:
        lines = table.read_text(encoding="ascii", errors="replace").splitlines()[1:]
    except OSError:
        return []
    return [row for line in lines if len(row := line.split()) > 7 and row[7].isdecimal()]
