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

import pytest
from pace import FULL, HUNG

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

    def git(self, *words: str, data: bytes = b"", folder: Path | None = None) -> bytes:
        # no optional locks: the pristine repository is copied while it is looked at
        done = subprocess.run(
            ["git", "--no-optional-locks", *words], cwd=folder or self.repository, input=data,
            capture_output=True, check=False, timeout=HUNG,
        )  # fmt: skip
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    def run(self, words: list[str], act: str = "", at: int = 0) -> tuple[int, int]:
        """Run a command under the shim: its exit code, and how many calls were counted."""
        self.counter.write_bytes(bytes(8))
        env = {name: os.environ[name] for name in ENV_KEPT if name in os.environ}
        env |= {"LD_PRELOAD": str(self.shim), "SHIM_COUNTER": str(self.counter)}
        env |= {"SHIM_ROOT": str(self.folder), "SHIM_AT": str(at), "SHIM_ACT": act}
        env |= {"HOME": str(self.folder / "home")}
        if self.store.exists():  # a copied world lies elsewhere, and is not found by its place
            env |= {"MDMEMORY_STORE": str(self.store)}
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
        staged = self.git("ls-files", "-s", "--", ":!notes/memory", folder=self.root)
        words = ("status", "--porcelain", "--", ":!notes/memory")
        status = self.git(*words, folder=self.root)
        files = b"".join((self.root / name).read_bytes() for name in ("kept.txt", "new.txt"))
        return staged, status, files

    def everything_in_store(self) -> set[bytes]:
        """The bytes of notes in HEAD, in the index and in the work tree."""
        held = set(self.notes().values())
        path = self.inside or "."
        for line in self.git("ls-files", "-s", "--", path).decode().splitlines():
            held.add(self.git("cat-file", "blob", line.split()[1]))
        for line in self.git("ls-tree", "-r", "HEAD", "--", path).decode().splitlines():
            held.add(self.git("cat-file", "blob", line.split()[2]))
        return {data for data in held if b"generated by mdmemory" not in data}


def begun(folder: Path, shim: Path, kind: str) -> World:
    """A project with one commit, and no store yet."""
    world = World(folder, shim, kind)
    root = world.root
    root.mkdir(parents=True)
    (folder / "home").mkdir()
    for words in (
        ("init", "-q", "-b", "main"), ("config", "user.name", "A Person"),
        ("config", "user.email", "person@example.com"), ("config", "gc.auto", "0"),
    ):  # fmt: skip
        world.git(*words, folder=root)
    (root / "kept.txt").write_bytes(b"one\n")
    world.git("add", ".", folder=root)
    world.git("commit", "-qm", "first", folder=root)
    (root / "new.txt").write_bytes(b"untracked\n")
    return world


def build(folder: Path, shim: Path, kind: str) -> World:
    world = begun(folder, shim, kind)
    root = world.root
    place = [] if kind == "own" else ["--store", "notes/memory"]
    assert world.run(["init", *place])[0] == 0, world.said
    for name, body in BODIES.items():
        assert world.run(["add", name, "--type", "feedback", "--description", body, body])[0] == 0
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
    assert not (world.repository / ".git" / "index.lock").exists()
    assert [path.name for path in world.store.glob(".mdmemory-tx*")] == []
    assert b"missing" not in world.git("fsck", "--full")
    # a plain commit of the person's afterwards takes back nothing of ours
    path = world.inside or "."
    head = world.git("ls-tree", "HEAD", path).decode()
    world.git("commit", "-qm", "theirs", "--", "kept.txt", folder=world.root)
    assert world.git("ls-tree", "HEAD", path).decode() == head
    assert world.run(["index", "--check"])[0] == 0, act


def matrix(
    words: list[str], before: World, folder: Path, act: str, step: int, again: int = 0
) -> int:
    """Strike at every step-th call, in two runs at a time; how many runs there were."""
    with copied(before, folder / "whole") as world:
        code, calls = world.run(words)
        assert code == 0
        after = world.notes()

    def one(at: int) -> None:
        with copied(before, folder / str(at)) as world:
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


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_kill_at_any_call_loses_nothing(pristine: World, tmp_path: Path, command: str) -> None:
    if command not in ("compact", "add"):
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
        assert world.git("status", "--porcelain") == b""
        assert world.elsewhere() == before
        shutil.rmtree(world.folder)
        return calls

    calls = one(0)
    places = range(1, calls + 1, 3 if FULL else 24)
    with ThreadPoolExecutor(2) as pool:
        for _ in pool.map(one, places):
            pass
    assert len(places) > 5
