"""How a store is found, and what is never taken for one."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from pace import HUNG

from mdmemory import Memory
from mdmemory.config.person import Places
from mdmemory.errors import BadSetting, NoState, NoStore
from mdmemory.store.project import find_project, open_project, person_root

Git = Callable[..., str]


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places({"MDMEMORY_HOME": str(tmp_path / "home")}, tmp_path / "config" / "config.toml")


def make_project(root: Path, store: str = "notes/memory") -> Path:
    (root / store).mkdir(parents=True)
    (root / "mdmemory.toml").write_text(f'store = "{store}"\n', encoding="utf-8")
    return root


def test_the_store_is_found_from_any_folder_below_the_project(
    repository: Path, places: Places
) -> None:
    make_project(repository)
    deep = repository / "src" / "deep"
    deep.mkdir(parents=True)
    assert find_project(deep, None, places).store == repository / "notes" / "memory"


def test_the_search_never_goes_above_the_repository_root(
    tmp_path: Path, repository: Path, places: Places
) -> None:
    make_project(tmp_path)
    with pytest.raises(NoStore) as problem:
        find_project(repository, None, places)
    assert "mdmemory init" in problem.value.hint


def test_a_named_store_wins_over_the_one_that_would_be_found(
    tmp_path: Path, repository: Path, places: Places
) -> None:
    make_project(repository)
    other = make_project(tmp_path / "other")
    assert find_project(repository, str(other), places).root == other
    assert find_project(repository, str(other / "notes/memory"), places).root == other
    bare = tmp_path / "bare"
    bare.mkdir()
    assert find_project(repository, str(bare), places).store == bare


def test_a_linked_worktree_without_settings_uses_the_main_worktree_s_store(
    tmp_path: Path, repository: Path, git: Git, places: Places
) -> None:
    linked = tmp_path / "linked"
    git(repository, "worktree", "add", "-q", str(linked))
    make_project(repository)
    assert find_project(linked, None, places).root == repository


def test_the_person_s_own_store_is_the_last_resort(tmp_path: Path, places: Places) -> None:
    make_project(person_root(places))
    lonely = tmp_path / "lonely"
    lonely.mkdir()
    assert find_project(lonely, None, places).root == person_root(places)


@pytest.mark.parametrize("link", ["notes", "notes/memory"])
def test_a_store_behind_a_link_is_refused(tmp_path: Path, places: Places, link: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "memory").mkdir(parents=True)
    root = make_project(tmp_path / "p", "other")
    (root / "mdmemory.toml").write_text('store = "notes/memory"\n', encoding="utf-8")
    (root / link).parent.mkdir(parents=True, exist_ok=True)
    (root / link).symlink_to(elsewhere if link == "notes" else elsewhere / "memory")
    with pytest.raises(NoStore, match="symbolic link"):
        open_project(root, places)


def test_a_store_that_is_gone_says_who_named_it(tmp_path: Path, places: Places) -> None:
    root = make_project(tmp_path / "p")
    (root / "notes/memory").rmdir()
    with pytest.raises(NoStore, match=r"mdmemory\.toml names it"):
        open_project(root, places)


@pytest.mark.parametrize("path", ["/etc", "~/notes", "../up", "a/../../b", ".git/notes"])
def test_a_project_cannot_put_its_store_outside_itself(
    tmp_path: Path, places: Places, path: str
) -> None:
    root = make_project(tmp_path / "p", "notes")
    (root / "mdmemory.toml").write_text(f'store = "{path}"\n', encoding="utf-8")
    with pytest.raises(BadSetting, match="folder inside the project"):
        open_project(root, places)


def test_private_state_is_its_owner_s_alone_and_ignores_itself(repository: Path, git: Git) -> None:
    memory, _ = Memory.init(repository)
    assert memory.project.prepare_private().stat().st_mode & 0o777 == 0o700
    assert git(repository, "status", "--porcelain") == ""


def test_private_state_is_never_written_through_a_link(tmp_path: Path, places: Places) -> None:
    root = make_project(tmp_path / "p")
    (tmp_path / "target").mkdir()
    (root / ".mdmemory").symlink_to(tmp_path / "target")
    with pytest.raises(NoState, match="symbolic link"):
        open_project(root, places).prepare_private()
    assert os.listdir(tmp_path / "target") == []


def test_the_step_that_makes_room_for_private_state_can_be_typed(
    tmp_path: Path, places: Places
) -> None:
    root = make_project(tmp_path / "it's mine")
    (root / ".mdmemory").write_text("a file")
    with pytest.raises(NoState) as refusal:
        open_project(root, places).prepare_private()
    (command,) = re.findall(r"`(.*)`", refusal.value.hint)
    subprocess.run(command, shell=True, check=True, timeout=HUNG)
    assert open_project(root, places).prepare_private().is_dir()
