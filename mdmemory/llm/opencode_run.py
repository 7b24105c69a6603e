"""A model asked through the person's OpenCode, by a headless `opencode run`.

The agent is our own and has no tools; nothing of the project's configuration is read, and the
project's folder supplies no program.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mdmemory.errors import BadSetting
from mdmemory.files import is_inside
from mdmemory.llm.answer import Answer, ContextExceeded, ModelFailed, Schema, in_words
from mdmemory.llm.manners import read
from mdmemory.llm.sizes import tokens

AGENT = "mdmemory-answer"  # a name that no file of the person's adds tools to
TITLE = "mdmemory asks"  # by its first word our own sessions are known, and never read
START = 30.0  # seconds on top of the model's: the client itself takes 3 to 13 to start
TIDY = 20.0  # seconds for finding and deleting the session
_DYING = 2.0  # seconds for a killed client's output to end
# What an OpenCode that started us hands on, and what would give the agent tools after all.
_NOT_INHERITED = (
    "OPENCODE", "OPENCODE_PID", "OPENCODE_RUN_ID", "OPENCODE_PERMISSION", "OPENCODE_PURE",
    "OPENCODE_CONFIG_CONTENT",
)  # fmt: skip


@dataclass(frozen=True)
class OpenCodeModel:
    """`program` run with `environment`; `name` is provider/model, or "" for OpenCode's default."""

    name: str
    program: Path
    environment: Mapping[str, str] = field(repr=False)
    timeout: float = 60.0
    kind: str = "opencode"
    context_tokens: int = 0  # of the model's window, where a person set them

    @property
    def sends_to(self) -> str:
        """The provider, if one was chosen; only OpenCode knows the host."""
        return provider(self.name)

    def complete(self, system: str, user: str, schema: Schema | None = None) -> Answer:
        """See Model. The session that this makes in OpenCode is deleted afterwards."""
        prompt = system if schema is None else f"{system}\n\n{in_words(schema)}"
        with tempfile.TemporaryDirectory(prefix="mdmemory-") as folder:
            environment = self._environment(folder)
            config = {"OPENCODE_CONFIG_CONTENT": self._config(prompt)}
            words = ["run", "--pure", "--format", "json", "--title", TITLE, "--agent", AGENT]
            words += ["--model", self.name] if self.name else []
            output, status = self._run(words, environment | config, user, START + self.timeout)
            events = list(_events(output))
            self._delete(events, environment, folder)
        if status is None:
            raise ModelFailed(
                f"OpenCode gave no answer within {START + self.timeout:g} s.",
                "Try `opencode run hello`; a slow model needs a larger llm.timeout_s.",
            )
        return _answer(events, prompt, user)

    def _environment(self, folder: str) -> dict[str, str]:
        env = {k: v for k, v in self.environment.items() if k not in _NOT_INHERITED}
        return env | {
            "PWD": folder,  # the client takes a session's folder from here, not from the real one
            "MDMEMORY_DISABLE": "1",
            "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
            "OPENCODE_DISABLE_CLAUDE_CODE": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        }

    def _config(self, system: str) -> str:
        """The person's inline configuration, if any, with our agent added."""
        agent = {
            "description": "Answers in text.", "mode": "primary",
            "prompt": "\0", "permission": {"*": "deny"},
        }  # fmt: skip
        config: dict[str, Any] = {}
        with suppress(ValueError):
            config = _dict(json.loads(self.environment.get("OPENCODE_CONFIG_CONTENT") or "{}"))
        agents = config.get("agent")
        config["agent"] = {**(agents if isinstance(agents, dict) else {}), AGENT: agent}
        # OpenCode replaces {env:NAME} and {file:PATH} in the text of a configuration: in a prompt
        # these would send what nobody meant to send, so no brace of it stands as a brace.
        prompt = json.dumps(system).replace("{", "\\u007b")
        return json.dumps({**config, "share": "disabled"}).replace(json.dumps("\0"), prompt)

    def _run(
        self, words: list[str], environment: Mapping[str, str], text: str, patience: float
    ) -> tuple[str, int | None]:
        """The client's output and exit code; None if it had to be killed."""
        try:
            process = subprocess.Popen(
                [self.program, *words], env=environment, cwd=environment["PWD"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                start_new_session=True,  # so that whatever it starts can be ended with it
            )  # fmt: skip
        except OSError as problem:
            raise ModelFailed(
                f"OpenCode could not be started: {problem.strerror}.",
                "Check opencode.command in your settings.",
            ) from None
        with process:
            try:
                out, _ = process.communicate(text.encode(), timeout=patience)
                return out.decode("utf-8", "replace"), process.returncode
            except subprocess.TimeoutExpired:
                _kill(process)
                try:
                    out = process.communicate(timeout=_DYING)[0]
                except subprocess.TimeoutExpired as problem:
                    # a process that left its group may keep the output open; it is not waited for
                    out = problem.output or b""
                return out.decode("utf-8", "replace"), None
            except BaseException:
                _kill(process)
                raise

    def _delete(
        self, events: list[dict[str, Any]], environment: Mapping[str, str], folder: str
    ) -> None:
        """Delete the session; if that fails, the answer still counts."""
        end = time.monotonic() + TIDY
        with suppress(ModelFailed):
            session = next((_text(event, "sessionID") for event in events), "")
            if not session:  # a client that was killed before it named the session of our folder
                words = ["session", "list", "--pure", "--format", "json"]
                out, _ = self._run(words, environment, "", end - time.monotonic())
                with suppress(ValueError, RecursionError):
                    listed = json.loads(out)
                    for each in map(_dict, listed if isinstance(listed, list) else ()):
                        if os.path.realpath(_text(each, "directory")) == os.path.realpath(folder):
                            session = session or _text(each, "id")
            if session.startswith("ses_"):
                words = ["session", "delete", session, "--pure"]
                self._run(words, environment, "", end - time.monotonic())


def find_program(command: str, search: str, project: Path) -> tuple[Path, str]:
    """The OpenCode client, and the search path (as in PATH) that it may be run with.

    `command` is an absolute path, or a name, or "" for `opencode`. What is relative in `search`,
    or lies in the project, is left out: a repository must not choose which program runs. Raises
    BadSetting when there is none.
    """
    safe = os.pathsep.join(
        entry for entry in search.split(os.pathsep)
        if os.path.isabs(entry) and not is_inside(Path(entry), project)
    )  # fmt: skip
    path = Path(command).expanduser()
    program = str(path) if path.is_absolute() else shutil.which(command or "opencode", path=safe)
    if program is None or not os.access(program, os.X_OK):
        raise BadSetting(
            f"The program {command or 'opencode'} is not there, or cannot be run.",
            "Install OpenCode, or set opencode.command to its absolute path in your settings.",
        )
    return Path(program), safe


def provider(name: str) -> str:
    """Where `opencode run` sends text, as far as mdmemory can know."""
    chosen = name.partition("/")[0]
    return f"OpenCode's provider {chosen}" if chosen else "OpenCode's default provider"


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the client and whatever it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _events(out: str) -> Iterator[dict[str, Any]]:
    """The JSON objects among the lines; a killed client may leave half of one."""
    for line in out.splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict):
            yield event


