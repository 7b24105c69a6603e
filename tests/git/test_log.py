"""The reader of commits agrees with GitPython, which parses messages and trailers its own way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import git as gitpython
import pytest

from mdmemory.git import log, repositories
from mdmemory.git.commits_of_store import Message, memory_trailers

Git = Callable[..., str]

MESSAGES = {
    "ours": Message("memory: 喜欢", ["add 喜欢", "flag b: why"], memory_trailers("add")).text(),
    "subject alone": "one line",
    "by hand": "Some notes\n\nWhy: they were wrong.\n\nMore words.",
    "signed": "Some notes\n\nText\n\nMemory-Id: m-1\nSigned-off-by: A <a@b>",
    "of many lines": "a subject\nthat goes on\n\nbody\n\n\nMemory-Op: add",
    "separators": "a\x1eb\x1f\n\ncommit 1234\n: 1 2 3\n\nMemory-Id: m-\x1e2",
}


@pytest.mark.parametrize("text", MESSAGES.values(), ids=MESSAGES)
def test_a_message_reads_as_gitpython_reads_it(repository: Path, git: Git, text: str) -> None:
    (repository / "a.md").write_text("new")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "--cleanup=verbatim", "-m", text)
    here = repositories.find(repository)
    assert here
    (ours,) = log.read(here, "-n1", "HEAD")
    (same,) = log.read_with_files(here, "-n1", "HEAD")
    with gitpython.Repo(repository) as repo:
        theirs = repo.head.commit
        known = [(n, v) for n, v in theirs.trailers_list if n.startswith("Memory-")]
        assert (ours.commit, list(ours.trailers)) == (theirs.hexsha, known)
        assert ours.subject.split() == theirs.message.partition("\n\n")[0].split()
        assert ours.time == theirs.committed_datetime.isoformat()
    assert [each.path for each in same.files] == ["a.md"]
    assert (same.subject, same.ops, same.trailers) == (ours.subject, ours.ops, ours.trailers)


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
        alone = set(log.list_authors(found, f"notes/{name}"))
        assert alone <= set(after.get(f"notes/{name}", []))
    assert ("mia@example.org", "") in after["notes/tea.md"]
