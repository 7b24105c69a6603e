"""JSON-RPC over lines: every request has its answer, and nothing that a host sends ends it."""

import json
import os
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_host import Host, looping
from pace import scaled

from mdmemory import wire
from mdmemory.mcp.loop import Fault

RETURNED = {"answer": 42}


def methods(name: str, params: dict[str, Any]) -> Any:
    if name == "refused":
        raise Fault(-32602, "No.", {"why": params})
    known = {"nan": {"is": float("nan")}, "echo": params}
    known |= {"aside": lambda: params, "broken": lambda: {"never": 1 / 0}}
    return known.get(name, RETURNED)


def error_of(answer: Any) -> int:
    assert answer["jsonrpc"] == "2.0"
    return int(answer["error"]["code"])


def asked(method: str, **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, **more}


def test_an_answer_has_the_id_of_its_request() -> None:
    with looping(methods) as host:
        for method in ("now", "aside"):
            for id in (0, 1, -7, 2**63, 1.5, "", "a", "1", "ü\u2028", "\ud83d"):
                answer = host.ask(method, {}, id=id)
                assert (answer["id"], type(answer["id"])) == (id, type(id))
                assert "result" in answer


NONE = {
    -32700: (
        b"no json", b"{", b'{"id": NaN}', b"\xff\xfe", b'"\xed\xa0\xbd"', b"1e999",
        b"[" * 100_000, b'{"a":' * 100_000, b"9" * 5_000, b'{"id": -Infinity}',
    ),
    -32600: (
        b"[]", b"1", b'"x"', b"null", b"{}", b'{"jsonrpc": "2.0", "id": 1}',
        b'{"id": 1, "method": "x"}', b'{"jsonrpc": "1.0", "id": 1, "method": "x"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": 5}',
        b'{"jsonrpc": "2.0", "id": null, "method": "x"}',
        b'{"jsonrpc": "2.0", "id": true, "method": "x"}',
        b'{"jsonrpc": "2.0", "id": [1], "method": "x"}',
    ),
    -32602: (
        b'{"jsonrpc": "2.0", "id": 1, "method": "x", "params": [1]}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "x", "params": "a"}',
    ),
}  # fmt: skip


def test_what_is_no_request_is_told_so() -> None:
    with looping(methods) as host:
        for code, lines in NONE.items():
            for line in lines:
                host.send(line)
                assert error_of(host.hear()) == code, line[:60]
                assert host.ask("now")["result"] == RETURNED


def test_a_line_over_the_limit_is_refused_and_the_next_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(wire, "MAX_LINE", 100_000)
    with looping(methods) as host:
        host.send(json.dumps(asked("now", params={"text": "x" * 400_000})).encode())
        assert error_of(host.hear()) == -32700
        assert host.ask("echo", {"text": "y" * 90_000})["result"] == {"text": "y" * 90_000}


def test_blank_lines_line_ends_of_windows_and_a_missing_last_one_are_no_faults() -> None:
    with looping(methods) as host:
        host.send(b"", b"  ", b"\r", json.dumps(asked("now")).encode() + b"\r")
        assert host.hear()["result"] == RETURNED
        os.write(host._input, json.dumps(asked("now", id=2)).encode())
        assert [answer["id"] for answer in host.end()] == [2]
    with looping(methods) as host:  # but in the middle of a line it is one
        os.write(host._input, json.dumps(asked("now")).encode()[:-5])
        assert [error_of(answer) for answer in host.end()] == [-32700]


def test_notifications_and_answers_are_not_answered() -> None:
    told = [{"params": given} for given in ({"requestId": 99}, {"requestId": [1]}, {})]
    with looping(methods) as host:
        for method in ("notifications/initialized", "notifications/unknown", "broken"):
            host.send({"jsonrpc": "2.0", "method": method, "params": {"a": 1}})
        for each in (*told, {}):
            host.send({"jsonrpc": "2.0", "method": "notifications/cancelled", **each})
        host.send({"jsonrpc": "2.0", "id": 3, "result": {}})
        host.send({"jsonrpc": "2.0", "id": 4, "error": {"code": 1, "message": "x"}})
        assert host.ask("now", id="last")["id"] == "last"


def test_a_failure_is_an_answer_and_reported() -> None:
    failed: list[str] = []
    with looping(methods, failed=lambda problem: failed.append(type(problem).__name__)) as host:
        refused = host.ask("refused", {"a": 1})["error"]
        assert refused == {"code": -32602, "message": "No.", "data": {"why": {"a": 1}}}
        for method in ("broken", "nan"):
            assert error_of(host.ask(method)) == -32603
    assert failed == ["ZeroDivisionError", "ValueError"]


def test_half_a_surrogate_pair_comes_back_as_text_that_utf_8_can_write() -> None:
    with looping(methods) as host:
        host.send(rb'{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":"x\ud83dy"}}')
        assert host.hear()["result"] == {"a": "x\ufffdy"}
        assert host.ask("echo", {"a": "\U0001f600"})["result"] == {"a": "\U0001f600"}


