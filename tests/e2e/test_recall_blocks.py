"""What a session keeps at hand reaches the prompt of the real client at its moments."""

from pathlib import Path
from typing import Any

import pytest
from client import OpenCode
from fake_server import USAGE, Answer, FakeServer, system_text
from plugged import Place, make, until

pytestmark = pytest.mark.slow


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make(tmp_path)


def shown(body: dict[str, Any]) -> str:
    """What a request says as the system behind the index and the client's own text."""
    return system_text(body).partition("(What follows was noted")[2]


def test_a_session_from_its_start_over_a_compaction_to_a_restart(place: Place) -> None:
    def goal(text: str) -> None:
        server.call("session_memory", action="write", section="goal", text=text)

    with FakeServer() as server:
        with OpenCode(place.project, place.home, server.url) as client:
            session, other = client.new_session(), client.new_session()
            failed = "FAILED tests/test_a.py::test_x"
            failing = f"echo '{failed} - assert 1 == 2'; pytest() {{ false; }}; pytest"
            goal("Add a CSV export")
            server.call("bash", command=failing, description="x")
            server.say("It fails. [Decision: semicolons separate the columns]")
            client.send(session, "Let's use semicolons as the separator.")
            first = system_text(server.turns[-1])
            told, _ = [m["content"] for m in server.turns[-1]["messages"] if m["role"] == "tool"]
            assert "Add a CSV export" in told
            assert "next compaction or start" in told
            client.send(session, "And now?")
            assert {system_text(body) for body in server.turns} == {first}
            assert "Add a CSV export" not in first

            before = len(server.requests)
            client.summarize(session)
            until(lambda: len(server.requests) > before)  # the plugin has heard of it
            client.send(session, "Go on.")
            second = shown(server.turns[-1])
            assert '<goal chars="16/1000">\nAdd a CSV export' in second
            assert f"[test] {failed}" in second
            assert "semicolons" in second
            goal("Add a TSV export")
            server.call("bash", command="pytest() { true; }; pytest", description="x")
            client.send(session, "It is TSV.")
            assert {shown(body) for body in server.turns[-3:]} == {second}

            client.send(other, "Hello.")
            assert shown(server.turns[-1]) == ""
        with OpenCode(place.project, place.home, server.url) as client:
            client.send(session, "I am back.")
            third = shown(server.turns[-1])
            assert "Add a TSV export" in third
            assert "[test] FAILED" not in third, "a passing test closed it"
            client.send(other, "Hello.")
            assert "export" not in shown(server.turns[-1])
    assert place.log() == ""


@pytest.mark.full
def test_the_goal_is_there_at_once_after_the_client_compacts_by_itself(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeServer() as server, OpenCode(place.project, place.home, server.url) as client:
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
