"""One server that speaks to Claude Code, Codex and Gemini CLI as their model: a test says what.

`with FakeProvider() as provider: provider.say("hello")`; each request is kept, and asked what it
holds: `provider.turns[0].count("pnpm")`.
"""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from fake_dialects import DIALECTS, Dialect, strings
from fake_http import Answer, Body, Sender, Served

__all__ = ["Answer", "Body", "FakeProvider", "Request"]


@dataclass(frozen=True, slots=True)
class Request:
    """What a client asked: `path` is without the query, `body` as it came."""

    dialect: Dialect
    path: str
    body: Body

    @property
    def system(self) -> str:
        """All that is said as the system: instructions, and what the client adds as such."""
        return "\n".join(self.dialect.system(self.body))

    @property
    def users(self) -> list[str]:
        """The texts said as the user, oldest first, with what a client puts around them."""
        return self.dialect.users(self.body)

    @property
    def results(self) -> list[str]:
        """What tools answered so far."""
        return self.dialect.results(self.body)

    @property
    def tools(self) -> list[str]:
        """The names of the tools that are offered, those of a namespace as `space__tool`."""
        return self.dialect.tools(self.body)

    @property
    def text(self) -> str:
        """Every text of the request: what the model reads, with the descriptions of tools."""
        return "\n".join(strings(self.body))

    def count(self, words: str) -> int:
        """How often the model reads these words in this request."""
        return self.text.count(words)

    def lines(self, words: str) -> int:
        """On how many lines it reads them: a line of an index may say the same twice."""
        return sum(words in line for line in self.text.splitlines())


@dataclass
class Script:
    """The answers to come, and the requests that came. One per server; handlers share it.

    A turn that finds no answer in the queue gets that of `reply`, where there is one, else the
    default. A request without tools is an aside of the client (a title, a topic, a quota, a
    router): it gets `aside`, and leaves the queue to the conversation.
    """

    default: Answer = field(default_factory=lambda: Answer("Done."))
    aside: Answer = field(default_factory=lambda: Answer("A title"))
    reply: Callable[[Request], Answer] | None = None
    answers: deque[Answer] = field(default_factory=deque)
    requests: list[Request] = field(default_factory=list)
    others: list[str] = field(default_factory=list)  # "GET /path" of all else that was asked
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, request: Request) -> Answer:
        """Keep a request; the answer for it."""
        with self.lock:
            self.requests.append(request)
            if not request.tools:
                return self.aside
            if self.answers:
                return self.answers.popleft()
        return self.reply(request) if self.reply else self.default


class FakeProvider(Served):
    """The server on 127.0.0.1, at a port the system picks (or `port`), from `with` to its end.

    `say`, `call`, `fail` and `misbehave` queue what the next turns get. A tool is called by
    our name for it (`memory_search`): each client's own is found among those that it offers.
    """

    def __init__(self, port: int = 0) -> None:
        self.script = Script()
        super().__init__(_Handler, self.script, port)

    @property
    def url(self) -> str:
        """The address without a path: a client adds that of its protocol."""
        return self.root

    @property
    def requests(self) -> list[Request]:
        """All requests to a model so far, oldest first."""
        with self.script.lock:
            return list(self.script.requests)

    @property
    def turns(self) -> list[Request]:
        """Those that offered tools: the conversation itself."""
        return [request for request in self.requests if request.tools]


class _Handler(Sender):
    def do_GET(self) -> None:
        self._note()
        # Codex asks for its models, and takes an empty list
        self.send_value({"models": [], "data": []}, Answer())

    def do_HEAD(self) -> None:
        self._note()
        self.send_value(None, Answer(body=b""))

    def do_POST(self) -> None:
        path = urlsplit(self.path).path
        if path.endswith(("/count_tokens", ":countTokens")):
            self.read()
            return self.send_value({"input_tokens": 100, "totalTokens": 100}, Answer())
        dialect = next((each for each in DIALECTS if each.serves(path)), None)
        if dialect is None:
            self._note()
            said = {"error": {"message": f"{path} is not served"}}
            return self.send_value(said, Answer(status=404))
        request = Request(dialect, path, self.read())
        answer = self.server.script.take(request)
        self.server.ended.wait(answer.delay)
        if answer.status == 0:
            return None
        if answer.status != 200:
            kind = {"type": "api_error", "code": answer.status, "message": "scripted failure"}
            return self.send_value({"type": "error", "error": kind}, answer)
        if request.body.get("stream") or "streamGenerate" in path:
            return self.send_events(dialect.events(request.body, answer), answer)
        return self.send_value(dialect.whole(request.body, answer), answer)

    def _note(self) -> None:
        with self.server.script.lock:
            self.server.script.others.append(f"{self.command} {self.path}")
