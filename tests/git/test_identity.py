"""A project is known again by its first commit and where it was cloned from."""

import subprocess
from pathlib import Path

import pytest
from pace import HUNG

from mdmemory.git import repositories


def git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=folder, check=True, capture_output=True, text=True, timeout=HUNG
    ).stdout.strip()


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    folder = tmp_path / "origin"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "A Person")
    git(folder, "config", "user.email", "person@example.org")
    git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    git(folder, "commit", "-q", "--allow-empty", "-m", "two")
    return folder


def of(folder: Path) -> repositories.Identity:
    repository = repositories.find(folder)
    assert repository is not None
    known = repositories.identify(repository)
    assert known is not None
    return known


def test_a_clone_has_the_first_commit_of_its_origin(origin: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(origin), "clone")
    clone, there = of(tmp_path / "clone"), of(origin)
    assert clone.roots == there.roots == (git(origin, "rev-list", "--max-parents=0", "HEAD"),)
    assert clone.remotes == (str(origin),)
    assert clone.common_dir != there.common_dir


def test_a_linked_worktree_shares_the_directory_of_its_repository(
    origin: Path, tmp_path: Path
) -> None:
    git(origin, "worktree", "add", "-q", str(tmp_path / "linked"))
    assert of(tmp_path / "linked").common_dir == of(origin).common_dir


def test_the_oldest_commit_of_a_shallow_clone_is_not_taken_for_the_first(
    origin: Path, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{origin}", "shallow")
    assert of(tmp_path / "shallow").roots == ()


def test_a_repository_without_a_commit_has_no_identity(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    repository = repositories.find(tmp_path)
    assert repository is not None
    assert repositories.identify(repository) is None


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("git@example.org:team/app.git", "example.org/team/app"),
        ("https://name:word@Example.org/team/app.git", "example.org/team/app"),
        ("ssh://git@example.org:2222/team/app", "example.org/team/app"),
        ("https://example.org/team/app/", "example.org/team/app"),
        ("example.org:team/app", "example.org/team/app"),
        ("/srv/git/app.git", "/srv/git/app.git"),
        ("../app", "../app"),
        ("file:///srv/git/app.git", "/srv/git/app.git"),
    ],
)
def test_every_way_to_reach_a_remote_names_one_place(url: str, place: str) -> None:
    assert repositories.parse_remote(url) == place
