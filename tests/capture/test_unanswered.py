"""Turns of which no answer of a model can be read wait, are never asked about more than twice
before they have waited, and are passed over at last, which is said."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from scripted import Scripted
from stores import BeginStore

from mdmemory.cli import main
from mdmemory.memory import Memory

NOON = datetime(2026, 6, 20, 12, tzinfo=UTC)
GOOD = {
    "action": "add", "type": "project", "kind": "", "title": "deploys", "why": "",
    "fact": "Deploys are always on Tuesdays", "quote": "We always deploy on Tuesdays",
    "replaces": [],
}  # fmt: skip
At = Callable[[float], Memory]  # hours after noon


def talk(*said: str) -> bytes:
    messages = [
        {"info": {"id": f"m{number:03}", "role": "user"}, "parts": [{"type": "text", "text": text}]}
        for number, text in enumerate(said, 1)
    ]
    return json.dumps({"info": {"id": "ses_1", "title": "t"}, "messages": messages}).encode()


SAID = talk("We always deploy on Tuesdays, the on-call team is complete then.")
LATER = talk(
    "We always deploy on Tuesdays, the on-call team is complete then.",
    "And the staging server is only reachable from within the office network.",
)


@pytest.fixture
def at(begin_store: BeginStore, repository: Path) -> At:
    begin_store()
    return lambda hours: Memory.open(repository, clock=lambda: NOON + timedelta(hours=hours))


def outcomes(memory: Memory) -> list[str]:
    return [each.outcome for each in memory.captures() if each.phase == "run"]


def test_the_same_turns_are_asked_about_twice_and_then_wait_for_the_interval(at: At) -> None:
    model = Scripted("No.", "No.")
    assert at(0).extract(SAID, model=model).failure is not None
    for hours in (0.1, 6, 11.9):
        done = at(hours).extract(LATER, model=model)
        assert done.failure is not None
        assert (done.failure.code, done.watermark) == ("waits", "")
        assert "2026-06-21 00:00 UTC" in done.failure.message
    assert len(model.asked) == 2
    assert outcomes(at(12)) == ["failed"], "waiting is no news"
    model.say({"candidates": [GOOD]})
    done = at(12).extract(SAID, model=model)
    assert (done.added, done.failure) == (["project-deploys.md"], None)


def test_the_second_question_shows_one_example_and_nothing_else_new(at: At) -> None:
    model = Scripted("No.", {"candidates": []})
    assert at(0).extract(SAID, model=model).failure is None
    first, second = (each.user for each in model.asked)
    assert second.startswith(first)
    assert second.removeprefix(first).count('{"candidates"') == 1
    assert model.asked[0].system == model.asked[1].system


def test_another_model_is_asked_at_once(at: At) -> None:
    at(0).extract(SAID, model=Scripted("No.", "No."))
    other = Scripted({"candidates": [GOOD]})
    other.name = "a better one"
    assert at(0).extract(SAID, model=other).added == ["project-deploys.md"]


def test_after_three_rounds_the_turns_are_passed_over_and_that_is_said(
    at: At, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for round in (0, 1):
        done = at(12 * round).extract(SAID, model=Scripted("No.", "No."))
        assert (done.watermark, done.passed_over) == ("", 0)
    done = at(24).extract(SAID, model=Scripted("No.", "No."))
    assert (done.watermark, done.passed_over) == ("m001", 1)
    assert outcomes(at(24))[:2] == ["failed", "passed_over"]
    later = Scripted({"candidates": []})
    at(24).extract(LATER, model=later)
    assert [turn["id"] for turn in json.loads(later.asked[0].user)["turns"]] == ["m002"]
    monkeypatch.chdir(at(24).project.root)
    assert main(["status"]) == 0
    assert "1 turn: no answer of a model could be read" in capsys.readouterr().out


def test_a_server_that_is_down_costs_no_round(at: At) -> None:
    from mdmemory.llm.answer import ModelFailed

    for _ in range(5):
        done = at(0).extract(SAID, model=Scripted(ModelFailed("It is down.")))
        assert (done.watermark, done.passed_over) == ("", 0)
    assert at(0).extract(SAID, model=Scripted({"candidates": [GOOD]})).added


def test_turns_that_were_not_read_are_not_said_to_hold_nothing(
    at: At, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "said.json").write_bytes(SAID)
    monkeypatch.chdir(at(0).project.root)
    monkeypatch.setenv("MDMEMORY_PLANNER", "openai")
    monkeypatch.setenv("MDMEMORY_DAILY_CALLS", "0")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    assert main(["extract", "--transcript", str(tmp_path / "said.json")]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "0 times today (UTC), which is the limit" in err
    assert main(["extract", "--transcript", str(tmp_path / "said.json"), "--dry-run"]) == 1
    assert capsys.readouterr().out == "Dry run: nothing was stored.\n"


def test_turns_that_no_model_reads_are_counted(at: At) -> None:
    said = talk(*(f"Line {number} of a long talk about nothing much." for number in range(100)))
    done = at(0).extract(said, model=Scripted({"candidates": []}))
    assert (done.older, done.unread) == (60, 0)


def test_a_candidate_that_was_cut_off_is_counted_and_costs_no_other(at: At) -> None:
    whole = json.dumps({"candidates": [GOOD, {**GOOD, "title": "second"}]})
    done: Any = at(0).extract(SAID, model=Scripted(whole[:-20]))
    assert (done.added, done.unreadable, done.failure) == (["project-deploys.md"], 1, None)
