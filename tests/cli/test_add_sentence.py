"""A fact said in one sentence becomes a note: what it is, and what it is called, is worked out."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from stores import BeginStore

from mdmemory.cli import main
from mdmemory.memory import Memory

DEPLOYS = "Deploys go out on Tuesdays only. The CDN purges on Mondays"


@pytest.fixture
def project(begin_store: BeginStore, repository: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    begin_store()
    monkeypatch.chdir(repository)
    return repository


def stored(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["add", *words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_type_name_and_description_are_worked_out_and_shown(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["add", DEPLOYS]) == 0
    shown = capsys.readouterr().out
    assert "Stored project-deploys-go-out-on-tuesdays.md" in shown
    assert "description  Deploys go out on Tuesdays only\n" in shown
    note = Memory.open(project).note("deploys-go-out-on-tuesdays").note
    assert note.body.strip() == "The CDN purges on Mondays"
    assert main(["add", f"{DEPLOYS.lower()}."]) == 0
    assert "project-deploys-go-out-on-tuesdays.md already says this" in capsys.readouterr().out
    assert len(Memory.open(project).notes()) == 1


def test_a_note_of_one_sentence_is_edited_by_a_sentence(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def edited(name: str, words: str) -> tuple[str, str]:
        assert main(["edit", name, words]) == 0
        note = Memory.open(project).note(name).note
        return note.head.description, note.body.strip()

    stored(capsys, "The staging port is 8080", "--name", "staging-port")
    said = "The staging port is 8081, as Ada said in May"
    assert edited("staging-port", f"{said}.") == (said, "")
    assert f"description  {said}\n" in capsys.readouterr().out
    index = (Memory.open(project).project.store / "MEMORY.md").read_text(encoding="utf-8")
    assert "8081" in index
    assert "8080" not in index
    stored(capsys, "uses-pnpm", "--type", "project", "--description", "Uses pnpm", "Uses pnpm.")
    said = "Uses pnpm with Corepack"
    assert edited("uses-pnpm", said) == (said, said)
    detail = "Ask the release manager for exceptions."
    assert edited("uses-pnpm", detail) == (said, detail), "something else to say is its text"
    assert edited("uses-pnpm", "Uses pnpm 9") == (said, "Uses pnpm 9"), "as a text that it has"


def test_what_is_given_is_taken_as_it_is(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = stored(capsys, "We deploy with Kamal", "--type", "reference", "--name", "deploy-tool")
    assert (done["file"], done["layer"]) == ("reference-deploy-tool.md", "project")
    assert stored(capsys, "I am colour-blind")["layer"] == "user"
    assert stored(capsys, "Use tabs in Makefiles", "--everywhere")["layer"] == "user"
    monkeypatch.setattr("sys.stdin", io.StringIO("the staging box is at 10.0.4.7\n"))
    assert stored(capsys, "-")["file"] == "project-the-staging-box-is-at.md"
    long = stored(capsys, "go-tabs", "--type", "feedback", "--description", "Uses tabs", "In Go.")
    assert {*long} == {"file", "name", "digest", "commit", "layer"}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["tabs"], "is a name, and no fact"),
        (["go-tabs", "--type", "feedback"], "has no description"),
        (["go-tabs", "--description", "Uses tabs", "In Go."], "needs --type"),
        (["my password is hunter2xYz9Q4"], "secret"),
    ],
)
def test_what_is_no_fact_is_refused_with_the_next_step(
    project: Path, capsys: pytest.CaptureFixture[str], words: list[str], why: str
) -> None:
    assert main(["add", *words]) != 0
    assert why in capsys.readouterr().err
    assert Memory.open(project).notes() == []


def test_python_takes_a_sentence_too(project: Path) -> None:
    memory = Memory.open(project)
    assert memory.add(DEPLOYS).file == "project-deploys-go-out-on-tuesdays.md"
    assert memory.add(DEPLOYS).same
    fact = "Deploys go out on Thursdays only"
    beside = Memory.around(project).add("Deploys go out on Fridays only. The CDN purges on Mondays")
    assert not beside.superseded, "what is untrue now, a person says"
    assert beside.doubtful
    again = Memory.around(project).add(fact, replaces=["deploys-go-out-on-tuesdays"])
    assert [pair["file"] for pair in again.superseded] == ["project-deploys-go-out-on-tuesdays.md"]
