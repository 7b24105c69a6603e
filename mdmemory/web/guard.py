"""What stands before every page: who asks, by which name, from where, and with which form.

Whatever is refused here has reached no page. Every answer leaves with the headers that keep a
browser from running, framing, storing or sending on anything.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qsl

from mdmemory.web.access import ENTRY, FIELD, Access, Place, user_of

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

FORM = "mdmemory.form"  # where a page finds the fields of a form: name to values, in their order
MOST_BODY = 2_000_000  # bytes of a form; a note may have a tenth of it
MOST_FIELDS = 2_000
_POLICY = (
    "default-src 'self'; img-src 'self'; object-src 'none'; base-uri 'none'; "
    "frame-ancestors 'none'; form-action 'self'"
)
_HEADERS = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-frame-options", b"DENY"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=(), clipboard-read=()"),
]


class Refused(Exception):
    """A request that reaches no page."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class Guard:
    """The ASGI application around the pages. `seen` is called for each request that gets through;
    `user_of` tells whose a connection is."""

    def __init__(
        self, app: App, access: Access, *, seen: Callable[[], None] = lambda: None,
        user_of: Callable[[Place, Place], int | None] = user_of,
    ) -> None:  # fmt: skip
        self._app, self._access = app, access
        self._seen, self._user_of = seen, user_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or hand it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        try:
            entry = self._admit(scope)
            if scope["method"] == "POST":
                scope[FORM] = await self._form(scope, receive)
        except Refused as refused:
            await _answer(_safe(send), refused.status, refused.message)
            return
        self._seen()
        if entry:
            await self._enter(scope, _safe(send))
        else:
            await self._app(scope, receive, _safe(send))

    def _admit(self, scope: Scope) -> bool:
        """Whether this is the address with the token. Raises Refused."""
        self._require_own_user(scope)
        headers = _headers(scope)
        if headers.get("host", "") not in self._access.hosts:
            raise Refused(403, "This address is none of mdmemory's.")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            raise Refused(405, "Pages are asked for with GET, and changed with POST.")
        if scope["path"] == ENTRY and scope["method"] == "GET":
            return True
        if not self._access.knows(headers.get("cookie", "")):
            raise Refused(
                403, "This browser was not let in. Run `mdmemory web` again, and open the address "
                "that it prints: each works once."
            )  # fmt: skip
        if scope["method"] == "POST":
            self._require_own_page(headers)
        return False

    def _require_own_user(self, scope: Scope) -> None:
        client, server = scope.get("client"), scope.get("server")
        if not client or not server:
            raise Refused(403, "Who asks is not known.")
        user = self._user_of((client[0], client[1]), (server[0], server[1]))
        if user is not None and user != os.geteuid():
            raise Refused(403, "These pages are another user's.")

    def _require_own_page(self, headers: MutableMapping[str, str]) -> None:
        """A form is posted from one of our pages: the browser says so itself."""
        site, origin = headers.get("sec-fetch-site", ""), headers.get("origin", "")
        # under our own Referrer-Policy browsers say `Origin: null` of our own pages, too
        is_named = origin in self._access.origins
        is_unnamed = origin in ("", "null")
        if site not in ("", "same-origin") or not (is_named or (is_unnamed and site)):
            raise Refused(403, "This form was not sent from a page of mdmemory's.")

    async def _form(self, scope: Scope, receive: Receive) -> dict[str, list[str]]:
        """The fields of a form of ours. Raises Refused."""
        kind = _headers(scope).get("content-type", "").partition(";")[0].strip()
        if kind != "application/x-www-form-urlencoded":
            raise Refused(415, "Only forms of these pages are read.")
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Refused(400, "The form did not come whole.")
            body += message.get("body", b"")
            if len(body) > MOST_BODY:
                raise Refused(413, f"A form may have {MOST_BODY:,} bytes.")
            if not message.get("more_body"):
                break
        fields: dict[str, list[str]] = {}
        try:
            rows = parse_qsl(
                body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict"
            )
        except ValueError as problem:
            raise Refused(400, "The form cannot be read.") from problem
        for name, value in rows:
            fields.setdefault(name, []).append(value)
        if not self._access.is_form_token("".join(fields.pop(FIELD, [])), scope["path"]):
            raise Refused(
                403, "This form is of an earlier run of `mdmemory web`. Go back, copy what you "
                "typed, and open the page again."
            )  # fmt: skip
        return fields

    async def _enter(self, scope: Scope, send: Send) -> None:
        """Let the browser in that brings the token, and lead it to the first page."""
        pairs = dict(parse_qsl(scope.get("query_string", b"").decode("ascii", "replace")))
        is_in = self._access.knows(_headers(scope).get("cookie", ""))
        if not is_in and not self._access.enter(pairs.get("token", "")):
            await _answer(
                send, 403,
                "This address was used already, or is not whole. Run `mdmemory web` again for a "
                "new one.",
            )  # fmt: skip
            return
        # A page and no redirect: after a link of another site a browser sends a strict cookie only
        # with what our own page asks for.
        page = (
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>mdmemory</title>'
            '<meta http-equiv="refresh" content="0; url=/"><p><a href="/">mdmemory</a></p>'
        )
        headers = [] if is_in else [(b"set-cookie", self._access.set_cookie().encode())]
        await _answer(send, 200, page, b"text/html; charset=utf-8", headers)


def _headers(scope: Scope) -> dict[str, str]:
    """The headers by name. Of one that comes twice none counts, but cookies are joined."""
    values: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        if key in values:
            text = f"{values[key]}; {text}" if key == "cookie" else ""
        values[key] = text
    return values


def _safe(send: Send) -> Send:
    """`send`, with the headers that every answer has."""

    async def send_safe(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = {name for name, _ in _HEADERS}
            given = [pair for pair in message.get("headers", []) if pair[0].lower() not in own]
            message = {**message, "headers": [*given, *_HEADERS]}
        await send(message)

    return send_safe


async def _answer(
    send: Send, status: int, text: str, kind: bytes = b"text/plain; charset=utf-8",
    headers: list[tuple[bytes, bytes]] | None = None,
) -> None:  # fmt: skip
    body = text.encode()
    length = (b"content-length", str(len(body)).encode())
    await send({
        "type": "http.response.start", "status": status,
        "headers": [(b"content-type", kind), length, *(headers or [])],
    })  # fmt: skip
    await send({"type": "http.response.body", "body": body})
