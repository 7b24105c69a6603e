"""A store whose repository is damaged or gone, and settings of a store that are not what we write.

Reading works, nothing is committed elsewhere, and one sentence says what to do.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmemory.cli import main
from mdmemory.memory import Memory

Git = Callable[..., str]
Damage = Callable[[Path], object]


def lose_head(git_dir: Path) -> None:
    (git_dir / "HEAD").write_text("garbage")


def point_nowhere(git_dir: Path) -> None:
    shutil.rmtree(git_dir)
    git_dir.write_text("gitdir: /nowhere\n")


DAMAGES = [lose_head, point_nowhere, shutil.rmtree]


@pytest.fixture(params=["home", "here"])
def memory(
    request: pytest.FixtureRequest, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> Memory:
    """A store with a repository of its own and a note, the test standing in its project."""
    how = {"home": True} if request.param == "home" else {"own_repo": True}
    memory, _ = Memory.init(repository, **how)
    memory.add("tea", type="user", description="Drinks tea.", body="Green tea.")
    monkeypatch.chdir(repository)
    return memory


def failed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The sentence with which a command ends that cannot be done."""
    capsys.readouterr()
    assert main([*words, "--json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["message"].endswith(".")
    assert error["hint"], "there is no next step"
    return str(error["message"])


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_repository_is_named_and_the_projects_gets_no_note(
    damage: Damage, memory: Memory, repository: Path, git: Git, capsys: pytest.CaptureFixture[str]
) -> None:
    store, is_gone = memory.project.store, damage is shutil.rmtree
    kind = "here" if store.is_relative_to(repository) else "home"
    damage(store / ".git")
    before = git(repository, "rev-parse", "HEAD"), git(repository, "status", "--porcelain")
    assert [note.file for note in memory.notes()] == ["user-tea.md"]
    added = memory.add("plan", type="project", description="The plan.", body="Ship it.")
    assert added.written.commit is None
    for words in (("forget", "plan"), ("log",), ("undo", "--yes")):
        assert ".git" in failed(capsys, *words) or "repository" in failed(capsys, *words)
    assert (store / "project-plan.md").exists()
    assert main(["doctor"]) == (0 if is_gone and kind == "home" else 1)
    assert (git(repository, "rev-parse", "HEAD"),
            git(repository, "status", "--porcelain")) == before  # fmt: skip


def test_lost_objects_are_an_error_and_the_notes_are_read(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in (memory.project.store / ".git" / "objects").glob("??"):
        shutil.rmtree(folder)
    assert [note.file for note in memory.notes()] == ["user-tea.md"]
    failed(capsys, "forget", "tea")
    assert (memory.project.store / "user-tea.md").exists()
    assert main(["doctor"]) == 1
    assert "git has lost the last commit" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    [b'store = "."\n[project]\nroots = 3\n', b'store = "."\n[project\n', b"\xff\xfe",
     b'store = "/etc"\n[project]\nfolders = ["%s"]\n',
     b'store = "../other"\n[project]\nfolders = ["%s"]\n'],
)  # fmt: skip
def test_a_store_in_the_memory_folder_whose_settings_point_elsewhere_is_refused(
    text: bytes, repository: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    memory, _ = Memory.init(repository, home=True)
    memory.add("tea", type="user", description="Drinks tea.", body="Green tea.")
    monkeypatch.chdir(repository)
    settings = memory.project.store / "mdmemory.toml"
    settings.write_bytes(text.replace(b"%s", str(repository / ".git").encode()))
    assert str(settings) in failed(capsys, "list")
    failed(capsys, "add", "x", "--type", "project", "--description", "X.", "X.")
    assert (memory.project.store / "user-tea.md").exists()
