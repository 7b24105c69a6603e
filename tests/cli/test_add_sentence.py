"""A fact said in one sentence becomes a note: what it is, and what it is called, is worked out."""

import io
import json
from pathlib import Path

import pytest
from projects import Ask, Patch, Run, Say
from rows import each
from stores import BeginStore

from mdmemory.memory import Memory

DEPLOYS = "Deploys go out on Tuesdays only. The CDN purges on Mondays"


@pytest.fixture
def project(begin_store: BeginStore, repository: Path, monkeypatch: Patch) -> Path:
    begin_store()
    monkeypatch.chdir(repository)
    return repository


def test_type_name_and_description_are_worked_out_and_shown(project: Path, say: Say) -> None:
    shown = say("add", DEPLOYS)
    assert "Stored project-deploys-go-out-on-tuesdays.md" in shown
    assert "description  Deploys go out on Tuesdays only\n" in shown
    note = Memory.open(project).note("deploys-go-out-on-tuesdays").note
    assert note.body.strip() == "The CDN purges on Mondays"
    again = say("add", f"{DEPLOYS.lower()}.")
    assert "project-deploys-go-out-on-tuesdays.md already says this" in again
    assert len(Memory.open(project).notes()) == 1


def test_a_note_of_one_sentence_is_edited_by_a_sentence(project: Path, say: Say) -> None:
    def edited(name: str, words: str) -> tuple[str, str]:
        shown = say("edit", name, words)
        note = Memory.open(project).note(name).note
        assert f"description  {note.head.description}\n" in shown or note.body.strip() == words
        return note.head.description, note.body.strip()

    say("add", "The staging port is 8080", "--name", "staging-port")
    said = "The staging port is 8081, as Ada said in May"
    assert edited("staging-port", f"{said}.") == (said, "")
    index = (Memory.open(project).project.store / "MEMORY.md").read_text(encoding="utf-8")
    assert "8081" in index
    assert "8080" not in index
    say("add", "uses-pnpm", "--type", "project", "--description", "Uses pnpm", "Uses pnpm.")
    said = "Uses pnpm with Corepack"
    assert edited("uses-pnpm", said) == (said, said)
    detail = "Ask the release manager for exceptions."
    assert edited("uses-pnpm", detail) == (said, detail), "something else to say is its text"
    assert edited("uses-pnpm", "Uses pnpm 9") == (said, "Uses pnpm 9"), "as a text that it has"


def test_what_is_given_is_taken(project: Path, run: Run, ask: Ask, monkeypatch: Patch) -> None:
    done = ask("add", "We deploy with Kamal", "--type", "reference", "--name", "deploy-tool")
    assert (done["file"], done["layer"]) == ("reference-deploy-tool.md", "project")
    monkeypatch.setattr("sys.stdin", io.StringIO("the staging box is at 10.0.4.7\n"))
    assert ask("add", "-")["file"] == "project-the-staging-box-is-at.md"
    for more in (["I am colour-blind"], ["Use tabs in Makefiles", "--everywhere"]):
        assert json.loads(run("add", *more, "--json").out)["layer"] == "user"


REFUSED = (
    (["tabs"], "is a name, and no fact"),
    (["go-tabs", "--type", "feedback"], "has no description"),
    (["go-tabs", "--description", "Uses tabs", "In Go."], "needs --type"),
    (["my password is hunter2xYz9Q4"], "secret"),
)


def test_what_is_no_fact_is_refused_with_the_next_step(project: Path, run: Run) -> None:
    def check(words: list[str], why: str) -> None:
        done = run("add", *words)
        assert (done.code > 0, why in done.err) == (True, True), done
        assert Memory.open(project).notes() == []

    each(REFUSED, check)


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
