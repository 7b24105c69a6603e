"""A write that is killed, or meets a full disk, at any state-changing call of any process.

A C shim (tests/git/shim/shim.c) counts the calls of mdmemory and of every git that it starts,
and at the n-th kills the whole process group with SIGKILL or answers ENOSPC from then on. After
the next command the promises must hold: nothing lost, all or nothing, everything else untouched.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from pace import FULL, HUNG

SHIM = Path(__file__).parent / "shim" / "shim.c"
ENV_KEPT = ("PATH", "HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM")
PLAN = {
    "ops": [
        {"op": "merge", "sources": ["user-a.md", "user-b.md"], "target": "user-a.md", "name": "a",
         "type": "user", "description": "Likes tea.", "body": "Likes tea.\n\nLikes green tea."},
        {"op": "delete", "file": "user-c.md", "reason": "out of date"},
        {"op": "rewrite", "file": "user-d.md", "body": "Edited by hand, kept in git."},
        {"op": "flag", "files": ["user-e.md", "user-f.md"], "reason": "morning against evening"},
    ]
}  # fmt: skip
BODIES = {
    "a": "Likes tea.", "b": "Likes green tea.", "c": "Something old.", "d": "First text.",
    "e": "Works in the morning.", "f": "Works in the evening.", "g": "Stays as it is.",
}  # fmt: skip
# A full run strikes at every second call or denser, which takes minutes; otherwise the slow tests
# strike at every fourth of these.
SPARSE = 1 if FULL else 4
COMMANDS = {
    "compact": ["compact", "--plan", "-"],
    "due": ["compact", "--if-due", "--plan", "-"],  # it moves no branch: the next command does
    "edit": ["edit", "d", "Edited once more."],
    "remove": ["remove", "c"],
    "add": ["add", "new", "--type", "user", "--description", "New.", "New."],
}


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not sys.platform.startswith("linux") or compiler is None:
        pytest.skip("the kill matrix needs Linux and a C compiler: install gcc to run it")
    library = tmp_path_factory.mktemp("shim") / "shim.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, SHIM, "-ldl"], check=True)
    return library


@dataclass
class World:
    """A repository of a person's in the middle of work, with a store in it."""

    root: Path
    shim: Path
    counter: Path
    said: str = ""

    @property
    def store(self) -> Path:
        return self.root / "notes" / "memory"

    def git(self, *words: str, data: bytes = b"") -> bytes:
        # no optional locks: the pristine repository is copied while it is looked at
        done = subprocess.run(
            ["git", "--no-optional-locks", *words], cwd=self.root, input=data,
            capture_output=True, check=False, timeout=HUNG,
        )  # fmt: skip
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    def run(self, words: list[str], act: str = "", at: int = 0) -> tuple[int, int]:
        """Run a command under the shim: its exit code, and how many calls were counted."""
        self.counter.write_bytes(bytes(8))
        env = {name: os.environ[name] for name in ENV_KEPT if name in os.environ}
        env |= {"LD_PRELOAD": str(self.shim), "SHIM_COUNTER": str(self.counter)}
        env |= {"SHIM_ROOT": str(self.root), "SHIM_AT": str(at), "SHIM_ACT": act}
        done = subprocess.run(
            [sys.executable, "-P", "-m", "mdmemory", *words], cwd=self.root, env=env,
            input=json.dumps(PLAN).encode() if "-" in words else b"",
            capture_output=True, start_new_session=True, check=False, timeout=HUNG,
        )  # fmt: skip
        self.said = done.stderr.decode()
        assert done.returncode != 3, self.said
        return done.returncode, int.from_bytes(self.counter.read_bytes(), sys.byteorder)

    def notes(self) -> dict[str, bytes]:
        return {
            path.name: path.read_bytes()
            for path in self.store.iterdir()
            if path.suffix == ".md" and path.name != "MEMORY.md" and not path.name.startswith(".")
        }

    def elsewhere(self) -> tuple[bytes, bytes, bytes]:
        """The person's own work: the index outside the store, and the files."""
        staged = self.git("ls-files", "-s", "--", ":!notes/memory")
        status = self.git("status", "--porcelain", "--", ":!notes/memory")
        files = b"".join((self.root / name).read_bytes() for name in ("kept.txt", "new.txt"))
        return staged, status, files

    def everything_in_store(self) -> set[bytes]:
        """The bytes of notes in HEAD, in the index and in the work tree."""
        held = set(self.notes().values())
        for line in self.git("ls-files", "-s", "--", "notes/memory").decode().splitlines():
            held.add(self.git("cat-file", "blob", line.split()[1]))
        for line in self.git("ls-tree", "-r", "HEAD", "--", "notes/memory").decode().splitlines():
            held.add(self.git("cat-file", "blob", line.split()[2]))
        return {data for data in held if b"generated by mdmemory" not in data}


