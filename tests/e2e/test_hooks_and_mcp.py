"""Claude Code, played by its real hooks beside a real `mdmemory mcp`."""

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
        found = [*filter(self.owns, map(int, filter(str.isdigit, os.listdir("/proc"))))]
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


def test_a_request_that_a_call_answers_is_stored_once_and_proven(claude: Claude) -> None:
    old = claude.layers().add("Billing listens on port 8087", type="project").file
    with claude.server() as call:
        claude.start()
        claude.say(DEPLOYS)  # what it is told of it: tests/hosts/test_commands.py
        quote = "deploys go out on Tuesdays only"
        told = call("memory_store", fact="Deploys go out on Tuesdays only.", quote=quote)
    assert told.startswith(f"Stored {FILE}")
    assert claude.kept() == []
    assert "your words" not in claude.stop()
    assert claude.notes() == {FILE: "", old: ""}


def test_a_request_that_nothing_answers_is_stored_as_said_and_told_once(claude: Claude) -> None:
    claude.start()
    claude.say(DEPLOYS)
    assert claude.notes() == {}
    # on a busy machine a hook ends before its bridge has answered: then the next one tells it
    told = f"{claude.stop()}{claude.stop()}{claude.say('Good morning to all')}"
    assert told.count(RECEIPT) == 1
    assert (claude.notes(), claude.kept()) == ({FILE: ""}, [])


def test_what_was_asked_for_outlives_a_client_that_is_killed(claude: Claude) -> None:
    claude.layers().add("Billing listens on port 8087", type="project")
    claude.start()
    claude.say(DEPLOYS)
    claude.kill()
    claude.hook("SessionEnd", reason="prompt_input_exit")
    told = f"{claude.start()[1]}{claude.say('Good morning to all of you')[1]}{claude.stop()}"
    assert told.count(RECEIPT) == 1
    assert (claude.notes()[FILE], claude.kept()) == ("", [])
