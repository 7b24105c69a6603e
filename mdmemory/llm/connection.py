"""A connection to a server of a model that ends at its deadline, whatever the server sends.

A timeout of the HTTP library begins anew with every byte that comes. So a call runs in a thread of
its own, which nobody waits for beyond the deadline: then its socket is shut down. Only who takes
the bytes can tell which of them are signs of life.
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

if TYPE_CHECKING:  # loaded by the first call: it takes a second
    from openai import OpenAI

SILENCE, PING, TOKEN = 0, 1, 2  # signs of life that bytes may be
PINGED = 5  # times the wait for a token that pings may prolong it
_GOING = 1.0  # seconds for the thread to see that its socket is shut


class TooLong(Exception):
    """The server sent more than an answer can have."""


def host(base_url: str) -> str:
    """The host of an address, with its port where one is named."""
    return urlsplit(base_url).netloc.rpartition("@")[2]


class Taker(Protocol):
    """What a response is given to, piece by piece; when it `is_done` no more is waited for."""

    @property
    def is_done(self) -> bool: ...

    def take(self, data: bytes) -> int:
        """The sign of life that these bytes are, after which the wait for the next one begins."""


@dataclass
class _Whole:
    """Takes all, as data of at most that many bytes. A byte is no sign of life."""

    most: int
    data: bytearray = field(default_factory=bytearray)
    is_done: bool = False

    def take(self, data: bytes) -> int:
        self.data += data
        if len(self.data) > self.most:
            raise TooLong
        return SILENCE


class _Clock:
    """How long is still waited: `silence` seconds from the last sign of life, never beyond `end`,
    and without a token at most PINGED times as long: a slow server pings while it reads, and one
    that hangs may ping for ever. One thread restarts it, another one looks at it."""

    def __init__(self, silence: float, end: float) -> None:
        self._silence, self._end = silence, end
        self.restart(TOKEN)

    def restart(self, life: int) -> None:
        """A sign of life came."""
        now = time.monotonic()
        if life == TOKEN:
            self._pinged_until = now + PINGED * self._silence
        self._until = min(now + self._silence, self._pinged_until, self._end)

    def left(self) -> float:
        """Seconds; 0 or less where the wait is over."""
        return self._until - time.monotonic()


@dataclass
class Connection:
    """A client, and the sockets that it has opened: doubles of them, because the library's own are
    out of reach as soon as they speak TLS."""

    client: OpenAI | None = None
    _sockets: list[socket.socket] = field(default_factory=list)
    _is_cut: bool = False
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def body(
        self, ask: Callable[[OpenAI], AbstractContextManager[Any]], seconds: float, most: int
    ) -> bytes:
        """The body of the response to what `ask` sends, whole.

        Raises TimeoutError `seconds` after the call, TooLong for over `most` bytes, and whatever
        the client raises.
        """
        taker = _Whole(most)
        self.give(ask, taker, seconds, seconds)
        return bytes(taker.data)

    def give(
        self, ask: Callable[[OpenAI], AbstractContextManager[Any]], taker: Taker, silence: float,
        longest: float,
    ) -> None:  # fmt: skip
        """Give the body of the response to what `ask` sends to `taker`, until it is done.

        Raises TimeoutError after `silence` seconds without a sign of life and `longest` seconds
        after the call, and whatever the taker and the client raise.
        """
        clock = _Clock(silence, time.monotonic() + longest)
        failed: list[Exception] = []

        def work() -> None:
            try:
                self._give(ask, taker, clock)
            except Exception as problem:  # noqa: BLE001 - raised again by the one who waits
                failed.append(problem)

        worker = threading.Thread(target=work, daemon=True)
        worker.start()
        try:
            while worker.is_alive() and (left := clock.left()) > 0:
                worker.join(left)
        except BaseException:
            self.cut()
            raise
        if worker.is_alive():
            self.cut()
            worker.join(_GOING)
            raise TimeoutError
        if failed:
            raise failed[0]

    def _give(
        self, ask: Callable[[OpenAI], AbstractContextManager[Any]], taker: Taker, clock: _Clock
    ) -> None:
        import httpx
        import openai

        assert self.client is not None
        try:
            with ask(self.client) as response:
                for chunk in response.iter_bytes():
                    if life := taker.take(chunk):
                        clock.restart(life)
                    if taker.is_done:
                        return
                    if clock.left() <= 0:
                        raise TimeoutError
        except (openai.APITimeoutError, httpx.TimeoutException):
            raise TimeoutError from None

    def cut(self) -> None:
        """Shut every socket down, those that are opened later too."""
        with self._turn:
            self._is_cut = True
            for each in self._sockets:
                _shut(each)

    def close(self) -> None:
        """Give the doubles back."""
        with self._turn:
            self._is_cut = True
            while self._sockets:
                self._sockets.pop().close()

    def watch(self, request: Any) -> None:
        """Hear of the sockets that a request of the HTTP library opens."""
        request.extensions = {**request.extensions, "trace": self._trace}

    def _trace(self, event: str, info: dict[str, Any]) -> None:
        if event != "connection.connect_tcp.complete":
            return
        opened = info["return_value"].get_extra_info("socket")
        if isinstance(opened, socket.socket):
            with self._turn:
                if self._is_cut:
                    _shut(opened)
                else:
                    self._sockets.append(opened.dup())


@contextmanager
def connect(base_url: str, key: str, timeout: float) -> Iterator[Connection]:
    """A client that asks once and goes nowhere else; `timeout` is for each step of a call."""
    import httpx
    import openai

    # At DEBUG it would log whole requests, into whatever log the program that calls us keeps.
    logging.getLogger("openai._base_client").setLevel(logging.WARNING)
    line = Connection()
    # No redirects: text goes to the host that `status` names, and nowhere else.
    with (
        httpx.Client(
            timeout=timeout, follow_redirects=False, event_hooks={"request": [line.watch]}
        ) as connection,
        openai.OpenAI(
            api_key=key or "none", base_url=base_url, max_retries=0, timeout=timeout,
            http_client=connection,
        ) as client,
    ):  # fmt: skip
        line.client = client
        try:
            yield line
        finally:
            line.close()


def _shut(opened: socket.socket) -> None:
    with suppress(OSError):  # closed already
        opened.shutdown(socket.SHUT_RDWR)
