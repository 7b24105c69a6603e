"""A day in the real client: branches, worktrees, a second clone and a second machine.

Whatever the person does with git in the project, what they said stays, and the project has no
commit, no file and no branch of ours.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from client import OpenCode
from fake_server import FakeServer, system_text
from pace import FULL, HUNG
from plugged import PROGRAM, until

pytestmark = pytest.mark.slow

BRANCHES = 20
SPOKEN = 1 if FULL else 5  # a fact is said on every so manieth branch
THINGS = (
    "heron", "otter", "badger", "falcon", "lynx", "magpie", "newt", "osprey", "puffin", "quail",
    "raven", "stoat", "tapir", "urchin", "vole", "walrus", "yak", "zebra", "ibis", "jackal",
    "kestrel", "lemur", "marten", "numbat",
)  # fmt: skip


class Machine:
    """A person's computer: a home with OpenCode connected, and clones of one project."""

    def __init__(self, folder: Path, origin: Path) -> None:
        self.home, self.origin = folder / "home", origin
        self.home.mkdir(parents=True)
        self.project = self.clone("app")
        self.mdmemory("setup", "opencode")

    def clone(self, name: str) -> Path:
        self.git(self.home, "clone", "-q", str(self.origin), name)
        return self.home / name

    def run(self, folder: Path, *words: str | Path) -> str:
        known = {**os.environ, "HOME": str(self.home), "PWD": str(folder)}
        for role in ("AUTHOR", "COMMITTER"):
            known |= {f"GIT_{role}_NAME": "A Person", f"GIT_{role}_EMAIL": "person@example.com"}
        done = subprocess.run(
            words, cwd=folder, env=known, capture_output=True, text=True, timeout=HUNG, check=False
        )
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def git(self, folder: Path, *words: str) -> str:
        return self.run(folder, "git", *words)

    def mdmemory(self, *words: str) -> str:
        return self.run(self.project, PROGRAM, *words)

    def facts(self) -> str:
        """All that the project's store says, one line a note."""
        store = self.home / "mdmemory" / "app"
        texts = [path.read_text("utf-8") for path in sorted(store.glob("[a-z]*-*.md"))]
        return "\n".join(texts)

    def refs(self) -> str:
        """The branches, tags and other refs of the project, and what is not committed there."""
        shown = self.git(self.project, "for-each-ref", "--format=%(refname) %(objectname)")
        return shown + self.git(self.project, "status", "--porcelain", "--ignored")


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bare repository with many branches; one has files where a shared store would lie."""
    folder = tmp_path_factory.mktemp("origin")
    work = folder / "work"
    work.mkdir()
    who = ("-c", "user.name=A Person", "-c", "user.email=person@example.com")

    def git(*words: str) -> None:
        subprocess.run(["git", *who, *words], cwd=work, check=True, timeout=HUNG)

    git("init", "-q", "-b", "main")
    for number in range(BRANCHES):
        if number:
            git("switch", "-q", "-c", f"b{number}", "main")
        path = work / ("notes/memory/MEMORY.md" if number == 7 else f"file{number}.txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{number}\n", "utf-8")
        git("add", ".")
        git("commit", "-q", "-m", f"commit {number}")
    git("clone", "-q", "--bare", ".", str(folder / "origin.git"))
    return folder / "origin.git"


@pytest.fixture(scope="module")
def server() -> Iterator[FakeServer]:
    with FakeServer() as running:
        yield running


def fact(number: int) -> str:
    return f"The {THINGS[number]} service listens on port {8100 + number}"


@pytest.mark.full
def test_a_day_over_branches_worktrees_clones_and_machines_loses_no_word(
    tmp_path: Path, origin: Path, server: FakeServer
) -> None:
    first = Machine(tmp_path / "first", origin)
    said = []

    def say(client: OpenCode, number: int, folder: Path, machine: Machine = first) -> None:
        client.send(client.new_session(folder=folder), f"Remember that {fact(number)}.")
        until(lambda: fact(number) in machine.facts())
        said.append(fact(number))

    with OpenCode(first.project, first.home, server.url) as client:
        for number in range(BRANCHES):
            first.git(first.project, "switch", "-q", f"b{number}" if number else "main")
            before = first.refs()
            if number % SPOKEN == 0:
                say(client, number, first.project)
            assert first.refs() == before, number
        for number, name in ((20, "b1"), (21, "b2")):
            tree = first.home / f"tree-{name}"
            first.git(first.project, "worktree", "add", "-q", "-f", str(tree), name)
            say(client, number, tree)
            assert first.git(tree, "status", "--porcelain", "--ignored") == ""
        second_clone = first.clone("again")
        say(client, 22, second_clone)
        # the next session has what was said elsewhere
        client.send(client.new_session(folder=first.project), "Hello.")
        assert str(8100 + 22) in system_text(server.turns[-1])
    stores = sorted(path.name for path in (first.home / "mdmemory").iterdir())
    assert [name for name in stores if not name.startswith(".")] == ["app"]
    assert [each for each in said if each not in first.facts()] == []

    remote = tmp_path / "memory.git"
    first.run(tmp_path, "git", "init", "-q", "--bare", str(remote))
    other = Machine(tmp_path / "other", origin)
    with OpenCode(other.project, other.home, server.url) as client:
        say(client, 23, other.project, other)
    for machine in (first, other, first):
        machine.mdmemory("sync", "--remote", str(remote))
    for machine in (first, other):
        assert [each for each in said if each not in machine.facts()] == []
        assert "mdmemory" not in machine.git(machine.project, "log", "--all", "--format=%an %B")
        assert machine.git(machine.project, "for-each-ref", "refs/mdmemory") == ""
        store = machine.home / "mdmemory" / "app"
        assert machine.git(store, "status", "--porcelain") == ""
        machine.git(store, "fsck", "--full")
