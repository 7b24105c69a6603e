"""A server that speaks OpenAI's chat protocol on this machine: it says what a test scripted.

`with FakeServer() as server: server.say("hello")`; every request's body is kept. From the command
line, `python tests/e2e/fake_server.py [PORT]` serves the default answer until interrupted.
"""

from __future__ import annotations

import json
import re
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from zlib import crc32

Body = dict[str, Any]
MODEL = "scripted"
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


@dataclass
class Script:
    """The answers to come, and the requests that came. One per server; handlers share it.

    A request that finds no answer in the queue gets that of `reply`, where there is one, else the
    default. One for a form of answer (`response_format`) that is not in `forms` is refused: 400;
    so is one with a field of `unknown`, which is named.
    """

    default: Answer = field(default_factory=lambda: Answer("Done."))
    reply: Callable[[Body], Answer] | None = None
    forms: frozenset[str] = frozenset(("json_schema", "json_object"))
    unknown: frozenset[str] = frozenset()
    keys: list[str] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)
    answers: deque[Answer] = field(default_factory=deque)
    requests: list[Body] = field(default_factory=list)
    dimensions: int = 1536  # of the vectors; a request for some is not heard
    embedded: list[Body] = field(default_factory=list)  # the requests for vectors
    lock: threading.Lock = field(default_factory=threading.Lock)
    is_raw: bool = False  # whether the question if facts will last is answered as all others are
    looked: list[Body] = field(default_factory=list)  # these questions, where it is not

    def take(self, body: Body, is_ours: bool) -> Answer:
        """Keep a request; the answer for it.

        A stream without tools is an aside of a client that is not ours, such as a session's title:
        it gets the default answer and leaves the queue to the conversation.
        """
        aside = body.get("stream") and not body.get("tools") and not is_ours
        wanted = body.get("response_format", {}).get("type")
        with self.lock:
            if not self.is_raw and (verdicts := _verdicts(body)):
                self.looked.append(body)
                return verdicts
            self.requests.append(body)
            if named := next((name for name in sorted(self.unknown) if name in body), None):
                said = {"error": {"message": f"Unrecognized request argument: {named}"}}
                return Answer(status=400, body=json.dumps(said).encode())
            if wanted and wanted not in self.forms:
                return Answer(status=400)
            if self.answers and not aside:
                return self.answers.popleft()
        return self.reply(body) if self.reply else self.default


def _verdicts(body: Body) -> Answer | None:
    """The answer to the question whether facts will last: all do."""
    said = json.dumps(body.get("messages"), ensure_ascii=False)
    if "# Task: does it last" not in said:
        return None
    numbers = re.findall(r'\\"number\\": \\"(\d+)\\", \\"text\\"', said)
    verdicts = [{"number": each, "reason": "a habit", "verdict": "lasting"} for each in numbers]
    return Answer(json.dumps({"verdicts": verdicts}))


