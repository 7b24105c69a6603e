"""A store of its own and the project around it: neither sees what the other does.

Whatever a person does with git in the project, the notes are there after it; whatever is written to
the store, the project's commits, index, hooks and settings stay as they were.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from projects import commit_all, git, tip

from mdmemory.cli import main
from mdmemory.memory import Memory

Patch = pytest.MonkeyPatch


KINDS = {"home": {"home": True}, "here": {"own_repo": True}}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def memory(kind: str, repository: Path) -> Memory:
    """A store with two notes that say the same and one on hold, in a project with two branches."""
    git(repository, "switch", "-q", "-c", "topic")
    commit_all(repository, "topic", topic="1")
    git(repository, "switch", "-q", "main")
    for number in range(3):
        commit_all(repository, f"main {number}", main=str(number))
    memory, _ = Memory.init(repository, **KINDS[kind])
    memory.add("tea", type="project", description="Tea at four.", body="Tea is at four.")
    memory.add("tea-time", type="project", description="Tea at four.", body="Tea is at four!")
    (memory.project.store / "reference-hand.md").write_text("By hand.\n")
    return memory


def seen(root: Path) -> tuple[object, ...]:
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


def test_nothing_that_is_written_is_seen_in_the_project(memory: Memory, repository: Path) -> None:
    before = seen(repository)
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
    assert seen(repository) == before


def commands(*lines: str) -> Callable[[Path], None]:
    """These commands of git, one after another."""

    def act(root: Path) -> None:
        for line in lines:
            git(root, *line.split())

    return act


def stash(root: Path) -> None:
    (root / "main").write_text("changed")
    (root / "loose").write_text("loose")
    commands("stash -q -a", "stash pop -q")(root)


def submodule(root: Path) -> None:
    other = root.with_name("other")
    git(root.parent, "clone", "-q", str(root), str(other))
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
    commands("commit -q -m a-submodule", "submodule --quiet deinit -f sub")(root)


ACTS = {
    "switch": commands("switch -q topic", "switch -q --detach main~1", "switch -q main"),
    "merge": commands("merge -q -m both topic"),
    "rebase": commands("switch -q topic", "rebase -q main"),
    "bisect": commands("bisect start main main~3", "bisect good", "bisect reset"),
    "stash": stash,
    "clean": commands("clean -q -fdx"),
    "empty": commands("rm -q -r README main", "commit -q -m empty", "gc -q --prune=now"),
    "orphan": commands(
        "switch -q --orphan new", "commit -q --allow-empty -m new", "switch -q main"
    ),
    "submodule": submodule,
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_the_notes_are_there_whatever_is_done_with_git_in_the_project(
    act: Callable[[Path], None], memory: Memory, repository: Path
) -> None:
    before = notes(memory)
    (memory.project.store / "reference-loose.md").write_text("Loose.\n")
    act(repository)
    found = Memory.open(repository)
    assert found.project.store == memory.project.store
    assert notes(found) == before | {"reference-loose.md": b"Loose.\n"}
    found.add("after", type="project", description="After.", body="After.")
    assert found.log()[0][0].subject.startswith("memory: add")
    assert "project-after.md" not in git(repository, "ls-files")


def test_only_a_store_outside_the_project_survives_a_clean_that_spares_no_repository(
    memory: Memory, kind: str, repository: Path
) -> None:
    git(repository, "clean", "-q", "-ffdx")
    assert memory.project.store.exists() == (kind == "home")


def test_a_linked_work_tree_has_the_same_store(
    memory: Memory, repository: Path, tmp_path: Path
) -> None:
    linked = tmp_path / "linked"
    git(repository, "worktree", "add", "-q", str(linked), "topic")
    before = seen(repository)
    other = Memory.open(linked)
    assert other.project.store == memory.project.store
    other.add("after", type="project", description="After.", body="After.")
    assert "project-after.md" in {note.file for note in memory.notes()}
    assert seen(repository) == before
    assert git(linked, "status", "--porcelain", "-uall") == ""
    git(repository, "worktree", "remove", str(linked))
    assert "project-after.md" in {note.file for note in Memory.open(repository).notes()}


def test_a_submodule_is_its_own_project(memory: Memory, repository: Path, tmp_path: Path) -> None:
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
    memory: Memory, repository: Path, monkeypatch: Patch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    found = Memory.open(repository)
    assert found.project.store == memory.project.store
    found.add("after", type="project", description="After.", body="After.")
    assert "project-after.md" in {note.file for note in found.notes()}


# A store whose repository is damaged or gone, and settings of a store that are not what we write.

DAMAGES: dict[str, Callable[[Path], object]] = {
    "no head": lambda git_dir: (git_dir / "HEAD").write_text("garbage"),
    "leads nowhere": lambda git_dir: (
        shutil.rmtree(git_dir),
        git_dir.write_text("gitdir: /nowhere\n"),
    ),
    "gone": shutil.rmtree,
}


@pytest.fixture
def damaged(kind: str, repository: Path, monkeypatch: Patch) -> Memory:
    """A store with a repository of its own and a note, the test standing in its project."""
    damaged, _ = Memory.init(repository, **KINDS[kind])
    damaged.add("tea", type="user", description="Drinks tea.", body="Green tea.")
    monkeypatch.chdir(repository)
    return damaged


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
    damage: str, kind: str, damaged: Memory, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, is_gone = damaged.project.store, damage == "gone"
    DAMAGES[damage](store / ".git")
    before = tip(repository), git(repository, "status", "--porcelain")
    assert [note.file for note in damaged.notes()] == ["user-tea.md"]
    added = damaged.add("plan", type="project", description="The plan.", body="Ship it.")
    assert added.written.commit is None
    for words in (("forget", "plan"), ("log",), ("undo", "--yes")):
        assert ".git" in failed(capsys, *words) or "repository" in failed(capsys, *words)
    assert (store / "project-plan.md").exists()
    assert main(["doctor"]) == (0 if is_gone and kind == "home" else 1)
    assert (tip(repository), git(repository, "status", "--porcelain")) == before


def test_lost_objects_are_an_error_and_the_notes_are_read(
    damaged: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in (damaged.project.store / ".git" / "objects").glob("??"):
        shutil.rmtree(folder)
    assert [note.file for note in damaged.notes()] == ["user-tea.md"]
    failed(capsys, "forget", "tea")
    assert (damaged.project.store / "user-tea.md").exists()
    assert main(["doctor"]) == 1
    assert "git has lost the last commit" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    [b'store = "."\n[project]\nroots = 3\n', b'store = "."\n[project\n', b"\xff\xfe",
     b'store = "/etc"\n[project]\nfolders = ["%s"]\n',
     b'store = "../other"\n[project]\nfolders = ["%s"]\n'],
)  # fmt: skip
def test_a_store_in_the_memory_folder_whose_settings_point_elsewhere_is_refused(
    text: bytes, repository: Path, monkeypatch: Patch, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged, _ = Memory.init(repository, home=True)
    damaged.add("tea", type="user", description="Drinks tea.", body="Green tea.")
    monkeypatch.chdir(repository)
    settings = damaged.project.store / "mdmemory.toml"
    settings.write_bytes(text.replace(b"%s", str(repository / ".git").encode()))
    assert str(settings) in failed(capsys, "list")
    failed(capsys, "add", "x", "--type", "project", "--description", "X.", "X.")
    assert (damaged.project.store / "user-tea.md").exists()
