"""A process killed at any moment of a write loses nothing, and the next one finishes or forgets it.

How it is killed, or meets a full disk or an editor, stands in tests/moments.py.
"""

import os
import shutil
import subprocess
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
from projects import commit_all, git
from stores import open_writer, write_note

from mdmemory.files import digest
from mdmemory.git.replacement import MARK
from mdmemory.git.transaction import Change
from mdmemory.store.writer import Group

# the child runs no thread of the parent's, and leaves by os._exit
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@dataclass
class World:
    """A repository, what must not be lost of it, and what the write makes of its notes."""

    root: Path
    bytes: set[str]
    elsewhere: tuple[str, dict[str, bytes]]
    old: dict[str, bytes | None]
    new: dict[str, bytes | None]

    @property
    def store(self) -> Path:
        return self.root / "notes" / "memory"


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
    for file in ("feedback-old.md", "user-name.md", "project-loose.md"):
        write_note(store, file, "A third text, by hand, in no commit.")


@pytest.fixture(params=["in use"])
def world(request: pytest.FixtureRequest, repository: Path, store: Path) -> World:
    root = repository
    open_writer(root).refresher.refresh()
    write_note(store, "project-loose.md", "Loose.")
    for name in ("staged", "both"):
        (root / name).write_text("one\n")
    commit_all(root, "all")
    if request.param == "in use":
        in_use(root, store)
    files = ("feedback-old.md", "project-plan.md", "project-loose.md", "user-name.md")
    old: dict[str, bytes | None] = {file: (store / file).read_bytes() for file in files}
    old["reference-new.md"] = None
    new = dict(old)
    new["feedback-old.md"] = b"---\nname: old\ndescription: Rewritten\n---\n\nNew text.\n"
    new["reference-new.md"] = b"---\nname: new\ndescription: Added\n---\n\nAll new.\n"
    new["project-plan.md"] = new["project-loose.md"] = None
    return World(root, known_bytes(root), elsewhere(root), old, new)


def the_write(world: World) -> None:
    """Replace, add and remove, in one commit, behind a checkpoint, with the index."""
    writer = open_writer(world.root)
    changes = [
        Change(file, old and digest(old), world.new[file])
        for file, old in world.old.items()
        if old != world.new[file]
    ]
    with writer.lock_store():
        checkpoint = writer.checkpoint_all([change.file for change in changes])
        groups = [Group(f"change {change.file}", (change,)) for change in changes]
        writer.write("memory: change", groups, kind="compact", checkpoint=checkpoint)


def recovery(world: World) -> None:
    """What the next command that writes does first."""
    with open_writer(world.root).lock_store():
        pass


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


def check(world: World, edited: str = "") -> bool:
    """Every promise but that on a second recovery; whether the write took place."""
    root, store = world.root, world.store
    reachable = {row.split()[0] for row in git(root, "rev-list", "--objects", "--all").splitlines()}
    on_disk = {blob(path.read_bytes()) for path in store.iterdir()}
    staged = ids(git(root, "ls-files", "-s", "notes"))
    assert world.bytes <= reachable | on_disk | {*staged.values()}, "bytes are lost"
    assert elsewhere(root) == world.elsewhere, "a person's work elsewhere has changed"
    state = {file: _bytes(store / file) for file in world.old if file != edited}
    old, new = ({f: d for f, d in s.items() if f != edited} for s in (world.old, world.new))
    assert state in (old, new), "neither all nor nothing"
    assert not (root / ".git" / "index.lock").exists()
    left = [path.name for path in store.iterdir() if path.name.startswith(MARK)]
    left += [path.name for path in (root / ".git" / "mdmemory").glob("*")]
    assert left == [], "something was left behind"
    fsck = subprocess.run(["git", "-C", str(root), "fsck", "--strict"], capture_output=True)
    assert fsck.returncode == 0, fsck.stderr
    if state == new:
        held = ids(git(root, "ls-tree", "-r", "HEAD", "notes"))
        assert staged == held, "the next plain commit would change notes"
        for file, data in world.new.items():
            assert held.get(f"notes/memory/{file}") == (data and blob(data))
    return state == new


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


@dataclass
class Trial:
    """Copies of the world, one a trial: making one costs more than copying it."""

    world: World
    place: Path

    def fresh(self) -> World:
        """Another copy; what git remembers of its files' times is brought up to date."""
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.world.root, self.place, symlinks=True)
        git(self.place, "status")
        world = self.world
        return World(self.place, world.bytes, world.elsewhere, world.old, world.new)

    def write(self, trouble: Callable[..., None], at: int) -> tuple[World, int, int]:
        """The write, with this trouble at a step: the world, how it ended and after how many."""
        world = self.fresh()
        code, steps = child(partial(the_write, world), partial(trouble, at=at))
        assert code != FAILED, "an error that is no sentence"
        return world, code, steps

    def steps(self) -> int:
        """How many steps the write takes when nothing disturbs it."""
        world, code, steps = self.write(die, 0)
        assert code == DONE
        assert check(world)
        return steps

    def killed(self, at: int) -> World:
        world, code, _ = self.write(die, at)
        assert code == DIED
        return world

    def end(self, world: World, edited: str = "") -> bool:
        """Recover, check every promise, recover again: whether the write took place."""
        recovery(world)
        applied = check(world, edited)
        before = everything(world.root)
        recovery(world)
        assert everything(world.root) == before, "a second recovery is not idle"
        return applied


