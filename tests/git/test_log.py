"""Who wrote which file, as the commits tell it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mdmemory.git import log, repositories

Git = Callable[..., str]


@pytest.mark.parametrize("folder", ["notes/", ""])
def test_who_wrote_each_file_is_told_in_one_walk(repository: Path, git: Git, folder: str) -> None:
    def commit(text: str, name: str, author: str, *more: str) -> None:
        (repository / "notes").mkdir(exist_ok=True)
        (repository / "notes" / name).write_text(text)
        git(repository, "add", "-A")
        by = f"--author={author} <{author}@example.org>"
        git(repository, "commit", "-q", "-m", "\n\n".join(["one", *more]), by)

    commit("a", "tea.md", "ann", "Memory-Origin: unknown")
    commit("b", "über tea.md", "bob")
    commit("c", "tea.md", "bob")
    git(repository, "switch", "-q", "-c", "side")
    commit("side", "tea.md", "eve")
    commit("s", "side.md", "eve")
    git(repository, "switch", "-q", "-")
    commit("main", "tea.md", "ann")
    found = repositories.find(repository)
    assert found is not None
    names = ("tea.md", "über tea.md", "missing.md")
    linear = {f"notes/{name}": log.list_authors(found, f"notes/{name}") for name in names}
    linear = {path: wrote for path, wrote in linear.items() if wrote}
    assert {k: v for k, v in log.list_all_authors(found, folder).items() if "/" in k} == linear
    assert linear["notes/tea.md"][0] == ("ann@example.org", "unknown")
    git(repository, "merge", "-q", "-s", "ours", "--no-commit", "side")
    commit("both", "tea.md", "mia")
    after = log.list_all_authors(found, folder)
    for name in (*names, "side.md"):
        assert set(log.list_authors(found, f"notes/{name}")) <= set(after.get(f"notes/{name}", []))
    assert ("mia@example.org", "") in after["notes/tea.md"]
