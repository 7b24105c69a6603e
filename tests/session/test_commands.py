"""The session's tools and commands, as an assistant and a person meet them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mdmemory import Memory
from mdmemory.cli import main
from mdmemory.errors import NotFound, UsageError
from mdmemory.tools.table import Caller, call

NOW = datetime(2026, 6, 20, 12, tzinfo=UTC)
ONE, OTHER = Caller("ses_1"), Caller("ses_2")


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    (tmp_path / "notes/memory").mkdir(parents=True)
    (tmp_path / "mdmemory.toml").write_text('store = "notes/memory"\n', "utf-8")
    monkeypatch.chdir(tmp_path)
    return Memory.open(tmp_path, clock=lambda: NOW)


def test_a_core_block_is_written_and_read_by_its_session_alone(memory: Memory) -> None:
    done = call(memory, "core_memory_update", {"block": "goal", "content": "Ship it"}, ONE)
    assert done.text.startswith("goal now holds 7 of 1000 characters.")
    more = {"block": "goal", "content": "x" * 2_000, "operation": "append"}
    warned = call(memory, "core_memory_update", more, ONE).text
    assert "Warning: goal holds 1000 characters" in warned
    read = call(memory, "core_memory_read", {}, ONE)
    assert read.structured["goal"].startswith("Ship it\nxxx")
    assert "progress (0 of 2000 characters):\n(empty)" in read.text
    assert call(memory, "core_memory_read", {}, OTHER).structured["goal"] == ""
    with pytest.raises(UsageError):
        call(memory, "core_memory_update", {"block": "aim", "content": "x"}, ONE)


def test_working_memory_is_filled_and_cleared(memory: Memory) -> None:
    def add(slot: str, text: str) -> str:
        given = {"slot": slot, "content": text}
        return str(call(memory, "working_memory_add", given, ONE).structured["id"])

    first, _, _ = add("todo", "rename it"), add("error", "it fails"), add("pool", "src/a.py")
    assert call(memory, "working_memory_remove", {"id": first}, ONE).text == "Removed: rename it"
    with pytest.raises(NotFound):
        call(memory, "working_memory_remove", {"id": first}, OTHER)
    assert call(memory, "working_memory_clear_slot", {"slot": "error"}, ONE).structured == {
        "removed": 1
    }
    call(memory, "working_memory_clear", {}, ONE)
    with memory.session("ses_1") as own:
        assert own.blocks() == ""


def test_a_host_that_names_no_session_has_one_of_its_own(memory: Memory) -> None:
    call(memory, "core_memory_update", {"block": "goal", "content": "Ours"})
    assert call(memory, "core_memory_read", {}).structured["goal"] == "Ours"
    assert call(memory, "core_memory_read", {}, ONE).structured["goal"] == ""


def test_a_person_sees_what_is_kept_and_sweeps_it(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["session", "show", "ses_1"]) == 1
    assert "Nothing is stored about a session ses_1." in capsys.readouterr().err
    assert not (memory.project.private / "state.db").exists()
    with memory.session("ses_1") as own:
        own.core_update("goal", "Ship it", "replace", now=NOW)
        own.message("user", "Let's use pnpm here.", now=NOW)
        args = {"command": "./run"}
        shown = own.tool("bash", args, "line of text\n" * 500, exit_code=0, now=NOW) or ""
    assert main(["session", "show", "ses_1"]) == 0
    out = capsys.readouterr().out
    assert "core:\n  goal: Ship it\n" in out
    assert "decisions:\n  Let's use pnpm here\n" in out
    main(["session", "show", "ses_1", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"id", "core", "working", "hot", "promotions"}
    id = Path(shown.rpartition("the whole output: ")[2].removesuffix("]")).stem
    assert main(["session", "show", id]) == 0
    assert capsys.readouterr().out.count("line of text") == 500
    assert main(["session", "sweep", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {
        "at", "files", "bytes", "sessions", "errors",
    }  # fmt: skip
    for words in (["show"], ["sweep", "ses_1"]):
        assert main(["session", *words]) == 2
