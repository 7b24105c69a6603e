"""A store of its own and the project around it: neither sees what the other does.

Whatever a person does with git in the project, the notes are there after it; whatever is written to
the store, the project's commits, index, hooks and settings stay as they were.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mdmemory.memory import Memory

Git = Callable[..., str]


@pytest.fixture(params=["home", "here"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def memory(kind: str, repository: Path, git: Git) -> Memory:
    """A store with two notes that say the same and one on hold, in a project with two branches."""
    git(repository, "switch", "-q", "-c", "topic")
    (repository / "topic.c").write_text("1")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "topic")
    git(repository, "switch", "-q", "main")
    for number in range(3):
        (repository / "main.c").write_text(str(number))
        git(repository, "add", ".")
        git(repository, "commit", "-q", "-m", f"main {number}")
    memory, _ = Memory.init(repository, **{"home" if kind == "home" else "own_repo": True})
    memory.add("tea", type="project", description="Tea at four.", body="Tea is at four.")
    memory.add("tea-time", type="project", description="Tea at four.", body="Tea is at four!")
    (memory.project.store / "reference-hand.md").write_text("By hand.\n")
    return memory


def seen(root: Path, git: Git) -> tuple[object, ...]:
    """All that a person sees of the project's repository, and what git reads of it."""
    git_dir = root / ".git"
    return (
        git(root, "status", "--porcelain", "-uall"),
        git(root, "for-each-ref"),
        (git_dir / "index").read_bytes(),
        (git_dir / "config").read_bytes(),
        sorted(path.name for path in (git_dir / "hooks").iterdir()),
        sorted(path.name for path in root.iterdir() if path.name not in ("notes", ".mdmemory")),
    )


def notes(memory: Memory) -> dict[str, bytes]:
    store = memory.project.store
    return {note.file: (store / note.file).read_bytes() for note in memory.notes()}


def test_nothing_that_is_written_is_seen_in_the_project(
    memory: Memory, repository: Path, git: Git
) -> None:
    before = seen(repository, git)
    memory.add("coffee", type="user", description="Drinks coffee.", body="Black.")
    memory.edit("coffee", description="Drinks much coffee.")
    assert memory.compact(offline=True).commit
    memory.remove("coffee")
    memory.undo()
    with memory.state():
        pass
    memory.rebuild()
    memory.doctor(fix=True)
    assert memory.note("coffee").note.head.description == "Drinks much coffee."
    assert seen(repository, git) == before


def switch(root: Path, git: Git) -> None:
    git(root, "switch", "-q", "topic")
    git(root, "switch", "-q", "--detach", "main~1")
    git(root, "switch", "-q", "main")


def merge(root: Path, git: Git) -> None:
    git(root, "merge", "-q", "-m", "both", "topic")


def rebase(root: Path, git: Git) -> None:
    git(root, "switch", "-q", "topic")
    git(root, "rebase", "-q", "main")


def bisect(root: Path, git: Git) -> None:
    git(root, "bisect", "start", "main", "main~3")
    git(root, "bisect", "good")
    git(root, "bisect", "reset")


def stash(root: Path, git: Git) -> None:
    (root / "main.c").write_text("changed")
    (root / "loose").write_text("loose")
    git(root, "stash", "-q", "-a")
    git(root, "stash", "pop", "-q")


def clean(root: Path, git: Git) -> None:
    git(root, "clean", "-q", "-fdx")


def empty(root: Path, git: Git) -> None:
    git(root, "rm", "-q", "-r", "README", "main.c")
    git(root, "commit", "-q", "-m", "empty")
    git(root, "gc", "-q", "--prune=now")


def orphan(root: Path, git: Git) -> None:
    git(root, "switch", "-q", "--orphan", "new")
    git(root, "commit", "-q", "--allow-empty", "-m", "another beginning")
    git(root, "switch", "-q", "main")


def submodule(root: Path, git: Git) -> None:
    other = root.with_name("other")
    git(root.parent, "clone", "-q", str(root), str(other))
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
    git(root, "commit", "-q", "-m", "a submodule")
    git(root, "submodule", "--quiet", "deinit", "-f", "sub")


@pytest.mark.parametrize(
    "act", [switch, merge, rebase, bisect, stash, clean, empty, orphan, submodule]
)
def test_the_notes_are_there_whatever_is_done_with_git_in_the_project(
    act: Callable[[Path, Git], None], memory: Memory, repository: Path, git: Git
) -> None:
    before = notes(memory)
    (memory.project.store / "reference-loose.md").write_text("Loose.\n")
    act(repository, git)
    found = Memory.open(repository)
    assert found.project.store == memory.project.store
    assert notes(found) == before | {"reference-loose.md": b"Loose.\n"}
    found.add("after", type="project", description="After.", body="After.")
    assert found.log()[0][0].subject.startswith("memory: add")
    assert "project-after.md" not in git(repository, "ls-files")


def test_only_a_store_outside_the_project_survives_a_clean_that_spares_no_repository(
    memory: Memory, kind: str, repository: Path, git: Git
) -> None:
    git(repository, "clean", "-q", "-ffdx")
    assert memory.project.store.exists() == (kind == "home")


def test_in_a_linked_work_tree_the_same_store_is_written(
    memory: Memory, repository: Path, tmp_path: Path, git: Git
) -> None:
    linked = tmp_path / "linked"
    git(repository, "worktree", "add", "-q", str(linked), "topic")
    before = seen(repository, git)
    other = Memory.open(linked)
    assert other.project.store == memory.project.store
    other.add("after", type="project", description="After.", body="After.")
    assert "project-after.md" in {note.file for note in memory.notes()}
    assert seen(repository, git) == before
    assert git(linked, "status", "--porcelain", "-uall") == ""
    git(repository, "worktree", "remove", str(linked))
    assert "project-after.md" in {note.file for note in Memory.open(repository).notes()}


def test_a_submodule_is_a_project_of_its_own(
    memory: Memory, repository: Path, tmp_path: Path, git: Git
) -> None:
    library = tmp_path / "library"
    library.mkdir()
    git(library, "init", "-q", "-b", "main", "--template=")
    git(library, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "--allow-empty",
        "-m", "library")  # fmt: skip
    words = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library))
    git(repository, *words, "lib")
    own, _ = Memory.init(repository / "lib", home=True)
    assert own.project.store not in (memory.project.store, repository / "lib" / "notes/memory")
    assert own.notes() == []
    assert Memory.open(repository / "lib").project.store == own.project.store
    assert Memory.open(repository).project.store == memory.project.store


def test_without_git_a_project_of_its_own_is_read_and_written(
    memory: Memory, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    found = Memory.open(repository)
    assert found.project.store == memory.project.store
    found.add("after", type="project", description="After.", body="After.")
    assert "project-after.md" in {note.file for note in found.notes()}
