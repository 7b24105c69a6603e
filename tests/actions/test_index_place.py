"""Why a note is in the index or not, when it left it, and how good the memory is by its counts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mdmemory import Memory
from mdmemory.capture.extracted import Caller
from mdmemory.capture.fact import FactCall

TYPES = ("reference", "feedback", "feedback", "user")


@pytest.fixture
def memory(repository: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A store whose index has room for three notes."""
    monkeypatch.setenv("MEMORY_INDEX_MAX_ENTRIES", "3")
    opened, _ = Memory.init(repository)
    return Memory(opened.project, clock=lambda: datetime(2026, 6, 1, 12, tzinfo=UTC))


def add(memory: Memory, number: int, type: str) -> str:
    text = f"The {'north east south west'.split()[number]} gate opens with card {number}."
    return memory.add(f"gate-{number}", type=type, description=text, body=text).file


def test_a_note_that_had_to_leave_the_index_says_its_place_and_the_commit(memory: Memory) -> None:
    first, *_ = [add(memory, number, type) for number, type in enumerate(TYPES)]
    place = memory.index_place(first)
    newest, _ = memory.log(1)[0]
    assert place is not None
    assert (place.why, place.rank, place.of, place.pool, place.pool_rank) == (
        "budget", 4, 4, "reference", 1,
    )  # fmt: skip
    assert place.left is not None
    assert place.left.commit == newest.commit
    assert newest.commit[:10] in place.told()
    assert "place 4 of 4" in place.told()


def test_a_listed_note_has_nothing_to_tell(memory: Memory) -> None:
    file = add(memory, 0, "feedback")
    place = memory.index_place(file)
    assert place is not None
    assert place.listed
    assert place.told() == ""


def test_an_unconfirmed_note_was_never_in_the_index(memory: Memory) -> None:
    fact = FactCall("The barrier of the car park is raised by hand after nine.")
    done = memory.store(fact, Caller())
    place = memory.index_place(done.file)
    assert place is not None
    assert (place.why, place.left) == ("unconfirmed", None)


def test_a_note_that_is_gone_has_no_place(memory: Memory) -> None:
    assert memory.index_place("gate-0") is None


def test_a_line_that_came_back_has_not_left(memory: Memory) -> None:
    files = [add(memory, number, type) for number, type in enumerate(TYPES)]
    memory.undo()
    place = memory.index_place(files[0])
    assert place is not None
    assert place.listed
