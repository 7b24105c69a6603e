"""The person's own memory beside a project's in the real client, by `init --user` and `--opencode`.

One client for all: with a project that is wired, and with a folder that has no memory.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from client import OpenCode
from fake_server import FakeServer, system_text, user_texts
from pace import HUNG
from plugged import PROGRAM, STORE

from mdmemory.note.stamps import stamped

pytestmark = pytest.mark.slow
PLUGIN = ".opencode/plugin/mdmemory.ts"
OLD = "export default { id: 'mdmemory', server: async () => ({}) }\n"


class World:
    """A home with a memory, a project with another, a bare folder, and the client among them."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project, self.bare = (folder / name for name in ("home", "project", "bare"))
        self.own = self.home / ".local/share/mdmemory"
        for each in (self.home, self.project, self.bare):
            each.mkdir()
        for each in (self.project, self.bare):
            self.run(each, "git", "init", "-q")
        self.run(self.home, PROGRAM, "init", "--user", "--no-npm")
        self.run(self.own, PROGRAM, "add", "tea", "--type", "user", "--description", "Drinks tea",
                 "Only green tea.")  # fmt: skip
        old = self.project / PLUGIN
        old.parent.mkdir(parents=True)
        old.write_bytes(stamped(OLD, PLUGIN, "0.1.0"))
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
    assert "Updated in .opencode: plugin/mdmemory.ts." in world.said
    assert str(PROGRAM) in (world.project / PLUGIN).read_text(encoding="utf-8")


def test_both_indexes_are_in_the_prompt_and_each_tool_is_there_once(
    world: World, client: OpenCode, server: FakeServer
) -> None:
    session = client.new_session()
    client.send(session, "Remember that deploys go out on Tuesdays only.")
    told = system_text(server.turns[-1])
    assert "(user-tea.md)" in told
    assert "(project-port.md)" in told
    assert "(feedback-deploys-go-out-tuesdays-only.md)" in told
    assert [name for name in names(server) if name == "memory_search"] == ["memory_search"]
    assert len(list((world.project / STORE).glob("*deploys*"))) == 1
    assert not list(world.own.rglob("*deploys*")), "it is the project's"
    assert user_texts(server.turns[-1])[-1].count("feedback-deploys") == 1, "it is said once"


def test_the_tools_answer_although_the_plugin_is_there_twice(
    world: World, client: OpenCode, server: FakeServer
) -> None:
    server.call("memory_search", query="port of the proxy")
    server.call("memory_store", content="The staging host is called beta.")
    server.say("8080.")
    assert client.send(client.new_session(), "Our staging host is called beta.") == "8080."
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
    assert "leave the long-term memory: the note on the port" in asked
    assert "`mdmemory remove NAME`" in asked


def test_in_a_folder_without_a_memory_the_persons_own_is_used(
    world: World, client: OpenCode, server: FakeServer
) -> None:
    session = client.new_session(folder=world.bare)
    client.send(session, "Remember that I prefer window seats.")
    told = system_text(server.turns[-1])
    assert "(user-tea.md)" in told
    assert "(project-port.md)" not in told
    assert "memory_store" in names(server)
    assert [path.name for path in world.own.rglob("*window*.md")]
    assert [path.name for path in world.bare.iterdir()] == [".git"], "nothing is put there"
