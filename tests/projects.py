"""Projects for tests of the interfaces: begun once for all tests of a file, copied for each."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pace import HUNG

Begin = Callable[..., None]


@pytest.fixture(scope="session")
def begin() -> Begin:
    """Makes a folder a project of a person's own: `begin(root, words, ...)` runs each of `words`
    afterwards, `mdmemory` among them, with nothing of this machine's settings."""

    def run(root: Path, *commands: tuple[str, ...]) -> None:
        root.mkdir(exist_ok=True)
        clean = {"PATH": os.environ["PATH"], "HOME": str(root.parent)}
        clean["GIT_CONFIG_GLOBAL"] = "/dev/null"
        for words in (
            ("git", "init", "-q", "-b", "main", "--template="),
            ("git", "config", "user.name", "A Person"),
            ("git", "config", "user.email", "person@example.com"),
            ("mdmemory", "init", "--store", "notes/memory"),
            *commands,
        ):
            if words[0] == "mdmemory":
                words = (sys.executable, "-P", "-m", *words)
            subprocess.run(
                words, cwd=root, env=clean, check=True, timeout=HUNG, capture_output=True
            )

    return run


@pytest.fixture
def project(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the file's own `template`, with the test standing in it."""
    root = tmp_path / "project"
    shutil.copytree(template, root)
    monkeypatch.chdir(root)
    return root
