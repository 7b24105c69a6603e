"""`mdmemory mcp` as hosts start it: over real pipes, ended as hosts end it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp_host import HELLO
from pace import HUNG

pytestmark = pytest.mark.slow
NOTE = (
    "mdmemory", "add", "prefers-pnpm", "--type", "feedback", "--description",
    "Uses pnpm, never npm", "Use pnpm for installs.",
)  # fmt: skip


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory, begin: Any) -> Path:
    root = tmp_path_factory.mktemp("command") / "project"
    begin(root, NOTE)
    return root


def line(method: str, id: object = 1, **params: object) -> bytes:
    asked = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
    return json.dumps(asked).encode() + b"\n"


@contextmanager
def started(
    root: Path, *words: str, greets: bool = False, **how: Any
) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-P", "-m", "mdmemory", "--store", str(root), "mcp", *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, **how) as process:
        try:
            if greets:
                assert ask(process, line("initialize", "hello", **HELLO))["id"] == "hello"
            yield process
        finally:
            process.kill()


def ask(process: subprocess.Popen[bytes], sent: bytes) -> Any:
    """The answer to a line, which is sent at once."""
    process.stdin.write(sent)
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def test_the_command_speaks_the_protocol_alone_and_answers_all(
    project: Path, tmp_path: Path
) -> None:
    with started(project, cwd=tmp_path) as process:
        call = line("tools/call", 2, name="memory_search", arguments={"query": "pnpm"})
        sent = b"no json\n" + line("initialize", **HELLO) + call + line("ping", 3)
        out, err = process.communicate(sent, timeout=HUNG)
        assert process.returncode == 0, err
        answers = {answer["id"]: answer for answer in map(json.loads, out.splitlines())}
        assert answers[None]["error"]["code"] == -32700
        assert answers[1]["result"]["serverInfo"]["name"] == "mdmemory"
        assert answers[2]["result"]["content"][0]["text"].startswith("Found 1 note.")
        assert answers[3]["result"] == {}


NOISY = """
import mdmemory.protocol as p, os
before = p.short_protocol
def short():
    print('stray'); os.write(1, b'bytes'); os.system('echo child')
    return before()
p.short_protocol = short
"""


def test_what_a_library_prints_never_reaches_the_host(project: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(NOISY)
    with started(project, env={**os.environ, "PYTHONPATH": str(tmp_path)}) as process:
        out, err = process.communicate(line("initialize", **HELLO), timeout=HUNG)
        assert process.returncode == 0, err
        assert json.loads(out)["result"]["instructions"]


def test_sigterm_ends_it_and_sigint_does_not(project: Path) -> None:
    with started(project, greets=True) as process:
        process.send_signal(signal.SIGINT)
        assert ask(process, line("ping"))["result"] == {}
        process.send_signal(signal.SIGTERM)
        assert process.wait(HUNG) == 0


def test_a_host_that_reads_nothing_cannot_keep_it_from_ending(project: Path) -> None:
    get = line("tools/call", name="memory_get", arguments={"file": "feedback-prefers-pnpm.md"})
    with started(project, greets=True) as process:
        process.stdin.write(get * 400)
        process.stdin.flush()
        process.send_signal(signal.SIGTERM)
        assert process.wait(HUNG) == 0


def test_it_ends_when_its_output_is_closed(project: Path) -> None:
    with started(project, greets=True) as process:
        process.stdout.close()
        process.stdin.write(line("ping"))
        process.stdin.flush()
        assert process.wait(HUNG) == 0


def test_disabled_it_ends_at_once(project: Path) -> None:
    with started(project, env={**os.environ, "MDMEMORY_DISABLE": "1"}) as process:
        assert (process.communicate(timeout=HUNG)[0], process.returncode) == (b"", 0)
