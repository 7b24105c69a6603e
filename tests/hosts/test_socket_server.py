"""A bridge answers every client at its socket, whatever the others do, and knows when to end."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from pace import HUNG
from rows import replace

from mdmemory.errors import NotFound
from mdmemory.hosts.bridge import asking, listening
from mdmemory.hosts.bridge.listening import Life, SocketServer
from mdmemory.version import VERSION

Answer = dict[str, Any]


class Running:
    """A server in a thread of its own."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "s")
        self.failures: list[str] = []
        self.lost: list[Mapping[str, Any]] = []
        self.seen: list[Mapping[str, Any]] = []
        self.methods: dict[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]] = {
            "hook": self._hook
        }
        self.look: Callable[[], float] = lambda: 600.0
        self.life = Life(lambda: True)
        self._ending, self._end = os.pipe()
        self._thread: threading.Thread | None = None

    def _hook(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        self.seen.append(params)
        return {"output": {"given": dict(params)}}

    def begin(self) -> None:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.path)
        listener.listen(listening.QUEUE)
        running = SocketServer(
            listener, self.methods, self.life, look=lambda: self.look(),
            failed=lambda method, problem: self.failures.append(f"{method}: {problem}"),
            lost=self.lost.append,
        )  # fmt: skip

        def work() -> None:
            running.serve(self._ending)
            listener.close()

        self._thread = threading.Thread(target=work, daemon=True)
        self._thread.start()

    def ended(self) -> bool:
        assert self._thread
        self._thread.join(HUNG)
        return not self._thread.is_alive()

    def end(self) -> None:
        if self._thread:
            os.write(self._end, b".")
            assert self.ended()
        os.close(self._ending)
        os.close(self._end)

    def connected(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(HUNG)
        connection.connect(self.path)
        return connection

    def say(self, line: bytes) -> bytes:
        """What the server answers to these bytes; b"" where it only closes."""
        with self.connected() as connection:
            with suppress(BrokenPipeError):  # it may have closed before we come to it
                connection.sendall(line)
            return b"".join(iter(lambda: connection.recv(1 << 16), b""))

    def ask(self, **request: Any) -> Answer:
        line = json.dumps({"version": VERSION, "method": "hook"} | request)
        answer: Answer = json.loads(self.say(line.encode() + b"\n"))
        return answer


@pytest.fixture
def bridge(tmp_path: Path) -> Iterator[Running]:
    running = Running(tmp_path)
    yield running
    running.end()


def test_a_request_is_answered_in_one_line_that_the_client_can_cut_out(bridge: Running) -> None:
    bridge.begin()
    line = bridge.say(b'{"version": "%s", "method": "hook", "params": {}}\n' % VERSION.encode())
    assert line == b'{"result": {"output": {"given": {}}}}\n'


@pytest.mark.parametrize("line", [b"", b"hello", b"[1]", b"{", b"\0\0", b"\xff", b'{"a": NaN}'])
def test_what_is_no_request_is_answered_and_harms_nothing(bridge: Running, line: bytes) -> None:
    bridge.begin()
    assert json.loads(bridge.say(line + b"\n"))["error"]["code"] == "usage"
    assert "result" in bridge.ask(params={})


def test_a_request_that_is_too_long_is_answered_before_it_ends(
    bridge: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "_LINE", 1000)
    bridge.begin()
    assert json.loads(bridge.say(b" " * 1001))["error"]["code"] == "usage"


def test_an_error_is_an_answer_and_the_next_request_is_served(bridge: Running) -> None:
    def fails(_: Mapping[str, Any]) -> Mapping[str, Any]:
        raise NotFound("It is not there.")

    bridge.methods |= {"fails": fails, "breaks": lambda _: {"x": 1 / 0}}
    bridge.begin()
    assert bridge.ask(method="fails")["error"]["code"] == "not_found"
    assert bridge.ask(method="breaks")["error"]["code"] == "unexpected"
    assert bridge.ask(method="unknown")["error"]["code"] == "usage"
    assert bridge.ask(params=[])["error"]["code"] == "usage"
    assert "result" in bridge.ask(params={})
    assert [each.partition(":")[0] for each in bridge.failures] == [
        "fails", "breaks", "unknown", "hook",
    ]  # fmt: skip


def test_a_client_that_sends_nothing_holds_up_nobody(bridge: Running) -> None:
    bridge.begin()
    with bridge.connected(), bridge.connected() as slow:
        slow.sendall(b'{"version"')
        assert "result" in bridge.ask(params={})


def test_a_client_that_never_sends_its_line_is_dropped(
    bridge: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "_PATIENCE", 0.0)
    bridge.begin()
    with bridge.connected() as slow:
        time.sleep(0.05)
        bridge.say(b"")  # it wakes the server
        assert slow.recv(1) == b""


def test_what_its_client_waits_for_no_more_is_not_begun(bridge: Running) -> None:
    may_go = threading.Event()
    bridge.methods["wait"] = lambda _: {"came": may_go.wait(HUNG)}
    bridge.begin()
    with bridge.connected() as first:
        first.sendall(b'{"version": "%s", "method": "wait"}\n' % VERSION.encode())
        with bridge.connected() as gone:
            gone.sendall(b'{"version": "%s", "method": "hook", "params": {}}\n' % VERSION.encode())
        may_go.set()
        assert b"came" in first.recv(100)
    assert bridge.ask(params={"n": 2})["result"]
    assert bridge.seen == [{"n": 2}]


def test_an_answer_that_nobody_took_is_lost_and_the_next_request_is_served(bridge: Running) -> None:
    begun, closed = threading.Event(), threading.Event()

    def slow(params: Mapping[str, Any]) -> Mapping[str, Any]:
        begun.set()
        assert closed.wait(HUNG)
        return {"output": {}}

    bridge.methods["slow"] = slow
    bridge.begin()
    with bridge.connected() as connection:
        line = json.dumps({"version": VERSION, "method": "slow", "params": {"n": 1}})
        connection.sendall(line.encode() + b"\n")
        assert begun.wait(HUNG)
    closed.set()
    assert bridge.ask(method="hook", params={})["result"]
    assert [each["params"] for each in bridge.lost] == [{"n": 1}]


def test_another_users_process_is_not_heard(
    bridge: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "peer_user", lambda _: os.geteuid() + 1)
    bridge.begin()
    with bridge.connected() as connection:
        assert connection.recv(1) == b""
    assert bridge.seen == []


def test_a_client_of_another_version_ends_it_so_that_a_new_one_can_start(bridge: Running) -> None:
    bridge.begin()
    assert bridge.ask(version="0.0.1", params={})["error"]["code"] == "version"
    assert bridge.ended()
    assert bridge.seen == []


def test_it_ends_when_nobody_comes_for_five_minutes(bridge: Running) -> None:
    assert bridge.life.idle == 300
    bridge.life = replace(bridge.life, idle=0.05)
    bridge.begin()
    assert bridge.ended()


def test_a_look_that_fails_is_logged_and_costs_no_request(bridge: Running) -> None:
    def look() -> float:
        raise NotFound("gone")

    bridge.look = look
    bridge.begin()
    assert "result" in bridge.ask(params={})
    assert bridge.failures == ["look: gone"]


def test_it_looks_again_when_the_time_has_come(bridge: Running) -> None:
    looked = threading.Semaphore(0)

    def look() -> float:
        looked.release()
        return 0.02

    bridge.look = look
    bridge.begin()
    assert all(looked.acquire(timeout=HUNG) for _ in range(3))


def test_the_user_at_the_other_end_is_known() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert asking.peer_user(ours) == os.geteuid()
