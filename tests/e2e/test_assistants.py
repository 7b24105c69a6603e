"""The rig itself: each real client speaks with the fake provider, and a turn ends in any case."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from assistants import ASSISTANTS, Assistant
from fake_provider import FakeProvider
from terminal import HAS_TMUX
from terminal import MISSING as NO_TMUX

pytestmark = [pytest.mark.hosts, pytest.mark.slow]

READ = {"claude": ("Read", "file_path"), "codex": ("exec_command", "cmd"),
        "gemini": ("read_file", "file_path")}  # fmt: skip


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with FakeProvider() as running:
        yield running


@pytest.fixture(params=ASSISTANTS, ids=lambda each: str(each.name))
def assistant(
    request: pytest.FixtureRequest, provider: FakeProvider, repository: Path, tmp_path: Path
) -> Assistant:
    home = tmp_path / "home"
    home.mkdir()
    found = request.param(repository, home, provider.url)
    assert isinstance(found, Assistant)
    return found


def test_what_the_model_says_is_what_a_person_reads(
    assistant: Assistant, provider: FakeProvider
) -> None:
    provider.say("Good morning to you.")
    assert assistant.run("A question of mine").output.strip() == "Good morning to you."
    (turn,) = provider.turns
    assert turn.count("A question of mine") == 1
    assert "A question of mine" in turn.users[-1]
    assert "A question of mine" not in turn.system
    assert turn.system
    assert len(turn.tools) > 5


def test_a_session_is_taken_up_again(assistant: Assistant, provider: FakeProvider) -> None:
    assistant.run("The first question")
    assistant.run("The second question", again=True)
    assert [turn.count("The first question") for turn in provider.turns] == [1, 1]
    assert [turn.count("The second question") for turn in provider.turns] == [0, 1]


def test_a_tool_is_called_and_its_result_comes_back(
    assistant: Assistant, provider: FakeProvider
) -> None:
    tool, argument = READ[assistant.name]
    file = assistant.project / "README"
    provider.call(tool, **{argument: f"cat {file}" if argument == "cmd" else str(file)})
    provider.say("It is read.")
    assert "It is read." in assistant.run("Read it").output
    assert provider.turns[0].results == []
    assert "a project" in provider.turns[1].results[0]


def test_a_turn_without_an_answer_is_ended(assistant: Assistant, provider: FakeProvider) -> None:
    provider.hang()
    with pytest.raises(AssertionError, match=f"{assistant.name} took over"):
        assistant.run("Is anybody there?", seconds=15)
    assert provider.turns


def test_a_client_that_is_missing_is_named(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("assistants.PROGRAMS", tmp_path)
    with pytest.raises(AssertionError, match="is not installed; run: sh tests/e2e/hosts/install"):
        type(assistant)(assistant.project, assistant.home, assistant.url)


@pytest.mark.skipif(not HAS_TMUX, reason=NO_TMUX)
def test_a_person_at_the_terminal_is_answered(assistant: Assistant, provider: FakeProvider) -> None:
    provider.say("Good morning to you.")
    with assistant.terminal() as terminal:
        terminal.text("A question of mine")
        terminal.until("A question of mine")
        terminal.keys("Enter")
        terminal.until("Good morning to you.")
