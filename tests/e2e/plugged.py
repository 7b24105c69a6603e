"""A project whose OpenCode has our plugin, set up so that the client starts offline and at once."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

from pace import HUNG

from mdmemory.hosts.opencode.wiring import plugin_source

STORE = "notes/memory"
PROGRAM = Path(sys.executable).with_name("mdmemory")
_T = TypeVar("_T")


class Place(NamedTuple):
    """A project with the plugin, and the home that its client has."""

    project: Path
    home: Path

    def log(self) -> str:
        """What the bridge logged, but for what a busy machine alone has it say."""
        file = self.project / ".mdmemory/bridge.log"
        lines = file.read_text("utf-8").splitlines() if file.exists() else []
        return "\n".join(line for line in lines if "search took longer" not in line)


def make(folder: Path) -> Place:
    """A new project below `folder`, wired, with the plugin that starts the real program."""
    project, home = folder / "project", folder / "home"
    project.mkdir(parents=True)
    home.mkdir()
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "HOME": str(home)}
    for words in (
        ("git", "init", "-q", "-b", "main"), ("git", "config", "user.name", "A Person"),
        ("git", "config", "user.email", "person@example.com"),
        ("git", "commit", "-q", "--allow-empty", "-m", "first"),
        (PROGRAM, "init", "--shared", "--opencode"),
    ):  # fmt: skip
        subprocess.run(
            words, cwd=project, env=env, check=True, timeout=HUNG, stdout=subprocess.DEVNULL
        )
    for place in (project / ".opencode", home / ".config/opencode"):
        spare_npm(place)
    text = plugin_source([str(PROGRAM)], [f"../../{STORE}/MEMORY.md"])
    (project / ".opencode/plugin/mdmemory.ts").write_text(text, "utf-8")
    return Place(project, home)


def spare_npm(folder: Path) -> None:
    """Make the client believe that its own package is installed in a configuration folder: where
    there is a plugin it runs npm otherwise, which takes 90 s without a network."""
    wanted = {"dependencies": {"@opencode-ai/plugin": "1.18.33"}}
    (folder / "node_modules").mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text(json.dumps(wanted), "utf-8")
    lock = {"lockfileVersion": 3, "packages": {"": wanted}}
    (folder / "package-lock.json").write_text(json.dumps(lock), "utf-8")


def mdmemory(project: Path, *words: str, text: str | None = None) -> str:
    """What the installed command prints, run in `project`, with `text` on its stdin."""
    done = subprocess.run(
        [PROGRAM, *words], cwd=project, input=text, capture_output=True, text=True, timeout=HUNG,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def until(look: Callable[[], _T], seconds: float = HUNG) -> _T:
    """What `look` gives as soon as it is something."""
    end = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < end, f"nothing came of it in {seconds:g} s"
        time.sleep(0.1)
    return found
