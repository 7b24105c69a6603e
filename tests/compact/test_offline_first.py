"""Choosing a model never switches off what is sure without one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripted import Said, Scripted

from mdmemory import Memory
from mdmemory.compact.plan import Flag, Merge
from mdmemory.llm.answer import ModelFailed

Git = Callable[..., str]
WRONG = {"op": "rewrite", "file": "user-editor.md", "body": "Works in Vim."}
RIGHT = {"op": "rewrite", "file": "user-editor.md", "body": "Works in Helix, on Linux."}
NOTES = {
    "user-tea": ("Drinks green tea", "Drinks 2 cups of green tea each day."),
    "user-tea-2": ("Drinks green tea", "Drinks 2 cups of green tea each day."),
    "project-on": ("Sign-in runs on port 8080", "The sign-in page."),
    "project-off": ("Sign-in runs on port 8443", "The sign-in page."),
    "user-editor": ("Works in Helix", "Works in Helix, on Linux. Works in Helix."),
}


@pytest.fixture
def memory(repository: Path, git: Git) -> Memory:
    memory, _ = Memory.init(repository)
    for file, (description, body) in NOTES.items():
        type, _, name = file.partition("-")
        head = f"name: {name}\ndescription: {description}\nmetadata:\n  type: {type}"
        (memory.project.store / f"{file}.md").write_text(f"---\n{head}\n---\n\n{body}\n")
    memory.index()
    return memory


def plan(*ops: dict[str, Any]) -> dict[str, Any]:
    return {"ops": list(ops)}


def files(memory: Memory) -> set[str]:
    return {note.file.removesuffix(".md") for note in memory.notes()}


@pytest.mark.parametrize(
    "said",
    [
        [ModelFailed("It is down.")],
        ["I would rather not."] * 2,
        [plan(WRONG), plan(WRONG)],
        [plan()],
    ],
)
def test_what_is_sure_is_done_whatever_the_model_says(memory: Memory, said: list[Said]) -> None:
    done = memory.compact(model=Scripted(*said))
    assert (done.outcome, {type(op) for op in done.applied}) == ("applied", {Merge, Flag})
    assert files(memory) == NOTES.keys() - {"user-tea-2"}
    assert len(memory.conflicts()) == 1
    failed = isinstance(said[0], ModelFailed | str)
    assert bool(done.refusals) == failed, "a failure is said"


def test_both_parts_are_one_commit_and_one_undo(memory: Memory, git: Git) -> None:
    memory.add("port", type="project", description="The port", body="It is 8080.")
    before = {path.name: path.read_bytes() for path in memory.project.store.glob("*-*.md")}
    commits = int(git(memory.project.root, "rev-list", "--count", "HEAD"))
    done = memory.compact(model=Scripted(plan(RIGHT)))
    assert [type(op).__name__ for op in done.applied] == ["Merge", "Rewrite", "Flag"]
    assert int(git(memory.project.root, "rev-list", "--count", "HEAD")) == commits + 1
    memory.undo(done.id)
    after = {path.name: path.read_bytes() for path in memory.project.store.glob("*-*.md")}
    assert after == before


def test_the_model_is_shown_what_is_left(memory: Memory) -> None:
    model = Scripted(plan())
    memory.compact(model=model)
    told = json.loads(model.asked[0].user)
    shown = {note["file"] for note in told["notes"]}
    assert shown == {"project-off.md", "project-on.md", "user-editor.md"}
    assert told["conflicts"] == [["project-off.md", "project-on.md"]]


def test_what_was_taken_back_is_neither_done_again_nor_in_the_way(memory: Memory) -> None:
    memory.undo(memory.compact(model=Scripted(plan())).id)
    merged = {
        "op": "rewrite", "file": "user-tea.md", "body": "Of green tea, each day 2 cups are drunk."
    }  # fmt: skip
    done = memory.compact(model=Scripted(plan(merged, RIGHT)))
    assert "user-tea-2" in files(memory)
    assert [op.file for op in done.applied if hasattr(op, "file")] == [
        "user-tea.md", "user-editor.md"
    ]  # fmt: skip


def test_a_plan_of_a_persons_own_is_carried_out_as_it_stands(memory: Memory) -> None:
    done = memory.compact(plan=json.dumps(plan(RIGHT)))
    assert [type(op).__name__ for op in done.applied] == ["Rewrite"]
