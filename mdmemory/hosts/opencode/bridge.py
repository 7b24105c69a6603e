"""`mdmemory bridge`: a host's plugin sends lines of JSON, and each is answered with a line.

It does one request after the other. Calls of tools may take long, so they have a thread of their
own, and no hook waits for them. It ends with its input, at SIGTERM, or at the request `dispose`.
The socket bridge reads and answers lines as it does.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from mdmemory.errors import MdmemoryError, UsageError
from mdmemory.wire import Signals, Sink, parse_line, read_lines

LAST_CALL = 5.0  # seconds that a running call has to end in
NEWS = 1.0  # seconds between two looks for what to tell the host

Result = Mapping[str, Any]
Methods = Mapping[str, Callable[[Mapping[str, Any]], Result]]
SLOW = "call"
END = "dispose"


class Bridge:
    """Reads requests from the file `source` and writes the answers of `methods` to the file `sink`.

    `failed` gets the method and the error of each failed request. `tick` is called now and then; it
    returns the seconds until its next call. `news` is asked every second for what to tell the host
    unasked: a line without `id` that holds it as `event`.
    """

    def __init__(
        self, source: int, sink: int, methods: Methods, *,
        failed: Callable[[str, Exception], None], tick: Callable[[], float],
        news: Callable[[], Result | None] = lambda: None,
    ) -> None:  # fmt: skip
        self._source, self._sink = source, Sink(sink)
        self._tick, self._news = tick, news
        self._answered = partial(answer_request, methods=methods, failed=failed)
        self._due = 0.0
        self._calls: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()

    def serve(self) -> None:
        """Answer requests until the end. An error of a request is its answer."""
        caller: threading.Thread | None = None
        with Signals() as woken:
            for line in read_lines(self._source, woken, self._look):
                request = parse_request(line)
                if request.get("method") == SLOW:
                    if caller is None:
                        caller = threading.Thread(target=self._answer_calls, daemon=True)
                        caller.start()
                    self._calls.put(request)
                else:
                    self._sink.write(self._answered(request, id=request.get("id")))
                if self._sink.closed or request.get("method") == END:
                    break
        if caller:
            self._calls.put(None)
            caller.join(LAST_CALL)

    def _look(self) -> float:
        """Tell the news, and do what is due; the seconds until the next look."""
        if (event := self._news()) is not None:
            self._sink.send({"event": event})
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + self._tick()
        return min(max(0.0, self._due - time.monotonic()), NEWS)

    def _answer_calls(self) -> None:
        while (request := self._calls.get()) is not None:
            self._sink.write(self._answered(request, id=request.get("id")))


def parse_request(line: bytes) -> dict[str, Any]:
    """The request in a line; {} for a line that holds none."""
    try:
        value = parse_line(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def answer_request(
    request: Mapping[str, Any],
    methods: Methods,
    failed: Callable[[str, Exception], None],
    **head: Any,
) -> bytes:
    """The line that answers a request, which begins with `head`: `result`, or `error` with `code`,
    `message` and `hint`. `failed` gets the method and the error of one that failed."""
    name = str(request.get("method"))[:40]
    try:
        text = json.dumps({**head, "result": _run_method(request, methods)}, allow_nan=False)
    except Exception as problem:  # noqa: BLE001 - one request's failure must not end the others
        error = problem
        if not isinstance(error, MdmemoryError):
            sentence = f"Something unexpected happened ({type(problem).__name__})."
            error = MdmemoryError(sentence, "bridge.log says where.", "unexpected")
        fields = {"code": error.code, "message": error.message, "hint": error.hint}
        text = json.dumps({**head, "error": fields})
        failed(name, problem)
    return text.encode("ascii") + b"\n"


def _run_method(request: Mapping[str, Any], methods: Methods) -> Result:
    method, params = request.get("method"), request.get("params", {})
    if method is None:
        raise UsageError("The line is no request.", "It has to be a JSON object with `method`.")
    if method == END:
        return {}
    known = methods.get(method) if isinstance(method, str) else None
    if known is None:
        raise UsageError(f"There is no method {str(method)[:40]!r}.", "Update the plugin.")
    if not isinstance(params, dict):
        raise UsageError("`params` is no object.")
    return known(params)
