"""The bridge ends with its host, whatever it hangs in, and every reader takes what it says."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pace import HUNG

from mdmemory import Memory
from mdmemory.hosts.opencode.bridge import Bridge
from mdmemory.hosts.opencode.hooks import PROTOCOL

# A bridge with one method, which hangs.
BRIDGE = """
import threading
from mdmemory.hosts.opencode.hooks import Hooks
from mdmemory.cli import main, serving
serving.GRACE = 0.1
Hooks.methods = lambda self: {"hang": lambda _: print(threading.Event().wait())}
main(["bridge"])
"""
# Starts that, with its own streams, and is gone when it may.
HOST = """
import os, subprocess, sys
started = subprocess.Popen([sys.executable, "-P", "-c", sys.argv[1]])
os.read(int(sys.argv[2]), 1)
os._exit(0)
"""
ASKED = b'{"id": 1, "method": "hang"}\n'


def test_a_bridge_that_hangs_ends_when_its_input_is_closed() -> None:
    words = [sys.executable, "-P", "-c", BRIDGE]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        process.stdin.write(ASKED)
        process.stdin.close()
        assert process.wait(HUNG) == 1


def test_a_bridge_that_hangs_ends_when_its_host_is_gone_and_the_input_is_not() -> None:
    asked, ask = os.pipe()
    answered, answer = os.pipe()
    going, go = os.pipe()
    words = [sys.executable, "-P", "-c", HOST, BRIDGE, str(going)]
    with subprocess.Popen(words, stdin=asked, stdout=answer, pass_fds=(going,)):
        os.close(answer)
        os.write(ask, b"{}\n")
        assert b"usage" in os.read(answered, 1000)  # it has started
        os.write(ask, ASKED)
        os.write(go, b".")
    # nobody else holds the other end of what it answers through
    assert select.select([answered], [], [], HUNG)[0]
    assert os.read(answered, 1) == b""
    for handle in (asked, ask, answered, going, go):
        os.close(handle)


def answers(*lines: bytes, result: Any = None) -> list[bytes]:
    """What a bridge says to these lines, line by line."""
    source, given = os.pipe()
    told, sink = os.pipe()
    os.write(given, b"".join(line + b"\n" for line in lines))
    os.close(given)
    Bridge(
        source, sink, {"echo": lambda params: result or params}, failed=lambda *_: None,
        tick=lambda: 60.0,
    ).serve()  # fmt: skip
    os.close(sink)
    with os.fdopen(told, "rb") as stream:
        said = stream.read().splitlines()
    os.close(source)
    return said


def strict(line: bytes) -> Any:
    """A line as every reader but Python's takes it."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(line, parse_constant=refuse)


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999"])
def test_a_number_that_is_none_breaks_no_answer(number: bytes) -> None:
    said = answers(
        b'{"id": %s, "method": "echo"}' % number,
        b'{"id": 1, "method": "echo", "params": {"x": [%s]}}' % number,
        b'{"id": 2, "method": "echo", "params": {"x": 1.5}}',
    )
    first, second, third = map(strict, said)
    assert first["error"]["code"] == second["error"]["code"] == "usage"
    assert third == {"id": 2, "result": {"x": 1.5}}


def test_a_result_that_holds_no_number_is_an_error_of_that_request() -> None:
    (line,) = answers(b'{"id": 7, "method": "echo"}', result={"score": float("nan")})
    assert strict(line)["id"] == 7
    assert strict(line)["error"]["code"] == "unexpected"


def test_when_the_client_is_gone_what_was_asked_for_is_stored(repository: Path) -> None:
    Memory.init(repository)
    asked = [{"id": 0, "method": "hello", "params": {"protocol": PROTOCOL}}] + [
        {"id": at, "method": "message", "params": {
            "session": f"ses_{at}", "message": "msg_1",
            "parts": [{"type": "text", "text": f"Remember that shelf {at} holds the books."}]}}
        for at in (1, 2)
    ]  # fmt: skip
    lines = "".join(f"{json.dumps(each)}\n" for each in asked).encode()
    words = [sys.executable, "-P", "-m", "mdmemory", "bridge"]
    subprocess.run(words, cwd=repository, input=lines, stdout=subprocess.DEVNULL, check=True)
    facts = [each.note.head.description for each in Memory.open(repository).notes()]
    assert sorted(facts) == ["Shelf 1 holds the books", "Shelf 2 holds the books"]
