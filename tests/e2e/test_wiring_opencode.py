"""What `mdmemory init --opencode` and the snippet of docs/clients.md promise, in the real client.

One client for projects that are wired in different ways.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from client import ROOT, OpenCode
from fake_server import Answer, Body, FakeServer, system_text
from pace import FULL, HUNG
from plugged import PROGRAM, spare_npm
from stores import BeginStore

pytestmark = pytest.mark.slow
Git = Callable[..., str]
PROTOCOL, INDEX = ".opencode/memory/PROTOCOL.md", "notes/memory/MEMORY.md"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FakeServer, OpenCode]]:
    place = tmp_path_factory.mktemp("wired")
    spare_npm(place / ".config/opencode")
    (place / "elsewhere").mkdir()
    with FakeServer() as server, OpenCode(place / "elsewhere", place, server.url) as client:
        yield server, client


@pytest.fixture
def server(running: tuple[FakeServer, OpenCode]) -> Iterator[FakeServer]:
    yield running[0]
    running[0].script.answers.clear()
    running[0].script.default = Answer("Done.")


@pytest.fixture
def client(
    running: tuple[FakeServer, OpenCode], server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> OpenCode:
    """The client; the test has its home."""
    monkeypatch.setenv("HOME", str(running[1].log.parent))
    return running[1]


def run(folder: Path, *words: str) -> None:
    """Run `mdmemory WORDS` there."""
    subprocess.run([PROGRAM, *words], cwd=folder, check=True, timeout=HUNG)


# --- one command ---------------------------------------------------------------------------------


def snapshot(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not {".git", ".mdmemory"} & set(path.relative_to(folder).parts)
    }


def test_after_one_command_the_client_has_all_of_it_and_after_another_nothing(
    repository: Path, client: OpenCode, server: FakeServer, git: Git
) -> None:
    run(repository, "init", "--shared")
    before = snapshot(repository)
    run(repository, "init", "--opencode", "--no-npm")
    session = client.new_session(folder=repository)
    client.send(session, "hello")
    # it installed nothing, which takes 90 s where nobody answers
    installed = (repository / ".opencode/node_modules").iterdir()
    assert [path.name for path in installed] == [".mdmemory"], "only the mark that spares it"
    request = server.turns[-1]
    told = system_text(request)
    assert ".opencode/memory/PROTOCOL.md" in told
    assert "# Memory index" in told
    assert "How to use the long-term memory" in told  # the skill's line
    tools = {each["function"]["name"]: each for each in request["tools"]}
    ours = {name: each for name, each in tools.items() if "memory" in name}
    assert {*ours} == {
        "memory_search", "memory_get", "memory_store", "memory_forget", "session_memory",
    }  # fmt: skip
    sent = json.dumps([*ours.values()], ensure_ascii=False, separators=(",", ":"))
    assert len(sent) / 4 < 1000, "tokens of each request"

    server.script.default = Answer("Kept.")
    client.command(session, "remember", "Releases are cut on Tuesdays, never on Fridays.")
    notes = list((repository / "notes/memory").glob("project-releases*.md"))
    assert len(notes) == 1
    assert "Releases are cut on Tuesdays, never on Fridays" in notes[0].read_text("utf-8")
    subjects = git(repository, "log", "--format=%s").splitlines()
    assert subjects[0] == "memory: begin a store", "nobody's branch moves while they work"
    run(repository, "index")
    subjects = git(repository, "log", "--format=%s").splitlines()
    assert subjects[0] == "memory: remember Releases are cut on Tuesdays, never on Fridays"
    # nothing of the wiring is on its way into a commit but what a person may want to commit
    status = git(repository, "status", "--porcelain", "-uall").split()[1::2]
    assert not [name for name in status if "node_modules" in name or "package" in name]
    notes[0].unlink()
    run(repository, "init", "--remove")
    after = snapshot(repository)
    after.pop("notes/memory/MEMORY.md")
    after.pop("notes/memory/.inbox/.gitignore")  # the store's own, like the note
    before.pop("notes/memory/MEMORY.md")
    assert after == before


# --- wherever in a project it is started ---------------------------------------------------------


def prompt(client: OpenCode, server: FakeServer, folder: Path) -> str:
    """The system prompt of a session in a folder."""
    client.send(client.new_session(folder=folder), "hello")
    return system_text(server.turns[-1])


def listed(prompt: str) -> list[str]:
    """The files that the client says to have read, in their order."""
    mark = "Instructions from: "
    return [line.removeprefix(mark) for line in prompt.splitlines() if line.startswith(mark)]


@pytest.mark.parametrize("words", [(), ("--mcp",)] if FULL else [("--mcp",)])
def test_one_wiring_reaches_the_root_a_subfolder_and_a_linked_worktree(
    repository: Path, client: OpenCode, server: FakeServer, git: Git, tmp_path: Path,
    words: tuple[str, ...],
) -> None:  # fmt: skip
    schema = '"$schema": "https://opencode.ai/config.json"'  # else the client adds it
    mine = f'{{\n  {schema},\n  "instructions": ["notes/memory/MEMORY.md"] // mine\n}}\n'
    (repository / "opencode.json").write_text(mine, encoding="utf-8")
    inner, linked = repository / "packages/inner", tmp_path / "linked"
    (inner / "notes/memory").mkdir(parents=True)
    run(repository, "init", "--shared", "--opencode", *words)
    run(repository, "add", "port", "--type", "project", "--description", "It is port", "So.")
    git(repository, "add", "--force", ".opencode", "notes", "mdmemory.toml", "opencode.json")
    git(repository, "commit", "-qm", "the wiring")
    git(repository, "worktree", "add", "-q", linked)
    for folder in (repository, inner):
        told = prompt(client, server, folder)
        both = [str(repository / name) for name in (PROTOCOL, INDEX)]
        assert sorted(listed(told)) == both, "each is read once, though the index is listed twice"
        assert "(project-port.md)" in told
    told = prompt(client, server, linked)
    top = repository if words else linked
    assert str(top / PROTOCOL) in listed(told)
    assert "(project-port.md)" in told
    assert (repository / "opencode.json").read_text(encoding="utf-8") == mine


# --- as an MCP server, as docs/clients.md wires it -----------------------------------------------


@pytest.fixture
def project(begin_store: BeginStore, repository: Path) -> Path:
    """A project whose OpenCode has the server, started as the page shows for other clients."""
    memory = begin_store()
    memory.add("proxy", type="project", description="The proxy's port", body="It listens on 8080.")
    page = (ROOT / "docs/clients.md").read_text("utf-8")
    (section,) = re.findall(r"^## Other clients$(.*?)^## ", page, re.MULTILINE | re.DOTALL)
    (snippet,) = re.findall(r"^```json\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    server: dict[str, Any] = json.loads(snippet)["mcpServers"]["mdmemory"]
    command = [server["command"], *server["args"]]
    assert command == ["mdmemory", "mcp"]
    command[0] = str(Path(sys.executable).with_name("mdmemory"))
    local = {"type": "local", "command": command, "enabled": True, "timeout": 20_000}
    config = {"$schema": "https://opencode.ai/config.json", "mcp": {"mdmemory": local}}
    (repository / "opencode.json").write_text(json.dumps(config), "utf-8")
    return repository


def results(body: Body) -> list[str]:
    return [str(m["content"]) for m in body["messages"] if m["role"] == "tool"]


def test_the_client_offers_the_tools_and_the_index_and_a_note_is_stored(
    project: Path, client: OpenCode, server: FakeServer, git: Git
) -> None:
    session = client.new_session(folder=project)
    before = len(server.turns)
    server.call("mdmemory_memory_search", query="port of the proxy")
    server.call("mdmemory_memory_store", fact="The CI runs on Debian 12 only.")
    server.call("mdmemory_memory_get", file="../../opencode.json")
    server.say("It is 8080.")
    assert client.send(session, "Which port has the proxy?") == "It is 8080."
    first, last = server.turns[before], server.turns[-1]
    names = {tool["function"]["name"] for tool in first["tools"]}
    assert {f"mdmemory_memory_{name}" for name in ("search", "get", "store")} <= names
    assert "- [The proxy's port](project-proxy.md)" in system_text(first)
    found, stored, refused = results(last)
    assert "Found 1 note." in found
    assert "It listens on 8080." in found
    assert "Stored " in stored
    assert "unconfirmed" in stored
    assert "is a path, and only notes of the store are read" in refused
    assert "memory: store" in git(project, "log", "--all", "--format=%s")
