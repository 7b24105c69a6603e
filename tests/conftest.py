"""What every test stands on: an empty home, no git configuration, nothing of the machine's."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

SCRUBBED = ("GIT_", "MDMEMORY_", "MEMORY_", "OPENAI_", "XDG_", "OPENCODE")


@pytest.fixture(autouse=True)
def empty_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own, so that nothing of the machine is read or written."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(SCRUBBED):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in ("EDITOR", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture
def git() -> Callable[..., str]:
    """Runs the real git: `git(folder, "log", "--oneline")` gives what it prints."""

    def run(folder: Path, *words: str, text: str | None = None) -> str:
        done = subprocess.run(
            ["git", "-C", str(folder), *words],
            input=text, capture_output=True, text=True, check=False, timeout=60,
        )
        assert done.returncode == 0, f"git {' '.join(words)}: {done.stderr}"
        return done.stdout

    return run


@pytest.fixture
def repository(tmp_path: Path, git: Callable[..., str]) -> Path:
    """A git repository of a person's own, with one commit and an identity."""
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "A Person")
    git(folder, "config", "user.email", "person@example.com")
    (folder / "README").write_text("a project\n", encoding="utf-8")
    git(folder, "add", "README")
    git(folder, "commit", "-q", "-m", "first")
    return folder
