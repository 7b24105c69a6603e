"""What a person is shown comes through GitPython, from the right repository, whatever it is."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pace import HUNG

from mdmemory import Memory
from mdmemory.errors import GitFailed
from mdmemory.git import repositories
from mdmemory.git.commits_of_store import History
from mdmemory.git.gitpython import open_history

Git = Callable[..., str]


def test_a_repository_of_sha_256_is_shown_as_any_other(tmp_path: Path, git: Git) -> None:
    folder = tmp_path / "~ $HOME"  # which GitPython would read as other folders
    folder.mkdir()
    git(folder, "init", "-q", "--object-format=sha256")
    memory, _ = Memory.init(folder)
    memory.add("tea", type="user", description="Drinks tea", body="Green.")
    memory.edit("tea", body="Black.")
    assert [step.kind for step in memory.history("tea")] == ["edit", "add"]
    ((newest, undone),) = memory.log(1)
    (change,) = memory.file_changes([newest.commit])[newest.commit]
    assert (len(newest.commit), undone, "Black." in change.after) == (64, False, True)


def test_no_variable_of_the_caller_leads_to_another_repository(
    repository: Path, tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, _ = Memory.init(repository)
    memory.add("tea", type="user", description="Drinks tea", body="Green.")
    (tmp_path / "other").mkdir()
    git(tmp_path / "other", "init", "-q")
    expected = [entry.commit for entry, _ in memory.log()]
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "bogus")
    assert [entry.commit for entry, _ in memory.log()] == expected
    assert [step.kind for step in memory.history("tea")] == ["add"]


def test_what_git_refuses_is_said_as_everywhere(store: Path) -> None:
    repository = repositories.find(store)
    assert repository is not None
    history = open_history(History(repository, store))
    with pytest.raises(GitFailed, match="git rev-list failed: bad revision 'nothing'"):
        history.repository.run("rev-list", "nothing", "--")
    assert history.find_commit("nothing") is None
    assert history.read("HEAD", "user-name.md")


def test_loading_it_runs_no_git_of_the_present_folder(tmp_path: Path) -> None:
    evil = tmp_path / "git"
    evil.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n")
    evil.chmod(0o755)
    code = "from mdmemory.git import gitpython as it; print(it._import_gitpython().__name__)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=tmp_path, timeout=HUNG, check=True,
        capture_output=True, text=True,
        env={**os.environ, "PATH": f".:{os.environ['PATH']}", "GIT_PYTHON_GIT_EXECUTABLE": "./git"},
    )  # fmt: skip
    assert done.stdout == "git\n"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("words", [("add", "Tea at four"), ("status",), ("list",)])
def test_only_what_shows_history_loads_gitpython(repository: Path, words: tuple[str, ...]) -> None:
    memory, _ = Memory.init(repository)
    memory.add("tea", type="user", description="Drinks tea", body="Green.")
    code = "import sys; from mdmemory.cli import main; main(sys.argv[1:]); "
    code += "sys.exit('git' in sys.modules)"
    subprocess.run(
        [sys.executable, "-P", "-c", code, *words], cwd=repository, timeout=HUNG, check=True
    )
