"""The real Claude Code writes its own memory into our store, and what it wrote is adopted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from assistants import Claude
from fake_provider import FakeProvider

from mdmemory import Layers, Memory
from mdmemory.hosts.claude import own_memory

pytestmark = [pytest.mark.hosts, pytest.mark.slow]

Git = Callable[..., str]
NOTE = "---\nname: pnpm\ndescription: {}\nmetadata:\n  type: project\n---\n\n{}.\n"
FACT = "Installs go by pnpm"


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with FakeProvider() as running:
        yield running


def test_claude_reads_our_index_and_writes_into_the_store_from_a_worktree_too(
    provider: FakeProvider, repository: Path, empty_home: Path, git: Git, tmp_path: Path
) -> None:
    store = Memory.init(repository, home=True)[0].project.store
    Memory.open(repository).add("We deploy on Tuesdays with the blue script", type="project")
    assert own_memory.point(Layers.open(repository), repository, os.environ, is_wired=True)
    linked = tmp_path / "linked"
    git(repository, "worktree", "add", "-q", str(linked))
    path = store / "project_pnpm.md"
    provider.call("Write", file_path=str(path), content=NOTE.format(FACT, FACT))
    Claude(linked, empty_home, provider.url).run("We use pnpm")
    assert provider.turns[0].count("blue script") >= 1
    assert provider.turns[0].count(f"{store}/") >= 1
    assert "originSessionId" in path.read_text("utf-8")
    Memory.open(repository).adopt()
    head = Memory.open(repository).note("pnpm").note.head
    assert (head.description, head.source, head.status) == (FACT, "assistant", "unconfirmed")
    assert head.session
    assert "Memory-Origin: assistant" in git(store, "log", "-1", "--format=%B")
    assert git(repository, "status", "--porcelain") == ""


def test_what_claude_wrote_into_its_own_folder_is_taken_over(
    provider: FakeProvider, repository: Path, empty_home: Path
) -> None:
    claude = Claude(repository, empty_home, provider.url)
    claude.run("Hello")
    (place,) = (empty_home / ".claude" / "projects").glob("*/memory")
    provider.call("Write", file_path=str(place / "pnpm.md"), content=NOTE.format(FACT, FACT))
    claude.run("We use pnpm")
    layers = Layers.open(repository, automatic=True)
    assert own_memory.take_in(layers, repository, os.environ)
    assert [each.note.head.description for each in Memory.open(repository).notes()] == [FACT]
