"""Observations through the doors: Python, tools, the command line, and on the way to notes."""

import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from fake_server import FakeServer, system_text, user_texts
from scripted import Scripted
from stores import BeginStore, call, observe

from mdmemory import Memory
from mdmemory.cli import main
from mdmemory.errors import NotFound, UsageError
from mdmemory.llm import choose
from mdmemory.observe import queue, summaries
from mdmemory.tools.table import Caller
from mdmemory.transcripts.turns import Transcript, Turn

Patch = pytest.MonkeyPatch
Capture = pytest.CaptureFixture[str]
NOW = datetime(2026, 6, 20, 12, tzinfo=UTC)
LONG = "The gateway answers 429 above twenty requests a second, says the log."


@pytest.fixture
def memory(begin_store: BeginStore, repository: Path, monkeypatch: Patch) -> Memory:
    monkeypatch.chdir(repository)
    return begin_store(clock=lambda: NOW)


def answer(*titles: str) -> dict[str, Any]:
    rest = {"type": "decision", "narrative": "", "facts": [], "concepts": [], "files": []}
    numbered = enumerate(titles, 1)
    told = [{"number": str(n), "title": title, **rest, "importance": "3"} for n, title in numbered]
    return {"observations": told}


def test_a_use_of_a_tool_is_kept_found_listed_and_recalled(memory: Memory) -> None:
    found = memory.observations()
    with found.state() as state:
        for number in range(12):
            queue.tool_used(state, "ses_1", "read", {"filePath": f"f{number}"}, LONG, NOW)
    model = Scripted(*[answer("Limit of the gateway")] * 3)
    done = found.work(model=model)
    assert (done.kept, done.waiting) == (3, 0)
    assert memory.search("gateway limit", source="observations").hits[0].file == "#1"
    told = call(memory, "memory_search", {"query": "gateway", "source": "observations"})
    assert "source: observations" in told.text
    line = call(memory, "memory_timeline", {"around": "2"})
    assert "> #2 2026-06-20 decision: Limit of the gateway" in line.text
    assert line.structured["anchor"] == 2
    whole = call(memory, "memory_recall", {"ids": "2, 3"})
    assert [row["id"] for row in whole.structured["observations"]] == [2, 3]
    assert "#3 2026-06-20 decision" in whole.text
    assert found.block() == found.block() != ""
    assert found.summarize("ses_1", model=Scripted("no")).failure is not None
    assert "The last summary" in found.block(session="ses_1")
    with found.state() as state:
        summary = summaries.get(state, "ses_1")
    assert summary
    assert summary.learned == "Limit of the gateway"


def test_a_summary_tells_what_the_user_asked_for_first(memory: Memory, monkeypatch: Patch) -> None:
    words = ("assistant", "Hello."), ("user", "Mend the upload."), ("user", "Go on.")
    said = Transcript("ses_1", "", "", tuple(Turn(text, who, text) for who, text in words))
    monkeypatch.setattr("mdmemory.transcripts.sources.copy", lambda hosts, session: said)
    monkeypatch.setattr("mdmemory.transcripts.sources.read", lambda copied: copied)
    found = memory.observations()
    observe(memory, "The limit is twenty a second", "ses_1")
    summed = found.summarize("ses_1").summary
    assert summed.request == "Mend the upload."


def test_a_timeline_can_keep_to_the_session_that_asks(memory: Memory) -> None:
    observe(memory, "Of another", "ses_2")
    mine = Caller("ses_1")
    assert call(memory, "memory_timeline", {"scope": "session"}, mine).structured["total"] == 0
    assert call(memory, "memory_timeline", {}, mine).structured["total"] == 1


def test_nothing_is_asked_of_a_model_not_chosen_for_this(repository: Path, memory: Memory) -> None:
    def model(**variables: str) -> object:
        project = Memory.open(repository, environment=variables).project
        return choose.model(choose.OBSERVE, project, "2026-06-20", variables)

    chosen = {"MDMEMORY_PLANNER": "openai", "OPENAI_API_KEY": "none"}
    assert not memory.observations().is_on
    assert model() is None
    assert model(MDMEMORY_OBSERVE="1") is None
    assert model(**chosen) is None
    assert model(**chosen, MDMEMORY_OBSERVE="1") is not None


