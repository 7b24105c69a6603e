"""The real Claude Code, Codex and Gemini CLI, run offline against the fake provider.

Each turn is one process with a home of the test's own; it ends, with all that it started, before
`run` returns. What a client is told about the provider goes by its environment and its command
line: its files in the home belong to the test, and to `mdmemory setup`.
"""

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from terminal import Terminal

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / ".host-clients" / "node_modules" / ".bin"
MISSING = "{} is not installed; run: sh tests/e2e/hosts/install"
UNSAFE = (
    "Gemini CLI reads no settings below a folder that others write to: move this checkout from {}"
)
GEMINI_DEFAULTS = Path(__file__).with_name("hosts") / "gemini-defaults.json"
MODEL = "gemini-2.5-flash"  # without one, Gemini asks a router first, for a minute and a half
TURN = 120.0  # seconds; a turn takes 2 to 16 on an idle machine
NOWHERE = "http://127.0.0.1:9"  # refuses at once whatever would leave this machine


@dataclass(frozen=True, slots=True)
class Ran:
    """What a client said in a turn; `output` is what a person reads in the terminal."""

    output: str
    errors: str
    code: int


class Assistant:
    """One client in one folder: `Claude(project, home, provider.url).run("hello")`.

    `project` is where it is started; `home` must be a folder of the test's own. `more` are further
    variables of its environment, or others than usual.
    """

    name: ClassVar[str]
    ready: ClassVar[str]  # what its screen shows when it waits for a prompt

    def __init__(self, project: Path, home: Path, url: str, **more: str) -> None:
        self.program = PROGRAMS / self.name
        assert self.program.exists(), MISSING.format(self.name)
        self.project, self.home, self.url = project, home, url
        self._more = more

    def environment(self) -> dict[str, str]:
        """All variables that the client has: nothing of this machine's but PATH."""
        usual = {"HOME": str(self.home), "PWD": str(self.project), "PATH": os.environ["PATH"]}
        usual |= {"LANG": "C.UTF-8", "TERM": "xterm-256color", "GIT_CONFIG_GLOBAL": os.devnull}
        usual |= {"HTTPS_PROXY": NOWHERE, "NO_PROXY": "127.0.0.1,localhost"}
        return usual | self.known() | self._more

    def known(self) -> dict[str, str]:
        """The variables that this client reads."""
        raise NotImplementedError

    def words(self, prompt: str, more: tuple[str, ...], *, again: bool) -> list[str]:
        """Its command line for a turn: of a new session, or the last one `again`."""
        raise NotImplementedError

    def sits(self) -> list[str]:
        """Its command line for a person at a terminal, with the questions of a first start answered
        where files of its own in the home hold the answers."""
        raise NotImplementedError

    @contextmanager
    def terminal(self) -> Iterator[Terminal]:
        """The client as a person sees it, ready for the first prompt."""
        with tempfile.TemporaryDirectory(prefix="tmux") as folder:
            words: list[str | Path] = [self.program, *self.sits()]
            with Terminal(self.project, words, self.environment(), Path(folder) / "s") as terminal:
                terminal.until(self.ready)
                yield terminal

    def run(
        self, prompt: str, *more: str, again: bool = False, fails: bool = False,
        seconds: float = TURN,
    ) -> Ran:  # fmt: skip
        """Say `prompt`, wait for the end of the turn; `more` are further words of its command.

        Raises AssertionError when the turn fails, where it is not expected to (`fails`), and when
        it takes longer than `seconds`.
        """
        return self.start(
            [str(self.program), *self.words(prompt, more, again=again)], fails, seconds
        )

    def start(self, words: list[str], fails: bool = False, seconds: float = TURN) -> Ran:
        """Run a command line in this client's folder and environment."""
        with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
            # A session of its own, so that its children can be ended with it; files and not
            # pipes, so that a child that outlives it keeps nobody waiting.
            process = subprocess.Popen(
                words, cwd=self.project, env=self.environment(), stdin=subprocess.DEVNULL,
                stdout=output, stderr=errors, start_new_session=True,
            )  # fmt: skip
            try:
                process.wait(seconds)
                late = False
            except subprocess.TimeoutExpired:
                late = True
            finally:
                _end(process)
            output.seek(0)
            errors.seek(0)
            ran = Ran(output.read(), errors.read(), process.returncode)
        assert not late, f"{self.name} took over {seconds:g} s: {ran}"
        assert fails or ran.code == 0, f"{self.name}: {ran}"
        return ran


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all of its session that it left behind."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
        except ProcessLookupError:
            break
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            continue
    process.wait()