@pytest.fixture
def trial(world: World, tmp_path: Path) -> Trial:
    return Trial(world, tmp_path / "trial")


@pytest.mark.parametrize(
    "world", ["in use", pytest.param("tidy", marks=pytest.mark.slow)], indirect=True
)
def test_killed_at_a_sample_of_moments_nothing_is_lost(trial: Trial) -> None:
    ends = [trial.end(trial.killed(at)) for at in spread(1, trial.steps(), 7)]
    assert ends == sorted(ends)
    assert ends[0] is False
    assert ends[-1] is True


@pytest.mark.slow
def test_killed_at_any_moment_nothing_is_lost(trial: Trial) -> None:
    last = trial.steps()
    ends = [trial.end(trial.killed(at)) for at in sample(range(1, last + 1), 7)]
    assert ends == sorted(ends), "after the point of no return there is none"
    assert {*ends} == {False, True}
    assert last > 100


def killed_again(trial: Trial, at: int, every: int) -> int:
    """Killed in the write, and again at every n-th step of the recovery, then recovered."""
    count, step, code = 0, 1, DIED
    while code == DIED:
        world = trial.killed(at)
        code, _ = child(partial(recovery, world), partial(die, at=step))
        trial.end(world)
        count, step = count + 1, step + every
    assert code == DONE
    return count


@pytest.mark.slow
def test_killed_again_in_recovery_nothing_is_lost(trial: Trial) -> None:
    for before_the_end in (40, 29, 25, 18, 10) if FULL else (25,):
        assert killed_again(trial, trial.steps() - before_the_end, 3 if FULL else 8) > 2


@pytest.mark.parametrize("trouble", [full, pytest.param(full_once, marks=pytest.mark.slow)])
def test_a_recovery_without_space_is_gone_on_with_later(
    trouble: Callable[..., None], trial: Trial
) -> None:
    told, steps = 0, trial.steps() - 24  # the journal stands, and the branch has not moved
    for at in (1, 5, 9, 13, 17):
        world = trial.killed(steps)
        code, _ = child(partial(recovery, world), partial(trouble, at=at))
        assert code in (DONE, TOLD)
        told += code == TOLD
        assert trial.end(world)
    assert told


def filled(trial: Trial, trouble: Callable[..., None], count: int) -> set[int]:
    codes = set()
    for at in spread(1, trial.steps(), count):
        world, code, _ = trial.write(trouble, at)
        codes.add(code)
        trial.end(world)
    return codes


@pytest.mark.parametrize("trouble", [full, pytest.param(full_once, marks=pytest.mark.slow)])
def test_on_a_full_disk_it_is_said_and_nothing_is_lost(
    trouble: Callable[..., None], trial: Trial
) -> None:
    assert TOLD in filled(trial, trouble, 25 if FULL else 6)


# an editor saves

TARGETS = ("feedback-old.md", "project-plan.md", "reference-new.md")
BY_HAND = b"saved by hand in the middle of a write\n"


def save(path: Path) -> None:
    path.write_bytes(BY_HAND)


def save_by_rename(path: Path) -> None:
    fresh = path.with_name(".editor")
    fresh.write_bytes(BY_HAND)
    os.replace(fresh, path)


def remove(path: Path) -> None:
    if path.exists():
        path.unlink()
        path.parents[2].joinpath(".git", "removed").touch()


def edited(trial: Trial, act: Callable[[Path], None], at: int) -> None:
    """The write, with somebody's hand in each of its files at one moment."""
    for file in TARGETS:

        def trouble(event: str, step: int, at: int, file: str = file) -> None:
            if step == at:
                act(trial.place / "notes" / "memory" / file)

        world, code, _ = trial.write(trouble, at)
        assert code in (DONE, TOLD)
        stands = _bytes(world.store / file)
        if act is not remove:
            assert stands == BY_HAND, "an edit is lost"
        elif (world.root / ".git" / "removed").exists():
            assert stands is None, "a note came back"
        trial.end(world, edited=file)
        assert _bytes(world.store / file) == stands, "recovery has touched an edit"


@pytest.mark.parametrize(
    "act", [save, *(pytest.param(act, marks=pytest.mark.slow) for act in (save_by_rename, remove))]
)
def test_what_an_editor_saves_during_a_write_stays(
    act: Callable[[Path], None], trial: Trial
) -> None:
    last = trial.steps()
    for at in spread(last - 50, last, 5) if FULL else (last - 24,):
        edited(trial, act, at)


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
        with open_writer(root).lock_store():
            pass
        found = _bytes(store / "user-a.md"), _bytes(store / "user-b.md")
        assert found in ((old, None), (b"new a\n", b"b\n"))
        ends.append(found[0] != old)
        if ends[-1]:
            assert [path.read_bytes() for path in (root / ".mdmemory" / "aside").glob("*")] == [old]
        assert [path.name for path in store.iterdir() if path.name.startswith(MARK)] == []
        at += 1 if FULL else 3
    assert ends == sorted(ends)
    assert {*ends} == {False, True}
