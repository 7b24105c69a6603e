"""One memory for all assistants of a person: what one is told, each other knows at its next start.

In the real Claude Code, Codex and Gemini CLI, wired by `mdmemory setup` alone.
"""

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import pytest
from desk import NAMES, Desk
from fake_provider import FakeProvider, Request
from pace import FULL
from terminal import HAS_TMUX, MISSING

pytestmark = [pytest.mark.hosts, pytest.mark.slow]

NEIGHBOURS = [("claude", "codex"), ("codex", "gemini"), ("gemini", "claude")]
PAIRS = list(permutations(NAMES, 2)) if FULL else NEIGHBOURS
ANSWERS = "short answers"
MONDAYS, TUESDAYS = "Deploys go out on Mondays only", "eploys go out on Tuesdays only"
CHANGED = "From now on deploys go out on Tuesdays only, not on Mondays."


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with FakeProvider() as provider, Desk(tmp_path, provider) as each:
        yield each.set_up()


def first(requests: list[Request]) -> Request:
    assert requests, "the client asked its model nothing"
    return requests[0]


@pytest.mark.parametrize(("told", "asked"), PAIRS)
def test_a_preference_and_a_correction_are_known_to_another_assistant(
    desk: Desk, told: str, asked: str
) -> None:
    desk.mdmemory("add", MONDAYS)
    former = desk.name_of(MONDAYS)
    desk.ask(told, "Keep in mind that I prefer short answers.")
    fact = "Deploys go out on Tuesdays only."
    desk.provider.call("memory_store", fact=fact, quote=CHANGED, replaces=[former])
    desk.ask(told, CHANGED, again=True)
    request = first(desk.ask(asked, "What is the capital of France?"))
    assert request.lines(ANSWERS) == 1, "once, and in the first request"
    assert request.lines(TUESDAYS) == 1
    assert request.lines(MONDAYS) == 0, "what is superseded has left the prompt"
    assert "Mondays" in desk.mdmemory("show", former), "and is kept"


@pytest.mark.parametrize(("told", "asked"), PAIRS)
def test_what_is_forgotten_in_one_is_gone_from_both(desk: Desk, told: str, asked: str) -> None:
    desk.ask(told, "Remember that the printer on floor 2 is called Gutenberg.")
    assert first(desk.ask(asked, "Hello")).lines("called Gutenberg") == 1
    gone = "Forget what I told you about the printer."
    (note,) = [each for each in desk.notes() if "Gutenberg" in each]
    name = desk.name_of(note)
    desk.provider.call("memory_forget", names=[name], quote=gone)
    requests = desk.ask(asked, gone)
    assert "memory_forget" in " ".join(first(requests).tools), "the tool is there at once"
    assert desk.notes() == [], requests[-1].results
    assert first(desk.ask(told, "Hello again")).count("Gutenberg") == 0
    assert first(desk.ask(asked, "Hello again")).count("Gutenberg") == 0
    desk.mdmemory("undo")
    assert desk.notes() == [note]


@pytest.mark.parametrize("name", NAMES)
def test_a_session_that_is_taken_up_again_has_the_memory_once(desk: Desk, name: str) -> None:
    desk.mdmemory("add", MONDAYS)
    desk.ask(name, "Which day is it?")
    (request,) = desk.ask(name, "And tomorrow?", again=True)
    assert request.lines(MONDAYS) == 1
    assert request.count("Which day is it?") == 1, "what the person said is still there"


@pytest.mark.parametrize("name", NAMES)
def test_a_subfolder_and_a_linked_worktree_have_the_memory_of_the_project(
    desk: Desk, name: str
) -> None:
    desk.mdmemory("add", MONDAYS)
    folder = desk.project / "deep/inside"
    folder.mkdir(parents=True)
    linked = desk.home / "linked"
    desk.run("git", "worktree", "add", "-q", linked)
    for each in (folder, linked):
        assert first(desk.ask(name, "Hello", folder=each)).lines(MONDAYS) == 1


@pytest.mark.skipif(not HAS_TMUX, reason=MISSING)
@pytest.mark.parametrize("name", NAMES)
def test_a_person_at_the_terminal_sees_what_was_kept(desk: Desk, name: str) -> None:
    said = "Remember that the printer on floor 2 is called Gutenberg."
    desk.watch(name, said, "(?is)remembered in your words.*gutenberg")
    assert "Gutenberg" in " ".join(desk.notes())


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_request_amid_the_message_of_a_program_waits_for_a_person(desk: Desk, name: str) -> None:
    said = "the printer on floor 2 is called Gutenberg."
    desk.ask(name, f"Read the file notes.txt first. Remember that {said}")
    assert desk.notes() == []
    waiting = desk.mdmemory("review")
    assert "called Gutenberg" in waiting
    assert "asked amid the message of a program" in waiting
    desk.ask(name, f"Remember that {said}")
    assert desk.notes() != [], "it is all that the program asks"


@pytest.mark.parametrize("name", NAMES)
def test_the_model_calls_our_tools(desk: Desk, name: str) -> None:
    desk.mdmemory("add", MONDAYS)
    desk.provider.call("memory_search", query="when do deploys go out")
    fact = "The lift key is at the porter's desk."
    desk.provider.call("memory_store", fact=fact, quote=fact)
    found, stored = desk.ask(name, f"{fact} When do deploys go out?")[-1].results
    assert "Mondays" in found
    assert "lift key" in " ".join(desk.notes()), stored
    assert "unconfirmed" not in stored, "the person's own words prove it"
