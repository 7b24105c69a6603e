"""The memory as an MCP server inside the real OpenCode client, as docs/clients.md wires it."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from client import ROOT, OpenCode
from fake_server import Body, FakeServer, system_text
from stores import BeginStore

pytestmark = pytest.mark.slow

Git = Callable[..., str]


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


def tools(body: Body) -> list[str]:
    return [tool["function"]["name"] for tool in body["tools"]]


def results(body: Body) -> list[str]:
    return [str(m["content"]) for m in body["messages"] if m["role"] == "tool"]


def test_the_client_offers_the_tools_and_the_index_and_a_note_is_stored(
    project: Path, empty_home: Path, git: Git
) -> None:
    with FakeServer() as server, OpenCode(project, empty_home, server.url) as client:
        server.call("mdmemory_memory_search", query="port of the proxy")
        server.call("mdmemory_memory_store", fact="The CI runs on Debian 12 only.")
        server.call("mdmemory_memory_get", file="../../opencode.json")
        server.say("It is 8080.")
        session = client.new_session()
        assert client.send(session, "Which port has the proxy?") == "It is 8080."
        first, last = server.turns[0], server.turns[-1]
    assert {f"mdmemory_memory_{name}" for name in ("search", "get", "store")} <= set(tools(first))
    assert "- [The proxy's port](project-proxy.md)" in system_text(first)
    found, stored, refused = results(last)
    assert "Found 1 note." in found
    assert "It listens on 8080." in found
    assert "Stored " in stored
    assert "unconfirmed" in stored
    assert "is a path, and only notes of the store are read" in refused
    assert "memory: store" in git(project, "log", "--all", "--format=%s")
