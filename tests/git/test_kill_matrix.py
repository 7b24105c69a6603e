"""A write that is killed, or meets a full disk, at any state-changing call of any process.

A C shim (tests/git/shim/shim.c) counts the calls of mdmemory and of every git that it starts,
and at the n-th kills the whole process group with SIGKILL or answers ENOSPC from then on. After
the next command the promises must hold: nothing lost, all or nothing, everything else untouched.
"""

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
from typing import NamedTuple

import pytest
from machines import identify
from moments import blob, ids
from pace import FULL, HUNG
from projects import commit_all, git

from mdmemory import Memory

SHIM = Path(__file__).parent / "shim" / "shim.c"
ENV_KEPT = ("PATH", "HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM")
PLAN = {
    "ops": [
        {"op": "merge", "sources": ["feedback-a.md", "feedback-b.md"], "target": "feedback-a.md",
         "name": "a", "type": "feedback", "description": "Likes tea.",
         "body": "Likes tea.\n\nLikes green tea."},
        {"op": "delete", "file": "feedback-c.md", "reason": "out of date"},
        {"op": "rewrite", "file": "feedback-d.md", "body": "Edited by hand, kept in git."},
        {"op": "flag", "files": ["feedback-e.md", "feedback-f.md"],
         "reason": "morning against evening"},
    ]
}  # fmt: skip
BODIES = {
    "a": "Likes tea.", "b": "Likes green tea.", "c": "Something old.", "d": "First text.",
    "e": "Works in the morning.", "f": "Works in the evening.", "g": "Stays as it is.",
}  # fmt: skip
# A full run strikes at every second call or denser, which takes minutes; otherwise the slow tests
# strike at every tenth of these.
SPARSE = 1 if FULL else 10
COMMANDS = {
    "compact": ["compact", "--plan", "-"],
    "due": ["compact", "--if-due", "--plan", "-"],  # it moves no branch: the next command does
    "edit": ["edit", "d", "Edited once more."],
    "remove": ["forget", "c"],
    "add": ["add", "new", "--type", "feedback", "--description", "New.", "New."],
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
    """A repository of a person's in the middle of work, with a store in it (shared), or with one
    in the memory folder (own), which is a repository itself."""

    folder: Path
    shim: Path
    kind: str
    said: str = ""

    @property
    def root(self) -> Path:
        return self.folder / "project"

    @property
    def counter(self) -> Path:
        return self.folder / "counter"

    @property
    def home(self) -> Path:
        return self.folder / "home" / "mdmemory"

    @property
    def store(self) -> Path:
        return self.home / "project" if self.kind == "own" else self.root / "notes" / "memory"

    @property
    def repository(self) -> Path:
        """The work tree that holds the store."""
        return self.store if self.kind == "own" else self.root

    @property
    def inside(self) -> str:
        """The store's path in its repository, with a slash behind it."""
        return "" if self.kind == "own" else "notes/memory/"

    def git(self, *words: str, folder: Path | None = None) -> str:
        # no optional locks: the pristine repository is copied while it is looked at
        return git(folder or self.repository, "--no-optional-locks", *words)

    @property
    def environment(self) -> dict[str, str]:
        """Where a command finds the store: a copied world lies elsewhere than its place says."""
        place = {"MDMEMORY_STORE": str(self.store)} if self.store.exists() else {}
        return {"HOME": str(self.folder / "home"), **place}

    def index(self) -> None:
        """What the command `index` does, in this process, which nothing kills."""
        Memory.open(self.root, environment=self.environment).index(adopt=True)

    def run(self, words: list[str], act: str = "", at: int = 0) -> tuple[int, int]:
        """Run a command under the shim: its exit code, and how many calls were counted."""
        self.counter.write_bytes(bytes(8))
        env = {name: os.environ[name] for name in ENV_KEPT if name in os.environ}
        env |= {"LD_PRELOAD": str(self.shim), "SHIM_COUNTER": str(self.counter)}
        env |= {"SHIM_ROOT": str(self.folder), "SHIM_AT": str(at), "SHIM_ACT": act}
        env |= self.environment
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

    def elsewhere(self) -> tuple[str, str, bytes]:
        """The person's own work: the index outside the store, and the files."""
        staged = self.git("ls-files", "-s", "--", ":!notes/memory", folder=self.root)
        words = ("status", "--porcelain", "--", ":!notes/memory")
        status = self.git(*words, folder=self.root)
        files = b"".join((self.root / name).read_bytes() for name in ("kept.txt", "new.txt"))
        return staged, status, files

    def everything_in_store(self) -> set[str]:
        """The names that git has for the notes in HEAD, in the index and in the work tree."""
        path = self.inside or "."
        lists = self.git("ls-files", "-s", "--", path), self.git("ls-tree", "-r", "HEAD", path)
        found = [row for rows in lists for row in ids(rows).items()]
        ours = {held for path, held in found if not path.endswith("MEMORY.md")}
        return ours | {blob(data) for data in self.notes().values()}


def begun(folder: Path, shim: Path, kind: str) -> World:
    """A project with one commit, and no store yet."""
    world = World(folder, shim, kind)
    root = world.root
    root.mkdir(parents=True)
    (folder / "home").mkdir()
    git(root, "init", "-q", "-b", "main")
    identify(git, root, "person")
    git(root, "config", "gc.auto", "0")
    commit_all(root, "first", **{"kept.txt": "one\n"})
    (root / "new.txt").write_bytes(b"untracked\n")
    return world


def build(folder: Path, shim: Path, kind: str) -> World:
    world = begun(folder, shim, kind)
    root = world.root
    place = [] if kind == "own" else ["--store", "notes/memory"]
    assert world.run(["init", *place])[0] == 0, world.said
    memory = Memory.open(root, environment=world.environment)
    for name, body in BODIES.items():
        memory.add(name, type="feedback", description=body, body=body)
    (root / "kept.txt").write_bytes(b"two, staged\n")
    world.git("add", "kept.txt", folder=root)
    (root / "kept.txt").write_bytes(b"three, not staged\n")
    # a note with four texts: in HEAD, staged, and two by hand
    path = world.store / "feedback-d.md"
    text = path.read_bytes()
    path.write_bytes(text.replace(b"First text.", b"Staged and nowhere else."))
    world.git("add", f"{world.inside}feedback-d.md")
    path.write_bytes(text.replace(b"First text.", b"Edited by hand, never staged."))
    (world.store / "by-hand.md").write_bytes(b"Untracked, and only here.\n")
    return world


@pytest.fixture(scope="module", params=["shared", "own"])
def pristine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, shim: Path
) -> World:
    return build(tmp_path_factory.mktemp("pristine") / "world", shim, request.param)


