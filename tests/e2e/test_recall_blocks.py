"""What a session keeps at hand, in the real client: when it reaches the prompt, and what the model
sees of a tool's output.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from client import ROOT, OpenCode
from fake_server import USAGE, Answer, FakeServer, system_text, user_texts
from pace import HUNG
from plugged import mdmemory, plug, until

from mdmemory.transcripts import opencode
from mdmemory.transcripts.opencode import read_export

pytestmark = pytest.mark.slow


class Place(NamedTuple):
    """A project with the plugin, and the home that its client has."""

    project: Path
    home: Path

    def client(self, server: FakeServer, **more: str) -> OpenCode:
        return OpenCode(self.project, self.home, server.url, **more)

    def log(self) -> str:
        file = self.project / ".mdmemory/bridge.log"
        return file.read_text(encoding="utf-8") if file.exists() else ""


@pytest.fixture
def place(repository: Path, tmp_path: Path) -> Place:
    home = tmp_path / "home"
    home.mkdir()
    program = Path(sys.executable).with_name("mdmemory")
    words = [str(program), "init", "--shared", "--opencode", "--no-npm"]
    env = {**os.environ, "HOME": str(home)}
    subprocess.run(words, cwd=repository, env=env, check=True, timeout=HUNG, capture_output=True)
    plug(repository, home)
    return Place(repository, home)


def shown(body: dict[str, Any]) -> str:
    """What a request says as the system behind the index and the client's own text."""
    return system_text(body).partition("(What follows was noted")[2]


def outputs(body: dict[str, Any]) -> list[str]:
    return [message["content"] for message in body["messages"] if message["role"] == "tool"]


def sample() -> str:
    """The prompt that docs/how-it-works.md shows."""
    text = (ROOT / "docs/how-it-works.md").read_text(encoding="utf-8")
    return text.partition("## Sessions\n")[2].partition("```text\n")[2].partition("\n```")[0]


def compact(client: OpenCode, server: FakeServer, session: str) -> None:
    """Compact a session, and wait until the plugin has heard of it."""
    before = len(server.requests)
    client.summarize(session)
    until(lambda: len(server.requests) > before)


def test_a_session_from_its_start_over_a_compaction_to_a_restart(place: Place) -> None:
    with FakeServer() as server:
        with place.client(server) as client:
            session, other = client.new_session(), client.new_session()
            said = "FAILED tests/test_a.py::test_x - assert 1 == 2"
            failing = f"echo '{said}'; pytest() {{ false; }}; pytest"
            server.call("session_memory", action="write", section="goal", text="Add a CSV export")
            server.call("bash", command=failing, description="x")
            server.say("It fails. [Decision: semicolons separate the columns]")
            client.send(session, "Let's use semicolons as the separator.")
            first = system_text(server.turns[-1])
            told, _ = outputs(server.turns[-1])
            assert "Add a CSV export" in told
            assert "next compaction or start" in told
            client.send(session, "And now?")
            assert {system_text(body) for body in server.turns} == {first}
            assert "Add a CSV export" not in first

            compact(client, server, session)
            client.send(session, "Go on.")
            second = shown(server.turns[-1])
            assert '<goal chars="16/1000">\nAdd a CSV export' in second
            assert "[test] FAILED tests/test_a.py::test_x" in second
            assert "semicolons" in second
            server.call("session_memory", action="write", section="goal", text="Add a TSV export")
            server.call("bash", command="pytest() { true; }; pytest", description="x")
            client.send(session, "It is TSV.")
            assert {shown(body) for body in server.turns[-3:]} == {second}

            client.send(other, "Hello.")
            assert shown(server.turns[-1]) == ""
        with place.client(server) as client:
            client.send(session, "I am back.")
            third = shown(server.turns[-1])
            assert "Add a TSV export" in third
            assert "[test] FAILED" not in third, "a passing test closed it"
            client.send(other, "Hello.")
            assert "export" not in shown(server.turns[-1])
    assert place.log() == ""


