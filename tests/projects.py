"""Projects for tests of the interfaces: begun once in a run or a file, copied for each test."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pace import HUNG

from mdmemory.cli import main

Begin = Callable[..., None]
Git = Callable[..., str]
Patch = pytest.MonkeyPatch
Say = Callable[..., str]
Ask = Callable[..., Any]


class Ended(NamedTuple):
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


Run = Callable[..., Ended]


def git(folder: Path, *words: str, text: str | None = None) -> str:
    """What the real git prints: `git(folder, "log", "--oneline")`; it fails in an assertion."""
    command = ["git", "-C", str(folder), *words]
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, check=False, timeout=HUNG
    )
    assert done.returncode == 0, f"git {' '.join(words)}: {done.stderr}{done.stdout}"
    return done.stdout


def commit_all(folder: Path, message: str = "more", **files: str) -> str:
    """Commit everything below the folder as it is, with these texts in files; the commit."""
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    git(folder, "add", "-A", ".")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return tip(folder)


def tip(folder: Path, name: str = "HEAD") -> str:
    """The commit or object that is called so."""
    return git(folder, "rev-parse", name).strip()


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


@pytest.fixture(scope="session")
def template(
    _clean_environment: None, begin: Begin, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A project with a memory, for the files of tests that begin none of their own."""
    root = tmp_path_factory.mktemp("template") / "project"
    begin(root)
    return root


class KeptProject:
    """A project that `make(root)` makes, and the home that has its store, to be copied for tests.
    The store knows the project by its place, so each copy comes to the same one."""

    def __init__(self, base: Path, make: Callable[[Path], object]) -> None:
        self._place, self._project = base / "place/project", base / "project"
        self._home = base / "home"
        for folder in (self._home, self._place.parent):
            folder.mkdir()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HOME", str(self._home))
            make(self._place)
        self._place.rename(self._project)

    def copy(self, home: Path) -> Path:
        """A fresh project, with nothing beside it; what the home had is added to `home`."""
        shutil.rmtree(self._place.parent, ignore_errors=True)
        shutil.copytree(self._home, home, symlinks=True, dirs_exist_ok=True)
        shutil.copytree(self._project, self._place, symlinks=True)
        # git takes a copied file for a changed one until it looks
        words = ("git", "update-index", "-q", "--refresh")
        subprocess.run(words, cwd=self._place, check=True, timeout=HUNG)
        return self._place


@pytest.fixture
def project(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of `template`, which a file may have of its own, with the test standing in it."""
    root = tmp_path / "project"
    shutil.copytree(template, root)
    monkeypatch.chdir(root)
    return root


def bytes_below(folder: Path) -> dict[str, bytes]:
    """Every file of a project or a store, but for those of git and for our own state."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not {".git", ".mdmemory"} & {*path.relative_to(folder).parts}
    }


def script(path: Path, text: str) -> Path:
    """A program of the shell's there: an editor, or a hook."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in this process: `run("list").out`."""

    def command(*words: str) -> Ended:
        capsys.readouterr()
        return Ended(main([*words]), *capsys.readouterr())

    return command


@pytest.fixture
def say(run: Run) -> Say:
    """What a command says on standard output, which ends with `code`."""

    def command(*words: str, code: int = 0) -> str:
        done = run(*words)
        assert done.code == code, (words, done)
        return done.out

    return command


@pytest.fixture
def ask(run: Run) -> Ask:
    """The answer of a command with --json, which ends with `code` and has no more to say: on
    standard error stands at most what is in the answer, too."""

    def command(*words: str, code: int = 0) -> Any:
        done = run(*words, "--json")
        assert done.code == code, (words, done)
        answer = json.loads(done.out)
        error = answer.get("error") if isinstance(answer, dict) else None
        said = f"mdmemory: {error['message']} {error['hint']}\n" if error else ""
        assert done.err == said, words
        return answer

    return command


@pytest.fixture
def fail(run: Run) -> Say:
    """What a command says on standard error, which ends with `code` and says nothing else."""

    def command(*words: str, code: int = 1) -> str:
        done = run(*words)
        assert (done.code, done.out) == (code, ""), (words, done)
        return done.err

    return command
