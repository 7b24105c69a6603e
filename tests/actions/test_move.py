"""A store leaves its place whole: history, files, state; the project's commits stay as they are."""

import os
import shutil
from functools import partial
from pathlib import Path

import pytest
from moments import DIED, DONE, child, die, full, spread
from pace import FULL
from projects import Git, Patch, bytes_below
from stores import BeginStore

from mdmemory.actions import move
from mdmemory.actions.move import Moved
from mdmemory.config import person
from mdmemory.config.table import PROJECT_FILE
from mdmemory.errors import MdmemoryError, NoStore, RepositoryState, UsageError
from mdmemory.memory import Memory
from mdmemory.privacy import is_secret
from mdmemory.store import project
from mdmemory.store.writer import Writer

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

TRIALS = 80 if FULL else 6
SECRET = "ghp_" + "a1B2" * 9


def go(root: Path, **how: str | bool | None) -> Moved:
    """What `mdmemory move` does in the folder `root`."""
    left = move.finish_move(root)
    if left is not None:
        return left
    writer = Writer(Memory.open(root).project, is_secret, "a test")
    return move.move_store(writer, person.person_places(), **how)  # type: ignore[arg-type]


def fill(memory: Memory) -> None:
    memory.add("tea", type="user", description="Drinks tea.", body="Green tea.")
    memory.add("plan", type="project", description="The plan.", body="Ship it.")
    memory.edit("plan", description="The new plan.")
    memory.add("gone", type="reference", description="Old.", body="Old.")
    memory.remove("gone")
    store = memory.project.store
    (store / "reference-hand.md").write_text("Written by hand.\n")
    (store / "reference-held.md").write_text(f"token {SECRET}\n")
    (store / "pictures").mkdir()
    (store / "pictures" / "one.png").write_bytes(b"\x89PNG")
    with memory.state():
        pass


@pytest.fixture
def shared(begin_store: BeginStore, repository: Path, git: Git) -> Path:
    """A project whose repository has the store: notes, a removed one, and what is in no commit."""
    begin_store(fill=fill)
    (repository / "code.c").write_text("int main;\n")
    git(repository, "add", "code.c")
    return repository


def seen(root: Path, git: Git) -> tuple[str, bytes, list[str]]:
    """What of the project stays as it is: its commit, its index, its hooks."""
    hooks = sorted(path.name for path in (root / ".git" / "hooks").iterdir())
    return git(root, "rev-parse", "HEAD"), (root / ".git" / "index").read_bytes(), hooks


def texts(store: Path) -> dict[str, bytes]:
    """The notes and the person's own files of a store."""
    ours = (PROJECT_FILE, "MEMORY.md")
    return {name: data for name, data in bytes_below(store).items() if name not in ours}


def test_the_history_and_every_file_go_along_and_the_project_stays(
    shared: Path, empty_home: Path, git: Git
) -> None:
    git(empty_home, "init", "-q", "--template=")  # whose git does not see the store
    before, notes = seen(shared, git), texts(shared / "notes/memory")
    told = git(shared, "log", "--format=%an %ae %at %B", "--", "notes/memory")
    done = go(shared)
    assert done.target == empty_home / "mdmemory" / "project"
    assert seen(shared, git) == before
    assert texts(done.target) == notes
    assert git(done.target, "log", "--skip=1", "--format=%an %ae %at %B") == told
    assert [name for name in ("notes", PROJECT_FILE, ".mdmemory") if (shared / name).exists()] == []
    assert done.kept == []
    loose = {"reference-hand.md", "reference-held.md", "pictures/", "MEMORY.md"}
    assert {row[3:] for row in git(done.target, "status", "--porcelain").splitlines()} == loose
    assert done.target.stat().st_mode & 0o777 == 0o700
    assert git(empty_home, "status", "--porcelain") == ""


def test_the_project_finds_it_and_old_changes_are_shown_and_taken_back(shared: Path) -> None:
    done = go(shared)
    memory = Memory.open(shared)
    assert memory.project.store == done.target
    removed, edited = (
        next(entry for entry, *_ in memory.log() if entry.subject.startswith(f"memory: {what}"))
        for what in ("remove", "edit")
    )
    assert "The new plan." in memory.file_changes([edited.commit])[edited.commit][0].after
    assert len(memory.history("plan")) == 2
    memory.undo(removed.get("Memory-Id"))
    memory.undo(edited.get("Memory-Id"))
    assert memory.note("gone").note.body.strip() == "Old."
    assert memory.note("plan").note.head.description == "The plan."


