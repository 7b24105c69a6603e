"""A process killed at any moment of a write loses nothing, and the next one finishes or forgets it.

So it is with one that keeps what nobody typed, or commits that at last: then a person types a
command, and what was written stands in a commit, or nothing of it does. How it is killed, or meets
a full disk or an editor, stands in tests/moments.py.
"""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from moments import (
    DIED,
    DONE,
    FAILED,
    TOLD,
    blob,
    child,
    die,
    everything,
    full,
    full_once,
    ids,
    spread,
)
from pace import FULL, sample
from projects import commit_all, git, tip
from rows import replace
from stores import open_writer, write_note

from mdmemory.files import digest
from mdmemory.git.transaction import Change
from mdmemory.store.writer import Group

# the child runs no thread of the parent's, and leaves by os._exit
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
Trouble = Callable[..., None]
Texts = dict[str, bytes | None]
troubles = pytest.mark.parametrize(
    "trouble", [full, pytest.param(full_once, marks=pytest.mark.slow)]
)


def copied(root: Path) -> Path:
    """A copy of the project for a trial: making one costs more than that. What git remembers of
    its files' times is brought up to date."""
    place = root.with_name("trial")
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(root, place, symlinks=True)
    git(place, "status")
    return place


def recover(root: Path) -> None:
    """What every command does first that a person types and that writes."""
    with open_writer(root).lock_store():
        pass


def recover_again(root: Path) -> None:
    before = everything(root)
    recover(root)
    assert everything(root) == before, "a second recovery is not idle"


def texts(root: Path, files: Texts) -> Texts:
    paths = {file: root / "notes" / "memory" / file for file in files}
    return {file: path.read_bytes() if path.exists() else None for file, path in paths.items()}


def reachable(root: Path) -> set[str]:
    return {row.split()[0] for row in git(root, "rev-list", "--objects", "--all").splitlines()}


def left_behind(root: Path) -> list[str]:
    store, room = root / "notes" / "memory", root / ".git" / "mdmemory"
    return [path.name for path in (*store.glob(".mdmemory-*"), *room.glob("*"))]


@dataclass
class World:
    """A repository, what must not be lost of it, and what the write makes of its notes."""

    root: Path
    bytes: set[str]
    elsewhere: tuple[str, dict[str, bytes]]
    old: Texts
    new: Texts

    def write(self, trouble: Trouble, at: int) -> "tuple[World, int, int]":
        """The write in a copy, with this trouble at a step: how it ended and after how many."""
        world = replace(self, root=copied(self.root))
        code, steps = child(partial(the_write, world), partial(trouble, at=at))
        assert code != FAILED, "an error that is no sentence"
        return world, code, steps

    def steps(self) -> int:
        """How many steps the write takes when nothing disturbs it."""
        world, code, steps = self.write(die, 0)
        assert code == DONE
        assert world.check()
        return steps

    def killed(self, at: int) -> "World":
        world, code, _ = self.write(die, at)
        assert code == DIED
        return world

    def end(self, edited: str = "") -> bool:
        """Recover, check every promise, recover again: whether the write took place."""
        recover(self.root)
        applied = self.check(edited)
        recover_again(self.root)
        return applied

    def check(self, edited: str = "") -> bool:
        """Every promise but that on a second recovery; whether the write took place."""
        root, store = self.root, self.root / "notes" / "memory"
        on_disk = {blob(path.read_bytes()) for path in store.iterdir()}
        staged = ids(git(root, "ls-files", "-s", "notes"))
        assert self.bytes <= reachable(root) | on_disk | {*staged.values()}, "bytes are lost"
        assert elsewhere(root) == self.elsewhere, "a person's work elsewhere has changed"
        state = {file: data for file, data in texts(root, self.old).items() if file != edited}
        old, new = ({f: d for f, d in s.items() if f != edited} for s in (self.old, self.new))
        assert state in (old, new), "neither all nor nothing"
        assert not (root / ".git" / "index.lock").exists()
        assert left_behind(root) == [], "something was left behind"
        git(root, "fsck", "--strict")
        if state == new:
            held = ids(git(root, "ls-tree", "-r", "HEAD", "notes"))
            assert staged == held, "the next plain commit would change notes"
            for file, data in self.new.items():
                assert held.get(f"notes/memory/{file}") == (data and blob(data))
        return state == new


