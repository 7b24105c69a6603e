"""Notes in memory: no disk, no git; what these rooms see of a store."""

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest
from bench.planner import parsed, stored

from mdmemory.store.store import StoredNote


@pytest.fixture(scope="session")
def make() -> Callable[..., StoredNote]:
    """A stored note of a type and name, with a description and a body."""

    def build(
        name: str, description: str = "", body: str = "", type: str = "user", **metadata: str
    ) -> StoredNote:
        said = name.replace("-", " ")
        description, body = (
            description or f"About {said}",
            body or f"What there is to know about {said}.",
        )
        kind = metadata.pop("kind", "")
        return stored(name, description, body, type, kind=kind, metadata=metadata)

    return build


@pytest.fixture(scope="session")
def from_text() -> Callable[[str, str], StoredNote]:
    """A stored note from a file name and its text."""
    return parsed


@pytest.fixture(scope="session")
def nasty() -> list[str | bytes]:
    """Answers of which none may change anything."""
    found = runpy.run_path(str(Path(__file__).with_name("nasty_plans.py")))
    # of those that are no plan a third will do: each is refused by the parser in its own test
    return [*(answer for answer, _ in found["NASTY"][::3]), *found["HARMFUL"]]
