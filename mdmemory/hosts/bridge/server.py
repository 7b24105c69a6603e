"""Answers hooks at a socket: one request after the other, one for each connection, a line each.

No client can hold up the others: lines are collected from all of them, and one that does not come
whole in time is dropped. What a client has given up waiting for is not begun.
"""

from __future__ import annotations

import faulthandler
import os
import selectors
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mdmemory.hosts.bridge.place import peer_user
from mdmemory.hosts.opencode.bridge import END, MAX_LINE, Methods, answer_request, parse_request
from mdmemory.version import VERSION

_LINE = MAX_LINE + 64 * 1024  # bytes: a hook's event, and the request around it
_PATIENCE = 2.0  # seconds that a client has to send its line, and to take the answer
LONGEST = 60.0  # seconds of one request; a bridge that hangs is ended, and another started
_OTHER = b'{"error": {"code": "version", "message": "This bridge is of mdmemory %s."}}\n' % (
    VERSION.encode()
)
HELLO = "hello"  # the method of whoever only wants to know whether a bridge answers
QUEUE = 128  # connections that wait to be accepted


@dataclass(frozen=True, slots=True)
class Life:
    """When a bridge ends by itself, in seconds: `idle` without a client, `look` between two looks
    whether it still `is_met`: its socket is in its place, and the store is."""

    is_met: Callable[[], bool]
    idle: float = 300.0
    look: float = 5.0


@dataclass(slots=True)
class _Client:
    connection: socket.socket
    until: float
    line: bytearray = field(default_factory=bytearray)


class SocketServer:
    """Answers what comes to the socket `listener` by `methods`, until its end.

    `failed` gets the method and the error of each failed request, `lost` the request whose answer
    nobody took; `look` is called after requests and now and then, and returns the seconds until its
    next call.
    """

    def __init__(
        self, listener: socket.socket, methods: Methods, life: Life, *,
        failed: Callable[[str, Exception], None], look: Callable[[], float],
        lost: Callable[[Mapping[str, Any]], None] = lambda _: None,
    ) -> None:  # fmt: skip
        self._listener, self._methods, self._life = listener, methods, life
        self._failed, self._look, self._lost = failed, look, lost
        self._selector = selectors.DefaultSelector()
        self._clients: dict[int, _Client] = {}
        self._ended = self._cannot_look = False

    def serve(self, woken: int) -> None:
        """Answer until `dispose`, until the descriptor `woken` can be read, or until nobody comes
        any more or can."""
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(woken, selectors.EVENT_READ)
        start = time.monotonic()
        due, moment = start + self._next_look(), start
        while not self._ended:
            now = time.monotonic()
            wait = min(due, start + self._life.idle, moment + self._life.look) - now
            ready = {key.fd for key, _ in self._selector.select(max(0.0, wait))}
            if woken in ready:
                break
            if ready:
                start = time.monotonic()
                self._take_ready(ready)
            now = time.monotonic()
            for client in [each for each in self._clients.values() if each.until < now]:
                self._drop_client(client)
            if now >= due or (ready and not self._cannot_look):
                due = now + self._next_look()
            if now >= moment + self._life.look:
                moment = now
                if not self._life.is_met():
                    break
            if now >= start + self._life.idle:
                break
        for client in [*self._clients.values()]:
            self._drop_client(client)
        self._selector.close()

    def _next_look(self) -> float:
        try:
            self._cannot_look = True
            seconds = self._look()
            self._cannot_look = False
        except Exception as problem:  # noqa: BLE001 - hooks are answered all the same
            self._failed("look", problem)
            return 600.0
        return seconds

    def _take_ready(self, ready: set[int]) -> None:
        for number in sorted(ready):
            if number == self._listener.fileno():
                self._accept()
            elif (client := self._clients.get(number)) is not None:
                self._read(client)
            if self._ended:
                return

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return  # it has gone already
        try:
            is_ours = peer_user(connection) == os.geteuid()
        except OSError:
            is_ours = False
        if not is_ours:
            connection.close()
            return
        connection.setblocking(False)
        client = _Client(connection, time.monotonic() + _PATIENCE)
        self._clients[connection.fileno()] = client
        self._selector.register(connection, selectors.EVENT_READ)

    def _read(self, client: _Client) -> None:
        try:
            data = client.connection.recv(1 << 18)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        client.line += data
        if b"\n" in data:
            self._answer_client(client)
        elif len(client.line) > _LINE:
            client.line[:] = b"!"  # no JSON, and the answer says so
            self._answer_client(client)
        elif data:
            return
        self._drop_client(client)

    def _answer_client(self, client: _Client) -> None:
        if _has_gone(client.connection):
            return
        request = parse_request(bytes(client.line.partition(b"\n")[0]))
        faulthandler.dump_traceback_later(LONGEST, exit=True)
        try:
            line = self._answer_line(request)
        finally:
            faulthandler.cancel_dump_traceback_later()
        client.connection.settimeout(_PATIENCE)
        try:
            client.connection.sendall(line)
        except OSError:  # nobody hears it any more
            self._lose_answer(request)

    def _lose_answer(self, request: Mapping[str, Any]) -> None:
        try:
            self._lost(request)
        except Exception as problem:  # noqa: BLE001 - the others are answered all the same
            self._failed("lost", problem)

    def _answer_line(self, request: Mapping[str, Any]) -> bytes:
        is_end = request.get("method") == END
        is_other = bool(request) and not is_end and request.get("version") != VERSION
        self._ended = is_end or is_other
        if is_other:
            return _OTHER
        return answer_request(request, self._methods, self._failed)

    def _drop_client(self, client: _Client) -> None:
        self._selector.unregister(client.connection)
        del self._clients[client.connection.fileno()]
        client.connection.close()


def _has_gone(connection: socket.socket) -> bool:
    """Whether the client has closed its end."""
    try:
        return connection.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True
