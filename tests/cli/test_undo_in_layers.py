"""Undo and the inbox over the project's store and the person's: the newest change of both."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mdmemory import Memory
from mdmemory.capture.pending import PendingFact, put_facts
from mdmemory.cli import main
from mdmemory.layers import Layers

Git = Callable[..., str]
Ask = Callable[..., Any]
TODAY = datetime.now(UTC).date().isoformat()


@pytest.fixture
def layers(repository: Path, monkeypatch: pytest.MonkeyPatch, git: Git) -> Layers:
    """A shared store with a note, and then one about the person, in their own."""
    monkeypatch.chdir(repository)
    Memory.init(repository)
    layers = Layers.open(repository)
    layers.add("tabs", type="project", description="Uses tabs", body="Uses tabs.")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2020-01-01T00:00:00Z")  # git counts in seconds
    git(repository, "commit", "-q", "--amend", "--no-edit")
    monkeypatch.delenv("GIT_COMMITTER_DATE")
    layers.add("tea", type="user", description="Drinks tea", body="Drinks tea.")
    return layers


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    def run(*words: str, code: int = 0) -> Any:
        assert main([*words, "--json"]) == code
        return json.loads(capsys.readouterr().out)

    return run


def test_a_plain_undo_takes_back_the_newest_change_of_both_layers(layers: Layers, ask: Ask) -> None:
    first = ask("undo")
    assert (first["layer"], first["restored"]) == ("user", ["user-tea.md"])
    second = ask("undo")
    assert (second["layer"], second["restored"]) == ("project", ["project-tabs.md"])
    assert ask("undo", code=1)["error"]["code"] == "not_found"


def test_an_id_is_undone_in_the_layer_that_holds_it(layers: Layers, ask: Ask) -> None:
    assert layers.project
    assert layers.person
    ids = [memory.log(1)[0][0].commit for memory in (layers.person, layers.project)]
    assert [ask("undo", id)["layer"] for id in ids] == ["user", "project"]
    assert ask("undo", ids[0], code=1)["error"]["message"].endswith("is undone already.")
    assert ask("undo", "m-00000000", code=1)["error"]["code"] == "not_found"


def test_a_session_is_undone_in_both_layers(layers: Layers, ask: Ask) -> None:
    wishes = ("I am colour-blind", "deploys go out on Tuesdays only")
    layers.keep_wishes(wishes, session="ses_1", turn="msg_1")
    assert len(layers.settle_wishes("ses_1")) == 2
    assert {each["layer"] for each in ask("undo", "--session", "ses_1")} == {"project", "user"}
    assert [note.file for _, note in layers.notes()] == ["project-tabs.md", "user-tea.md"]
    ask("undo", "--session", "ses_1", code=1)


def test_facts_wait_in_both_layers_and_one_about_the_person_goes_to_their_own_store(
    layers: Layers, ask: Ask, git: Git
) -> None:
    assert layers.project
    assert layers.person
    facts = {
        layers.project: PendingFact("user", "", "graz", "Lives in Graz", "Lives in Graz.", "s",
                                    TODAY, ("invented",)),
        layers.person: PendingFact("project", "", "noon", "Deploys at noon", "Deploys at noon.",
                                   "s", TODAY, ("invented",)),
    }  # fmt: skip
    for memory, fact in facts.items():
        with (writer := memory._writer()).lock_store(), writer.state() as state:
            put_facts(memory.project, state, [fact], TODAY)
    assert {(row["notes"][0]["name"], row["layer"]) for row in ask("review")} == {
        ("graz", "project"), ("noon", "user"),
    }  # fmt: skip
    graz, noon = (fact.id for fact in facts.values())
    assert "user-graz.md" in ask("review", graz, "keep")["said"]
    assert ask("show", "me/user-graz.md")["layer"] == "user"
    assert "Graz" not in git(layers.project.project.root, "log", "-p", "--all")
    assert ask("review", noon, "drop")["answer"] == "drop"
    assert ask("review") == []
