"""`mdmemory init --opencode` and then the real client: all that it promises is there."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from client import OpenCode
from fake_server import Answer, FakeServer, system_text
from pace import HUNG

pytestmark = pytest.mark.slow
Git = Callable[..., str]


def init(project: Path, *words: str) -> str:
    """What `mdmemory init` prints."""
    done = subprocess.run(
        [Path(sys.executable).with_name("mdmemory"), "init", *words],
        cwd=project, capture_output=True, text=True, timeout=HUNG, check=True,
    )  # fmt: skip
    return done.stdout


def snapshot(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not {".git", ".mdmemory"} & set(path.relative_to(folder).parts)
    }


def test_after_one_command_the_client_has_all_of_it_and_after_another_nothing(
    repository: Path, empty_home: Path, git: Git
) -> None:
    init(repository, "--shared")
    before = snapshot(repository)
    (empty_home / ".config/opencode").mkdir(parents=True)
    init(repository, "--opencode", "--no-npm")
    with FakeServer() as server, OpenCode(repository, empty_home, server.url) as client:
        session = client.new_session()
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
        program = Path(sys.executable).with_name("mdmemory")
        subprocess.run([program, "index"], cwd=repository, check=True, timeout=HUNG)
        subjects = git(repository, "log", "--format=%s").splitlines()
        assert subjects[0] == "memory: remember Releases are cut on Tuesdays, never on Fridays"
    # nothing of the wiring is on its way into a commit but what a person may want to commit
    status = git(repository, "status", "--porcelain", "-uall").split()[1::2]
    assert not [name for name in status if "node_modules" in name or "package" in name]
    notes[0].unlink()
    init(repository, "--remove")
    after = snapshot(repository)
    after.pop("notes/memory/MEMORY.md")
    after.pop("notes/memory/.inbox/.gitignore")  # the store's own, like the note
    before.pop("notes/memory/MEMORY.md")
    assert after == before