def write_thirds(store: Path, *files: str) -> None:
    for file in files:
        write_note(store, file, "A third text, by hand, in no commit.")


def in_use(root: Path, store: Path) -> None:
    """Everything dirty at once: staged, unstaged and untracked elsewhere; notes edited by hand."""
    for name in ("staged", "both"):
        (root / name).write_text("two, staged\n")
    git(root, "add", "staged", "both")
    (root / "both").write_text("three, not staged\n")
    (root / "README").write_text("changed, not staged\n")
    (root / "untracked").write_text("untracked\n")
    for file in ("feedback-old.md", "user-name.md"):
        write_note(store, file, "A second text, staged and nowhere else.")
    git(root, "add", "notes")
    write_thirds(store, "feedback-old.md", "user-name.md", "project-loose.md")


@pytest.fixture(params=["in use"])
def world(request: pytest.FixtureRequest, repository: Path, store: Path) -> World:
    open_writer(repository).refresher.refresh()
    write_note(store, "project-loose.md", "Loose.")
    commit_all(repository, "all", staged="one\n", both="one\n")
    if request.param == "in use":
        in_use(repository, store)
    files = ("feedback-old.md", "project-plan.md", "project-loose.md", "user-name.md")
    old = texts(repository, dict.fromkeys((*files, "reference-new.md")))
    new = old | {"project-plan.md": None, "project-loose.md": None}
    new["feedback-old.md"] = b"---\nname: old\ndescription: Rewritten\n---\n\nNew text.\n"
    new["reference-new.md"] = b"---\nname: new\ndescription: Added\n---\n\nAll new.\n"
    return World(repository, known_bytes(repository), elsewhere(repository), old, new)


def the_write(world: World) -> None:
    """Replace, add and remove, in one commit, behind a checkpoint, with the index."""
    writer, old = open_writer(world.root), world.old
    files = [file for file in old if old[file] != world.new[file]]
    changes = [Change(file, old[file] and digest(old[file]), world.new[file]) for file in files]
    with writer.lock_store():
        checkpoint = writer.checkpoint_all(files)
        groups = [Group(f"change {change.file}", (change,)) for change in changes]
        writer.write("memory: change", groups, kind="compact", checkpoint=checkpoint)


def known_bytes(root: Path) -> set[str]:
    """The notes' bytes in HEAD, the index and the work tree, as git's ids."""
    store = root / "notes" / "memory"
    found = {*ids(git(root, "ls-files", "-s", "notes")).values()}
    found |= {*ids(git(root, "ls-tree", "-r", "HEAD", "notes")).values()}
    found |= {blob(path.read_bytes()) for path in store.iterdir()}
    return found - {blob((store / "MEMORY.md").read_bytes())}


def elsewhere(root: Path) -> tuple[str, dict[str, bytes]]:
    """All that is not the store's: the index and the files."""
    rows = git(root, "ls-files", "-s", "-v", "--", ":!notes")
    files = {path.name: path.read_bytes() for path in root.iterdir() if path.is_file()}
    return rows, files


@pytest.mark.parametrize("world", ["tidy"], indirect=True)
def test_killed_at_a_sample_of_moments_nothing_is_lost(world: World) -> None:
    ends = [world.killed(at).end() for at in spread(1, world.steps(), 7)]
    assert ends == sorted(ends)
    assert (ends[0], ends[-1]) == (False, True)


@pytest.mark.slow
def test_killed_at_any_moment_nothing_is_lost(world: World) -> None:
    last = world.steps()
    ends = [world.killed(at).end() for at in sample(range(1, last + 1), 7)]
    assert ends == sorted(ends), "after the point of no return there is none"
    assert {*ends} == {False, True}
    assert last > 100


@pytest.mark.slow
def test_killed_again_in_recovery_nothing_is_lost(world: World) -> None:
    """Killed in the write, and again at every n-th step of the recovery, then recovered."""
    for before_the_end in (40, 29, 25, 18, 10) if FULL else (25,):
        at, count, code = world.steps() - before_the_end, 0, DIED
        while code == DIED:
            trial = world.killed(at)
            step = 1 + count * (3 if FULL else 8)
            code, _ = child(partial(recover, trial.root), partial(die, at=step))
            trial.end()
            count += 1
        assert code == DONE
        assert count > 2


