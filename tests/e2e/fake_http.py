"""A server on this machine that answers what a test scripted: every fake provider is one."""

import json
import sys
import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol, Self

Body = dict[str, Any]
USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model says next: text, or calls of tools as (name, arguments).

    For what a server can do wrong: a `status` of 0 hangs up without a word; `body` is sent
    instead, as it is; `sent` cuts what is sent to that many bytes; `delay` are seconds before
    anything is; `drip` seconds between single bytes of the body; `headers_drip` seconds between
    header lines that never end. In a stream `thinking` comes before the text, `pace` are seconds
    between its events, `comments` those between keep-alive comments in its place, which never end,
    and `events` replaces all of them.
    """

    text: str = ""
    calls: tuple[tuple[str, Body], ...] = ()
    status: int = 200
    finish: str = "stop"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    sent: int | None = None
    delay: float = 0.0
    drip: float = 0.0
    headers_drip: float = 0.0
    thinking: str = ""
    pace: float = 0.0
    comments: float = 0.0
    events: tuple[str, ...] = ()
    usage: Body = field(default_factory=lambda: USAGE)


class Queue(Protocol):
    """The part of a script that every server has: the answers to come."""

    answers: deque[Answer]


class Http(ThreadingHTTPServer):
    """One server: its handlers share `script`; `ended` lets go of those that are kept waiting."""

    daemon_threads = True

    def __init__(self, port: int, handler: type[BaseHTTPRequestHandler], script: Any) -> None:
        super().__init__(("127.0.0.1", port), handler)
        self.script = script
        self.ended = threading.Event()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is no news; anything else is a mistake of ours."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class Served:
    """A server on 127.0.0.1, at a port the system picks (or `port`), from `with` to its end."""

    def __init__(self, handler: type[BaseHTTPRequestHandler], script: Queue, port: int = 0) -> None:
        self._queue = script
        self._http = Http(port, handler, script)
        # A short poll: shutting down waits for one.
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def root(self) -> str:
        """The address, without a path."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def say(self, text: str) -> None:
        """Queue an answer in words."""
        self._queue.answers.append(Answer(text))

    def call(self, tool: str, **arguments: object) -> None:
        """Queue an answer that calls a tool."""
        self._queue.answers.append(Answer(calls=((tool, arguments),)))

    def fail(self, status: int = 500, **headers: str) -> None:
        """Queue a refusal; `retry_after="5"` is sent as Retry-After."""
        named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
        self._queue.answers.append(Answer(status=status, headers=named))

    def misbehave(self, **how: Any) -> None:
        """Queue an answer with something wrong: see Answer."""
        self._queue.answers.append(Answer(**{"text": "half of it", **how}))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._http.ended.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(timeout=5)


class Sender(BaseHTTPRequestHandler):
    """How an answer goes out, with all that an Answer can have wrong."""

    server: Http

    def read(self) -> Body:
        """The body of the request."""
        read: Body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        return read

    def send_value(self, value: object, answer: Answer) -> None:
        """Send JSON, or what the answer has in its place."""
        data = json.dumps(value).encode() if answer.body is None else answer.body
        self.send_response(answer.status)
        if answer.headers_drip:
            return self._drip_headers(answer)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, text in answer.headers:
            self.send_header(name, text)
        self.end_headers()
        return self._bytes(data[: answer.sent], answer.drip)

    def send_events(self, events: Iterable[bytes], answer: Answer) -> None:
        """Send a stream of server-sent events, each whole with its empty line."""
        self.send_response(200)
        if answer.headers_drip:
            return self._drip_headers(answer)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        while answer.comments:
            self.wfile.write(b": processing\n\n")
            if self.server.ended.wait(answer.comments):
                return None
        if answer.drip or answer.sent is not None:
            return self._bytes(b"".join(events)[: answer.sent], answer.drip)
        for event in events:
            self.wfile.write(event)
            if answer.pace and self.server.ended.wait(answer.pace):
                return None
        return None

    def _drip_headers(self, answer: Answer) -> None:
        while not self.server.ended.wait(answer.headers_drip):
            self.send_header("X-Drop", "one")
            self.flush_headers()

    def _bytes(self, data: bytes, drip: float) -> None:
        for piece in [data[at : at + 1] for at in range(len(data))] if drip else [data]:
            self.wfile.write(piece)
            if drip and self.server.ended.wait(drip):
                return

    def log_message(self, format: str, *args: object) -> None:
        """Silence: a test's output is the test's."""
