"""A server that speaks OpenAI's chat protocol on this machine: it says what a test scripted.

`with FakeServer() as server: server.say("hello")`; every request's body is kept.
"""

import json
import re
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from zlib import crc32

from fake_http import USAGE, Answer, Body, Sender, Served

__all__ = ["MODEL", "USAGE", "Answer", "Body", "FakeServer", "meaning", "system_text", "user_texts"]

MODEL = "scripted"


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
    """The answer to the second questions: all facts last, and all new texts say what the old ones
    do."""
    said = json.dumps(body.get("messages"), ensure_ascii=False)
    if "# Task: does it last" in said:
        form = {"reason": "a habit", "verdict": "lasting", "untrue": "yes"}
    elif "# Task: does the new text say" in said:
        form = {"verdict": "ok", "what": ""}
    else:
        return None
    numbers = re.findall(r'\\"number\\": \\"(\d+)\\", \\"(?:text|result)\\"', said)
    verdicts = [{"number": each, **form} for each in numbers]
    return Answer(json.dumps({"verdicts": verdicts}))


class FakeServer(Served):
    """The server on 127.0.0.1, at a port the system picks (or `port`), from `with` to its end."""

    def __init__(self, port: int = 0) -> None:
        self.script = Script()
        super().__init__(_Handler, self.script, port)

    @property
    def url(self) -> str:
        """The address for `baseURL`, with /v1."""
        return f"{self.root}/v1"

    @property
    def requests(self) -> list[Body]:
        """The bodies of the requests so far, oldest first."""
        with self.script.lock:
            return list(self.script.requests)

    @property
    def turns(self) -> list[Body]:
        """The requests that offered tools: those of the conversation itself."""
        return [body for body in self.requests if body.get("tools")]


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


class _Handler(Sender):
    def do_GET(self) -> None:
        models = [{"id": MODEL, "object": "model", "created": 0, "owned_by": "mdmemory"}]
        self.send_value({"object": "list", "data": models}, Answer())

    def do_POST(self) -> None:
        body = self.read()
        if self.path.endswith("/embeddings"):
            return self._embeddings(body)
        if not self.path.endswith("/chat/completions"):
            said = {"error": {"message": f"{self.path} is not served"}}
            return self.send_value(said, Answer(status=404))
        script = self.server.script
        script.keys.append(self.headers.get("Authorization", ""))
        answer = script.take(body, self.headers.get("User-Agent", "").startswith("OpenAI/Python"))
        self.server.ended.wait(answer.delay)
        if answer.status == 0:
            return None
        if answer.status != 200:
            # as real servers do: what they were sent comes back
            said = f"scripted failure for {script.keys[-1]} and {body['messages'][-1]['content']}"
            return self.send_value({"error": {"message": said}}, answer)
        if body.get("stream") and answer.body is None:
            events = answer.events or [json.dumps(each) for each in _chunks(answer)]
            sent = (f"data: {event}\n\n".encode() for event in (*events, "[DONE]"))
            return self.send_events(sent, answer)
        return self.send_value(_completion(answer), answer)

    def _embeddings(self, body: Body) -> None:
        script = self.server.script
        with script.lock:
            script.keys.append(self.headers.get("Authorization", ""))
            script.embedded.append(body)
            answer = script.answers.popleft() if script.answers else Answer()
        self.server.ended.wait(answer.delay)
        if answer.status == 0:
            return
        rows = [
            {"object": "embedding", "index": at, "embedding": meaning(text, script.dimensions)}
            for at, text in enumerate(body["input"])
        ]
        usage = {"prompt_tokens": 7, "total_tokens": 7}
        said = {"object": "list", "data": rows[::-1], "model": body["model"], "usage": usage}
        failed = {"error": {"message": f"scripted failure on {body['input'][0]}"}}
        self.send_value(said if answer.status == 200 else failed, answer)


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
