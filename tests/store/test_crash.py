"""A process killed at any moment of a write loses nothing, and the next one finishes or forgets it.

The write runs in a forked child that leaves by `os._exit` just before its n-th change of state:
no handler and no `finally` runs, as after `kill -9`. What git itself does in between is whole.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from mdmemory.files import digest
from mdmemory.store.transaction import Change
from mdmemory.store.writer import Group, Writer

DIED = 9
CHANGING = {
    "os.link", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.symlink", "os.truncate",
    "os.chmod", "shutil.copyfile", "subprocess.Popen",
}  # fmt: skip
MARK = ".mdmemory-tx-"

Git = Callable[..., str]
OpenWriter = Callable[[Path], Writer]
Act = Callable[[Path], None]


def run_until(step: int, act: Callable[[], object]) -> tuple[bool, int]:
    """Do `act` in a child that dies before its state-changing call number `step` (from 1).

    Whether it died, and how many such calls it came to.
    """
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        with suppress(BaseException):
            count = 0

            def note(event: str, words: tuple[object, ...]) -> None:
                nonlocal count
                if event in CHANGING or (event == "open" and _writes(words)):
                    count += 1
                    if count == step:
                        os._exit(DIED)

            sync = os.fsync
            os.fsync = lambda handle: (note("os.chmod", ()), sync(handle))[1]
            sys.addaudithook(note)
            act()
            os.write(write, str(count).encode())
            code = 0
        os._exit(code)
    os.close(write)
    with open(read, "rb") as pipe:
        count = int(pipe.read() or b"0")
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, DIED), "the write failed where it should have died or come through"
    return code == DIED, count


def _writes(words: tuple[object, ...]) -> bool:
    flags = words[2]
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


@dataclass
class World:
    """A repository full of a person's unfinished work, and what must not be lost of it."""

    root: Path
    bytes: set[str]
    elsewhere: tuple[str, dict[str, bytes]]
    old: dict[str, bytes | None]
    new: dict[str, bytes | None]

    @property
    def store(self) -> Path:
        return self.root / "notes" / "memory"


