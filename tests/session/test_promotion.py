"""What a session decided goes to notes through capture, and every candidate is accounted for."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from stores import BeginStore, call

from mdmemory import Memory
from mdmemory.capture import summary
from mdmemory.cli import main
from mdmemory.errors import Busy, NotFound, UsageError
from mdmemory.session import promotion
from mdmemory.session.sections import Item, Sections
from mdmemory.store.state import State
from mdmemory.tools.table import Caller
from mdmemory.transcripts.turns import Turn

Patch = pytest.MonkeyPatch

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


@pytest.fixture
def memory(begin_store: BeginStore) -> Memory:
    return begin_store(clock=lambda: NOW)


def test_decisions_become_notes_where_the_user_said_them(memory: Memory) -> None:
    said = "We decided to deploy on Tuesdays only, the on-call team is complete then"
    heard(memory, said, "the cache lives in Redis from now on")
    done = memory.promote("ses_1", SAID)
    assert (len(done.promoted), done.failure) == (1, None)
    assert done.waiting == ["the cache lives in Redis from now on"]
    assert [each.body for each in memory.pending()] == done.waiting
    head = memory.note(done.promoted[0]).note.head
    assert (head.type, head.kind, head.session) == ("project", "decision", "ses_1")
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


def test_a_failed_write_is_tried_three_times(memory: Memory, monkeypatch: Patch) -> None:
    def busy(*_: object, **__: object) -> None:
        raise Busy("Another process holds the lock.")

    monkeypatch.setattr(summary, "take_summary", busy)
    heard(memory, "We decided to deploy on Tuesdays only")
    done = [memory.promote("ses_1", SAID) for _ in range(4)]
    assert [len(each.rejected) for each in done] == [0, 0, 1, 0]
    assert [bool(each.failure) for each in done] == [True, True, True, False]


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


# The session's tools and commands, as an assistant and a person meet them.

ONE, OTHER = Caller("ses_1"), Caller("ses_2")


@pytest.fixture
def commanded(tmp_path: Path, monkeypatch: Patch) -> Memory:
    (tmp_path / "notes/memory").mkdir(parents=True)
    (tmp_path / "mdmemory.toml").write_text('store = "notes/memory"\n', "utf-8")
    monkeypatch.chdir(tmp_path)
    return Memory.open(tmp_path, clock=lambda: NOW)


def ask(commanded: Memory, action: str, section: str = "", text: str = "", by: Caller = ONE) -> str:
    given = {"action": action, "section": section or None, "text": text or None}
    return call(commanded, "session_memory", given, by).text


def test_one_tool_writes_adds_removes_and_clears(commanded: Memory) -> None:
    assert ask(commanded, "read") == "Nothing is kept."
    assert ask(commanded, "write", "goal", "Ship it") == (
        "Wrote goal. The prompt shows it from the next compaction or start on.\ngoal:\nShip it"
    )
    assert "Ship it\nby Friday" in ask(commanded, "add", "goal", "by Friday")
    assert "Warning: goal holds 1000 characters" in ask(commanded, "write", "goal", "x" * 1_100)
    ask(commanded, "add", "todos", "rename it")
    assert "todos:\n- test it\n- rename it" in ask(commanded, "add", "todos", "test it")
    assert "Removed: rename it" in ask(commanded, "remove", "todos", "rename")
    assert "todos:\n- test it" in ask(commanded, "read")
    assert "Emptied todos; it held 1." in ask(commanded, "clear", "todos")
    assert ask(commanded, "read", "todos") == "Nothing is kept."
    assert ask(commanded, "read", by=OTHER) == "Nothing is kept."
    # a host that names no session has one of its own
    ask(commanded, "write", "goal", "Ours", by=Caller())
    assert ask(commanded, "read", by=Caller()) == "goal:\nOurs"
    assert "Ours" not in ask(commanded, "read")


def test_a_change_that_makes_no_sense_is_one_sentence(commanded: Memory) -> None:
    for words in (
        ("write", "todos", "x"),
        ("add", "", "x"),
        ("add", "todos", ""),
        ("add", "files", "a.py"),
        ("clear", "", ""),
        ("remove", "todos", ""),
        ("remove", "", "what never was"),
    ):
        with pytest.raises((UsageError, NotFound)) as refused:
            ask(commanded, *words)
        assert refused.value.hint


def test_a_person_sees_what_is_kept_and_sweeps_it(
    commanded: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["session", "ses_1"]) == 1
    assert "Nothing is stored about a session ses_1." in capsys.readouterr().err
    assert not (commanded.project.private / "state.db").exists()
    with commanded.session("ses_1") as own:
        own.write("goal", "Ship it", now=NOW)
        own.message("user", "Let's use pnpm here.", now=NOW)
        args = {"command": "./run"}
        shown = own.tool("bash", args, "line of text\n" * 500, exit_code=0, now=NOW) or ""
    assert main(["session", "ses_1"]) == 0
    out = capsys.readouterr().out
    assert "goal:\n  Ship it\n" in out
    assert "decisions:\n  - Let's use pnpm here\n" in out
    main(["session", "ses_1", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"id", "sections", "promotions", "summary", "observations"}
    assert (found["sections"]["goal"], found["sections"]["todos"]) == ("Ship it", [])
    assert found["sections"]["decisions"] == ["Let's use pnpm here"]
    id = Path(shown.rpartition("the whole output: ")[2].removesuffix("]")).stem
    assert main(["session", id]) == 0
    assert capsys.readouterr().out.count("line of text") == 500
    assert main(["session", "--sweep", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {
        "at", "files", "bytes", "sessions", "errors",
    }  # fmt: skip
    for words in (["--sweep", "ses_1"], ["--sweep", "--work"]):
        assert main(["session", *words]) == 2
