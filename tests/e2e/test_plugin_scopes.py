"""OpenCode, set up once: a project that is wired, one that never heard of us, and a bare folder.

One real client for all of them.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from client import OpenCode
from fake_server import FakeServer, system_text, user_texts
from pace import HUNG
from plugged import PROGRAM, STORE, spare_npm, until

from mdmemory.note.stamps import add_stamp

pytestmark = pytest.mark.slow
PLUGIN = ".opencode/plugin/mdmemory.ts"
OLD = "export default { id: 'mdmemory', server: async () => ({}) }\n"


class World:
    """A home that is set up, a project with wiring of its own, one that never heard of us with a
    subfolder and a linked worktree, a bare folder, and the client among them."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project, self.fresh, self.bare = (
            folder / name for name in ("home", "project", "fresh", "bare")
        )
        self.own = self.home / "mdmemory/me"
        for each in (self.home, self.project, self.fresh / "sub/deep", self.bare):
            each.mkdir(parents=True)
        for each in (self.project, self.fresh, self.bare):
            self.run(each, "git", "init", "-q")
        for each in (self.project, self.fresh):
            self.run(each, "git", "commit", "-q", "--allow-empty", "-m", "first")
        self.run(self.fresh, "git", "worktree", "add", "-q", folder / "linked")
        self.linked = folder / "linked"
        self.run(self.home, PROGRAM, "setup", "opencode")
        spare_npm(self.home / ".config/opencode")
        self.run(self.home, PROGRAM, "init", "--user", "--no-npm")
        self.run(self.own, PROGRAM, "add", "tea", "--type", "user", "--description", "Drinks tea",
                 "Only green tea.")  # fmt: skip
        self.run(self.project, PROGRAM, "init", "--shared")
        old = self.project / PLUGIN
        old.parent.mkdir(parents=True)
        old.write_bytes(add_stamp(OLD, PLUGIN, "0.1.0"))
        self.said = self.run(self.project, PROGRAM, "init", "--opencode", "--no-npm")
        self.run(self.project, PROGRAM, "add", "port", "--type", "project", "--description",
                 "The port of the proxy", "It is 8080.")  # fmt: skip

    def run(self, folder: Path, *words: str | Path) -> str:
        """What a command prints there."""
        author = {"GIT_AUTHOR_NAME": "A Person", "GIT_AUTHOR_EMAIL": "person@example.com"}
        known = {**os.environ, "HOME": str(self.home), "PWD": str(folder), **author}
        known |= {"GIT_COMMITTER_NAME": "A Person", "GIT_COMMITTER_EMAIL": "person@example.com"}
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


def names(server: FakeServer) -> list[str]:
    return [each["function"]["name"] for each in server.turns[-1]["tools"]]


def test_an_older_plugin_that_nobody_edited_is_brought_up_to_date(world: World) -> None:
    assert "Updated .opencode/plugin/mdmemory.ts." in world.said
    assert str(PROGRAM) in (world.project / PLUGIN).read_text(encoding="utf-8")


def test_both_indexes_are_in_the_prompt_and_each_tool_is_there_once(
    world: World, client: OpenCode, server: FakeServer
) -> None:
    session = client.new_session()
    client.send(session, "Remember that deploys go out on Tuesdays only.")
    until(lambda: list((world.project / STORE).glob("*deploys*")))
    client.send(session, "Hello.")
    told = system_text(server.turns[-1])
    assert told.count("# Memory protocol") == 1, "the project's plugin works alone"
    assert "(user-tea.md)" in told
    assert "(project-port.md)" in told
    assert "(project-deploys-go-out-on-tuesdays.md)" in told
    assert [name for name in names(server) if name == "memory_search"] == ["memory_search"]
    assert len(list((world.project / STORE).glob("*deploys*"))) == 1
    assert not list(world.own.rglob("*deploys*")), "it is the project's"
    assert user_texts(server.turns[-2])[-1].count("asks to remember") == 1, "it is said once"


def test_the_tools_answer_although_the_plugin_is_there_twice(
    world: World, client: OpenCode, server: FakeServer
) -> None:
    server.call("memory_search", query="port of the proxy")
    server.call("memory_store", fact="The staging host is called beta.", quote="host is beta")
    server.say("8080.")
    assert client.send(client.new_session(), "Our staging host is beta.") == "8080."
    found, stored = [m["content"] for m in server.turns[-1]["messages"] if m["role"] == "tool"]
    assert "It is 8080." in found
    assert stored.startswith("Stored ")
    (note,) = (world.project / STORE).glob("*staging*")
    assert "called beta" in note.read_text(encoding="utf-8")


def test_the_commands_send_what_was_typed_and_the_way_to_go(
    client: OpenCode, server: FakeServer
) -> None:
    session = client.new_session()
    client.command(session, "memory", "Which port has the proxy?")
    asked = user_texts(server.turns[-1])[-1]
    assert "`memory_search`: Which port has the proxy?" in asked
    client.command(session, "forget", "the note on the port")
    asked = user_texts(server.turns[-1])[-1]
    assert asked.startswith("Forget the note on the port\n")
    assert "`memory_forget`" in asked


def test_in_a_folder_without_a_memory_the_persons_own_is_used(
    world: World, client: OpenCode, server: FakeServer
) -> None:
    session = client.new_session(folder=world.bare)
    client.send(session, "Remember that I prefer window seats.")
    told = system_text(server.turns[-1])
    assert "(user-tea.md)" in told
    assert "(project-port.md)" not in told
    assert "memory_store" in names(server)
    until(lambda: [*world.own.glob("user-i-prefer-window-seats.md")])
    assert [path.name for path in world.bare.iterdir()] == [".git"], "nothing is put there"


def listed(told: str) -> list[str]:
    """The files that the client says to have read."""
    mark = "Instructions from: "
    return [line.removeprefix(mark) for line in told.splitlines() if line.startswith(mark)]


def test_in_a_project_that_never_heard_of_us_a_fact_is_kept_and_the_next_session_has_it(
    world: World, client: OpenCode, server: FakeServer
) -> None:
    before = world.run(world.fresh, "git", "status", "--porcelain", "--ignored")
    head = world.run(world.fresh, "git", "rev-parse", "HEAD")
    session = client.new_session(folder=world.fresh)
    client.send(session, "hello")
    protocol, mine = listed(system_text(server.turns[-1]))
    assert protocol == str(world.home / ".config/opencode/memory/PROTOCOL.md")
    assert mine == str(world.own / "MEMORY.md")
    assert not (world.home / "mdmemory/fresh").exists(), "nothing is made before there is a fact"
    client.send(session, "Remember that releases are cut on Mondays.")
    index = world.home / "mdmemory/fresh/MEMORY.md"
    until(lambda: index.exists() and "Releases are cut" in index.read_text("utf-8"))
    client.send(session, "hello")
    assert listed(system_text(server.turns[-1])) == [protocol, mine, str(index)], "in its session"
    for folder in (world.fresh, world.fresh / "sub/deep", world.linked):
        client.send(client.new_session(folder=folder), "hello")
        told = system_text(server.turns[-1])
        assert listed(told) == [protocol, mine, str(index)], folder
        assert "releases are cut" in told.lower()
    assert world.run(world.fresh, "git", "status", "--porcelain", "--ignored") == before
    assert world.run(world.fresh, "git", "rev-parse", "HEAD") == head


def test_a_note_outside_the_project_is_opened_by_our_tool_without_a_question(
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
