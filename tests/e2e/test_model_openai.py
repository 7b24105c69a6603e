"""Extraction through the real `openai` client, from the command line: a process, a server, a store.

Whatever the server does, the command ends with a sentence, and nothing is half done.
"""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_server import Answer, FakeServer
from pace import HUNG, sample
from rows import each

from mdmemory.store.state import State

pytestmark = pytest.mark.slow

KEY = "sk-proj-aVerySecretKeyThatMustNeverBeSeen0123"
ASKED = "Remember: release notes are written in British English."
SAID = "We always deploy on Tuesdays, the on-call team is complete then."
SESSION = "ses_1"
FACT = {
    "action": "add", "type": "project", "kind": "", "title": "Deploys", "replaces": [],
    "fact": "Deploys are always on Tuesdays", "why": "the on-call team is complete then",
    "quote": "We always deploy on Tuesdays",
}  # fmt: skip
FOUND = json.dumps({"candidates": [FACT]})
Git = Callable[..., str]


@pytest.fixture
def words(server: FakeServer, repository: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """What reads the session; the test stands in a project whose person chose the server."""
    monkeypatch.chdir(repository)
    monkeypatch.setenv("MDMEMORY_PLANNER", "openai")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("MDMEMORY_TIMEOUT_S", "2")
    assert run("init", "--shared").returncode == 0
    messages = [
        {"info": {"id": f"m{n}", "role": "user", "time": {"created": n}}, "parts": part}
        for n, part in enumerate([[{"type": "text", "text": text}] for text in (ASKED, SAID)], 1)
    ]
    talk = {"info": {"id": SESSION, "title": "t"}, "messages": messages}
    Path("talk.json").write_text(json.dumps(talk), "utf-8")
    return ("extract", "--transcript", "talk.json")


def program() -> str:
    return str(Path(sys.executable).with_name("mdmemory"))


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program(), *words], capture_output=True, text=True, timeout=HUNG, check=False
    )


def watermark() -> str:
    with State(Path(".mdmemory/state.db")) as state:
        return state.watermark(SESSION) or ""


def committed(git: Git) -> list[str]:
    """The notes of the last commit, nothing of which may differ from the folder."""
    assert git(Path.cwd(), "status", "--porcelain", "--", "notes") == ""
    listed = git(Path.cwd(), "ls-tree", "--name-only", "HEAD", "notes/memory/").splitlines()
    names = [Path(file).name for file in listed]
    return [name for name in names if name != "MEMORY.md" and not name.startswith((".", "_"))]


TROUBLE: tuple[tuple[dict[str, Any], int, str], ...] = (
    ({"status": 401}, 1, "did not accept the key (401)"),
    ({"status": 429, "headers": (("Retry-After", "0"),)}, 2, "takes no more requests for now"),
    ({"status": 500}, 2, "failed (500)"),
    ({"status": 0}, 2, "hung up before its answer was whole"),
    ({"text": FOUND, "sent": 90}, 2, "hung up before its answer was whole"),
    ({"text": FOUND, "delay": 60.0}, 1, "did not answer within 2 s"),
    ({"text": FOUND, "drip": 0.5}, 1, "did not answer within 2 s"),
    ({"text": FOUND[:90]}, 2, "holds no list of candidates that can be read"),
)


