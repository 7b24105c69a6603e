"""Who may see and do anything here: one browser, by a token that works once, and by forms of ours.

Made anew for each run, and never written anywhere.
"""

from __future__ import annotations

import hmac
import secrets
from http.cookies import CookieError, SimpleCookie

NAMES = ("127.0.0.1", "localhost", "[::1]")  # by which a browser may call us
ENTRY = "/open"  # the address that takes the token
FIELD = "form_token"  # of a form


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
            found = SimpleCookie(cookies).get(self.cookie)
        except CookieError:
            return False
        return found is not None and _same(found.value, self._session)

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
