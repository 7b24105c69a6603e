"""The protocol and the index reach the prompt, wherever in a project the real client is started."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from client import OpenCode
from fake_server import FakeServer, system_text
from pace import FULL, HUNG
from plugged import PROGRAM, spare_npm

pytestmark = pytest.mark.slow
Git = Callable[..., str]
PROTOCOL, INDEX = ".opencode/memory/PROTOCOL.md", "notes/memory/MEMORY.md"


def run(folder: Path, home: Path, *words: str) -> None:
    """Run `mdmemory WORDS` there, as a person with this home."""
    env = {**os.environ, "HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull}
    env |= {"EMAIL": "person@example.com", "GIT_AUTHOR_NAME": "P", "GIT_COMMITTER_NAME": "P"}
    subprocess.run([PROGRAM, *words], cwd=folder, env=env, check=True, timeout=HUNG)


def noted(folder: Path, home: Path, name: str) -> None:
    run(folder, home, "add", name, "--type", "project", "--description", f"It is {name}", "So.")


def prompts(home: Path, folders: list[Path]) -> list[str]:
    """The system prompt of a session in each folder, by one client."""
    spare_npm(home / ".config/opencode")
    told = []
    with FakeServer() as server, OpenCode(folders[0], home, server.url) as client:
        for folder in folders:
            client.send(client.new_session(folder=folder), "hello")
            told.append(system_text(server.turns[-1]))
    return told


def listed(prompt: str) -> list[str]:
    """The files that the client says to have read, in their order."""
    mark = "Instructions from: "
    return [line.removeprefix(mark) for line in prompt.splitlines() if line.startswith(mark)]


def commit(git: Git, folder: Path, *names: str) -> None:
    git(folder, "add", "--force", *names)
    git(folder, "commit", "-qm", "the wiring")


@pytest.mark.parametrize("words", [(), ("--mcp",)] if FULL else [("--mcp",)])
def test_one_wiring_reaches_the_root_a_subfolder_and_a_linked_worktree(
    repository: Path, empty_home: Path, git: Git, tmp_path: Path, words: tuple[str, ...]
) -> None:
    schema = '"$schema": "https://opencode.ai/config.json"'  # else the client adds it
    mine = f'{{\n  {schema},\n  "instructions": ["notes/memory/MEMORY.md"] // mine\n}}\n'
    (repository / "opencode.json").write_text(mine, encoding="utf-8")
    inner, linked = repository / "packages/inner", tmp_path / "linked"
    (inner / "notes/memory").mkdir(parents=True)
    run(repository, empty_home, "init", "--shared", "--opencode", *words)
    noted(repository, empty_home, "port")
    commit(git, repository, ".opencode", "notes", "mdmemory.toml", "opencode.json")
    git(repository, "worktree", "add", "-q", linked)
    root, below, elsewhere = prompts(empty_home, [repository, inner, linked])
    for prompt in (root, below):
        both = [str(repository / name) for name in (PROTOCOL, INDEX)]
        assert sorted(listed(prompt)) == both, "each is read once, though the index is listed twice"
        assert "(project-port.md)" in prompt
    top = repository if words else linked
    assert str(top / PROTOCOL) in listed(elsewhere)
    assert "(project-port.md)" in elsewhere
    assert (repository / "opencode.json").read_text(encoding="utf-8") == mine