def build(folder: Path, shim: Path) -> World:
    root = folder / "project"
    root.mkdir()
    world = World(root, shim, folder / "counter")
    world.git("init", "-q", "-b", "main")
    world.git("config", "user.name", "A Person")
    world.git("config", "user.email", "person@example.com")
    world.git("config", "gc.auto", "0")
    (root / "kept.txt").write_bytes(b"one\n")
    world.git("add", ".")
    world.git("commit", "-qm", "first")
    assert world.run(["init"])[0] == 0
    for name, body in BODIES.items():
        words = ["add", name, "--type", "user", "--description", body, body]
        assert world.run(words)[0] == 0
    (root / "kept.txt").write_bytes(b"two, staged\n")
    world.git("add", "kept.txt")
    (root / "kept.txt").write_bytes(b"three, not staged\n")
    (root / "new.txt").write_bytes(b"untracked\n")
    # a note with four texts: in HEAD, staged, and two by hand
    path = world.store / "user-d.md"
    text = path.read_bytes()
    path.write_bytes(text.replace(b"First text.", b"Staged and nowhere else."))
    world.git("add", "notes/memory/user-d.md")
    path.write_bytes(text.replace(b"First text.", b"Edited by hand, never staged."))
    (world.store / "by-hand.md").write_bytes(b"Untracked, and only here.\n")
    return world


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory, shim: Path) -> Path:
    folder = tmp_path_factory.mktemp("pristine")
    build(folder, shim)
    return folder


@contextmanager
def copied(pristine: Path, folder: Path, shim: Path) -> Iterator[World]:
    shutil.copytree(pristine, folder, symlinks=True)
    yield World(folder / "project", shim, folder / "counter")
    shutil.rmtree(folder)


def check(world: World, before: World, after: dict[str, bytes], act: str) -> None:
    """The promises, once the next command has run."""
    bytes_before = before.everything_in_store()
    assert world.run(["index"])[0] == 0, (act, "is finished next", world.said)
    now = world.notes()
    assert now in (before.notes(), after), "all or nothing"
    reachable = world.git("rev-list", "--objects", "--all").decode()
    for data in bytes_before - set(now.values()):
        blob = world.git("hash-object", "--stdin", "--no-filters", data=data).decode().strip()
        staged = world.git("ls-files", "-s").decode()
        assert blob in reachable or blob in staged, data
    assert world.elsewhere() == before.elsewhere()
    assert not (world.root / ".git" / "index.lock").exists()
    assert [path.name for path in world.store.glob(".mdmemory-tx*")] == []
    assert b"missing" not in world.git("fsck", "--full")
    # a plain commit of the person's afterwards takes back nothing of ours
    head = world.git("ls-tree", "HEAD", "notes/memory/").decode()
    world.git("commit", "-qm", "theirs", "--", "kept.txt")
    assert world.git("ls-tree", "HEAD", "notes/memory/").decode() == head
    assert world.run(["index", "--check"])[0] == 0, act


def matrix(
    words: list[str], pristine: Path, folder: Path, shim: Path, act: str, step: int, again: int = 0
) -> int:
    """Strike at every step-th call, in two runs at a time; how many runs there were."""
    before = World(pristine / "project", shim, pristine / "counter")
    with copied(pristine, folder / "whole", shim) as world:
        code, calls = world.run(words)
        assert code == 0
        after = world.notes()

    def one(at: int) -> None:
        with copied(pristine, folder / str(at), shim) as world:
            code, counted = world.run(words, act, at)
            # runs differ by a call or two: the last places may lie behind the end of this one
            struck = code == -signal.SIGKILL if act == "kill" else code in (0, 1)
            assert struck or (code == 0 and counted < at), (act, at, code)
            if again:
                world.run(["index"], "kill", again + at % 11)
            check(world, before, after, f"{act} at {at} of {calls}")

    places = range(1, calls + 1, step)
    with ThreadPoolExecutor(2) as pool:
        for _ in pool.map(one, places):
            pass
    return len(places)


@pytest.mark.slow
def test_a_sample_of_kills_and_full_disks(pristine: Path, tmp_path: Path, shim: Path) -> None:
    words = COMMANDS["compact"]
    assert matrix(words, pristine, tmp_path / "kill", shim, "kill", step=80) >= 3
    assert matrix(words, pristine, tmp_path / "full", shim, "full", step=110) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_kill_at_any_call_loses_nothing(
    pristine: Path, tmp_path: Path, shim: Path, command: str
) -> None:
    step = (2 if command == "compact" else 4) * SPARSE
    assert matrix(COMMANDS[command], pristine, tmp_path, shim, "kill", step) > 5


@pytest.mark.slow
def test_a_disk_that_fills_up_at_any_call_loses_nothing(
    pristine: Path, tmp_path: Path, shim: Path
) -> None:
    assert matrix(COMMANDS["compact"], pristine, tmp_path, shim, "full", 4 * SPARSE) > 5


@pytest.mark.slow
def test_a_kill_in_the_middle_of_recovery_loses_nothing(
    pristine: Path, tmp_path: Path, shim: Path
) -> None:
    assert matrix(COMMANDS["compact"], pristine, tmp_path, shim, "kill", 5 * SPARSE, again=3) > 5
