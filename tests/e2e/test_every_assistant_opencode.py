"""OpenCode is the fourth of one memory: what it is told, the other three know, and the other way
round; forgetting works in both directions."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from client import OpenCode
from desk import NAMES, Desk
from fake_provider import FakeProvider
from fake_server import FakeServer, system_text
from plugged import PROGRAM, spare_npm

pytestmark = [pytest.mark.hosts, pytest.mark.slow]

MONDAYS, TUESDAYS = "Deploys go out on Mondays only", "eploys go out on Tuesdays only"
ANSWERS = "short answers"
CHANGED = "From now on deploys go out on Tuesdays only, not on Mondays."


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with FakeProvider() as provider, Desk(tmp_path, provider) as each:
        each.run(PROGRAM, "setup", "opencode")
        spare_npm(each.home / ".config/opencode")
        yield each.set_up()


def say(desk: Desk, server: FakeServer, *texts: str) -> list[str]:
    """What OpenCode has in its prompt at each of these messages, in one new session."""
    before = len(server.turns)
    author = {"GIT_CONFIG_GLOBAL": str(desk.home / ".gitconfig")}
    with OpenCode(desk.project, desk.home, server.url, **author) as client:
        session = client.new_session()
        for text in texts:
            client.send(session, text)
    desk.settle()
    return [system_text(turn) for turn in server.turns[before:]]


def corrected(desk: Desk) -> dict[str, Any]:
    """The call that answers CHANGED."""
    fact = "Deploys go out on Tuesdays only."
    return {"fact": fact, "quote": CHANGED, "replaces": [desk.name_of(MONDAYS)]}


def lines(text: str, words: str) -> int:
    return sum(words in line for line in text.splitlines())


def test_what_opencode_is_told_is_in_the_first_request_of_each_other_assistant(
    desk: Desk, server: FakeServer
) -> None:
    desk.mdmemory("add", MONDAYS)
    say(desk, server, "Keep in mind that I prefer short answers.")
    server.call("memory_store", **corrected(desk))
    say(desk, server, CHANGED)
    for name in NAMES:
        request = desk.ask(name, "What is the capital of France?")[0]
        assert [request.lines(words) for words in (ANSWERS, TUESDAYS, MONDAYS)] == [1, 1, 0], name


@pytest.mark.parametrize("name", NAMES)
def test_what_another_assistant_is_told_is_in_the_first_request_of_opencode(
    desk: Desk, server: FakeServer, name: str
) -> None:
    desk.mdmemory("add", MONDAYS)
    desk.ask(name, "Keep in mind that I prefer short answers.")
    desk.provider.call("memory_store", **corrected(desk))
    desk.ask(name, CHANGED, again=True)
    first, *_ = say(desk, server, "What is the capital of France?")
    assert [lines(first, words) for words in (ANSWERS, TUESDAYS, MONDAYS)] == [1, 1, 0]


def test_forgetting_in_claude_code_counts_in_opencode_and_the_other_way_round(
    desk: Desk, server: FakeServer
) -> None:
    desk.mdmemory("add", "The printer is called Gutenberg")
    desk.mdmemory("add", "The office dog is called Ada")
    gone = "Forget what I told you about the printer."
    printer = desk.name_of("The printer is called Gutenberg")
    desk.provider.call("memory_forget", names=[printer], quote=gone)
    desk.ask("claude", gone)
    first, *_ = say(desk, server, "Hello")
    assert [lines(first, word) for word in ("Gutenberg", "called Ada")] == [0, 1]
    mine = "Forget what I told you about the office dog."
    server.call("memory_forget", names=[desk.name_of("The office dog is called Ada")], quote=mine)
    say(desk, server, mine)
    assert desk.notes() == [], json.dumps(server.turns[-1]["messages"][-1])
    assert desk.ask("claude", "Hello")[0].count("Ada") == 0