class Claude(Assistant):
    """Claude Code: `claude -p`."""

    name = "claude"
    ready = r"(?m)^❯"

    def sits(self) -> list[str]:
        file = self.home / ".claude.json"
        known = json.loads(file.read_bytes()) if file.exists() else {}
        known |= {"hasCompletedOnboarding": True, "theme": "dark"}
        known["customApiKeyResponses"] = {"approved": ["none"], "rejected": []}
        folder = known.setdefault("projects", {}).setdefault(str(self.project), {})
        folder |= {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        file.write_text(json.dumps(known, indent=2), "utf-8")
        return []

    def known(self) -> dict[str, str]:
        return {
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }

    def words(self, prompt: str, more: tuple[str, ...], *, again: bool) -> list[str]:
        return [*(["--continue"] if again else []), *more, "-p", prompt]


class Codex(Assistant):
    """Codex: `codex exec`, with the hooks of its home trusted unless `trusts` is false."""

    name = "codex"
    ready = "(?m)^› "
    trusts = True

    def sits(self) -> list[str]:
        return [*self.settings(), *self._trusting()]

    def known(self) -> dict[str, str]:
        return {"FAKE_KEY": "none"}

    def settings(self) -> list[str]:
        """What a person's config.toml would say of the provider and the folder."""
        server = f'{{name="fake",base_url={json.dumps(self.url + "/v1")},wire_api="responses",'
        server += 'env_key="FAKE_KEY",requires_openai_auth=false,request_max_retries=0,'
        server += "stream_max_retries=0}"
        folder = f'{{{json.dumps(str(self.project))}={{trust_level="trusted"}}}}'
        said = ['model="scripted"', 'model_provider="fake"', f"model_providers.fake={server}",
                f"projects={folder}"]  # fmt: skip
        return [word for each in said for word in ("-c", each)]

    def words(self, prompt: str, more: tuple[str, ...], *, again: bool) -> list[str]:
        resumed = ["resume", "--last"] if again else []
        said = [*self.settings(), *self._trusting(), "--skip-git-repo-check", *more]
        return ["exec", *said, *resumed, prompt]

    def _trusting(self) -> list[str]:
        return ["--dangerously-bypass-hook-trust"] if self.trusts else []


class Gemini(Assistant):
    """Gemini CLI: `gemini -p`, in a folder that it is told to trust."""

    name = "gemini"
    ready = "Type your message"

    def __init__(self, project: Path, home: Path, url: str, **more: str) -> None:
        super().__init__(project, home, url, **more)
        unsafe = [each for each in GEMINI_DEFAULTS.parents if each.stat().st_mode & 0o022]
        assert not unsafe, UNSAFE.format(unsafe[-1])

    def sits(self) -> list[str]:
        return ["-m", MODEL]

    def known(self) -> dict[str, str]:
        return {
            "GOOGLE_GEMINI_BASE_URL": self.url,
            "GEMINI_API_KEY": "none",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_TELEMETRY_ENABLED": "false",
            "GEMINI_CLI_SYSTEM_DEFAULTS_PATH": str(GEMINI_DEFAULTS),
        }

    def words(self, prompt: str, more: tuple[str, ...], *, again: bool) -> list[str]:
        resumed = ["--resume", "latest"] if again else []
        return ["-m", MODEL, *resumed, *more, "-p", prompt]


ASSISTANTS: tuple[type[Assistant], ...] = (Claude, Codex, Gemini)
