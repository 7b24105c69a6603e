"""The memory's own history becomes packs now and then, and nothing of it is lost by that."""

import threading
from pathlib import Path

import pytest
from pace import HUNG
from projects import git, tip
from stores import BeginStore

from mdmemory import Memory
from mdmemory.git import objects as packing
from mdmemory.git import repositories
from mdmemory.git.repositories import Repository

WRITTEN = 12


def fill(memory: Memory) -> None:
    for number in range(WRITTEN):
        text = f"The depot {number} opens at {number} o'clock"
        memory.add(f"depot-{number}", type="project", description=text, body=text)


@pytest.fixture
def memory(begin_store: BeginStore) -> Memory:
    return begin_store(own_repo=True, fill=fill)


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any object that lies by itself is one too many."""
    monkeypatch.setattr(packing, "count_loose", lambda repository: packing.LOOSE)


def repository_of(memory: Memory) -> Repository:
    found = repositories.find(memory.project.store)
    assert found is not None
    return found


def objects(store: Path) -> set[str]:
    words = ("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")
    return set(git(store, *words).splitlines())


def by_themselves(store: Path) -> int:
    return int(git(store, "count-objects").split()[0])


@pytest.mark.usefixtures("soon")
def test_a_pass_packs_what_lies_by_itself_and_undo_is_exact_afterwards(memory: Memory) -> None:
    store = memory.project.store
    (note, *_) = sorted(store.glob("project-*.md"))
    before, bytes_ = objects(store), note.read_bytes()
    memory.edit(note.stem, body="It never opens.")
    memory.compact(offline=True)
    assert by_themselves(store) == 0
    assert before <= objects(store)
    memory.undo(tip(store))
    assert note.read_bytes() == bytes_
    assert git(store, "fsck", "--strict", "--no-dangling") == ""


@pytest.mark.usefixtures("soon")
def test_what_no_branch_names_any_more_is_kept(memory: Memory) -> None:
    store = memory.project.store
    before = objects(store)
    git(store, "reset", "-q", "--hard", "HEAD~3")
    git(store, "reflog", "expire", "--expire=now", "--all")
    assert packing.pack_if_due(repository_of(memory))
    assert objects(store) == before


@pytest.mark.usefixtures("soon")
def test_a_dry_run_and_a_project_of_its_own_git_are_left_alone(
    memory: Memory, tmp_path: Path
) -> None:
    before = by_themselves(memory.project.store)
    memory.compact(offline=True, dry_run=True)
    assert by_themselves(memory.project.store) == before
    project = tmp_path / "of-a-team"
    project.mkdir()
    git(project, "init", "-q", "-b", "main")
    shared, _ = Memory.init(project, store="notes/memory")
    shared.add("depot", type="project", description="The depot is open", body="It is open.")
    before = by_themselves(project)
    shared.compact(offline=True)
    assert by_themselves(project) >= before > 0


def test_many_are_counted(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    repository = repositories.find(tmp_path)
    assert repository is not None
    assert packing.count_loose(repository) == 0
    for name in "\n".join(f"{number}.txt" for number in range(2 * packing.LOOSE)).split():
        (tmp_path / name).write_text(name)
    git(tmp_path, "add", ".")
    assert packing.LOOSE < packing.count_loose(repository) < 4 * packing.LOOSE


@pytest.mark.usefixtures("soon")
def test_who_writes_meanwhile_is_not_held_up_and_all_is_there(memory: Memory) -> None:
    repository, done = repository_of(memory), threading.Event()

    def pack() -> None:
        while not done.wait(0.05):
            packing.pack_if_due(repository)

    thread = threading.Thread(target=pack)
    thread.start()
    try:
        for number in range(WRITTEN):
            memory.edit(f"depot-{number}", body=f"It opens at {number + 1}.")
    finally:
        done.set()
        thread.join(HUNG)
    store = memory.project.store
    assert int(git(store, "rev-list", "--count", "HEAD")) >= 2 * WRITTEN
    assert git(store, "fsck", "--strict", "--no-dangling") == ""
    assert git(store, "status", "--porcelain") == ""


@pytest.mark.usefixtures("soon")
def test_an_erasure_waits_for_a_packing_that_goes_on(memory: Memory) -> None:
    erased = threading.Event()

    def erase() -> None:
        memory.erase("depot-3", lambda _: True)
        erased.set()

    with packing.hold_packing(repository_of(memory)):
        thread = threading.Thread(target=erase)
        thread.start()
        assert not erased.wait(2.0)
    assert erased.wait(HUNG)
    thread.join(HUNG)
    with packing.hold_packing(repository_of(memory)):
        assert not packing.pack_if_due(repository_of(memory)), "two do not pack at once"