def test_whatever_the_server_does_is_one_sentence_and_the_turns_are_read_again(
    server: FakeServer, words: tuple[str, ...], git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(wrong: dict[str, Any], requests: int, sentence: str) -> None:
        before = len(server.requests)
        server.script.default = Answer(**wrong)
        done = run(*words)
        assert (done.returncode, len(server.requests) - before) == (1, requests), done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert done.stderr.startswith("mdmemory: ")
        assert sentence in done.stderr
        for secret in (KEY, SAID):
            assert secret not in done.stdout + done.stderr
        assert watermark() == ""
        (note,) = committed(git)  # what was asked for in so many words needs no model
        assert note.startswith("project-release-notes")

    each(sample(TROUBLE, 3), check)
    server.script.default = Answer(FOUND)
    asked = len(server.requests)
    done = run(*words)
    assert done.returncode == 1
    assert len(server.requests) == asked, "after an answer that nobody could read, the turns wait"
    monkeypatch.setenv("MEMORY_EXTRACT_MODEL", "openai/gpt-5-nano")  # another is asked at once
    done = run(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert "added: project-deploys.md\n" in done.stdout
    assert "project-deploys.md" in committed(git)
    assert watermark() == "m2"


def test_what_was_found_is_one_commit_and_the_account_has_its_cost(
    server: FakeServer, words: tuple[str, ...], git: Git
) -> None:
    server.script.default = Answer(FOUND)
    told = json.loads(run(*words, "--json").stdout)
    assert told["added"][1:] == ["project-deploys.md"]
    message = git(Path.cwd(), "log", "-1", "--format=%H%n%B")
    assert message.startswith(told["commit"])
    assert f"\nMemory-Session: {SESSION}\nMemory-Model: gpt-5-mini\n" in message
    [request], [_] = server.requests, server.script.looked  # the facts, and whether they will last
    assert set(request) == {
        "model", "messages", "response_format", "max_completion_tokens", "reasoning_effort",
        "stream", "stream_options",
    }  # fmt: skip
    used = json.loads(run("status", "--json").stdout)
    assert used["tokens_today"] == {"calls": 2, "input": 200, "output": 20}
    assert used["sends_to"] in server.url
    shown = run("status").stdout
    assert f"text is sent to {used['sends_to']}; today 2 calls" in shown
    assert ", 200 tokens in, 20 out" in shown
    assert run(*words).returncode == 0
    assert json.loads(run("status", "--json").stdout)["tokens_today"]["calls"] == 2, (
        "the same turns were sent twice"
    )


def test_ctrl_c_while_the_model_is_asked_leaves_everything_as_it_was(
    server: FakeServer, words: tuple[str, ...], git: Git
) -> None:
    server.script.default = Answer(FOUND, delay=60)
    before = git(Path.cwd(), "rev-parse", "HEAD"), sorted(Path("notes/memory").iterdir())
    with subprocess.Popen(
        [program(), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "MDMEMORY_TIMEOUT_S": "60"},
    ) as process:  # fmt: skip
        try:
            wait_until(lambda: bool(server.requests))
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=HUNG)
        finally:
            process.kill()
    assert (process.returncode, out) == (130, "")
    assert err == "mdmemory: interrupted; nothing is half done.\n"
    assert (git(Path.cwd(), "rev-parse", "HEAD"), sorted(Path("notes/memory").iterdir())) == before
    assert git(Path.cwd(), "status", "--porcelain", "--", "notes") == ""
    assert watermark() == ""
    server.script.default = Answer(FOUND)
    assert run(*words).returncode == 0
    assert len(committed(git)) == 2


def test_who_waits_at_a_terminal_sees_what_is_asked_and_an_answer_has_nothing_of_it(
    server: FakeServer, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script.default = Answer('{"candidates": []}', delay=2)
    monkeypatch.setenv("MDMEMORY_TIMEOUT_S", "30")
    answer, seen = at_a_terminal(*words, "--dry-run")
    assert "asking gpt-5-mini about 2 turns · 0 of 1 done · " in seen
    assert "asking" not in answer
    answer, seen = at_a_terminal(*words, "--dry-run", "--json")
    assert seen == ""
    assert json.loads(answer)["commit"] is None
    assert run(*words, "--dry-run").stderr == "", "it was shown to a pipe"


def at_a_terminal(*words: str) -> tuple[str, str]:
    """Standard output, which goes to a pipe, and what a terminal at standard error was sent."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(
        [program(), *words], stdout=subprocess.PIPE, stderr=theirs, text=True, env=env
    ) as process:
        os.close(theirs)
        try:
            answer, _ = process.communicate(timeout=HUNG)
        finally:
            process.kill()
    assert process.returncode == 0
    seen = b""
    while chunk := _read(ours):
        seen += chunk
    os.close(ours)
    return answer, seen.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that the other end is gone
        return b""


def wait_until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + HUNG
    while not happened():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)
