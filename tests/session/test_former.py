"""A state.db of 0.1.0: its three documents of a session become the one memory."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mdmemory.config.settings import load
from mdmemory.session import former, sections, storage
from mdmemory.session.session import SessionMemory
from mdmemory.store import state as states
from mdmemory.store.state import State

NOW = datetime(2026, 6, 20, 12, tzinfo=UTC)
# As 0.1.0 wrote them for a session in which `pytest` failed and then passed.
CORE = {"goal": "Add a CSV export"}
HOT: dict[str, Any] = {
    "turn": 5,
    "files": [{"path": "src/export.py", "action": "edit", "count": 1, "turn": 1}],
    "errors": [{
        "category": "lint", "summary": "a.py:1:1: error F401", "fingerprint": "0f50fbbccec3",
        "source": "73b092f8e09d", "files": ["a.py"], "status": "open", "turn": 3,
    }],
    "decisions": ["Let's use semicolons as the separator"],
    "pending": [{"type": "feedback", "text": "The API allows 100 calls"}],
}  # fmt: skip
WORKING: dict[str, Any] = {
    "event": 7,
    "slots": {
        "error": [
            {"text": "lint: a.py:1:1: error F401", "at": 5, "score": 1.0},
            {"text": "test: FAILED tests/test_export.py::test_quotes", "at": 6, "score": 1.0},
            {"text": "the preview is empty", "at": 7, "score": 1.0},
        ],
        "decision": [{"text": "Let's use semicolons as the separator", "at": 1, "score": 1.0}],
        "todo": [{"text": "Escape quotes", "at": 4, "score": 1.0}],
    },
    "pool": [{"text": "docs/format.md:3", "at": 1, "score": 1}],
}


def of_0_1(path: Path, **documents: object) -> Path:
    """A state.db with the tables of 0.1.0 and these documents of `ses_1`; a text stays as it is."""
    path.parent.mkdir()
    database = sqlite3.connect(path, isolation_level=None)
    for at, script in enumerate(states.MIGRATIONS[:5], 1):
        database.executescript(f"{script}; PRAGMA user_version = {at}")
    for part, content in documents.items():
        text = content if isinstance(content, str) else json.dumps(content)
        row = ("ses_1", part, text, "2026-06-20T12:00:00+00:00")
        database.execute("INSERT INTO session_part VALUES (?, ?, ?, ?)", row)
    database.close()
    return path


def lines(memory: sections.Sections) -> list[str]:
    return [f"{each.section}: {each.shown}" for each in sections.entries(memory)]


def test_old_state_is_moved_over_and_nothing_of_it_stands_twice(tmp_path: Path) -> None:
    path = of_0_1(tmp_path / ".mdmemory/state.db", core=CORE, hot=HOT, working=WORKING,
                  pressure={"characters": 168, "level": "safe"})  # fmt: skip
    told: list[str] = []
    with State(path, told.append) as state:
        own = SessionMemory(state, "ses_1", load({}))
        kept = own.read()
        assert kept.blocks == CORE
        assert lines(kept) == [
            "errors: the preview is empty", "errors: [lint] a.py:1:1: error F401",
            "decisions: Let's use semicolons as the separator", "todos: Escape quotes",
            "files: src/export.py (edit, 1x)", "candidates: [feedback] The API allows 100 calls",
            "pool: docs/format.md:3",
        ]  # fmt: skip
        assert kept.decisions == HOT["decisions"]
        assert {*storage.read(state, "ses_1")} == {"memory", "pressure"}
        own.tool("bash", {"command": "ruff check ."}, "", exit_code=0, now=NOW)
        assert "errors: [lint] a.py:1:1: error F401" not in lines(own.read())
        assert "todos: Escape quotes" in lines(own.read())
    with State(path, told.append) as state:
        assert SessionMemory(state, "ses_1", load({})).read().blocks == CORE
    assert told == []


def test_what_cannot_be_read_of_it_takes_nothing_else_with_it(tmp_path: Path) -> None:
    path = of_0_1(tmp_path / ".mdmemory/state.db", core=CORE, hot="{broken", working=WORKING)
    with State(path) as state:
        kept = SessionMemory(state, "ses_1", load({})).read()
    assert kept.blocks == CORE
    assert "todos: Escape quotes" in lines(kept)
    # nobody knows that the test passed since
    assert "errors: [test] FAILED tests/test_export.py::test_quotes" in lines(kept)
    odd_pool = {**WORKING, "pool": [{"a": 1}]}
    odd = former.read({"core": [1], "hot": {"turn": "x"}, "working": odd_pool})
    assert "todos: Escape quotes" in lines(odd)


def test_scripts_read_the_names_of_0_1(tmp_path: Path) -> None:
    seen = former.view(former.read({"core": CORE, "hot": HOT, "working": WORKING}))
    assert seen["core"] == CORE
    assert {"id", "slot", "content"} == {*seen["working"][0]}
    assert [each["slot"] for each in seen["working"]] == [
        "error", "error", "decision", "todo", "pool",
    ]  # fmt: skip
    assert {*seen["hot"]} == {*HOT}
    assert seen["hot"]["decisions"] == HOT["decisions"]
