"""A store in the memory folder: made once, found again, and nothing of it in the project."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pace import HUNG
from projects import Git, Patch, Run, Say

from mdmemory import Memory
from mdmemory.errors import MdmemoryError, NoStore

WHO = ("-c", "user.name=A Person", "-c", "user.email=person@example.com")


def state(git: Git, project: Path) -> tuple[str, str, bytes, list[str]]:
    """What must not change in a project: its status, HEAD, index and hooks."""
    status = git(project, "status", "--porcelain", "--ignored")  # it brings the index up to date
    index = (project / ".git" / "index").read_bytes()
    hooks = sorted(os.listdir(project / ".git" / "hooks"))
    return status, git(project, "rev-parse", "HEAD"), index, hooks


@pytest.fixture
def home(empty_home: Path) -> Path:
    return empty_home / "mdmemory"


def add(memory: Memory, name: str = "tabs") -> None:
    memory.add(name, type="feedback", description=f"About {name}", body="Tabs, always.")


def test_a_project_gets_a_store_and_nothing_in_the_project_changes(
    repository: Path, home: Path, git: Git
) -> None:
    before = state(git, repository)
    memory, setup = Memory.init(repository, home=True)
    add(Memory.open(repository))
    assert memory.project.store == home / "project"
    assert home.stat().st_mode & 0o777 == 0o700
    assert state(git, repository) == before
    assert setup.commit is not None
    assert git(home / "project", "status", "--porcelain") == ""
    expected = [".gitattributes", "MEMORY.md", "feedback-tabs.md", "mdmemory.toml"]
    assert git(home / "project", "ls-files").split() == expected


def test_again_nothing_changes(repository: Path, home: Path, git: Git) -> None:
    Memory.init(repository, home=True)
    before = git(home / "project", "rev-parse", "HEAD")
    (repository / "below").mkdir()
    memory, setup = Memory.init(repository / "below", home=True)
    assert (setup.commit, setup.files, setup.said) == (None, [], [])
    assert memory.project.store == home / "project"
    assert git(home / "project", "rev-parse", "HEAD") == before
    assert [name for name in os.listdir(home) if not name.startswith(".lock")] == ["project"]


def test_two_projects_of_one_name_have_two_stores(
    repository: Path, home: Path, tmp_path: Path, git: Git
) -> None:
    other = tmp_path / "elsewhere" / "project"
    other.mkdir(parents=True)
    git(other, "init", "-q", "-b", "main")
    git(other, *WHO, "commit", "-q", "--allow-empty", "-m", "another")
    assert Memory.init(repository, home=True)[0].project.store == home / "project"
    assert Memory.init(other, home=True)[0].project.store == home / "project-2"
    assert Memory.open(repository).project.store == home / "project"


def test_a_new_clone_after_rm_rf_has_the_notes_and_its_place_is_written_down(
    repository: Path, home: Path, tmp_path: Path, git: Git
) -> None:
    bare = tmp_path / "origin.git"
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(bare))
    git(repository, "remote", "add", "origin", str(bare))
    add(Memory.init(repository, home=True)[0])
    shutil.rmtree(repository)
    git(tmp_path, "clone", "-q", str(bare), "new")
    told: list[str] = []
    layers = Memory.around(tmp_path / "new", tell=told.append)
    assert [note.file for note in layers.main.notes()] == ["feedback-tabs.md"]
    assert "known again" in told[0]
    add(layers.main, "spaces")
    assert not Memory.open(tmp_path / "new").project.is_moved
    assert git(home / "project", "status", "--porcelain") == ""


def test_a_project_that_is_not_certain_is_asked_about_and_can_join(
    repository: Path, home: Path, tmp_path: Path, say: Say, fail: Say, monkeypatch: Patch
) -> None:
    Memory.init(repository, home=True)
    copy = shutil.copytree(repository, tmp_path / "copy")
    monkeypatch.chdir(copy)
    assert "mdmemory init --join" in fail("list")
    say("init", "--join", "project")
    assert Memory.open(copy).project.store == home / "project"
    assert "Those in" in fail("init", "--join", "nothing")


def test_a_copy_that_is_another_project_gets_a_store_of_its_own(
    repository: Path, home: Path, tmp_path: Path
) -> None:
    Memory.init(repository, home=True)
    copy = shutil.copytree(repository, tmp_path / "copy")
    assert Memory.init(copy, home=True)[0].project.store == home / "copy"
    assert Memory.open(copy).project.store == home / "copy"
    assert Memory.open(repository).project.store == home / "project"


@pytest.mark.parametrize("bare", [True, False])
def test_what_is_no_project_of_its_own_gets_no_store(
    tmp_path: Path, home: Path, git: Git, bare: bool
) -> None:
    (tmp_path / "no-project").mkdir()
    if bare:
        git(tmp_path, "init", "-q", "--bare", "no-project")
    with pytest.raises(MdmemoryError) as refusal:
        Memory.init(tmp_path / "no-project", home=True)
    assert refusal.value.hint
    assert not home.exists()


def test_a_home_folder_that_is_a_repository_is_no_project_and_does_not_see_the_stores(
    empty_home: Path, repository: Path, git: Git
) -> None:
    git(empty_home, "init", "-q", "-b", "main")
    git(empty_home, *WHO, "commit", "-q", "--allow-empty", "-m", "dotfiles")
    with pytest.raises(NoStore, match="home folder"):
        Memory.init(empty_home, home=True)
    add(Memory.init(repository, home=True)[0])
    assert git(empty_home, "status", "--porcelain") == ""


def test_processes_that_begin_at_once_make_one_store_and_what_a_killed_one_began_goes(
    repository: Path, home: Path
) -> None:
    (home / ".begun-project").mkdir(parents=True)
    words = [sys.executable, "-P", "-m", "mdmemory", "init"]
    racing = [subprocess.Popen(words, cwd=repository) for _ in range(3)]
    assert [process.wait(HUNG) for process in racing] == [0, 0, 0]
    assert [name for name in os.listdir(home) if not name.startswith(".lock")] == ["project"]


def test_a_note_for_a_store_that_lost_its_repository_is_written_and_the_next_step_is_said(
    repository: Path, home: Path, run: Run, monkeypatch: Patch
) -> None:
    monkeypatch.chdir(repository)
    run("init")
    shutil.rmtree(home / "project" / ".git")
    done = run("add", "tabs", "--type", "feedback", "--description", "About tabs", "Tabs.")
    assert f"Make it one: `mdmemory init {home / 'project'}`" in done.err
    assert (home / "project" / "feedback-tabs.md").is_file()
