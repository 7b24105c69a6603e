"""The clients whose hooks are commands, in a project with a memory."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from commands_host import HOSTS, CommandHost
from pace import HUNG
from projects import KeptProject

from mdmemory.cli import main
from mdmemory.hosts import conversation
from mdmemory.memory import Memory


@pytest.fixture(scope="session")
def _remembered(_first_commit: Path, tmp_path_factory: pytest.TempPathFactory) -> KeptProject:
    def make(root: Path) -> None:
        shutil.copytree(_first_commit, root)
        layers = Memory.around(root)
        layers.add("Billing listens on port 8087", type="project")
        layers.add("I prefer answers in French", type="user")

    return KeptProject(tmp_path_factory.mktemp("remembered"), make)


@pytest.fixture
def work(_remembered: KeptProject, empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a commit and an own store with one note, and the person's with one."""
    monkeypatch.setattr(conversation, "PATIENCE", HUNG)  # a slow machine is no reason to be quiet
    return _remembered.copy(empty_home)


@pytest.fixture(params=HOSTS)
def host(request: pytest.FixtureRequest, work: Path, tmp_path: Path) -> CommandHost:
    return CommandHost(request.param, work, tmp_path / "session.jsonl")


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str], empty_home: Path) -> Callable[..., tuple[int, str]]:
    """`mdmemory setup` with these words: its exit code, and all that it printed."""

    def run(*words: str) -> tuple[int, str]:
        code = main(["setup", *words])
        out, err = capsys.readouterr()
        return code, out + err

    return run
