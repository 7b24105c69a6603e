"""A capture run with a model: asked without a lock, judged under it, one commit, one watermark."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from fake_server import FakeServer
from scripted import Scripted

from mdmemory import Memory
from mdmemory.cli import main
from mdmemory.errors import BadSetting, Busy, NotFound
from mdmemory.llm.answer import Answer, ModelFailed, Schema
from mdmemory.store import conflicts
from mdmemory.store.evidence import KEPT_ROWS, Evidence, record, recorded
from mdmemory.store.state import State

NOW = datetime(2026, 6, 20, 12, tzinfo=UTC)
Git = Callable[..., str]
SAID = [
    ("user", "remember: release notes are written in British English"),
    ("assistant", "Stored."),
    ("user", "We always deploy on Tuesdays, the on-call team is complete then."),
    ("assistant", "Fine. The proxy listens on port 8080."),
    ("user", "The port of the proxy is 8443 now, not 8080."),
]
BLANK = {
    "type": "", "kind": "", "name": "", "description": "", "body": "", "file": "",
    "superseded": [],
}  # fmt: skip
DEPLOY = BLANK | {
    "action": "add", "type": "project", "name": "deploys", "description": "Deploys on Tuesdays",
    "body": "Deploy on Tuesdays: the on-call team is complete then.",
    "quote": "We always deploy on Tuesdays",
}  # fmt: skip
MOVED = BLANK | {
    "action": "update", "type": "project", "name": "proxy", "file": "project-proxy.md",
    "description": "The proxy listens on port 8443", "body": "The proxy listens on port 8443.",
    "quote": "The port of the proxy is 8443 now, not 8080.", "superseded": ["8080"],
}  # fmt: skip


def export(said: list[tuple[str, str]] = SAID, session: str = "ses_1") -> bytes:
    messages = [
        {
            "info": {"id": f"m{number:03}", "role": role, "time": {"created": number}},
            "parts": [{"type": "text", "text": text}],
        }
        for number, (role, text) in enumerate(said, 1)
    ]
    return json.dumps({"info": {"id": session, "title": "t"}, "messages": messages}).encode()


def answers(*candidates: dict[str, Any]) -> Scripted:
    return Scripted({"candidates": list(candidates)})


@pytest.fixture
def memory(repository: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    Memory.init(repository)
    monkeypatch.chdir(repository)
    memory = Memory.open(repository, clock=lambda: NOW)
    memory.add(
        "proxy", type="project", description="The proxy listens on port 8080",
        body="The proxy listens on port 8080.",
    )  # fmt: skip
    return memory


def request(memory: Memory) -> str:
    """The file of the note that the user asks for in so many words."""
    (file,) = (each.file for each in memory.notes() if "British" in each.note.head.description)
    return file


# --- one run -----------------------------------------------------------------------------------


def test_requests_and_findings_are_one_commit_that_says_all(memory: Memory, git: Git) -> None:
    before = git(memory.project.root, "rev-parse", "HEAD").strip()
    done = memory.extract(export(), model=answers(DEPLOY, MOVED))
    assert done.added == [request(memory), "project-deploys.md"]
    assert (done.updated, done.failure, done.unread) == (["project-proxy.md"], None, 0)
    assert git(memory.project.root, "rev-parse", "HEAD^").strip() == before
    message = git(memory.project.root, "log", "-1", "--format=%an%n%B")
    assert message.startswith("mdmemory\n")
    line = "update project-proxy.md: The proxy listens on port 8443 (superseded: 8080)"
    assert f"\n{line}\n" in message
    assert "\nMemory-Session: ses_1\nMemory-Model: scripted\n" in message
    assert git(memory.project.root, "status", "--porcelain") == ""
    assert memory.undo(done.id).kept == ()
    assert [each.file for each in memory.notes()] == ["project-proxy.md"]


def test_the_model_sees_turns_and_notes_and_what_is_about_to_be_stored(memory: Memory) -> None:
    model = answers()
    memory.extract(export(), model=model)
    asked = json.loads(model.asked[0].user)
    assert asked["today"] == "2026-06-20"
    assert [turn["text"] for turn in asked["turns"]] == [text for _, text in SAID]
    shown = {each["file"]: each["description"] + each["body"] for each in asked["notes"]}
    assert shown["project-proxy.md"].endswith("The proxy listens on port 8080.")
    assert "Release notes are written in British English" in shown.values()
    assert "{{" not in model.asked[0].system
    assert "candidates" in model.asked[0].system


def test_held_notes_are_never_shown(memory: Memory) -> None:
    secret = "ghp_" + "a1B2" * 9
    path = memory.project.store / "user-token.md"
    path.write_text(f"My token is {secret}\n", encoding="utf-8")
    model = answers(BLANK | {**MOVED, "file": "user-token.md"})
    done = memory.extract(export(), model=model)
    assert secret not in model.asked[0].user
    assert "user-token.md" not in model.asked[0].user
    assert done.dropped[-1]["reasons"] == ["unknown_file"]
    assert path.read_text("utf-8") == f"My token is {secret}\n"


def test_a_hand_edit_while_the_model_thinks_wins(memory: Memory) -> None:
    path = memory.project.store / "project-proxy.md"

    class Slow(Scripted):
        def complete(self, system: str, user: str, schema: Schema | None = None) -> Answer:
            path.write_text("The proxy is gone.\n", encoding="utf-8")
            return super().complete(system, user, schema)

    done = memory.extract(export(), model=Slow({"candidates": [MOVED, DEPLOY]}))
    assert path.read_text("utf-8") == "The proxy is gone.\n"
    assert done.dropped[-1]["reasons"] == ["pending", "note_changed"]
    assert "project-deploys.md" in done.added


def test_a_contradiction_is_shown_and_both_sides_are_kept(memory: Memory) -> None:
    path = memory.project.store / "project-proxy.md"
    old = path.read_bytes()
    flag = {**MOVED, "action": "flag", "superseded": []}
    done = memory.extract(export(), model=answers(flag))
    assert done.flagged == ["project-proxy-2.md"]
    assert path.read_bytes() == old
    (entry,) = conflicts.open_entries((memory.project.store / "_CONFLICTS.md").read_text("utf-8"))
    assert entry.files == ("project-proxy-2.md", "project-proxy.md")
    assert "1 conflict" in (memory.project.store / "MEMORY.md").read_text("utf-8")
    memory.undo(done.id)
    assert not (memory.project.store / "_CONFLICTS.md").exists()


def test_a_dry_run_asks_and_writes_nothing(memory: Memory, git: Git) -> None:
    before = git(memory.project.root, "rev-parse", "HEAD")
    model = answers(DEPLOY, {**DEPLOY, "quote": "never said by anybody"})
    done = memory.extract(export(), model=model, dry_run=True)
    assert "project-deploys.md" in done.added
    assert done.dropped[-1] == {"text": "Deploys on Tuesdays", "reasons": ["no_evidence"]}
    assert git(memory.project.root, "rev-parse", "HEAD") == before
    assert memory.captures() == []
    assert memory.extract(export(), model=answers(DEPLOY)).added == done.added


def test_without_git_a_correction_is_flagged_and_the_rest_is_stored(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    memory = Memory.open(folder, store=str(folder), clock=lambda: NOW)
    memory.add(
        "proxy", type="project", description="The proxy listens on port 8080",
        body="The proxy listens on port 8080.",
    )  # fmt: skip
    done = memory.extract(export(), model=answers(MOVED, DEPLOY))
    assert (done.updated, done.superseded, len(done.flagged)) == ([], [], 1)
    assert "project-deploys.md" in {each.file for each in memory.notes()}


# --- failure -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said", [ModelFailed("It is down."), "I found nothing.", '{"candidates": [}', BadSetting("No.")]
)
def test_a_failed_answer_stores_the_requests_and_is_asked_again(
    memory: Memory, said: str | Exception
) -> None:
    done = memory.extract(export(), model=Scripted(said, said))
    assert done.failure is not None
    assert (done.added, done.watermark) == ([request(memory)], "")
    assert memory.captures()[0].outcome == "failed"
    memory.remove(request(memory))
    model = answers(DEPLOY)
    model.name = "another"
    again = memory.extract(export(), model=model)
    assert len(json.loads(model.asked[0].user)["turns"]) == len(SAID)
    # asked for before, removed by hand since: it stays removed
    assert (again.added, again.watermark) == (["project-deploys.md"], "m005")


def test_another_run_of_the_same_session_meanwhile_stores_nothing_twice(memory: Memory) -> None:
    class Overtaken(Scripted):
        def complete(self, system: str, user: str, schema: Schema | None = None) -> Answer:
            memory.extract(export(), model=answers(DEPLOY))
            return super().complete(system, user, schema)

    reworded = {**DEPLOY, "name": "tuesdays", "description": "Tuesdays are for deploys"}
    with pytest.raises(Busy):
        memory.extract(export(), model=Overtaken({"candidates": [reworded]}))
    assert len(memory.notes()) == 3


def test_a_long_session_is_read_part_by_part(memory: Memory) -> None:
    said = [("user", f"Line {n} of a long talk about nothing that lasts.") for n in range(100)]
    model = answers()
    memory.extract(export(said[:10]), model=model)
    seen = 10
    for expected_left in (50, 10, 0):
        model.say({"candidates": []})
        done = memory.extract(export(said), model=model)
        turns = json.loads(model.asked[-1].user)["turns"]
        assert turns[0]["text"] == said[seen][1]
        seen += len(turns)
        assert (done.unread, done.watermark) == (expected_left, f"m{seen:03}")
    assert memory.extract(export(said), model=model).model == ""


def test_talk_of_the_assistant_alone_is_not_sent(memory: Memory) -> None:
    done = memory.extract(export([("assistant", "I am thinking. " * 20)]), model=Scripted())
    assert (done.failure, done.watermark) == (None, "m001")


# --- the log, and taking it back ---------------------------------------------------------------


def test_the_log_says_why_each_was_kept_or_dropped_without_secrets(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = "ghp_" + "a1B2" * 9
    leak = {**DEPLOY, "description": f"The token is {secret}", "quote": "the token of the week"}
    memory.extract(export(), model=answers(DEPLOY, leak))
    assert main(["log", "--captures", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["phase"], row["outcome"], row["reasons"]) for row in rows] == [
        ("model", "dropped", ["no_evidence"]), ("model", "added", []), ("asked", "added", []),
    ]  # fmt: skip
    assert rows[0]["time"] == "2026-06-20T12:00:00+00:00"
    assert all(len(row["preview"]) <= 80 for row in rows)
    assert secret not in json.dumps(rows)
    assert main(["log", "--captures", "-n", "1"]) == 0
    assert "dropped (no_evidence): The token is [redacted:" in capsys.readouterr().out


def test_the_log_forgets_after_ninety_days_and_five_thousand_rows(tmp_path: Path) -> None:
    with State(tmp_path / "state.db") as state:
        record(state, [Evidence("s", "model", "added")], datetime(2026, 1, 1, tzinfo=UTC))
        rows = [Evidence("s", "model", "dropped", preview=str(n)) for n in range(KEPT_ROWS + 10)]
        record(state, rows, NOW)
        found = recorded(state)
        assert len(found) == KEPT_ROWS
        assert (found[0].preview, found[-1].preview) == (str(KEPT_ROWS + 9), "10")


def test_undo_takes_back_all_that_a_session_wrote(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {each.file: each.digest for each in memory.notes()}
    memory.extract(export(SAID[:3]), model=answers(DEPLOY))
    memory.extract(export(), model=answers(MOVED))
    memory.extract(export([("user", "remember: tea is at four o'clock")], "ses_2"))
    assert main(["undo", "--session", "ses_1", "--json"]) == 0
    undone = json.loads(capsys.readouterr().out)
    assert undone[0]["restored"] == ["project-proxy.md"]
    assert len(undone) == 2
    after = {each.file: each.digest for each in memory.notes()}
    assert len(after) == len(before) + 1  # the other session's
    assert before.items() <= after.items()
    with pytest.raises(NotFound):
        memory.undo_session("ses_1")
    assert main(["undo", "m-1", "--session", "ses_2", "--json"]) == 2


# --- the real client ---------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_asks_a_server_and_stores_what_it_found(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("talk.json").write_bytes(export())
    with FakeServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("MDMEMORY_PLANNER", "openai")
        server.say("I have nothing to say in JSON.")
        assert main(["extract", "--transcript", "talk.json", "--json"]) == 1
        told = capsys.readouterr()
        found = json.loads(told.out)
        assert (found["error"]["code"], len(found["added"])) == ("bad_answer", 1)
        assert told.err.startswith("mdmemory: The model's answer holds no list")
        server.say(json.dumps({"candidates": [DEPLOY, MOVED]}))
        monkeypatch.setenv("MEMORY_EXTRACT_MODEL", "openai/another")
        assert main(["extract", "--transcript", "talk.json"]) == 0
    said = capsys.readouterr().out
    assert "added: project-deploys.md\nupdated: project-proxy.md\n" in said
    assert "`mdmemory undo m-" in said
    assert "OPENAI_API_KEY" not in os.environ
