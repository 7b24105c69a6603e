"""The session's tools and commands, as an assistant and a person meet them."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from stores import call

from mdmemory import Memory
from mdmemory.cli import main
from mdmemory.errors import NotFound, UsageError
from mdmemory.tools.table import Caller

NOW = datetime(2026, 6, 20, 12, tzinfo=UTC)
ONE, OTHER = Caller("ses_1"), Caller("ses_2")


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    (tmp_path / "notes/memory").mkdir(parents=True)
    (tmp_path / "mdmemory.toml").write_text('store = "notes/memory"\n', "utf-8")
    monkeypatch.chdir(tmp_path)
    return Memory.open(tmp_path, clock=lambda: NOW)


def ask(memory: Memory, action: str, section: str = "", text: str = "", by: Caller = ONE) -> str:
    given = {"action": action, "section": section or None, "text": text or None}
    return call(memory, "session_memory", given, by).text


def test_one_tool_writes_adds_removes_and_clears(memory: Memory) -> None:
    assert ask(memory, "read") == "Nothing is kept."
    assert ask(memory, "write", "goal", "Ship it") == (
        "Wrote goal. The prompt shows it from the next compaction or start on.\ngoal:\nShip it"
    )
    assert "Ship it\nby Friday" in ask(memory, "add", "goal", "by Friday")
    assert "Warning: goal holds 1000 characters" in ask(memory, "write", "goal", "x" * 1_100)
    ask(memory, "add", "todos", "rename it")
    assert "todos:\n- test it\n- rename it" in ask(memory, "add", "todos", "test it")
    assert "Removed: rename it" in ask(memory, "remove", "todos", "rename")
    assert "todos:\n- test it" in ask(memory, "read")
    assert "Emptied todos; it held 1." in ask(memory, "clear", "todos")
    assert ask(memory, "read", "todos") == "Nothing is kept."
    assert ask(memory, "read", by=OTHER) == "Nothing is kept."


@pytest.mark.parametrize(
    ("action", "section", "text"),
    [("write", "todos", "x"), ("add", "", "x"), ("add", "todos", ""), ("add", "files", "a.py"),
     ("clear", "", ""), ("remove", "todos", ""), ("remove", "", "what never was")],
)  # fmt: skip
def test_a_change_that_makes_no_sense_is_one_sentence(
    memory: Memory, action: str, section: str, text: str
) -> None:
    with pytest.raises((UsageError, NotFound)) as refused:
        ask(memory, action, section, text)
    assert refused.value.hint


def test_a_host_that_names_no_session_has_one_of_its_own(memory: Memory) -> None:
    ask(memory, "write", "goal", "Ours", by=Caller())
    assert ask(memory, "read", by=Caller()) == "goal:\nOurs"
    assert ask(memory, "read") == "Nothing is kept."


def test_a_person_sees_what_is_kept_and_sweeps_it(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["session", "ses_1"]) == 1
    assert "Nothing is stored about a session ses_1." in capsys.readouterr().err
    assert not (memory.project.private / "state.db").exists()
    with memory.session("ses_1") as own:
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
