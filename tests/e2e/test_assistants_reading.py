"""What an assistant was given from memory is never taken for the person's words afterwards."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from desk import NAMES, Desk
from fake_provider import FakeProvider

pytestmark = [pytest.mark.hosts, pytest.mark.slow]

FACTS = ("The staging host is called beta", "I prefer short answers",
         "Deploys go out on Tuesdays only")  # fmt: skip
ASKED = ("Which host do we use for staging?", "And when do deploys go out?")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with FakeProvider() as provider, Desk(tmp_path, provider) as each:
        yield each.set_up()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_that_was_recalled_is_mined_again(desk: Desk, name: str) -> None:
    for fact in FACTS:
        desk.mdmemory("add", fact)
    before, history = desk.notes(), desk.mdmemory("log", "--json")
    desk.provider.say("Beta, and remember that I told you so.")
    first, *_ = desk.ask(name, ASKED[0])
    assert first.count("staging host is called beta") >= 1, "it was recalled, or is in the index"
    desk.ask(name, ASKED[1], again=True)
    read = desk.transcript(name)
    said = [turn.text for turn in read.turns if turn.role == "user"]
    assert said == list(ASKED), "the person's turns are what was typed, no more"
    desk.mdmemory("extract", f"--session={read.session}")
    assert desk.notes() == before
    assert desk.mdmemory("log", "--json") == history
    assert json.loads(desk.mdmemory("review", "--json")) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_session_of_another_project_is_not_read(desk: Desk, name: str) -> None:
    other = desk.repository("other")
    desk.ask(name, ASKED[0])
    desk.ask(name, "Where do other people keep their hosts?", folder=other)
    listed = desk.mdmemory("session", "--json")
    assert len(json.loads(listed)) == 1, listed
    assert desk.transcript(name).session not in listed
