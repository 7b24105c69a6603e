"""A project whose OpenCode has our plugin, set up so that the client starts offline and at once."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from mdmemory.doors.wiring.files import plugin

STORE = "notes/memory"
PROGRAM = Path(sys.executable).with_name("mdmemory")
_T = TypeVar("_T")


def plug(project: Path, home: Path, command: list[str] | None = None) -> None:
    """Put the plugin into a project; `command` is what it starts (default: the real one)."""
    for folder in (project / ".opencode", home / ".config/opencode"):
        spare_npm(folder)
    file = project / ".opencode/plugin/mdmemory.ts"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(plugin(command or [str(PROGRAM)]), encoding="utf-8")


def spare_npm(folder: Path) -> None:
    """Make the client believe that its own package is installed in a configuration folder: where
    there is a plugin it runs npm otherwise, which takes 90 s without a network."""
    wanted = {"dependencies": {"@opencode-ai/plugin": "1.18.33"}}
    (folder / "node_modules").mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text(json.dumps(wanted), encoding="utf-8")
    lock = {"lockfileVersion": 3, "packages": {"": wanted}}
    (folder / "package-lock.json").write_text(json.dumps(lock), encoding="utf-8")


def mdmemory(project: Path, *words: str) -> str:
    """What the installed command prints, run in `project`."""
    done = subprocess.run(
        [PROGRAM, *words], cwd=project, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def until(look: Callable[[], _T], seconds: float = 30.0) -> _T:
    """What `look` gives as soon as it is something."""
    end = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < end, f"nothing came of it in {seconds:g} s"
        time.sleep(0.1)
    return found