def test_a_list_of_messages_is_answered_with_a_list() -> None:
    with looping(methods) as host:
        host.send(
            [asked("aside", id=1), {"jsonrpc": "2.0", "method": "x"}, asked("now", id=2), 5, []]
        )
        assert sorted(str(each["id"]) for each in host.hear()) == ["1", "2", "None", "None"]
        host.send([{"jsonrpc": "2.0", "method": "notifications/initialized"}])
        assert host.ask("now", id=3)["id"] == 3
    with looping(methods, takes_batches=lambda: False) as host:
        host.send([asked("now")])
        assert error_of(host.hear()) == -32600


class Slow:
    """Work that begins when it is asked for and ends when it is told."""

    def __init__(self) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.ran: list[Any] = []

    def methods(self, name: str, params: dict[str, Any]) -> Any:
        return (lambda: self.work(params)) if name == "slow" else {}

    def work(self, params: dict[str, Any]) -> dict[str, Any]:
        self.ran.append(params.get("n"))
        self.begun.set()
        assert self.may_end.wait(30)
        return params


@pytest.fixture
def slow() -> Slow:
    return Slow()


def test_a_ping_is_answered_while_work_goes_on_one_piece_at_a_time(slow: Slow) -> None:
    with looping(slow.methods) as host:
        host.send(asked("slow", id=1, params={"n": 1}), asked("slow", id=2, params={"n": 2}))
        assert slow.begun.wait(30)
        assert host.ask("ping", id=3) == {"jsonrpc": "2.0", "id": 3, "result": {}}
        assert slow.ran == [1]
        slow.may_end.set()
        assert [answer["id"] for answer in host.end()] == [1, 2]


def test_a_cancelled_request_is_not_answered_and_not_begun(slow: Slow) -> None:
    with looping(slow.methods) as host:
        for id in (1, "1", 2):
            host.send(asked("slow", id=id, params={"n": id}))
        assert slow.begun.wait(30)
        for id in (1, 2):
            given = {"requestId": id}
            host.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": given})
        assert host.ask("ping", id=3)["id"] == 3
        slow.may_end.set()
        assert ([answer["id"] for answer in host.end()], slow.ran) == (["1"], [1, "1"])


def test_a_host_that_closes_its_end_or_reads_nothing_holds_up_no_end(slow: Slow) -> None:
    slow.may_end.set()
    deaf = looping(slow.methods)
    deaf.send(*[asked("slow", id=n, params={"text": "x" * 100_000}) for n in range(5)])
    assert slow.begun.wait(30)
    deaf._answers.close()
    os.close(deaf._input)
    deaf._thread.join(30)
    assert not deaf._thread.is_alive()


def test_an_answer_longer_than_a_pipe_arrives_whole() -> None:
    with looping(methods) as host:
        host.send(asked("echo", params={"text": "x" * 3_000_000}))
        assert len(host.hear()["result"]["text"]) == 3_000_000


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda each: st.lists(each, max_size=4) | st.dictionaries(st.text(), each, max_size=4),
    max_leaves=12,
)
PARTS = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | JSON, "id": JSON, "params": JSON, "result": JSON,
        "method": st.sampled_from(["now", "aside", "echo", "refused", "broken", "nan"]) | JSON,
    },
)  # fmt: skip


@pytest.fixture(scope="module")
def patient() -> Any:
    with looping(methods) as host:
        yield host


def still_answers(host: Host, send: Callable[[], None]) -> list[Any]:
    """What was answered to something, before the next request is."""
    send()
    host.send(asked("aside", id="mark"))
    answers = []
    while (answer := host.hear()) is None or answer == [] or answer_id(answer) != "mark":
        assert answer is not None
        answers.append(answer)
    return answers


def answer_id(answer: Any) -> Any:
    return answer.get("id") if isinstance(answer, dict) else None


@settings(max_examples=scaled(200), deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_end_the_loop(patient: Host, line: bytes) -> None:
    still_answers(patient, lambda: patient.send(line))


@pytest.mark.slow
@settings(max_examples=scaled(300), deadline=None)
@given(PARTS | st.lists(PARTS | JSON, max_size=4) | JSON)
def test_any_json_has_one_answer_at_most_and_a_request_one(patient: Host, message: Any) -> None:
    line = json.dumps(message).encode()
    answers = still_answers(patient, lambda: patient.send(line))
    assert len(answers) <= 1
    finite = not any(word in line for word in (b"NaN", b"Infinity"))
    if isinstance(message, dict) and finite and message.get("jsonrpc") == "2.0":
        id = message.get("id")
        is_request = isinstance(message.get("method"), str) and type(id) in (str, int, float)
        if is_request:
            assert [answer["id"] for answer in answers] == [id]