@troubles
def test_a_recovery_without_space_is_gone_on_with_later(trouble: Trouble, world: World) -> None:
    told, steps = 0, world.steps() - 24  # the journal stands, and the branch has not moved
    for at in (1, 5, 9, 13, 17):
        trial = world.killed(steps)
        code, _ = child(partial(recover, trial.root), partial(trouble, at=at))
        assert code in (DONE, TOLD)
        told += code == TOLD
        assert trial.end()
    assert told


@troubles
def test_on_a_full_disk_it_is_said_and_nothing_is_lost(trouble: Trouble, world: World) -> None:
    codes = set()
    for at in spread(1, world.steps(), 25 if FULL else 6):
        trial, code, _ = world.write(trouble, at)
        codes.add(code)
        trial.end()
    assert TOLD in codes


BY_HAND = b"saved by hand in the middle of a write\n"


def save(path: Path) -> None:
    path.write_bytes(BY_HAND)


def save_by_rename(path: Path) -> None:
    path.with_name(".editor").write_bytes(BY_HAND)
    os.replace(path.with_name(".editor"), path)


def remove(path: Path) -> None:
    if path.exists():
        path.unlink()
        path.parents[2].joinpath(".git", "removed").touch()


@pytest.mark.parametrize(
    "act", [save, *(pytest.param(act, marks=pytest.mark.slow) for act in (save_by_rename, remove))]
)
def test_what_an_editor_saves_during_a_write_stays(act: Callable[..., None], world: World) -> None:
    """Somebody's hand in each of its files at one moment."""
    last = world.steps()
    for at in spread(last - 50, last, 5) if FULL else (last - 24,):
        for file in ("feedback-old.md", "project-plan.md", "reference-new.md"):

            def trouble(event: str, step: int, at: int, file: str = file) -> None:
                if step == at:
                    act(world.root.with_name("trial") / "notes" / "memory" / file)

            trial, code, _ = world.write(trouble, at)
            assert code in (DONE, TOLD)
            stands = texts(trial.root, {file: None})
            if act is not remove:
                assert stands[file] == BY_HAND, "an edit is lost"
            elif (trial.root / ".git" / "removed").exists():
                assert stands[file] is None, "a note came back"
            trial.end(edited=file)
            assert texts(trial.root, stands) == stands, "recovery has touched an edit"


@pytest.mark.slow
def test_without_git_a_killed_write_is_all_or_nothing_too(tmp_path: Path) -> None:
    root, at, code, ends = tmp_path / "plain", 1, DIED, []
    store = root / "notes" / "memory"

    def write() -> None:
        writer = open_writer(root)
        changes = (Change("user-a.md", digest(old), b"new a\n"), Change("user-b.md", None, b"b\n"))
        with writer.lock_store():
            writer.write("memory: change", [Group("change", changes)], kind="edit")

    while code == DIED:
        shutil.rmtree(root, ignore_errors=True)
        store.mkdir(parents=True)
        old = write_note(store, "user-a.md", "Old.")
        code, _ = child(write, partial(die, at=at))
        recover(root)
        found = texts(root, {"user-a.md": None, "user-b.md": None})
        assert (*found.values(),) in ((old, None), (b"new a\n", b"b\n"))
        ends.append(found["user-a.md"] != old)
        if ends[-1]:
            assert [path.read_bytes() for path in (root / ".mdmemory" / "aside").glob("*")] == [old]
        assert left_behind(root) == []
        at += 1 if FULL else 3
    assert ends == sorted(ends)
    assert {*ends} == {False, True}


# What nobody typed: kept, and committed at last.

NEW = b"---\nname: new\ndescription: New\n---\n\nNew text.\n"
CHANGES: Texts = {"feedback-old.md": NEW, "project-loose.md": None, "reference-new.md": NEW}
TRIALS = 60 if FULL else 7


def act(root: Path) -> None:
    """What an assistant's tool does: replace, remove and add, each in a write of its own."""
    writer = open_writer(root)
    writer.automatic = True
    for file, new in CHANGES.items():
        with writer.lock_store():
            old = texts(root, {file: None})[file]
            if old != new:
                group = Group(f"change {file}", (Change(file, old and digest(old), new),))
                writer.write(f"memory: change {file}", [group], kind="edit")


