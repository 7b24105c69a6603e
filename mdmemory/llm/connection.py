"""A connection to a server of a model that ends at its deadline, whatever the server sends, and the
answer of a chat as it comes in: a stream of events, or one object where the server gives no other.

A timeout of the HTTP library begins anew with every byte that comes. So a call runs in a thread of
its own, which nobody waits for beyond the deadline: then its socket is shut down."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:  # loaded by the first call: it takes a second
    from openai import OpenAI

SILENCE, PING, TOKEN = 0, 1, 2  # signs of life that bytes may be
PINGED = 5  # times the wait for a token that pings may prolong it
_GOING = 1.0  # seconds for the thread to see that its socket is shut


class TooLong(Exception):
    """The server sent more than an answer can have."""


class Senseless(Exception):
    """What came is no answer."""


class Unfinished(Exception):
    """The server cannot be reached, or hung up before its answer was whole."""


@dataclass(eq=False)
class Late(Exception):
    """The time was over; `has_begun`: a part of the answer came in it."""

    has_begun: bool


@dataclass(eq=False)
class Denied(Exception):
    """The server answered with another status than that of an answer."""

    status: int
    retry_after: str
    body: bytes


def host(base_url: str) -> str:
    """The host of an address, with its port where one is named."""
    return urlsplit(base_url).netloc.rpartition("@")[2]


class Clock:
    """How long is still waited, through all tries of one question: `silence` seconds from the last
    sign of life, never over `longest` in all, and without a token at most PINGED times as long: a
    slow server pings while it reads, and one that hangs may ping for ever. A refusal is no sign of
    life, so tries do not add up. One thread restarts it, another one looks at it."""

    def __init__(self, silence: float, longest: float) -> None:
        self._silence, self._end = silence, time.monotonic() + longest
        self.restart(TOKEN)

    def hold(self, seconds: float) -> None:
        """A pause before the next try is no silence of the server's."""
        self._until += seconds
        self._pinged_until += seconds
        self._end += seconds

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
    """A client, how long all that it is asked may take, and the sockets that it has opened: doubles
    of them, because the library's own are out of reach as soon as they speak TLS."""

    silence: float
    longest: float
    client: OpenAI = field(init=False)
    _clock: Clock | None = None
    _sockets: list[socket.socket] = field(default_factory=list)
    _is_cut: bool = False
    _turn: threading.Lock = field(default_factory=threading.Lock)

    @property
    def clock(self) -> Clock:
        """It starts with the first question."""
        self._clock = self._clock or Clock(self.silence, self.longest)
        return self._clock

    def ask(
        self, create: Callable[..., AbstractContextManager[Any]], request: Mapping[str, Any],
        most: int,
    ) -> Any:  # fmt: skip
        """The answer of a method of the client to a request, as one object of at most so many
        bytes. Raises Late when the clock has run down, Denied, TooLong, Senseless and Unfinished.
        """
        import httpx
        import openai

        clock, reader = self.clock, AnswerReader(most)
        failed: list[Exception] = []

        def work() -> None:
            try:
                with create(**request) as response:
                    for chunk in response.iter_bytes():
                        # what it takes is a sign of life, after which the wait begins anew
                        if life := reader.take(chunk):
                            clock.restart(life)
                        if reader.is_done:
                            return
                        if clock.left() <= 0:
                            raise Late(reader.has_begun)
            except (openai.APITimeoutError, httpx.TimeoutException):
                failed.append(Late(reader.has_begun))
            except openai.APIStatusError as problem:
                retry_after, body = problem.response.headers.get("retry-after", ""), b""
                with suppress(Exception):  # not read, or not to be read: then it says nothing
                    body = bytes(problem.response.content)
                failed.append(Denied(problem.status_code, retry_after, body))
            except (openai.OpenAIError, httpx.HTTPError):
                failed.append(Unfinished())
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
            failed.insert(0, Late(reader.has_begun))
        if failed and not reader.is_whole:  # else only its cost, or a farewell, is missing
            raise failed[0] from None
        return reader.completion()

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
def connect(base_url: str, key: str, silence: float, longest: float) -> Iterator[Connection]:
    """A client that goes nowhere else, and asks as often as it is told within this time."""
    import httpx
    import openai

    # At DEBUG it would log whole requests, into whatever log the program that calls us keeps.
    logging.getLogger("openai._base_client").setLevel(logging.WARNING)
    line = Connection(silence, longest)
    # No redirects: text goes to the host that `status` names, and nowhere else.
    with (
        httpx.Client(
            timeout=silence, follow_redirects=False, event_hooks={"request": [line.watch]}
        ) as connection,
        openai.OpenAI(
            api_key=key or "none", base_url=base_url, max_retries=0, timeout=silence,
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


MOST_BYTES = 64 * 1024 * 1024  # of a stream, which wraps each token into 200 to 400 bytes
_EVENTS = (b"data:", b"event:", b"id:", b"retry:", b":")  # how a line of a stream begins
_LONGEST = max(map(len, _EVENTS))
# A small model that repeats itself comes to no end: so often its last characters stand in the last.
_TIMES, _TAIL, _REPEATED = 12, 80, 4_000
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")  # DeepSeek and vLLM, OpenRouter, others


@dataclass
class AnswerReader:
    """Takes what a server sends, piece by piece: a chat as events, else one object; `most` are the
    bytes of an answer and of what the model thought before it."""

    most: int
    is_done: bool = False
    _is_stream: bool | None = None  # None: too little came to tell
    _waiting: bytearray = field(default_factory=bytearray)  # a line, or an object, up to its end
    _searched: int = 0  # of these bytes, those without an end of line
    _event: list[bytes] = field(default_factory=list)
    _texts: list[str] = field(default_factory=list)
    _size: int = 0
    _bytes: int = 0
    _end: str = ""  # why the model stopped
    _refusal: bool = False
    _usage: object = None
    _error: object = None

    @property
    def is_whole(self) -> bool:
        """Whether the model said that its answer ends here."""
        return bool(self._end) or self._error is not None

    @property
    def has_begun(self) -> bool:
        """Whether a token came, of the answer or of a thought."""
        return self._size > 0

    def take(self, data: bytes) -> int:
        """What life these bytes show: TOKEN, PING where a line of a stream ends in them, else
        SILENCE. Raises TooLong and Senseless."""
        self._bytes += len(data)
        self._waiting += data
        if self._is_stream is None:
            begun = bytes(self._waiting[: _LONGEST + 16]).lstrip(b"\xef\xbb\xbf \t\r\n")
            is_open = len(begun) < _LONGEST and any(each.startswith(begun) for each in _EVENTS)
            self._is_stream = None if is_open else begun.startswith(_EVENTS)
        if not self._is_stream:
            if len(self._waiting) > self.most:
                raise TooLong
            return SILENCE
        if self._bytes > MOST_BYTES:
            raise TooLong
        before, has_line = self._size, b"\n" in data
        while not self.is_done and (end := self._waiting.find(b"\n", self._searched)) >= 0:
            line = bytes(self._waiting[:end]).rstrip(b"\r")
            del self._waiting[: end + 1]
            self._searched = 0
            self._line(line)
        self._searched = len(self._waiting)
        if max(self._size, len(self._waiting)) > self.most:
            raise TooLong
        return TOKEN if self._size > before else PING if has_line else SILENCE

    def completion(self) -> Any:
        """The answer as one object, once all of it was taken. Raises Senseless and Unfinished."""
        if not self._is_stream:
            try:
                return json.loads(bytes(self._waiting))
            except (ValueError, RecursionError):
                raise Senseless from None
        if not self.is_done:  # what came without the end of a line
            try:
                self._line(bytes(self._waiting).rstrip(b"\r"))
                self._line(b"")
            except Senseless:  # half an event is an end too early
                raise Unfinished from None
        if self._error is not None:
            return {"error": self._error}
        if not self.is_whole and not self.is_done:
            raise Unfinished
        message = {"content": "".join(self._texts), "refusal": self._refusal}
        choice = {"index": 0, "message": message, "finish_reason": self._end}
        return {"choices": [choice], "usage": self._usage}

    def _line(self, line: bytes) -> None:
        name, _, value = line.removeprefix(b"\xef\xbb\xbf").partition(b":")
        if name == b"data":
            self._event.append(value.removeprefix(b" "))
        elif not line.strip() and self._event:
            data, self._event = b"\n".join(self._event), []
            self._take_event(data.strip())

    def _take_event(self, data: bytes) -> None:
        if data == b"[DONE]":
            self.is_done = True
            return
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            raise Senseless from None
        if not isinstance(event, dict):
            raise Senseless
        if event.get("error"):
            self._error, self.is_done = event["error"], True
            return
        self._usage = event.get("usage") or self._usage
        choices = event.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if not isinstance(choice, dict) or choice.get("index") not in (0, None):
                continue
            message = choice.get("delta") or choice.get("message")
            if isinstance(message, dict):
                self._take_content(message.get("content"))
                thoughts = (message.get(name) for name in _THOUGHTS)
                self._size += sum(len(each) for each in thoughts if isinstance(each, str))
                self._refusal = self._refusal or bool(message.get("refusal"))
            if isinstance(choice.get("finish_reason"), str):
                self._end = choice["finish_reason"]

    def _take_content(self, content: object) -> None:
        """Text, or (Mistral's) a list of parts, of which some are thoughts."""
        if isinstance(content, str):
            self._texts.append(content)
            self._size += len(content)
            if len(self._texts) % 40 == 0:  # looked at once in about 40 tokens
                text = "".join(self._texts[-_REPEATED:])[-_REPEATED:]
                if text.count(text[-_TAIL:]) >= _TIMES:
                    self._end, self.is_done = "length", True
        for part in content if isinstance(content, list) else ():
            if isinstance(part, dict) and isinstance(part.get("text"), str):
                self._take_content(part["text"])
            else:
                self._size += len(str(part))
