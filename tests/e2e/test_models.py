"""Extraction by a model of the protocol of OpenAI, from the command line: a server, a store.

Whatever the server does, the command ends with a sentence, and nothing is half done.
"""

import json
import os
import pty
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from fake_server import Answer, FakeServer
from pace import HUNG
from plugged import PROGRAM, until
from projects import Run
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
def words(
    server: FakeServer, repository: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, ...]:
    """What reads the session; the test stands in a project whose person chose the server."""
    monkeypatch.chdir(repository)
    chosen = {"MDMEMORY_PLANNER": "openai", "OPENAI_BASE_URL": server.url}
    for name, value in {**chosen, "OPENAI_API_KEY": KEY, "MDMEMORY_TIMEOUT_S": "2"}.items():
        monkeypatch.setenv(name, value)
    assert run("init", "--shared").code == 0
    messages = [
        {"info": {"id": f"m{n}", "role": "user", "time": {"created": n}}, "parts": [part]}
        for n, part in enumerate([{"type": "text", "text": text} for text in (ASKED, SAID)], 1)
    ]
    talk = {"info": {"id": SESSION, "title": "t"}, "messages": messages}
    Path("talk.json").write_text(json.dumps(talk), "utf-8")
    return ("extract", "--transcript", "talk.json")


def watermark() -> str:
    with State(Path(".mdmemory/state.db")) as state:
        return state.watermark(SESSION) or ""


def committed(git: Git) -> list[str]:
    """The notes of the last commit, nothing of which may differ from the folder."""
    assert git(Path.cwd(), "status", "--porcelain", "--", "notes") == ""
    listed = git(Path.cwd(), "ls-tree", "--name-only", "HEAD", "notes/memory/").splitlines()
    names = [Path(file).name for file in listed]
    return [name for name in names if name != "MEMORY.md" and not name.startswith((".", "_"))]


# all that a server can do wrong: tests/llm/test_model.py
TROUBLE: tuple[tuple[dict[str, Any], int, str], ...] = (
    ({"status": 401}, 1, "did not accept the key (401)"),
    ({"text": FOUND, "delay": 60.0}, 1, "did not answer within 2 s"),
    ({"text": FOUND[:90]}, 2, "holds no list of candidates that can be read"),
)


def test_whatever_the_server_does_is_one_sentence_and_the_turns_are_read_again(
    server: FakeServer, words: tuple[str, ...], run: Run, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(wrong: dict[str, Any], requests: int, sentence: str) -> None:
        before = len(server.requests)
        server.script.default = Answer(**wrong)
        done = run(*words)
        assert (done.code, len(server.requests) - before) == (1, requests), done.err
        (told,) = done.err.splitlines()
        assert (told.startswith("mdmemory: "), sentence in told) == (True, True), told
        for secret in (KEY, SAID):
            assert secret not in done.out + done.err
        assert watermark() == ""
        (note,) = committed(git)  # what was asked for in so many words needs no model
        assert note.startswith("project-release-notes")

    each(TROUBLE, check)
    server.script.default = Answer(FOUND)
    asked = len(server.requests)
    assert run(*words).code == 1
    assert len(server.requests) == asked, "after an answer that nobody could read, the turns wait"
    monkeypatch.setenv("MEMORY_EXTRACT_MODEL", "openai/gpt-5-nano")  # another is asked at once
    done = run(*words)
    assert (done.code, done.err) == (0, "")
    assert "added: project-deploys.md\n" in done.out
    assert "project-deploys.md" in committed(git)
    assert watermark() == "m2"


def test_what_was_found_is_one_commit_and_the_account_has_its_cost(
    server: FakeServer, words: tuple[str, ...], run: Run, git: Git
) -> None:
    server.script.default = Answer(FOUND)
    told = json.loads(run(*words, "--json").out)
    assert told["added"][1:] == ["project-deploys.md"]
    message = git(Path.cwd(), "log", "-1", "--format=%H%n%B")
    assert message.startswith(told["commit"])
    assert f"\nMemory-Session: {SESSION}\nMemory-Model: gpt-5-mini\n" in message
    [request], [_] = server.requests, server.script.looked  # the facts, and whether they will last
    assert set(request) == {
        "model", "messages", "response_format", "max_completion_tokens", "reasoning_effort",
        "stream", "stream_options",
    }  # fmt: skip
    assert run(*words).code == 0
    used = json.loads(run("status", "--json").out)
    assert used["tokens_today"] == {"calls": 2, "input": 200, "output": 20}, "sent once"
    assert used["sends_to"] in server.url
    shown = run("status").out
    assert f"text is sent to {used['sends_to']}; today 2 calls, 200 tokens in, 20 out" in shown


def test_ctrl_c_while_the_model_is_asked_leaves_everything_as_it_was(
    server: FakeServer, words: tuple[str, ...], run: Run, git: Git
) -> None:
    def store() -> tuple[str, list[Path]]:
        return git(Path.cwd(), "rev-parse", "HEAD"), sorted(Path("notes/memory").iterdir())

    server.script.default = Answer(FOUND, delay=60)
    before, pipe = store(), subprocess.PIPE
    env = {**os.environ, "MDMEMORY_TIMEOUT_S": "60"}
    with subprocess.Popen(
        [PROGRAM, *words], stdout=pipe, stderr=pipe, text=True, env=env
    ) as asking:
        try:
            until(lambda: server.requests)
            asking.send_signal(signal.SIGINT)
            out, err = asking.communicate(timeout=HUNG)
        finally:
            asking.kill()
    assert (asking.returncode, out) == (130, "")
    assert (err, store()) == ("mdmemory: interrupted; nothing is half done.\n", before)
    assert (git(Path.cwd(), "status", "--porcelain", "--", "notes"), watermark()) == ("", "")
    server.script.default = Answer(FOUND)
    assert (run(*words).code, len(committed(git))) == (0, 2)


def test_who_waits_at_a_terminal_sees_what_is_asked_and_an_answer_has_nothing_of_it(
    server: FakeServer, words: tuple[str, ...], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script.default = Answer('{"candidates": []}', delay=2)
    monkeypatch.setenv("MDMEMORY_TIMEOUT_S", "30")
    answer, seen = at_a_terminal(*words, "--dry-run")
    assert "asking gpt-5-mini about 2 turns · 0 of 1 done · " in seen
    assert "asking" not in answer
    answer, seen = at_a_terminal(*words, "--dry-run", "--json")
    assert seen == ""
    assert json.loads(answer)["commit"] is None
    assert run(*words, "--dry-run").err == "", "it was shown to a pipe"


def at_a_terminal(*words: str) -> tuple[str, str]:
    """Standard output, which goes to a pipe, and what a terminal at standard error was sent."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    how = {"stdout": subprocess.PIPE, "stderr": theirs, "text": True, "env": env}
    with subprocess.Popen([PROGRAM, *words], **how) as process:
        os.close(theirs)
        try:
            answer, _ = process.communicate(timeout=HUNG)
        finally:
            process.kill()
    assert process.returncode == 0
    seen = b""
    with suppress(OSError):  # how Linux says that the other end is gone
        while chunk := os.read(ours, 65536):
            seen += chunk
    os.close(ours)
    return answer, seen.decode()