def test_a_project_cannot_switch_observations_on(repository: Path, memory: Memory) -> None:
    (repository / "mdmemory.toml").write_text("[observe]\nenabled = true\n", encoding="utf-8")
    with pytest.raises(Exception, match="a project may not choose"):
        Memory.open(repository)


def test_what_cannot_be_kept_or_searched_is_left_out_or_said(memory: Memory) -> None:
    found = memory.observations()
    key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\n-----END PRIVATE KEY-----"
    text = f"<private>\nZebra\n</private>\n{key}\nwith a key"
    kept = observe(memory, "Deploys", "ses_1", narrative=text)
    assert kept.draft.narrative == "[redacted:private_key]\nwith a key"
    with pytest.raises(NotFound):
        found.forget("7")
    with pytest.raises(UsageError):
        memory.search("x", source="observations", at="HEAD")


def test_what_is_forgotten_is_in_no_summary_and_no_database(memory: Memory) -> None:
    found = memory.observations()
    observe(memory, "The zebra protocol", "ses_1")
    observe(memory, "Another thing", "ses_2")
    for session in ("ses_1", "ses_2"):
        found.summarize(session)
    assert found.search("zebra").hits
    assert [each.id for each in found.forget("1")] == [1]
    with found.state() as state:
        assert [bool(summaries.get(state, each)) for each in ("ses_1", "ses_2")] == [False, True]
    with sqlite3.connect(memory.project.private / "observations.db") as database:
        texts = database.execute("SELECT text FROM chunks").fetchall()
    database.close()
    assert "zebra" not in str(texts)


def test_a_session_shows_its_observations_and_forgets_them(memory: Memory, capsys: Capture) -> None:
    def ask(*words: str) -> Any:
        assert main([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    assert ask("session", "--work")["kept"] == 0
    kept = observe(memory, "The gateway limit is 20.", "ses_1", files=["a.py"])
    (shown,) = ask("session", "ses_1")["observations"]
    assert (shown["title"], shown["files"]) == ("The gateway limit is 20.", ["a.py"])
    assert ask("session", str(kept.id)) == [shown]
    assert ask("search", "--source", "observations", "gateway")["hits"][0]["file"] == "#1"
    assert main(["session", "ses_1"]) == 0
    assert "observations:\n  - 1  The gateway limit" in capsys.readouterr().out
    assert ask("session", "--forget", "1") == [shown]
    assert main(["session", "ses_1"]) == 1
    assert main(["session", "7"]) == 1
    assert "There is no observation 7." in capsys.readouterr().err


@pytest.mark.slow
def test_the_chosen_model_shortens_a_batch_and_is_counted(
    memory: Memory, monkeypatch: Patch, capsys: Capture
) -> None:
    now = datetime.now(UTC)
    with memory.observations().state() as state:
        queue.tool_used(state, "ses_1", "bash", {"command": "tail gateway.log"}, LONG, now)
    with FakeServer() as server:
        server.say(json.dumps(answer("The limit is 20 a second")))
        server.say(json.dumps(dict.fromkeys(summaries.FIELDS, "It is so.")))
        for name, value in {
            "MDMEMORY_PLANNER": "openai", "OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "none",
            "MDMEMORY_OBSERVE": "1",
        }.items():  # fmt: skip
            monkeypatch.setenv(name, value)
        assert main(["session", "ses_1", "--work", "--json"]) == 0
        first, second = server.requests
    out, err = capsys.readouterr()
    said = json.loads(out)
    assert (said["kept"], said["waiting"], said["failure"], err) == (1, 0, None, "")
    assert said["summary"]["learned"] == "It is so."
    assert "make the work of tools short" in system_text(first)
    assert "tail gateway.log" in user_texts(first)[0]
    assert "The limit is 20 a second" in user_texts(second)[0]
    (kept,) = memory.observations().newest()
    assert (kept.draft.title, kept.draft.importance) == ("The limit is 20 a second", 3)
    with memory.observations().state() as state:
        assert state.rows("SELECT purpose, calls FROM model_call") == [("observe", 2)]
