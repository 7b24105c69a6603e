"""A person's desk: one home that `mdmemory setup` wired, one project, and all real assistants."""

import json
import os
import re
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from assistants import ASSISTANTS, Assistant, Ran
from fake_provider import FakeProvider, Request
from pace import HUNG
from plugged import PROGRAM, until
from terminal import Terminal

from mdmemory.transcripts.sources import read
from mdmemory.transcripts.turns import Transcript

BY_NAME = {each.name: each for each in ASSISTANTS}
NAMES = tuple(BY_NAME)
TRANSCRIPTS = {
    "claude": (".claude/projects", "*/*.jsonl"),
    "codex": (".codex/sessions", "*/*/*/rollout-*.jsonl"),
    "gemini": (".gemini/tmp", "*/chats/session-*.jsonl"),
}
SHOWN = 20.0  # seconds in which a receipt is seen, where a client did not give up on its hook
WHO = "[user]\n name = A Person\n email = person@example.com\n[init]\n defaultBranch = main\n"


def _type(terminal: Terminal, prompt: str) -> None:
    terminal.text(prompt)
    terminal.until(re.escape(prompt[:40]))
    terminal.keys("Enter")


class Desk:
    """`with Desk(folder, provider) as desk: desk.ask("claude", "hello")`.

    What its assistants start beside themselves, such as a bridge, ends with the block.
    """

    def __init__(self, folder: Path, provider: FakeProvider) -> None:
        self.provider = provider
        self.home = folder / "home"
        self.project = self.repository("harbour")
        (self.home / ".gitconfig").write_text(WHO, "utf-8")
        self.homes = [self.home]

    def repository(self, name: str) -> Path:
        """A new project of the person's, with one commit and nothing of ours."""
        folder = self.home / name
        folder.mkdir(parents=True)
        for words in (
            ("init", "-q", "-b", "main"), ("config", "user.name", "A Person"),
            ("config", "user.email", "person@example.com"),
            ("commit", "-q", "--allow-empty", "-m", f"first of {name}"),
        ):  # fmt: skip
            self.run("git", *words, folder=folder)
        return folder

    def set_up(self, *names: str) -> Self:
        """Wire these assistants, or all three, and make the project's store."""
        self.run(PROGRAM, "setup", *(names or NAMES))
        self.run(PROGRAM, "init")
        return self

    def known(self, folder: Path) -> dict[str, str]:
        """The variables of a person's shell in a folder."""
        return {
            "HOME": str(self.home), "PWD": str(folder), "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1",
        }  # fmt: skip

    def run(self, *words: str | Path, folder: Path | None = None) -> str:
        """What a command prints in the person's shell, in the project or `folder`."""
        where = folder or self.project
        done = subprocess.run(
            words, cwd=where, env=self.known(where), stdin=subprocess.DEVNULL, timeout=HUNG,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    def mdmemory(self, *words: str, folder: Path | None = None) -> str:
        """What our command prints."""
        return self.run(PROGRAM, *words, folder=folder)

    def listed(self) -> list[dict[str, Any]]:
        """All notes that count, of both layers."""
        return list(json.loads(self.mdmemory("list", "--json")))

    def notes(self) -> list[str]:
        """Their descriptions."""
        return [each["description"] for each in self.listed()]

    def name_of(self, description: str) -> str:
        """The name of the note that has this description."""
        (found,) = [each["name"] for each in self.listed() if each["description"] == description]
        return str(found)

    def transcript(self, name: str) -> Transcript:
        """The newest session that an assistant wrote, as we read it."""
        root, pattern = TRANSCRIPTS[name]
        return read(max((self.home / root).glob(pattern), key=lambda each: each.stat().st_mtime_ns))

    def watch(self, name: str, prompt: str, seen: str) -> str:
        """The screen on which a text (an expression) is seen after a prompt at a terminal. On a
        busy machine a hook ends before its bridge has answered: then the next prompt shows it."""
        with self.assistant(name).terminal() as terminal:
            _type(terminal, prompt)
            with suppress(AssertionError):
                return terminal.until(seen, SHOWN)
            _type(terminal, "And what else")  # a question mark at the end opens help in Gemini CLI
            return terminal.until(seen)

    def assistant(self, name: str, folder: Path | None = None, **more: str) -> Assistant:
        """One of them, started in the project or `folder`; `more` are further variables."""
        own = {
            "GIT_CONFIG_GLOBAL": str(self.home / ".gitconfig"),
            "MEMORY_EXTRACT_DEBOUNCE_MS": "200",  # or a session is read half a minute later
        }
        return BY_NAME[name](folder or self.project, self.home, self.provider.url, **own | more)

    def ask(
        self, name: str, prompt: str, *words: str, folder: Path | None = None, again: bool = False
    ) -> list[Request]:
        """The requests of a turn: of a new session, or of the last one `again`."""
        return self.turn(name, prompt, *words, folder=folder, again=again)[1]

    def turn(
        self, name: str, prompt: str, *words: str, folder: Path | None = None, again: bool = False
    ) -> tuple[Ran, list[Request]]:
        """What a person sees of a turn, and its requests; detached work has ended then."""
        before = len(self.provider.turns)
        ran = self.assistant(name, folder).run(prompt, *words, again=again)
        self.settle()
        return ran, self.provider.turns[before:]

    def processes(self, *, bridges: bool) -> dict[int, str]:
        """What runs with one of this desk's homes: its bridges, or all else (Linux)."""
        marks = [f"HOME={home}".encode() for home in self.homes]
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                known = (folder / "environ").read_bytes().split(b"\0")
                words = (folder / "cmdline").read_bytes().decode("utf-8", "replace")
            except OSError:  # it ended meanwhile, or is another user's
                continue
            if words and any(mark in known for mark in marks):
                found[int(folder.name)] = words.replace("\0", " ").strip()
        return {pid: line for pid, line in found.items() if ("bridge" in line) == bridges}

    def settle(self) -> None:
        """Wait until nothing but bridges runs."""
        until(lambda: not self.processes(bridges=False))

    def end(self, *, bridges: bool = True) -> int:
        """End the bridges, or all else, without a word of warning; how many there were."""
        pids = list(self.processes(bridges=bridges))
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        until(lambda: not set(pids) & set(self.processes(bridges=bridges)))
        return len(pids)

    def move_home(self) -> Path:
        """Copy the home elsewhere, and live there from now on; the old one stays."""
        old, self.home = self.home, self.home.with_name("elsewhere")
        subprocess.run(["cp", "-a", old, self.home], check=True, timeout=HUNG)
        self.project = self.home / self.project.relative_to(old)
        self.homes.append(self.home)
        return self.home

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        for bridges in (False, True, False):
            self.end(bridges=bridges)
            time.sleep(0.05)