def test_the_removal_is_the_persons_and_old_branches_have_no_store(shared: Path, git: Git) -> None:
    done = go(shared)
    git(shared, "branch", "before")
    assert done.removal == f"git -C {shared} rm -r -q --cached -- notes/memory mdmemory.toml"
    git(shared, *done.removal.split()[3:])
    git(shared, "commit", "-q", "-m", "the memory moved")
    assert git(shared, "status", "--porcelain") == ""
    git(shared, "switch", "-q", "before")
    assert (shared / "notes/memory/user-tea.md").exists()
    memory = Memory.open(shared)
    assert memory.project.store == done.target
    memory.add("later", type="project", description="Later.", body="Later.")
    assert go(shared).said == [f"{done.target} lies there already."]
    assert git(shared, "status", "--porcelain") == "", "the old branch's files are its own"


def test_a_linked_work_tree_finds_it_and_its_own_texts_are_named(
    shared: Path, tmp_path: Path, git: Git
) -> None:
    git(shared, "stash", "-q")
    linked = tmp_path / "linked"
    git(shared, "worktree", "add", "-q", str(linked))
    (linked / "notes/memory/user-tea.md").write_text("Only here.\n")
    done = go(shared)
    assert any(f"{linked}/notes/memory has texts of its own (user-tea.md)" in s for s in done.said)
    assert Memory.open(linked).project.store == done.target
    assert (linked / "notes/memory/user-tea.md").read_text() == "Only here.\n"


def test_staged_and_replaced_texts_stay_reachable_and_what_waits_is_committed(
    shared: Path, git: Git
) -> None:
    store = shared / "notes/memory"
    automatic = Memory(Memory.open(shared).project, automatic=True)
    by_hand = (store / "project-plan.md").read_bytes() + b"By hand.\n"
    (store / "project-plan.md").write_bytes(by_hand)
    automatic.edit("plan", description="The third plan.")
    (store / "user-tea.md").write_bytes(b"Staged.\n")
    git(shared, "add", "notes/memory/user-tea.md")
    assert Memory.open(shared).waiting()
    done = go(shared)
    memory = Memory.open(shared)
    assert not memory.waiting()
    assert any(entry.subject.startswith("memory: edit The third") for entry, *_ in memory.log())
    assert (done.target / "user-tea.md").read_bytes() == b"Staged.\n"
    id = git(shared, "hash-object", "--stdin", text=by_hand.decode()).strip()
    assert id in git(shared, "rev-list", "--objects", "--all")


def test_what_was_asked_once_is_not_asked_again(shared: Path) -> None:
    with Memory.open(shared).state() as state:
        state.set_watermark("ses_1", "msg_1")
    go(shared)
    with Memory.open(shared).state() as state:
        assert state.watermark("ses_1") == "msg_1"


def test_a_store_can_go_to_a_repository_of_its_own_inside_the_project_and_out_again(
    shared: Path, empty_home: Path, git: Git
) -> None:
    before = seen(shared, git)
    done = go(shared, to="here")
    assert done.target == shared / "notes/memory-2", "the project's commits have notes/memory"
    assert seen(shared, git) == before
    assert "memory-2" not in git(shared, "status", "--porcelain", "-uall")
    assert Memory.open(shared).project.store == done.target
    moved = shared.rename(shared.with_name("elsewhere"))
    assert Memory.open(moved).project.store == moved / "notes/memory-2"
    out = go(moved)
    assert out.target == empty_home / "mdmemory" / "elsewhere"
    assert texts(out.target).keys() >= {"user-tea.md", "reference-hand.md"}
    assert Memory.open(moved).project.store == out.target
    assert not (moved / "notes").exists()


def test_a_folder_that_a_branch_has_is_refused(shared: Path, git: Git) -> None:
    git(shared, "stash", "-q")
    (shared / "docs").mkdir()
    (shared / "docs" / "page.md").write_text("x")
    git(shared, "add", ".")
    git(shared, "stash", "-q")
    git(shared, "branch", "docs", "stash@{0}")
    with pytest.raises(RepositoryState, match="a branch or tag has files"):
        go(shared, to="here", folder="docs")
    with pytest.raises(UsageError, match="must be a folder inside"):
        go(shared, to="here", folder="../out")


def test_a_dry_run_changes_nothing_and_so_does_a_refusal(
    shared: Path, tmp_path: Path, empty_home: Path, git: Git
) -> None:
    before, home = sorted(shared.rglob("*")), empty_home / "mdmemory"
    done = go(shared, dry_run=True)
    assert (done.commits, home.exists()) == (6, False)
    home.write_text("a file")
    with pytest.raises(MdmemoryError, match="is a file") as refused:
        go(shared)
    assert refused.value.hint
    home.unlink()
    # newer versions of git make it by a merge alone
    (shared / ".git/MERGE_HEAD").write_text(git(shared, "rev-parse", "HEAD"), encoding="utf-8")
    with pytest.raises(RepositoryState, match="a merge is under way"):
        go(shared)
    (shared / ".git/MERGE_HEAD").unlink()
    assert sorted(shared.rglob("*")) == before
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / PROJECT_FILE).write_text('store = "."\n')
    with pytest.raises(NoStore):  # in no repository it has no project to be known by
        go(tmp_path / "plain")


