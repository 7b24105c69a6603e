"""JSON-RPC 2.0, a message a line: every request gets its answer, and none ends the loop.

Work that may take long has a thread of its own, one piece after the other, so that a ping is
answered meanwhile. The loop ends with its input, or at SIGTERM.
"""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable, Mapping
from functools import partial

from mdmemory.wire import Signals, Sink, parse_line, read_lines

PARSE_ERROR, INVALID_REQUEST, NO_METHOD = -32700, -32600, -32601
INVALID_PARAMS, INTERNAL = -32602, -32603
LAST_CALL = 5.0  # seconds that work under way has when the host has gone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]
    Result = Mapping[str, Any]
    Answering = Callable[[str, Json], Result | Callable[[], Result]]  # or the work that makes it
    Reply = Callable[[Json | None], None]


class Fault(Exception):
    """A request cannot be answered: a code of JSON-RPC, a sentence, and data for a program."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.body = {"code": code, "message": message} | ({} if data is None else {"data": data})


class _Task:
    def __init__(self, id: Any, work: Callable[[], Result], reply: Reply) -> None:
        self.id, self.work, self.reply, self.cancelled = id, work, reply, False


class _Batch:
    """Gathers the answers to a list of messages, and sends them together."""

    def __init__(self, size: int, send: Callable[[Any], None]) -> None:
        self._left, self._send = size, send
        self._answers: list[Json] = []
        self._lock = threading.Lock()

    def reply(self, answer: Json | None) -> None:
        with self._lock:
            self._answers += [answer] if answer is not None else []
            self._left -= 1
            is_whole = not self._left
        if is_whole and self._answers:
            self._send(self._answers)


class Loop:
    """Reads messages from the file `source`, and writes the answers of `methods` to `sink`.

    `takes_batches` says whether a list of messages is one; `failed` hears of what is our defect.
    """

    def __init__(
        self, source: int, sink: int, methods: Answering, *,
        takes_batches: Callable[[], bool], failed: Callable[[Exception], None],
    ) -> None:  # fmt: skip
        self._source, self._sink, self._methods = source, Sink(sink), methods
        self._takes_batches, self._failed = takes_batches, failed
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._open: dict[str, _Task] = {}  # by id, written as JSON: 1 is not "1"
        self._worker: threading.Thread | None = None

    def serve(self) -> None:
        """Answer until the end of the input; what was asked for by then is still answered, and
        at SIGTERM what is under way."""
        with Signals(self._sink.end) as woken:
            for line in read_lines(self._source, woken):
                self._take(line)
                if self._sink.closed:
                    break
        if self._worker:
            self._tasks.put(None)
            self._worker.join(LAST_CALL)

    def notify(self, method: str) -> None:
        """Tell the host something that it did not ask for."""
        self._sink.send({"jsonrpc": "2.0", "method": method})

    def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            message = parse_line(line)
        except ValueError:
            text = "The line is no JSON, or too long or too deep."
            self._sink.send(_refuse(None, PARSE_ERROR, text))
            return
        if not isinstance(message, list):
            self._hear(message, _Batch(1, lambda answers: self._sink.send(answers[0])).reply)
        elif not message or not self._takes_batches():
            text = "A line holds one message." if message else "An empty list is no request."
            self._sink.send(_refuse(None, INVALID_REQUEST, text))
        else:
            batch = _Batch(len(message), self._sink.send)
            for each in message:
                self._hear(each, batch.reply)

    def _hear(self, message: Any, reply: Reply) -> None:
        """Answer one message, now or later; `reply` hears None where it wants no answer."""
        given = message if isinstance(message, dict) else {}
        id, method, params = given.get("id"), given.get("method"), given.get("params")
        if method is None and ("result" in given or "error" in given):
            reply(None)  # an answer, and we ask nothing
        elif wrong := _wrong(message):
            reply(_refuse(id if _is_id(id) else None, INVALID_REQUEST, wrong))
        elif "id" not in given:
            if method == "notifications/cancelled" and isinstance(params, dict):
                meant = params.get("requestId")
                if _is_id(meant) and (task := self._open.get(json.dumps(meant))):
                    task.cancelled = True
            reply(None)
        elif not isinstance(params, dict | None):
            reply(_refuse(id, INVALID_PARAMS, "`params` has to be an object."))
        else:
            self._answer(id, lambda: self._methods(str(method), params or {}), reply)

    def _answer(
        self, id: Any, ask: Callable[[], Result | Callable[[], Result]], reply: Reply
    ) -> None:
        answer: Json = {"jsonrpc": "2.0", "id": id}
        try:
            result = ask()
            if callable(result):
                if self._worker is None:
                    self._worker = threading.Thread(target=self._work, daemon=True)
                    self._worker.start()
                task = self._open[json.dumps(id)] = _Task(id, result, reply)
                self._tasks.put(task)
                return
            json.dumps(result, allow_nan=False)  # what is no JSON is our defect, and is told, too
            answer["result"] = result
        except Fault as fault:
            answer["error"] = fault.body
        except Exception as problem:  # noqa: BLE001 - one request's failure must not end the others
            self._failed(problem)
            text = f"Something unexpected happened ({type(problem).__name__})."
            answer = _refuse(id, INTERNAL, text)
        reply(answer)

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            if task.cancelled or self._sink.ending or self._sink.closed:
                self._done(task, None)
            else:
                self._answer(task.id, task.work, partial(self._done, task))

    def _done(self, task: _Task, answer: Json | None) -> None:
        self._open.pop(json.dumps(task.id), None)
        task.reply(None if task.cancelled else answer)


def _is_id(id: Any) -> bool:
    return isinstance(id, str | int | float) and not isinstance(id, bool)


def _wrong(message: Any) -> str:
    """What is wrong with a message, in a sentence; "" where nothing is."""
    if not isinstance(message, dict):
        return "A message is an object."
    if message.get("jsonrpc") != "2.0":
        return '`jsonrpc` has to be "2.0".'
    if not isinstance(message.get("method"), str):
        return "`method` has to be a text."
    is_named = "id" not in message or _is_id(message["id"])
    return "" if is_named else "`id` has to be a text or a number."


def _refuse(id: Any, code: int, text: str) -> Json:
    return {"jsonrpc": "2.0", "id": id, "error": Fault(code, text).body}
