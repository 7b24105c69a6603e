"""What the real Claude Code writes into its own memory is taken over."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from assistants import Claude
from fake_provider import FakeProvider

from mdmemory import Memory
from mdmemory.hosts.claude import own_memory_notes

pytestmark = [pytest.mark.hosts, pytest.mark.slow]

NOTE = "---\nname: pnpm\ndescription: {}\nmetadata:\n  type: project\n---\n\n{}.\n"
FACT = "Installs go by pnpm"


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with FakeProvider() as running:
        yield running


def test_what_claude_wrote_into_its_own_folder_is_taken_over(
    provider: FakeProvider, repository: Path, empty_home: Path
) -> None:
    claude = Claude(repository, empty_home, provider.url)
    claude.run("Hello")
    (place,) = (empty_home / ".claude" / "projects").glob("*/memory")
    provider.call("Write", file_path=str(place / "pnpm.md"), content=NOTE.format(FACT, FACT))
    claude.run("We use pnpm")
    layers = Memory.around(repository, automatic=True)
    assert own_memory_notes.take_in(layers, repository, os.environ)
    assert [each.note.head.description for each in Memory.open(repository).notes()] == [FACT]