class FakeServer:
    """The server on 127.0.0.1, at a port the system picks (or `port`), from `with` to its end."""

    def __init__(self, port: int = 0) -> None:
        self.script = Script()
        self._http = _Http(("127.0.0.1", port), _Handler)
        self._http.script = self.script
        # A short poll: shutting down waits for one.
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """The address for `baseURL`, with /v1."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def requests(self) -> list[Body]:
        """The bodies of the requests so far, oldest first."""
        with self.script.lock:
            return list(self.script.requests)

    @property
    def turns(self) -> list[Body]:
        """The requests that offered tools: those of the conversation itself."""
        return [body for body in self.requests if body.get("tools")]

    def say(self, text: str) -> None:
        """Queue an answer in words."""
        self.script.answers.append(Answer(text))

    def call(self, tool: str, **arguments: object) -> None:
        """Queue an answer that calls a tool."""
        self.script.answers.append(Answer(calls=((tool, arguments),)))

    def fail(self, status: int = 500, **headers: str) -> None:
        """Queue a refusal; `retry_after="5"` is sent as Retry-After."""
        named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
        self.script.answers.append(Answer(status=status, headers=named))

    def misbehave(self, **how: Any) -> None:
        """Queue an answer with something wrong: see Answer."""
        self.script.answers.append(Answer(**{"text": "half of it", **how}))

    def __enter__(self) -> FakeServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.script.ended.set()  # lets go of those that are being kept waiting
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(timeout=5)


def system_text(body: Body) -> str:
    """All that a request says as the system."""
    said = [message for message in body["messages"] if message["role"] == "system"]
    return "\n".join(_text(message["content"]) for message in said)


def user_texts(body: Body) -> list[str]:
    """What each user message of a request says."""
    return [_text(m["content"]) for m in body["messages"] if m["role"] == "user"]


# Words that mean the same to the server, so that texts without a common word can be near.
MEANINGS = {"cloud": "hosting", "servers": "hosting", "aws": "hosting", "db": "database",
            "postgres": "database", "colour": "theme", "dark": "theme"}  # fmt: skip


def meaning(text: str, dimensions: int) -> list[float]:
    """A vector for a text, always the same: each of its words adds to one number."""
    vector = [0.0] * dimensions
    for word in re.findall(r"\w+", text.lower()):
        vector[crc32(MEANINGS.get(word, word).encode()) % dimensions] += 1.0
    return vector if any(vector) else [1.0] * dimensions


def _text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)
    return str(content or "")


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    script: Script

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is no news; anything else is a mistake of ours."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    server: _Http

    def do_GET(self) -> None:
        models = [{"id": MODEL, "object": "model", "created": 0, "owned_by": "mdmemory"}]
        self._json({"object": "list", "data": models}, Answer())

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/embeddings"):
            return self._embeddings(body)
        if not self.path.endswith("/chat/completions"):
            said = {"error": {"message": f"{self.path} is not served"}}
            return self._json(said, Answer(status=404))
        script = self.server.script
        script.keys.append(self.headers.get("Authorization", ""))
        answer = script.take(body, self.headers.get("User-Agent", "").startswith("OpenAI/Python"))
        script.ended.wait(answer.delay)
        if answer.status == 0:
            return None
        if answer.status != 200:
            # as real servers do: what they were sent comes back
            said = f"scripted failure for {script.keys[-1]} and {body['messages'][-1]['content']}"
            return self._json({"error": {"message": said}}, answer)
        if body.get("stream") and answer.body is None:
            return self._stream(answer)
        return self._json(_completion(answer), answer)

    def _embeddings(self, body: Body) -> None:
        script = self.server.script
        with script.lock:
            script.keys.append(self.headers.get("Authorization", ""))
            script.embedded.append(body)
            answer = script.answers.popleft() if script.answers else Answer()
        script.ended.wait(answer.delay)
        if answer.status == 0:
            return
        rows = [
            {"object": "embedding", "index": at, "embedding": meaning(text, script.dimensions)}
            for at, text in enumerate(body["input"])
        ]
        usage = {"prompt_tokens": 7, "total_tokens": 7}
        said = {"object": "list", "data": rows[::-1], "model": body["model"], "usage": usage}
        failed = {"error": {"message": f"scripted failure on {body['input'][0]}"}}
        self._json(said if answer.status == 200 else failed, answer)

    def _json(self, value: object, answer: Answer) -> None:
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

    def _stream(self, answer: Answer) -> None:
        self.send_response(200)
        if answer.headers_drip:
            return self._drip_headers(answer)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        ended = self.server.script.ended
        while answer.comments:
            self.wfile.write(b": processing\n\n")
            if ended.wait(answer.comments):
                return None
        events = answer.events or [json.dumps(each) for each in _chunks(answer)]
        sent = [f"data: {event}\n\n".encode() for event in (*events, "[DONE]")]
        if answer.drip or answer.sent is not None:
            return self._bytes(b"".join(sent)[: answer.sent], answer.drip)
        for event in sent:
            self.wfile.write(event)
            if answer.pace and ended.wait(answer.pace):
                return None
        return None

    def _drip_headers(self, answer: Answer) -> None:
        while not self.server.script.ended.wait(answer.headers_drip):
            self.send_header("X-Drop", "one")
            self.flush_headers()

    def _bytes(self, data: bytes, drip: float) -> None:
        for piece in [data[at : at + 1] for at in range(len(data))] if drip else [data]:
            self.wfile.write(piece)
            if drip and self.server.script.ended.wait(drip):
                return

    def log_message(self, format: str, *args: object) -> None:
        """Silence: a test's output is the test's."""


def _tool_calls(answer: Answer) -> list[Body]:
    return [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for number, (name, arguments) in enumerate(answer.calls, 1)
    ]


def _completion(answer: Answer) -> Body:
    message: Body = {"role": "assistant", "content": answer.text}
    if answer.calls:
        message["tool_calls"] = _tool_calls(answer)
    choice = {"index": 0, "message": message, "finish_reason": _finish(answer)}
    return {**_envelope("chat.completion"), "choices": [choice], "usage": answer.usage}


def _chunks(answer: Answer) -> Iterator[Body]:
    deltas: list[Body] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": word} for word in answer.thinking.split()]
    if answer.text:
        words = re.findall(r"\S*\s*", answer.text) if answer.pace else [answer.text]
        deltas += [{"content": word} for word in words if word]
    if answer.calls:
        calls = [{"index": n, **call} for n, call in enumerate(_tool_calls(answer))]
        deltas.append({"tool_calls": calls})
    for delta in deltas:
        yield _chunk([{"index": 0, "delta": delta, "finish_reason": None}])
    yield _chunk([{"index": 0, "delta": {}, "finish_reason": _finish(answer)}])
    yield {**_chunk([]), "usage": answer.usage}


def _chunk(choices: list[Body]) -> Body:
    return {**_envelope("chat.completion.chunk"), "choices": choices}


def _envelope(kind: str) -> Body:
    return {"id": "chatcmpl-scripted", "object": kind, "created": 0, "model": MODEL}


def _finish(answer: Answer) -> str:
    return "tool_calls" if answer.calls else answer.finish


if __name__ == "__main__":
    with FakeServer(int(sys.argv[1]) if sys.argv[1:] else 0) as running:
        print(running.url, flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            pass