def test_a_file_saved_at_the_last_moment_is_named(shared: Path, monkeypatch: Patch) -> None:
    real = os.rename

    def rename(old: object, new: object) -> None:
        real(old, new)  # type: ignore[arg-type]
        if str(new).endswith("mdmemory/project"):
            (shared / "notes/memory/user-tea.md").write_text("Saved late.\n")

    monkeypatch.setattr(os, "rename", rename)
    done = go(shared)
    assert done.kept == ["user-tea.md"]
    assert (shared / "notes/memory/user-tea.md").read_text() == "Saved late.\n"
    assert Memory.open(shared).project.store == done.target


def test_a_project_with_a_store_in_the_memory_folder_gets_no_second(
    shared: Path, empty_home: Path
) -> None:
    there, _ = Memory.init(shared, home=True)
    with pytest.raises(NoStore, match=f"already: {there.project.store}") as refused:
        go(shared)
    assert f"mdmemory --store {there.project.store} import" in refused.value.hint
    assert (shared / "notes/memory/user-tea.md").exists()
    expected = [".lock", ".lock.queue", "project"]
    assert sorted(path.name for path in (empty_home / "mdmemory").iterdir()) == expected


def test_a_store_made_again_in_the_project_is_found_there(shared: Path) -> None:
    go(shared)
    memory, _ = Memory.init(shared)
    assert memory.project.store == shared / "notes/memory"
    assert Memory.open(shared).project.store == shared / "notes/memory"


# --- whatever kills it ---------------------------------------------------------------------------


def check(root: Path, notes: dict[str, bytes], before: object, git: Git) -> None:
    """One of the two places works with every note; moving again finishes it."""
    names = {note.file for note in Memory.open(root).notes()}
    assert names == {name for name in notes if name.endswith(".md") and name[0] != "_"}
    go(root)
    memory = Memory.open(root)
    assert memory.project.store.parent.name == "mdmemory"
    assert texts(memory.project.store) == notes
    assert not (root / "notes").exists()
    assert not (root / PROJECT_FILE).exists()
    assert seen(root, git) == before
    git(memory.project.store, "fsck", "--strict")
    assert [*memory.project.store.parent.glob(".moving*")] == []


@pytest.mark.parametrize("kind", ["shared", "own"])
def test_killed_at_any_moment_the_old_place_works_or_the_new_one(
    kind: str, shared: Path, tmp_path: Path, empty_home: Path, git: Git
) -> None:
    root = shared
    if kind == "own":
        root = tmp_path / "inner"
        shutil.copytree(shared, root)
        go(root, to="here")
        shutil.rmtree(empty_home / "mdmemory", ignore_errors=True)
    before = seen(root, git)
    notes = texts(Memory.open(root).project.store)
    place = tmp_path / "trial" / "project"

    def fresh() -> Path:
        shutil.rmtree(place.parent, ignore_errors=True)
        shutil.rmtree(empty_home / "mdmemory", ignore_errors=True)
        place.parent.mkdir()
        shutil.copytree(root, place, symlinks=True)
        return place

    fresh()
    code, steps = child(lambda: go(place), lambda *_: None)
    assert code == DONE
    check_again = partial(check, place, notes, before, git)
    check_again()
    for at in spread(1, steps, TRIALS):
        fresh()
        code, _ = child(lambda: go(place), partial(die, at=at))
        assert code == DIED
        check_again()


def test_a_store_that_moved_once_survives_a_second_move_that_ends_before_its_step(
    shared: Path, empty_home: Path, git: Git
) -> None:
    go(shared, to="here")
    store = Memory.open(shared).project.store
    before = texts(store), git(store, "rev-parse", "HEAD")
    project.note_move(shared, store, empty_home / "mdmemory" / "project")
    assert move.finish_move(shared) is None
    assert Memory.open(shared).project.store == store
    assert (texts(store), git(store, "rev-parse", "HEAD")) == before
    go(shared)
    assert texts(Memory.open(shared).project.store) == before[0]
    assert not store.exists()


def test_a_full_disk_changes_nothing_in_the_old_place(shared: Path, git: Git) -> None:
    before, notes = seen(shared, git), texts(shared / "notes/memory")
    for at in (3, 20, 60):
        code, _ = child(lambda: go(shared), partial(full, at=at))
        assert code != DONE
        assert texts(Memory.open(shared).project.store) == notes
        assert seen(shared, git) == before