def _answer(events: list[dict[str, Any]], prompt: str, sent: str) -> Answer:
    for event in events:
        if event.get("type") == "error":
            raise _failure(event, prompt, sent)
    parts = [_dict(event.get("part")) for event in events]
    text = "".join(str(part.get("text", "")) for part in parts if part.get("type") == "text")
    ends = [part for part in parts if part.get("type") == "step-finish"]
    is_cut = any(part.get("reason") == "length" for part in ends)
    if is_cut and not text.strip():
        reason = "OpenCode's model was cut off at its length limit."
        raise ModelFailed(reason, "Choose a model with a larger one.")
    if not text.strip():
        hint = "Try `opencode run hello` to see whether it works."
        raise ModelFailed("OpenCode gave an empty answer.", hint)
    costs = [_dict(part.get("tokens")) for part in ends]
    read = [_count(_dict(cost.get("cache")).get("read")) for cost in costs]
    into = sum(_count(cost.get("input")) for cost in costs) + sum(read)
    out = sum(_count(cost.get("output")) + _count(cost.get("reasoning")) for cost in costs)
    return Answer(text, into, out, is_cut)


def _failure(event: dict[str, Any], prompt: str, sent: str) -> ModelFailed:
    """The error's name and number only: its message may repeat the text or a key."""
    error = _dict(event.get("error"))
    status = _dict(error.get("data")).get("statusCode")
    name = str(error.get("name", ""))
    refusal = read(status if type(status) is int else 0, json.dumps(error), sent, frozenset())
    if refusal.is_too_long:
        window = refusal.window or tokens(prompt + sent) // 2
        reason = f"The question is too long for OpenCode's model, which takes {window} tokens."
        return ContextExceeded(reason, window)
    code = str(status) if type(status) is int else name if name.isidentifier() else "unnamed"
    return ModelFailed(
        f"OpenCode's provider gave no answer (error {code[:60]}).",
        "Check the provider with `opencode run hello`, and extract.model in your settings.",
    )


def _text(values: dict[str, Any], key: str) -> str:
    value = values.get(key)
    return value if isinstance(value, str) else ""


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: object) -> int:
    return value if type(value) is int and 0 <= value < 2**40 else 0