class Kept:
    """A repository in the middle of work."""

    def __init__(self, root: Path) -> None:
        self.root, self.head = root, tip(root)
        self.kept, self.before = self._blobs(root), texts(root, CHANGES)

    def _blobs(self, root: Path) -> set[str]:
        notes = (root / "notes" / "memory").glob("*.md")
        return {blob(path.read_bytes()) for path in notes if path.name != "MEMORY.md"}

    def check(self, root: Path) -> int:
        """Every promise, after a command that was typed; how many of the changes took place."""
        assert self.kept <= reachable(root) | self._blobs(root), "bytes are lost"
        now, held = texts(root, CHANGES), ids(git(root, "ls-tree", "-r", "HEAD", "notes"))
        done = [file for file in CHANGES if now[file] == CHANGES[file]]
        for file, data in now.items():
            assert data in (self.before[file], CHANGES[file]), "neither all nor nothing"
        said = git(root, "log", "--format=%b", "HEAD").split("\n")
        changed = [line for line in said if line.startswith("change ")]
        assert len(changed) == len({*changed}), "a change was committed twice"
        assert len(changed) >= len(done)
        for file in done:
            there = now[file] and blob(now[file])
            assert held.get(f"notes/memory/{file}") == there, "what stands there is in no commit"
        locks = [path for path in (root / ".git").rglob("*.lock") if path.stat().st_size == 0]
        left = [path.name for path in locks if not path.name.startswith("mdmemory.lock")]
        assert left_behind(root) + left == [], "something was left behind"
        git(root, "fsck", "--strict")
        return len(done)


@pytest.fixture
def kept(repository: Path, store: Path) -> Kept:
    open_writer(repository).refresher.refresh()
    commit_all(repository, "all", both="one\n")
    (repository / "both").write_text("two, staged\n")
    write_note(store, "feedback-old.md", "A second text, staged and nowhere else.")
    git(repository, "add", ".")
    (repository / "both").write_text("three, not staged\n")
    write_thirds(store, "feedback-old.md", "user-name.md", "project-loose.md")
    return Kept(repository)


def steps(what: Callable[[Path], None], root: Path) -> int:
    code, count = child(partial(what, root), partial(die, at=0))
    assert code == DONE
    return count


def test_killed_in_the_middle_of_an_automatic_write_nothing_is_lost(kept: Kept) -> None:
    ends = []
    for at in spread(1, steps(act, copied(kept.root)), TRIALS):
        root = copied(kept.root)
        code, _ = child(partial(act, root), partial(die, at=at))
        assert code == DIED
        assert tip(root) == kept.head, "a branch was moved"
        recover(root)
        ends.append(kept.check(root))
        recover_again(root)
    assert ends == sorted(ends)
    assert {ends[0], ends[-1]} == {0, 3}


@pytest.mark.slow
def test_killed_while_what_waits_is_committed_nothing_is_lost_or_doubled(kept: Kept) -> None:
    act(kept.root)
    for at in spread(1, steps(recover, copied(kept.root)), TRIALS):
        root = copied(kept.root)
        code, _ = child(partial(recover, root), partial(die, at=at))
        assert code == DIED
        recover(root)
        assert kept.check(root) == 3
        assert git(root / "notes" / "memory", "diff", "--name-only", "HEAD", "--", *CHANGES) == ""


@pytest.mark.slow
def test_a_recovery_that_is_killed_in_its_turn_goes_on_later(kept: Kept) -> None:
    last = steps(act, copied(kept.root))
    for at in spread(last // 3, last - 3, 3):
        for again in spread(2, 40, 4 if FULL else 2):
            root = copied(kept.root)
            child(partial(act, root), partial(die, at=at))
            child(partial(recover, root), partial(die, at=again))
            recover(root)
            kept.check(root)


@pytest.mark.slow
def test_on_a_full_disk_an_automatic_write_says_so_and_nothing_is_lost(kept: Kept) -> None:
    codes = set()
    for at in spread(1, steps(act, copied(kept.root)), TRIALS):
        root = copied(kept.root)
        code, _ = child(partial(act, root), partial(full, at=at))
        codes.add(code)
        assert code in (DONE, TOLD)
        recover(root)
        kept.check(root)
    assert TOLD in codes
