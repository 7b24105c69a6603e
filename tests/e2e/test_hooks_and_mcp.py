"""Claude Code, played by its real hooks beside a real `mdmemory mcp`; and that server alone."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from commands_host import context, shown
from pace import HUNG
from plugged import PROGRAM, until

from mdmemory import Memory

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc"),
]
DEPLOYS = "Remember that deploys go out on Tuesdays only."
FILE = "project-deploys-go-out-on-tuesdays.md"
RECEIPT = "Remembered in your words: Deploys go out on Tuesdays only."
Server = Callable[..., str]


class Claude:
    """What the client does in a project: it starts hooks, and one server."""

    def __init__(self, project: Path, home: Path) -> None:
        self.project, self.home, self._turn = project, home, 0
        self.env = {
            "HOME": str(home), "PATH": os.environ["PATH"], "PWD": str(project),
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null",
        }  # fmt: skip

    def hook(self, name: str, **more: Any) -> tuple[str, str]:
        """What the assistant and the person are told at an event."""
        event = {"hook_event_name": name, "session_id": "s1", "cwd": str(self.project), **more}
        done = subprocess.run(
            [PROGRAM, "hook", "claude"], cwd=self.project, env=self.env, input=json.dumps(event),
            capture_output=True, text=True, timeout=HUNG, check=True,
        )  # fmt: skip
        out = json.loads(done.stdout or "{}")
        return context(out), shown(out)

    def start(self) -> tuple[str, str]:
        return self.hook("SessionStart", source="startup")

    def say(self, words: str, **more: Any) -> tuple[str, str]:
        self._turn += 1
        return self.hook("UserPromptSubmit", prompt=words, prompt_id=f"t{self._turn}", **more)

    def stop(self) -> str:
        """The end of the turn: what the person is told."""
        return self.hook("Stop", prompt_id=f"t{self._turn}", last_assistant_message="ok")[1]

    @contextmanager
    def server(self) -> Iterator[Server]:
        """Calls a tool of `mdmemory mcp`."""
        with subprocess.Popen(
            [PROGRAM, "mcp"], cwd=self.project, env=self.env, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        ) as process:  # fmt: skip
            assert process.stdin
            assert process.stdout
            stdin, stdout = process.stdin, process.stdout

            def ask(method: str, **params: Any) -> dict[str, Any]:
                request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
                stdin.write(json.dumps(request) + "\n")
                stdin.flush()
                return dict(json.loads(stdout.readline())["result"])

            hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
            ask("initialize", **hello, clientInfo={"name": "played", "version": "1"})
            yield lambda tool, **given: str(
                ask("tools/call", name=tool, arguments=given)["content"][0]["text"]
            )
            stdin.close()
            assert process.wait(HUNG) == 0

    def layers(self) -> Memory:
        return Memory.around(self.project, environment=self.env)

    def notes(self) -> dict[str, str]:
        """The notes of both layers, each with its mark."""
        layers = self.layers()
        found = layers.notes() if layers.there() else ()
        return {each.file: each.note.head.status for each in found}

    def kept(self) -> list[Path]:
        """What was asked for and no store has yet."""
        return [path for box in self.layers()._inboxes() for path in box.files()]

    def kill(self) -> None:
        """Kill all that it left running."""
        found = [
            pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if self.owns(pid)
        ]
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        until(lambda: not any(map(self.owns, found)))

    def owns(self, pid: int) -> bool:
        try:
            known = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            return False
        return f"HOME={self.home}".encode() in known


@pytest.fixture
def claude(repository: Path, empty_home: Path) -> Iterator[Claude]:
    """In a project with a commit, and a fresh home."""
    played = Claude(repository, empty_home)
    try:
        yield played
    finally:
        played.kill()


@pytest.fixture(params=["fresh", "known"])
def anywhere(request: pytest.FixtureRequest, claude: Claude) -> Claude:
    """In a fresh home, and where both stores have notes."""
    if request.param == "known":
        claude.layers().add("Billing listens on port 8087", type="project")
        claude.layers().add("I prefer answers in French", type="user")
    return claude


def test_a_request_that_a_call_answers_is_stored_once_and_proven(anywhere: Claude) -> None:
    before = len(anywhere.notes())
    with anywhere.server() as call:
        anywhere.start()
        assert "deploys go out on Tuesdays only" in anywhere.say(DEPLOYS)[0]
        quote = "deploys go out on Tuesdays only"
        told = call("memory_store", fact="Deploys go out on Tuesdays only.", quote=quote)
    assert told.startswith(f"Stored {FILE}")
    assert anywhere.kept() == []
    assert "your words" not in anywhere.stop()
    assert anywhere.notes()[FILE] == ""
    assert len(anywhere.notes()) == before + 1


def test_a_request_that_nothing_answers_is_stored_in_the_users_words_and_said_once(
    anywhere: Claude,
) -> None:
    anywhere.start()
    anywhere.say(DEPLOYS)
    assert FILE not in anywhere.notes()
    assert RECEIPT in anywhere.stop()
    assert anywhere.notes()[FILE] == ""
    assert anywhere.kept() == []
    assert "your words" not in f"{anywhere.stop()}{anywhere.say('Good morning to all')}"
    assert [*anywhere.notes()].count(FILE) == 1


def test_a_correction_is_one_call_and_one_commit_that_one_undo_takes_back(claude: Claude) -> None:
    old = claude.layers().add("The staging host is heron-5", type="project").file
    memory = claude.layers().main
    log = len(memory.log())
    with claude.server() as call:
        claude.start()
        until((memory.project.private / "bridge.sock").exists)  # alone, a hook looks for no notes
        said = "fix the test. btw staging is crane-2 now, not heron-5"
        assert old in claude.say(said)[0]
        call("memory_store", fact="The staging host is crane-2.", replaces=[old], quote=said[14:])
    assert claude.notes() == {"project-the-staging-host-is-crane-2.md": "", old: "superseded"}
    assert len(claude.layers().main.log()) == log + 1
    claude.layers().undo()
    assert claude.notes() == {old: ""}


@pytest.mark.parametrize("end", ["killed", "store locked", "store moved away"])
def test_what_was_asked_for_is_not_lost_and_no_hook_fails(claude: Claude, end: str) -> None:
    claude.layers().add("Billing listens on port 8087", type="project")
    claude.start()
    claude.say(DEPLOYS)
    store, said = claude.layers().main.project.store, ""
    if end == "killed":
        claude.kill()
        claude.hook("SessionEnd", reason="prompt_input_exit")
    elif end == "store locked":
        with claude.layers().main.opened.writer().lock_store():
            said = claude.stop()
    else:
        away = store.rename(store.with_name("away"))
        said = claude.stop()
        away.rename(store)
    said += f"{claude.start()[1]}{claude.say('Good morning to all of you')[1]}{claude.stop()}"
    assert said.count(RECEIPT) == 1
    assert claude.notes()[FILE] == ""
    assert claude.kept() == []


def test_a_secret_and_a_private_part_are_in_no_file(claude: Claude) -> None:
    claude.layers().add("Billing listens on port 8087", type="project")
    claude.start()
    _, told = claude.say("Remember that my password is hunter2-Xk29!")
    assert "password manager" in told
    claude.say(f"{DEPLOYS} <private>the key is under the mat</private>")
    claude.stop()
    claude.kill()
    files = [path for path in claude.home.rglob("*") if path.is_file()]
    assert FILE in [path.name for path in files]
    for path in files:
        assert b"hunter2-Xk29" not in path.read_bytes()
        assert b"under the mat" not in path.read_bytes()


def test_the_server_alone_marks_what_nobody_heard_and_replaces_on_its_clients_word(
    claude: Claude,
) -> None:
    old = claude.layers().add("The staging host is heron-5", type="project").file
    fact = "The staging host is crane-2."
    with claude.server() as call:
        told = call("memory_store", fact=fact, quote="staging is crane-2 now", replaces=[old])
    new = "project-the-staging-host-is-crane-2.md"
    assert "unconfirmed" in told
    assert claude.notes() == {new: "unconfirmed", old: "superseded"}
    assert "?" in next(
        line for line in claude.layers().main.index_text().splitlines() if new in line
    )
    entry, *_ = claude.layers().main.log()[0]
    assert entry.get("Memory-Proof") == "host"
