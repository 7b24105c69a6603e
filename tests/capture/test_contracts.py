"""What scripts may rely on of capture: the JSON of explain, extract, pending and log --captures."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from json_shapes import EXPLAIN, EXTRACT, fit
from scripted import Scripted

from mdmemory import Memory
from mdmemory.cli import main

PENDING = {
    "id": str, "type": str, "name": str, "description": str, "body": str, "session": str,
    "since": str, "reasons": [str], "layer": str,
}  # fmt: skip
CAPTURE = {
    "time": str, "session": str, "phase": str, "outcome": str, "reasons": [str], "preview": str,
    "near": [str],
}  # fmt: skip
BLANK = {"type": "", "kind": "", "name": "", "description": "", "body": "", "file": ""}
TOLD = BLANK | {
    "action": "add", "type": "project", "name": "docker", "superseded": [],
    "description": "Every runner of the pipeline needs Docker 27",
    "body": "Every runner of the pipeline needs Docker 27.",
    "quote": "the pipeline needs Docker 27 on every runner",
}  # fmt: skip
SAID = (
    "User: remember: the tests run on port 5433\n\n"
    "User: don't remember this: the demo is on Friday\n\n"
    "Assistant: Right, and the pipeline needs Docker 27 on every runner.\n"
)

Ask = Callable[..., Any]


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    def run(*words: str) -> Any:
        capsys.readouterr()
        assert main([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


@pytest.fixture
def memory(repository: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    Memory.init(repository)
    monkeypatch.chdir(repository)
    Path("talk.txt").write_text(SAID, encoding="utf-8")
    return Memory.open(repository)


def test_each_answer_has_exactly_the_fields_that_are_promised(memory: Memory, ask: Ask) -> None:
    done = memory.extract(Path("talk.txt").read_bytes(), model=Scripted({"candidates": [TOLD]}))
    assert (len(done.added), len(done.pending)) == (1, 1)

    (waiting,) = ask("review")
    assert (waiting["kind"], waiting["why"]) == (
        "pending",
        "the assistant said it, and you did not",
    )
    assert (date.today() - date.fromisoformat(waiting["since"])).days in (-1, 0, 1)

    rows = ask("log", "--captures")
    fit(rows, [CAPTURE])
    assert [(row["phase"], row["outcome"], row["reasons"]) for row in rows] == [
        ("model", "pending", ["assistant_said"]), ("asked", "dropped", ["negated"]),
        ("asked", "added", []),
    ]  # fmt: skip

    again = ask("extract", "--transcript", "talk.txt")
    fit(again, EXTRACT)
    assert (again["added"], again["commit"]) == ([], None)
    known = ask("explain", "remember: the tests run on port 5433")
    fit(known, EXPLAIN)
    assert known["near"] == [{"file": done.added[0], "score": 1.0}]

    assert ask("review", waiting["id"], "keep")["answer"] == "keep"
    assert ask("review") == []


OLD = "the tests run on port 5432"


def test_a_request_that_contradicts_anothers_note_is_stored_beside_it_and_flagged(
    memory: Memory, ask: Ask, git: Callable[..., str]
) -> None:
    memory.add("tests", type="feedback", description=OLD, body=OLD)
    git(Path("."), "config", "user.email", "colleague@example.org")
    before = memory.note("tests").digest
    done = ask("extract", "--transcript", "talk.txt")
    fit(done, EXTRACT)
    assert (done["added"], len(done["flagged"])) == ([], 1)
    assert memory.note("tests").digest == before
    (conflict,) = ask("review")
    files = [side["file"] for side in conflict["notes"]]
    assert (conflict["kind"], files) == (
        "conflict",
        sorted([*done["flagged"], "feedback-tests.md"]),
    )
    assert sorted(conflict["why"].split(" against ")) == ["5432", "5433"]
    assert ask("undo")["restored"]
    assert ask("review") == []


def test_a_request_replaces_the_persons_own_note_and_undo_brings_it_back(
    memory: Memory, ask: Ask
) -> None:
    memory.add("tests", type="feedback", description=OLD, body=OLD)
    before = memory.note("tests").digest
    Path("talk.txt").write_text("User: remember: the tests run on port 5433, not 5432", "utf-8")
    done = ask("extract", "--transcript", "talk.txt")
    fit(done, EXTRACT)
    (pair,) = done["superseded"]
    assert pair == {
        "file": "feedback-tests.md", "by": done["added"][0], "text": OLD,
        "new": "The tests run on port 5433, not 5432",
    }  # fmt: skip
    assert [row["file"] for row in ask("list") if row["listed"]] == done["added"]
    ask("undo", done["id"])
    assert memory.note("tests").digest == before
