"""Machines of one person, each with a store of its own, and the remote that they share."""

import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest

from mdmemory import Memory
from mdmemory.actions.sync import Synced

Git = Callable[..., str]
Machine = Callable[[str], Memory]
Two = tuple[Memory, Memory]


@pytest.fixture
def empty_remote(git: Git, tmp_path: Path) -> Path:
    """An empty remote."""
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "remote")
    return tmp_path / "remote"


@pytest.fixture(scope="session")
def _machines(
    git: Git, _clean_environment: None, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """The project of a machine by its name, with a store that it began by itself; made once."""
    folder = tmp_path_factory.mktemp("machines")

    @cache
    def begin(name: str) -> Path:
        project = folder / name
        git(folder, "init", "-q", "-b", "main", name)
        identify(git, project, name)
        (project / "README").write_text("a project\n", encoding="utf-8")
        git(project, "add", "README")
        git(project, "commit", "-qm", "first")
        memory, _ = Memory.init(project, own_repo=True)
        identify(git, memory.project.store, name)
        return project

    return begin


@pytest.fixture
def machine(_machines: Callable[[str], Path], tmp_path: Path) -> Machine:
    """`machine("home")` is a machine of the person's, with a store that it began by itself."""

    def begin(name: str) -> Memory:
        shutil.copytree(_machines(name), tmp_path / name, symlinks=True)
        clock = lambda: datetime(2026, 6, 1, 12, tzinfo=UTC)  # noqa: E731
        return Memory.open(tmp_path / name, clock=clock)

    return begin


def identify(git: Git, folder: Path, name: str) -> None:
    git(folder, "config", "user.name", name)
    git(folder, "config", "user.email", f"{name}@example.com")


def add(memory: Memory, name: str, text: str = "", kind: str = "user") -> Path:
    done = memory.add(
        name, type=kind, description=f"Is fond of {name}.", body=text or f"Is fond of {name}."
    )
    return memory.project.store / done.file


def texts(memory: Memory) -> dict[str, str]:
    store = memory.project.store
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(store.glob("*.md"))}


def check_same(one: Memory, two: Memory, git: Git) -> None:
    """Both hold the same, git is clean and in the middle of nothing, the index is fresh."""
    assert texts(one) == texts(two)
    for memory in (one, two):
        assert git(memory.project.store, "status", "--porcelain") == ""
        assert memory.git_state() == "ready"
        assert memory.index(check=True).changed == ()
    assert len({git(memory.project.store, "rev-parse", "HEAD") for memory in (one, two)}) == 1


def come_together(one: Memory, two: Memory, git: Git) -> Synced:
    """Each syncs until both hold the same; what the second one's sync did."""
    one.sync()
    done = two.sync()
    one.sync()
    check_same(one, two, git)
    return done


@pytest.fixture
def machines(machine: Machine, empty_remote: Path) -> Two:
    """Two machines that share a store with one note, `tea`."""
    home, work = machine("home"), machine("work")
    add(home, "tea", "Drinks tea.\n\nIn the morning.\n\nWith milk.")
    home.sync(remote=str(empty_remote))
    work.sync(remote=str(empty_remote))
    return home, work