@pytest.mark.full
def test_two_sessions_at_once_never_mix_what_they_keep(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    works = ("export", "login")
    with FakeServer() as server, place.client(server) as client:

        def take(body: dict[str, Any], _is_ours: bool) -> Answer:
            """Whoever says what to begin with gets it noted, in whatever order they come."""
            with server.script.lock:
                server.script.requests.append(body)
            last = user_texts(body)[-1]
            if not body.get("tools"):
                return Answer("A summary.")
            if body["messages"][-1]["role"] == "tool" or not last.startswith("Begin"):
                return Answer("Done.")
            work = last.split()[1]
            return Answer(calls=(
                ("session_memory",
                 {"action": "write", "section": "goal", "text": f"Goal: the {work}"}),
                ("session_memory",
                 {"action": "add", "section": "todos", "text": f"Test the {work}"}),
                ("bash", {"command": f"echo 'FAILED {work}'; pytest() {{ false; }}; pytest",
                          "description": "x"}),
            ))  # fmt: skip

        monkeypatch.setattr(server.script, "take", take)
        sessions = [client.new_session() for _ in works]
        with ThreadPoolExecutor(len(works)) as both:
            began = [f"Begin {work} now. Let's use {work}.py for it." for work in works]
            list(both.map(client.send, sessions, began))
            list(both.map(client.summarize, sessions))
            list(both.map(client.send, sessions, [f"Go on with {work}." for work in works]))
        for work, other in (works, works[::-1]):
            (text,) = [
                shown(body)
                for body in server.turns
                if user_texts(body)[-1].startswith(f"Go on with {work}")
            ]
            assert f"Goal: the {work}" in text
            for kept in (f"Test the {work}", f"FAILED {work}", f"use {work}.py"):
                assert kept in text
            assert other not in text
    assert place.log() == ""


def extracted_turns(place: Place, session: str) -> list[str]:
    """What an extraction would read of a session."""
    database = place.home / ".local/share/opencode/opencode.db"
    return [turn.text for turn in read_export(opencode.export(database, session)).turns]


LONG = "for n in $(seq 5000); do echo line $n of the output; done"


# tests/hosts/test_following.py tries it without the client
@pytest.mark.full
def test_of_a_long_output_the_model_sees_a_part_and_can_get_the_whole(place: Place) -> None:
    with FakeServer() as server, place.client(server) as client:
        session = client.new_session()
        server.call("bash", command=LONG, description="x")
        client.send(session, "Run it.")
        (seen,) = outputs(server.turns[-1])
        assert len(seen.splitlines()) < 80
        assert "line 5000 of the output" in seen
        (path,) = re.findall(r"/\S+/outputs/o-[0-9a-f-]+\.txt", seen)
        assert "line 4321 of the output" in Path(path).read_text(encoding="utf-8")
        client.send(session, "And again?")
        assert outputs(server.turns[-1]) == [seen]
    assert place.log() == ""


@pytest.mark.full
def test_the_assistant_hears_of_a_full_context_once_for_each_level(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(tokens: int) -> None:
        monkeypatch.setitem(USAGE, "prompt_tokens", tokens)
        monkeypatch.setitem(USAGE, "total_tokens", tokens + 10)

    with FakeServer() as server, place.client(server) as client:
        session, other = client.new_session(), client.new_session()
        fill(150_000)  # of 192,000 that the client fills before it compacts
        client.send(session, "One.")
        client.send(session, "Two.")
        assert "Context moderate: about 78% full." in user_texts(server.turns[-1])[-1]
        before = system_text(server.turns[-1])
        client.send(session, "Three.")
        assert user_texts(server.turns[-1])[-1] == "Three."
        client.send(other, "Hello.")
        assert user_texts(server.turns[-1])[-1] == "Hello.", "the other session is not full"
        fill(184_000)
        server.call("bash", command="echo first", description="x")
        server.call("bash", command="sleep 1; echo second", description="x")
        client.send(session, "Four.")
        first, second = outputs(server.turns[-1])
        assert first.strip() == "first"
        assert "Context critical: about 95% full." in second, "it is told in the turn itself"
        assert "session_memory" in second
        assert system_text(server.turns[-1]) == before
        client.send(session, "Five.")
        assert user_texts(server.turns[-1])[-1] == "Five."
    assert place.log() == ""


@pytest.mark.full
def test_with_all_of_it_off_nothing_is_forwarded_written_or_shown(place: Place) -> None:
    off = [f"{part} = false" for part in ("memory", "pruning", "pressure")]
    settings = place.project / "mdmemory.toml"
    text = settings.read_text(encoding="utf-8")
    settings.write_text("\n".join([text, "[session]", *off, ""]), encoding="utf-8")
    with FakeServer() as server, place.client(server) as client:
        session = client.new_session()
        server.call("bash", command=LONG, description="x")
        client.send(session, "Let's use semicolons. Run it.")
        (seen,) = outputs(server.turns[-1])
        assert "line 4900 of the output" in seen
        compact(client, server, session)
        client.send(session, "Go on.")
        assert shown(server.turns[-1]) == ""
    with pytest.raises(AssertionError, match="Nothing is stored about"):
        mdmemory(place.project, "session", session)


# tests/session/test_session_memory.py has the same sample; the first test here, the real client
@pytest.mark.full
def test_the_prompt_that_the_docs_show_is_what_the_client_sends(place: Place) -> None:
    (place.project / "docs").mkdir()
    (place.project / "docs/format.md").write_text("Columns.\n", encoding="utf-8")
    code = str(place.project / "src/export.py")
    said = "FAILED tests/test_export.py::test_quotes - assert 3 == 2"
    todos = [{"content": "Escape quotes", "status": "in_progress", "priority": "high"}]
    with FakeServer() as server, place.client(server) as client:
        session = client.new_session()
        server.call(
            "session_memory",
            action="write",
            section="goal",
            text="Add a CSV export to the report page",
        )
        server.call("read", filePath=str(place.project / "docs/format.md"))
        server.call("write", filePath=code, content="SEPARATOR = ','\n")
        for old, new in ((",", ";"), ("SEPARATOR", "SEP")):
            server.call("edit", filePath=code, oldString=old, newString=new)
        server.call(
            "bash", command=f"echo '{said}'; pytest() {{ false; }}; pytest", description="x"
        )
        server.call("todowrite", todos=todos)
        server.call(
            "session_memory",
            action="write",
            section="progress",
            text="Writer done; the tests of its quoting fail",
        )
        client.send(session, "Let's use semicolons as the separator.")
        compact(client, server, session)
        asked = [body for body in server.requests if not body.get("tools")][-1]
        client.send(session, "Go on.")
        text = system_text(server.turns[-1])
        assert "<session_memory>" in sample()
        assert text.endswith(sample())
        assert "What the session keeps at hand" in user_texts(asked)[-1]
        assert sample() in user_texts(asked)[-1]
    assert place.log() == ""


@pytest.mark.full
def test_the_notes_that_fit_stand_in_the_prompt_where_a_person_wants_them(place: Place) -> None:
    settings = place.home / ".config/mdmemory/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[recall]\nnotes = "keyword"\n', encoding="utf-8")
    for name, fact in (
        ("billing-database", "The billing database is Postgres 15"),
        ("office-plants", "The office plants are watered on Mondays"),
    ):
        mdmemory(place.project, "add", name, "--type", "project", "--description", fact, fact)
    with FakeServer() as server, place.client(server) as client:
        session = client.new_session()
        client.send(session, "Which Postgres does the billing database use?")
        (block,) = re.findall(
            r"(?s)<recalled_memory>.*</recalled_memory>", system_text(server.turns[-1])
        )
        assert "project-billing-database.md" in block
        assert "office" not in block
        assert "1 of 1 notes found." in block
        client.send(session, "Who waters the office plants?")
        assert block in system_text(server.turns[-1])
        assert system_text(server.turns[-1]) == system_text(server.turns[-2])
    assert place.log() == ""


def test_the_notes_that_a_message_needs_come_behind_it_and_the_prompt_stays(place: Place) -> None:
    fact, body = "Billing listens on port 8087 in its container", "Its unit hands the port over."
    about = ("--type", "project", "--description")
    mdmemory(place.project, "add", "billing-port", *about, fact, body)
    mdmemory(place.project, "add", "plants", *about, "Plants get water on Mondays", "Not more.")
    mdmemory(place.project, "search", "plants")  # so that the database is there
    with FakeServer() as server:
        with place.client(server) as client:
            session = client.new_session()
            client.send(session, "Hello.")
            needs = "add a healthcheck to the billing container"
            client.send(session, needs)
            client.send(session, f"and again: {needs}")
            before, first, second = server.turns
            assert "recalled_memory" not in str(before)
            (whole,) = [text for text in user_texts(first) if "<recalled_memory>" in text]
            assert whole.startswith(f"{needs}\n<recalled_memory>\n")
            assert f"- {fact} (project-billing-port.md" in whole
            assert str(second).count(body) == 1, "it is not said twice"
            assert second["messages"][: len(first["messages"])] == first["messages"]
            assert first["messages"][: len(before["messages"])] == before["messages"]
            stored = [p["text"] for m in client.messages(session) for p in m["parts"]
                      if p.get("synthetic")]  # fmt: skip
            assert [fact in text for text in stored] == [True], (
                "the client hides it from the person"
            )
        assert fact not in str(extracted_turns(place, session))
    assert place.log() == ""


@pytest.mark.full
def test_the_goal_is_there_at_once_after_the_client_compacts_by_itself(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeServer() as server, place.client(server) as client:
        session = client.new_session()
        server.call("session_memory", action="write", section="goal", text="Add a CSV export")
        client.send(session, "Go.")
        assert shown(server.turns[-1]) == ""

        def take(body: dict[str, Any], _is_ours: bool) -> Answer:
            """Full until there is a summary."""
            server.script.requests.append(body)
            is_full = bool(body.get("tools")) and "A summary." not in str(body)
            monkeypatch.setitem(USAGE, "prompt_tokens", 199_000 if is_full else 100)
            return Answer("Done.") if body.get("tools") else Answer("A summary.")

        monkeypatch.setattr(server.script, "take", take)
        client.send(session, "Go on.")
        client.send(session, "And?")
        first, *others = [shown(body) for body in server.turns if "A summary." in str(body)]
        assert "Add a CSV export" in first
        assert set(others) == {first}
    assert place.log() == ""