@pytest.fixture
def world(
    repository: Path, store: Path, git: Git, open_writer: OpenWriter,
    write_note: Callable[[Path, str, str], bytes],
) -> World:  # fmt: skip
    """Everything dirty at once: staged, unstaged and untracked elsewhere; notes edited by hand."""
    root = repository
    open_writer(root).refresher.refresh()
    (root / "staged").write_text("one\n")
    (root / "both").write_text("one\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "all")
    (root / "staged").write_text("two, staged\n")
    (root / "both").write_text("two, staged\n")
    git(root, "add", "staged", "both")
    (root / "both").write_text("three, not staged\n")
    (root / "README").write_text("changed, not staged\n")
    (root / "untracked").write_text("untracked\n")
    write_note(store, "feedback-old.md", "A second text, staged and nowhere else.")
    write_note(store, "user-name.md", "Another second text, staged and nowhere else.")
    git(root, "add", "notes")
    write_note(store, "feedback-old.md", "A third text, by hand, in no commit.")
    write_note(store, "user-name.md", "Another third text, by hand.")
    write_note(store, "project-loose.md", "An untracked note.")
    files = ("feedback-old.md", "project-plan.md", "project-loose.md", "user-name.md")
    old: dict[str, bytes | None] = {file: (store / file).read_bytes() for file in files}
    old["reference-new.md"] = None
    new = dict(old)
    new["feedback-old.md"] = b"---\nname: old\ndescription: Rewritten\n---\n\nNew text.\n"
    new["reference-new.md"] = b"---\nname: new\ndescription: Added\n---\n\nAll new.\n"
    new["project-plan.md"] = new["project-loose.md"] = None
    return World(root, known_bytes(root, git), elsewhere(root, git), old, new)


def the_write(world: World, open_writer: OpenWriter) -> None:
    """Replace, add and remove, in one commit, behind a checkpoint, with the index."""
    writer = open_writer(world.root)
    changes = [
        Change(file, old and digest(old), world.new[file])
        for file, old in world.old.items()
        if old != world.new[file]
    ]
    with writer.locked():
        checkpoint = writer.checkpoint_all([change.file for change in changes])
        groups = [Group(f"change {change.file}", (change,)) for change in changes]
        writer.write("memory: change", groups, kind="compact", checkpoint=checkpoint)


def recovered(world: World, open_writer: OpenWriter) -> None:
    """What the next command that writes does first."""
    with open_writer(world.root).locked():
        pass


# what is promised


def blob(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def known_bytes(root: Path, git: Git) -> set[str]:
    """The notes' bytes in HEAD, the index and the work tree, as git's ids."""
    in_index = {row.split()[1] for row in git(root, "ls-files", "-s", "notes").splitlines()}
    in_head = {row.split()[2] for row in git(root, "ls-tree", "-r", "HEAD", "notes").splitlines()}
    on_disk = {blob(path.read_bytes()) for path in (root / "notes" / "memory").iterdir()}
    derived = {blob((root / "notes" / "memory" / "MEMORY.md").read_bytes())}
    return (in_index | in_head | on_disk) - derived


def elsewhere(root: Path, git: Git) -> tuple[str, dict[str, bytes]]:
    """All that is not the store's: the index and the files."""
    rows = git(root, "ls-files", "-s", "-v", "--", ":!notes")
    files = {path.name: path.read_bytes() for path in root.iterdir() if path.is_file()}
    return rows, files


def everything(root: Path) -> dict[str, bytes]:
    """Every file, git's own included, but for locks and what belongs to this machine."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and path.name != "mdmemory.lock" and ".mdmemory" not in path.parts
    }


def check(world: World, git: Git) -> bool:
    """Every promise but the last; whether the write took place."""
    root, store = world.root, world.store
    reachable = {row.split()[0] for row in git(root, "rev-list", "--objects", "--all").splitlines()}
    on_disk = {blob(path.read_bytes()) for path in store.iterdir()}
    staged = dict(_tree(row) for row in git(root, "ls-files", "-s", "notes").splitlines())
    assert world.bytes <= reachable | on_disk | {*staged.values()}, "bytes are lost"
    assert elsewhere(root, git) == world.elsewhere, "a person's work elsewhere has changed"
    state = {file: _bytes(store / file) for file in world.old}
    assert state in (world.old, world.new), "neither all nor nothing"
    assert not (root / ".git" / "index.lock").exists()
    left = [path.name for path in store.iterdir() if path.name.startswith(MARK)]
    left += [path.name for path in (root / ".git" / "mdmemory").glob("*")]
    assert left == [], "something was left behind"
    fsck = subprocess.run(["git", "-C", str(root), "fsck", "--strict"], capture_output=True)
    assert fsck.returncode == 0, fsck.stderr
    applied = state == world.new
    held = dict(_tree(row) for row in git(root, "ls-tree", "-r", "HEAD", "notes").splitlines())
    if applied:
        assert staged == held, "the next plain commit would change notes"
        for file, data in world.new.items():
            assert held.get(f"notes/memory/{file}") == (data and blob(data))
    return applied


def _tree(row: str) -> tuple[str, str]:
    about, path = row.split("\t")
    words = about.split()
    return path, words[2] if words[1] == "blob" else words[1]


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


@dataclass
class Trial:
    """Copies of the world, one a trial: making one costs more than copying it."""

    world: World
    place: Path
    git: Git
    open_writer: OpenWriter

    def fresh(self) -> World:
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.world.root, self.place, symlinks=True)
        self.git(self.place, "update-index", "-q", "--refresh", check=False)
        made = World(self.place, self.world.bytes, ("", {}), self.world.old, self.world.new)
        made.elsewhere = elsewhere(self.place, self.git)
        return made

    def steps(self) -> int:
        """How many state-changing calls the whole write makes."""
        world = self.fresh()
        died, count = run_until(0, lambda: the_write(world, self.open_writer))
        assert not died
        assert check(world, self.git), "the write that nobody disturbs must take place"
        return count

    def killed_at(self, step: int) -> World:
        world = self.fresh()
        died, _ = run_until(step, lambda: the_write(world, self.open_writer))
        assert died
        return world

    def end(self, world: World) -> bool:
        """Recover, check every promise, recover again: whether the write took place."""
        recovered(world, self.open_writer)
        applied = check(world, self.git)
        before = everything(world.root)
        recovered(world, self.open_writer)
        assert everything(world.root) == before, "a second recovery is not idle"
        return applied


@pytest.fixture
def trial(world: World, tmp_path: Path, git: Git, open_writer: OpenWriter) -> Trial:
    def lenient(folder: Path, *words: str, check: bool = True) -> str:
        if check:
            return git(folder, *words)
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True)
        return done.stdout

    return Trial(world, tmp_path / "trial", lenient, open_writer)


def spread(last: int, count: int) -> Iterator[int]:
    """About `count` numbers from 1 to `last`, evenly."""
    yield from sorted({1 + round(at * (last - 1) / (count - 1)) for at in range(count)})


def test_killed_at_a_sample_of_moments_nothing_is_lost(trial: Trial) -> None:
    last = trial.steps()
    ends = [trial.end(trial.killed_at(step)) for step in spread(last, 10)]
    assert set(ends) == {False, True}, "kills before and after the point of no return"
    assert ends == sorted(ends)


@pytest.mark.slow
def test_killed_at_any_moment_nothing_is_lost(trial: Trial) -> None:
    ends = [trial.end(trial.killed_at(step)) for step in range(1, trial.steps() + 1)]
    assert ends == sorted(ends)
    print(len(ends), ends.count(True))
