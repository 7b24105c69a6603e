"""A store inside a project is named by doctor: what is built or cleaned there may touch it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mdmemory.memory import Memory

Git = Callable[..., str]


def findings_of(project: Path, check: str) -> list[str]:
    return [each.message for each in Memory.open(project).doctor() if each.check == check]


def project_with(repository: Path, **how: bool) -> Memory:
    memory, _ = Memory.init(repository, **how)
    memory.add("tea", type="user", description="Drinks tea.", body="Green tea.")
    return memory


def test_of_a_store_inside_a_project_doctor_says_what_may_take_it_along(
    repository: Path, git: Git
) -> None:
    project_with(repository, own_repo=True)
    (message,) = findings_of(repository, "packages")
    assert "add `notes/memory/` and `.mdmemory/` to .npmignore, .dockerignore" in message
    assert len(findings_of(repository, "place")) == 1
    git(repository, "clean", "-fdxq")
    assert (repository / "notes/memory/user-tea.md").exists(), "one -f passes over it"
    git(repository / "notes/memory", "remote", "add", "origin", "elsewhere")
    assert findings_of(repository, "place") == []
    assert len(findings_of(repository, "packages")) == 1


@pytest.mark.parametrize("how", [{"home": True}, {}])
def test_of_a_store_elsewhere_or_of_the_projects_git_it_says_nothing(
    repository: Path, how: dict[str, bool]
) -> None:
    checks = {each.check for each in project_with(repository, **how).doctor()}
    assert not checks & {"packages", "place"}