@contextmanager
def copied(pristine: World, folder: Path) -> Iterator[World]:
    shutil.copytree(pristine.folder, folder, symlinks=True)
    yield World(folder, pristine.shim, pristine.kind)
    shutil.rmtree(folder)


class Before(NamedTuple):
    """What stood in the pristine world, which each strike is held to."""

    notes: dict[str, bytes]
    everything: set[str]
    elsewhere: tuple[str, str, bytes]


def check(world: World, before: Before, after: dict[str, bytes], act: str) -> None:
    """The promises, once the next command has run."""
    world.index()  # what was begun is finished next
    now = world.notes()
    assert now in (before.notes, after), "all or nothing"
    rows = world.git("rev-list", "--objects", "--all").splitlines()
    staged = ids(world.git("ls-files", "-s")).values()
    held = {*(row.split()[0] for row in rows), *staged, *map(blob, now.values())}
    assert before.everything <= held, "bytes are lost"
    assert world.elsewhere() == before.elsewhere
    assert not (world.repository / ".git" / "index.lock").exists()
    assert [path.name for path in world.store.glob(".mdmemory-tx*")] == []
    assert "missing" not in world.git("fsck", "--full")
    # a plain commit of the person's afterwards takes back nothing of ours
    path = world.inside or "."
    head = world.git("ls-tree", "HEAD", path)
    world.git("commit", "-qm", "theirs", "--", "kept.txt", folder=world.root)
    assert world.git("ls-tree", "HEAD", path) == head
    memory = Memory.open(world.root, environment=world.environment)
    assert memory.index(check=True).changed == (), act


def matrix(
    words: list[str], pristine: World, folder: Path, act: str, step: int, again: int = 0
) -> int:
    """Strike at every step-th call, in two runs at a time; how many runs there were."""
    before = Before(pristine.notes(), pristine.everything_in_store(), pristine.elsewhere())
    with copied(pristine, folder / "whole") as world:
        code, calls = world.run(words)
        assert code == 0
        after = world.notes()

    def one(at: int) -> None:
        with copied(pristine, folder / str(at)) as world:
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


def spaced(step: int, world: World) -> int:
    """How far apart the calls are that a run strikes at: in a usual run further, and in the second
    kind of store twice as far."""
    return step * SPARSE * (2 if world.kind == "own" and not FULL else 1)


def leave_own_to_full_runs(world: World) -> None:
    """In a usual run a neighbour strikes in the other kind of store."""
    if world.kind == "own" and not FULL:
        pytest.skip("a full run has every trouble in both kinds of store")


# what removes or replaces one note is a part of what a compaction does
OFTEN = ("compact", "due", "add")


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS if FULL else OFTEN)
def test_a_kill_at_any_call_loses_nothing(pristine: World, tmp_path: Path, command: str) -> None:
    if command != "compact":
        leave_own_to_full_runs(pristine)
    step = spaced(2 if command == "compact" else 4, pristine)
    assert matrix(COMMANDS[command], pristine, tmp_path, "kill", step) >= 3


@pytest.mark.slow
def test_a_disk_that_fills_up_at_any_call_loses_nothing(pristine: World, tmp_path: Path) -> None:
    leave_own_to_full_runs(pristine)
    assert matrix(COMMANDS["compact"], pristine, tmp_path, "full", spaced(4, pristine)) >= 3


@pytest.mark.slow
def test_a_kill_in_the_middle_of_recovery_loses_nothing(pristine: World, tmp_path: Path) -> None:
    leave_own_to_full_runs(pristine)
    step = spaced(5, pristine)
    assert matrix(COMMANDS["compact"], pristine, tmp_path, "kill", step, again=3) >= 3


@pytest.mark.slow
def test_a_kill_while_a_store_is_made_leaves_none_or_a_whole_one(
    tmp_path: Path, shim: Path
) -> None:
    def one(at: int) -> int:
        world = begun(tmp_path / str(at), shim, "own")
        before = world.elsewhere()
        code, calls = world.run(["init"], "kill", at)
        assert code == -signal.SIGKILL or calls < at or at == 0, (at, code)
        assert world.run(["init"])[0] == 0, world.said
        names = [name for name in os.listdir(world.home) if not name.startswith(".lock")]
        assert names == ["project"], (at, names)
        assert world.run(["add", *COMMANDS["add"][1:3], "feedback", *COMMANDS["add"][4:]])[0] == 0
        assert world.git("status", "--porcelain") == ""
        assert world.elsewhere() == before
        shutil.rmtree(world.folder)
        return calls

    calls = one(0)
    places = range(1, calls + 1, 3 if FULL else 24)
    with ThreadPoolExecutor(2) as pool:
        for _ in pool.map(one, places):
            pass
    assert len(places) > 5
