"""What lacks proof waits for a person, and nothing of it is a note before they accept it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from scripted import Scripted

from mdmemory import Memory
from mdmemory.capture.pending import FULL, PendingFact, put
from mdmemory.errors import NotFound

NOW = datetime(2026, 6, 20, 12, tzinfo=UTC)
TALK = b"""User: The pipeline needs Docker on every runner, a new one.
Assistant: Docker 27, I think.
"""
FOUND = {
    "action": "add", "type": "project", "kind": "", "title": "Docker 27", "why": "",
    "fact": "The pipeline needs Docker 27 on every runner", "replaces": [],
    "quote": "The pipeline needs Docker on every runner",
}  # fmt: skip


@pytest.fixture
def memory(repository: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    Memory.init(repository)
    monkeypatch.chdir(repository)
    return Memory.open(repository, clock=lambda: NOW)


def found(memory: Memory) -> str:
    done = memory.extract(TALK, model=Scripted({"candidates": [FOUND]}))
    assert (done.added, done.commit) == ([], None)
    assert done.dropped == [{"text": FOUND["fact"], "reasons": ["pending", "invented"]}]
    (waits,) = done.pending
    return waits


def test_accepting_makes_it_a_note_of_the_persons_own(
    memory: Memory, git: Callable[..., str]
) -> None:
    id = found(memory)
    assert [(each.id, each.reasons) for each in memory.pending()] == [(id, ("invented",))]
    done = memory.accept(id)
    head = memory.note(done.file).note.head
    assert (head.source, head.name, head.session) == ("manual", "docker-27", "")
    assert done.written.commit == git(memory.project.root, "rev-parse", "HEAD").strip()
    assert git(memory.project.root, "log", "-1", "--format=%an").strip() == "A Person"
    assert memory.pending() == []
    with pytest.raises(NotFound):
        memory.accept(id)


def test_what_was_dropped_does_not_come_back(memory: Memory) -> None:
    id = found(memory)
    memory.drop(id)
    assert memory.pending() == []
    other = TALK + b"User: Sure?\nAssistant: Docker 27 it is, on each of them.\n"
    memory.extract(other, model=Scripted({"candidates": [FOUND]}))
    assert memory.pending() == []
    with pytest.raises(NotFound):
        memory.drop(id)


def test_a_dry_run_leaves_nothing_waiting(memory: Memory) -> None:
    done = memory.extract(TALK, model=Scripted({"candidates": [FOUND]}), dry_run=True)
    assert len(done.pending) == 1
    assert memory.pending() == []


def test_what_waits_neither_expires_nor_makes_room_for_newer_facts(memory: Memory) -> None:
    def one(number: int) -> PendingFact:
        fact = f"Fact {number}"
        return PendingFact("project", "", f"n{number}", fact, fact, "s", "2020-01-01", ())

    with memory.state() as state:
        put(memory.project, state, [one(0)], "2020-01-01")
        put(memory.project, state, [one(number) for number in range(1, FULL + 5)], "2026-06-20")
    kept = [each.name for each in memory.pending()]
    assert len(kept) == FULL
    assert "n0" in kept
