"""OpenCode, set up once: a project that is wired, and one that never heard of us.

One real client for all of them.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from client import OpenCode
from fake_server import FakeServer, system_text, user_texts
from pace import HUNG
from plugged import PROGRAM, STORE, spare_npm, until

pytestmark = pytest.mark.slow


class World:
    """A home that is set up, a project with wiring of its own, one that never heard of us with a
    subfolder and a linked worktree, and the client among them."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project, self.fresh, self.linked = (
            folder / name for name in ("home", "project", "fresh", "linked")
        )
        self.own = self.home / "mdmemory/me"
        for each in (self.home, self.project, self.fresh / "sub/deep"):
            each.mkdir(parents=True)
        for each in (self.project, self.fresh):
            self.run(each, "git", "init", "-q")
            self.run(each, "git", "commit", "-q", "--allow-empty", "-m", "first")
        self.run(self.fresh, "git", "worktree", "add", "-q", self.linked)
        self.run(self.home, PROGRAM, "setup", "opencode")
        spare_npm(self.home / ".config/opencode")
        self.run(self.home, PROGRAM, "init", "--user", "--no-npm")
        about = ("--type", "user", "--description", "Drinks tea", "Only green tea.")
        self.run(self.own, PROGRAM, "add", "tea", *about)
        self.run(self.project, PROGRAM, "init", "--shared")
        self.run(self.project, PROGRAM, "init", "--opencode", "--no-npm")
        about = ("--type", "project", "--description", "The port of the proxy", "It is 8080.")
        self.run(self.project, PROGRAM, "add", "port", *about)

    def run(self, folder: Path, *words: str | Path) -> str:
        """What a command prints there."""
        known = {**os.environ, "HOME": str(self.home), "PWD": str(folder)}
        for role in ("AUTHOR", "COMMITTER"):
            known |= {f"GIT_{role}_NAME": "A Person", f"GIT_{role}_EMAIL": "person@example.com"}
        done = subprocess.run(
            words, cwd=folder, env=known, capture_output=True, text=True, timeout=HUNG, check=False
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("scopes"))


@pytest.fixture(scope="module")
def server() -> Iterator[FakeServer]:
    with FakeServer() as running:
        yield running


@pytest.fixture(scope="module")
def client(world: World, server: FakeServer) -> Iterator[OpenCode]:
    with OpenCode(world.project, world.home, server.url) as running:
        yield running


def test_both_indexes_are_there_and_each_tool_once(
    world: World, client: OpenCode, server: FakeServer
) -> None:
    session = client.new_session()
    client.send(session, "Remember that deploys go out on Tuesdays only.")
    until(lambda: list((world.project / STORE).glob("*deploys*")))
    client.send(session, "Hello.")
    told = system_text(server.turns[-1])
    assert told.count("# Memory protocol") == 1, "the project's plugin works alone"
    for file in ("user-tea.md", "project-port.md", "project-deploys-go-out-on-tuesdays.md"):
        assert f"({file})" in told
    names = [each["function"]["name"] for each in server.turns[-1]["tools"]]
    assert names.count("memory_search") == 1
    assert len(list((world.project / STORE).glob("*deploys*"))) == 1
    assert not list(world.own.rglob("*deploys*")), "it is the project's"
    assert user_texts(server.turns[-2])[-1].count("asks to remember") == 1, "it is said once"


def test_the_tools_answer_with_two_plugins(
    world: World, client: OpenCode, server: FakeServer
) -> None:
    server.call("memory_search", query="port of the proxy")
    server.call("memory_store", fact="The staging host is called beta.", quote="host is beta")
    server.say("8080.")
    assert client.send(client.new_session(), "Our staging host is beta.") == "8080."
    found, stored = [m["content"] for m in server.turns[-1]["messages"] if m["role"] == "tool"]
    assert ("It is 8080." in found, stored.startswith("Stored ")) == (True, True)
    (note,) = (world.project / STORE).glob("*staging*")
    assert "called beta" in note.read_text("utf-8")


def test_in_a_project_that_never_heard_of_us_a_fact_is_kept_and_the_next_session_has_it(
    world: World, client: OpenCode, server: FakeServer
) -> None:
    def project() -> list[str]:
        words = (("status", "--porcelain", "--ignored"), ("rev-parse", "HEAD"))
        return [world.run(world.fresh, "git", *each) for each in words]

    def listed() -> list[str]:
        return re.findall("(?m)^Instructions from: (.*)", system_text(server.turns[-1]))

    before = project()
    session = client.new_session(folder=world.fresh)
    client.send(session, "hello")
    known = [world.home / ".config/opencode/memory/PROTOCOL.md", world.own / "MEMORY.md"]
    assert listed() == [*map(str, known)]
    assert not (world.home / "mdmemory/fresh").exists(), "nothing is made before there is a fact"
    client.send(session, "Remember that releases are cut on Mondays.")
    index = world.home / "mdmemory/fresh/MEMORY.md"
    until(lambda: index.exists() and "Releases are cut" in index.read_text("utf-8"))
    client.send(session, "hello")
    assert listed() == [*map(str, (*known, index))], "in its session"
    for folder in (world.fresh, world.fresh / "sub/deep", world.linked):
        client.send(client.new_session(folder=folder), "hello")
        assert listed() == [*map(str, (*known, index))], folder
        assert "releases are cut" in system_text(server.turns[-1]).lower()
    assert project() == before


def test_a_note_outside_is_opened_without_a_question(
    world: World, client: OpenCode, server: FakeServer
) -> None:
    session = client.new_session(folder=world.fresh)
    client.send(session, "Remember that the archive is kept in room 7.")
    (note,) = until(lambda: [*(world.home / "mdmemory/fresh").glob("*archive*.md")])
    server.call("memory_get", file=note.name)
    server.say("Room 7.")
    assert client.send(session, "Where is the archive?") == "Room 7."
    (shown,) = [m["content"] for m in server.turns[-1]["messages"] if m["role"] == "tool"]
    assert "room 7" in shown
