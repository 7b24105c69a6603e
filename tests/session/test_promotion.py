"""What a session decided goes to notes through capture, and every candidate is accounted for."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mdmemory import Memory
from mdmemory.capture import summary
from mdmemory.errors import Busy
from mdmemory.session import promotion
from mdmemory.session.sections import Item, Sections
from mdmemory.store.state import State
from mdmemory.transcripts.turns import Turn

NOW = datetime(2026, 6, 20, 12, tzinfo=UTC)
TODAY = "2026-06-20"
SAID = (
    Turn("m1", "user", "We decided to deploy on Tuesdays only, the on-call team is complete then."),
    Turn("m2", "user", "We agreed that the proxy listens on port 8080 in all environments."),
)


def heard(memory: Memory, *decisions: str) -> None:
    with memory.session("ses_1") as own:
        for text in decisions:
            own.message("assistant", f"[Decision: {text}]", now=NOW)


def decided(*texts: str) -> Sections:
    return Sections(slots={"decisions": [Item(text, 1, is_candidate=True) for text in texts]})


def test_decisions_become_notes_where_the_user_said_them(repository: Path) -> None:
    memory, _ = Memory.init(repository)
    memory._clock = lambda: NOW
    said = "We decided to deploy on Tuesdays only, the on-call team is complete then"
    heard(memory, said, "the cache lives in Redis from now on")
    done = memory.promote("ses_1", SAID)
    assert (len(done.promoted), done.failure) == (1, None)
    assert done.waiting == ["the cache lives in Redis from now on"]
    assert [each.body for each in memory.pending()] == done.waiting
    note = memory.note(done.promoted[0]).note
    assert (note.head.type, note.head.kind, note.head.session) == ("project", "decision", "ses_1")
    # nothing twice: neither by the same journal nor by another session
    assert memory.promote("ses_1", SAID) == promotion.Accounting()
    with memory.session("ses_2") as own:
        own.message("user", f"{said}.", now=NOW)
    assert memory.promote("ses_2", SAID).absorbed == done.promoted


def test_a_decision_that_is_taken_again_after_another_counts_again(tmp_path: Path) -> None:
    def outcomes() -> list[tuple[str, str]]:
        return [(each.text, each.outcome) for each in promotion.read_journal(state)]

    with State(tmp_path / "state.db") as state:
        for decisions in (["one", "two"], ["one", "two"]):
            promotion.enter(state, "ses_1", decided(*decisions), TODAY)
            state.change(("UPDATE promotion SET outcome = 'stored'", ()))
        assert outcomes() == [("one", "stored"), ("two", "stored")]
        promotion.enter(state, "ses_1", decided("two", "one"), TODAY)
        assert outcomes() == [("two", "stored"), ("one", promotion.TO_DO)]


def test_a_failed_write_is_tried_three_times(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, _ = Memory.init(repository)
    memory._clock = lambda: NOW

    def busy(*_: object, **__: object) -> None:
        raise Busy("Another process holds the lock.")

    monkeypatch.setattr(summary, "take_summary", busy)
    heard(memory, "We decided to deploy on Tuesdays only")
    rejected = []
    for _ in range(4):
        done = memory.promote("ses_1", SAID)
        rejected.append(len(done.rejected))
        assert bool(done.failure) == (len(rejected) <= 3)
    assert rejected == [0, 0, 1, 0]


def test_the_journal_is_bounded_and_forgets(tmp_path: Path) -> None:
    with State(tmp_path / "state.db") as state:
        for number in range(20):
            decisions = [f"decision {number} {at}" for at in range(8)]
            promotion.enter(state, f"ses_{number}", decided(*decisions), TODAY)
        assert len(promotion.read_journal(state)) == promotion.MAX_ENTRIES
        assert promotion.read_journal(state)[-1].session == "ses_19"
        later = (NOW + timedelta(days=31)).date().isoformat()
        promotion.enter(state, "ses_1", decided("new"), later)
        assert [each.text for each in promotion.read_journal(state)] == ["new"]
