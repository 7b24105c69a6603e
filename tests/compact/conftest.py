"""Notes in memory: no disk, no git; what these rooms see of a store."""

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmemory.files import digest
from mdmemory.note import editing, limits
from mdmemory.note import note as notes_format
from mdmemory.store.store import StoredNote


def stored(file: str, text: str) -> StoredNote:
    return StoredNote(file, digest(text.encode()), notes_format.parse(text, file))


@pytest.fixture(scope="session")
def make() -> Callable[..., StoredNote]:
    """A stored note of a type and name, with a description and a body."""

    def build(
        name: str, description: str = "", body: str = "", type: str = "user", **metadata: str
    ) -> StoredNote:
        text = editing.compose(
            name=name,
            type=type,
            description=description or f"About {name.replace('-', ' ')}",
            body=body or f"What there is to know about {name.replace('-', ' ')}.",
            kind=metadata.pop("kind", ""),
            metadata=metadata,
        )
        return stored(limits.file_name(type, name), text)

    return build


@pytest.fixture(scope="session")
def from_text() -> Callable[[str, str], StoredNote]:
    """A stored note from a file name and its text."""
    return stored


@pytest.fixture(scope="session")
def nasty() -> list[str | bytes]:
    """Answers of which none may change anything."""
    found = runpy.run_path(str(Path(__file__).with_name("nasty_plans.py")))
    # of those that are no plan a third will do: each is refused by the parser in its own test
    return [*(answer for answer, _ in found["NASTY"][::3]), *found["HARMFUL"]]
