"""The real OpenCode client, run offline against the fake server, with a home of its own.

One `opencode serve` spoken to over HTTP; it and its children end with the `with` block.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fake_server import MODEL
from pace import HUNG

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / ".opencode-client" / "node_modules" / ".bin" / "opencode"
MISSING = "The OpenCode client is not installed; run: sh tests/e2e/client/install"
READY = HUNG  # a first start takes 6 seconds on an idle machine
STEP = HUNG  # for a turn or a command
PROVIDER = "fake"


def environment(project: Path, home: Path, url: str) -> dict[str, str]:
    """What the client is told: our provider and nothing of this machine's.

    PWD counts: the client takes a session's folder from it, not from the real one.
    """
    fake = {"npm": "@ai-sdk/openai-compatible", "name": "Fake"}
    fake |= {"options": {"baseURL": url, "apiKey": "none"}}
    fake |= {"models": {MODEL: {"limit": {"context": 200_000, "output": 8_000}}}}
    config = {"provider": {PROVIDER: fake}, "share": "disabled"}
    config |= dict.fromkeys(("snapshot", "lsp", "formatter"), False)
    config |= dict.fromkeys(("model", "small_model"), f"{PROVIDER}/{MODEL}")
    return {
        "HOME": str(home),
        "PWD": str(project),
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "OPENCODE_CONFIG_CONTENT": json.dumps(config),
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        # What takes seconds in each new folder, and has to do with nothing of ours: the list of all
        # providers' models among it.
        "OPENCODE_MODELS_PATH": str(Path(__file__).with_name("client") / "models.json"),
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_FFF": "1",
        "OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER": "1",
        # With a plugin the client lets npm install its types, and waits 90 s for no answer.
        "npm_config_fetch_retries": "0",
        # An address that refuses at once, should anything still try to leave the machine.
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "NO_PROXY": "127.0.0.1,localhost",
    }


class OpenCode:
    """A client at work: `with OpenCode(project, home, server.url) as client:`.

    `home` must be a folder of the test's own. Raises AssertionError when the client is missing,
    does not start in READY seconds, or does not answer in STEP.
    """

    def __init__(self, project: Path, home: Path, url: str, **more: str) -> None:
        """`more` are further variables of its environment, or others than usual."""
        assert PROGRAM.exists(), MISSING
        self.project = project
        self.log = home / "serve.log"
        self._environment = environment(project, home, url) | more
        self._url = ""
        self._folder = project

    def __enter__(self) -> OpenCode:
        with self.log.open("wb") as log:
            # A session of its own, so that its children can be ended with it.
            words = [PROGRAM, "serve", "--hostname", "127.0.0.1", "--port", "0"]
            streams = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": subprocess.STDOUT}
            self._process = subprocess.Popen(
                words, cwd=self.project, env=self._environment, start_new_session=True, **streams
            )
        try:
            self._url = self._wait_until_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()

    def restart(self) -> None:
        """End the client, and start it anew."""
        self.stop()
        self.__enter__()

    def stop(self) -> None:
        """End the client and whatever it started."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self._process.pid, sign)
            except ProcessLookupError:
                break
            try:
                self._process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                continue

    def new_session(self, title: str = "test", *, folder: Path | None = None) -> str:
        """The id of a new session; with a title, so that the client asks no model for one.

        One server serves many folders: from now on `folder`, if given, is spoken to.
        """
        self._folder = folder or self.project
        return str(self._post("/session", {"title": title})["id"])

    def send(self, session: str, text: str) -> str:
        """Say `text` as the user and wait for the end of the turn; what the assistant answered."""
        said = {"parts": [{"type": "text", "text": text}]}
        answer = self._post(f"/session/{session}/message", said)
        assert not answer["info"].get("error"), answer["info"]
        return "".join(part["text"] for part in answer["parts"] if part["type"] == "text")

    def command(self, session: str, name: str, arguments: str) -> None:
        """Run a command, as `/name arguments` in the client does, and wait for the turn's end."""
        self._post(f"/session/{session}/command", {"command": name, "arguments": arguments})

    def _wait_until_ready(self) -> str:
        end = time.monotonic() + READY
        while time.monotonic() < end:
            said = self.log.read_text(encoding="utf-8", errors="replace")
            found = re.search(r"listening on (http://\S+)", said)
            if found:
                return found.group(1)
            assert self._process.poll() is None, f"the client ended: {said}"
            time.sleep(0.1)
        raise AssertionError(f"the client did not start in {READY:.0f} s: {said}")

    def summarize(self, session: str) -> None:
        """Let the client compact a session: what was said becomes a summary by the model."""
        self._post(f"/session/{session}/summarize", {"providerID": PROVIDER, "modelID": MODEL})

    def messages(self, session: str) -> Any:
        """The messages of a session, each with its parts, as the client stores them."""
        return self._ask("GET", f"/session/{session}/message")

    def events(self) -> Iterator[dict[str, Any]]:
        """What the client tells its screens from now on, until it ends."""
        about = {"x-opencode-directory": str(self._folder)}
        answer = urllib.request.urlopen(urllib.request.Request(self._url + "/event", None, about))
        return (json.loads(line[5:]) for line in answer if line.startswith(b"data:"))

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        return self._ask("POST", path, json.dumps(body).encode())

    def _ask(self, method: str, path: str, body: bytes | None = None) -> Any:
        about = {"Content-Type": "application/json", "x-opencode-directory": str(self._folder)}
        asked = urllib.request.Request(self._url + path, body, about, method=method)
        with urllib.request.urlopen(asked, timeout=STEP) as answer:
            return json.load(answer)
