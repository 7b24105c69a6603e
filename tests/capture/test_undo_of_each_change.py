"""Whatever the newest change was, its commit names the fact, a plain undo takes it back, and then
the one before it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mdmemory import Memory
from mdmemory.capture.pending import PendingFact, put
from mdmemory.errors import NotFound

TODAY = datetime.now(UTC).date().isoformat()
FACT = PendingFact(
    "project", "", "docker-27", "The pipeline needs Docker 27", "Every runner needs Docker 27.",
    "ses_1", TODAY, ("assistant_said",),
)  # fmt: skip
DELETE = json.dumps({"ops": [{"op": "delete", "file": "feedback-noon.md", "reason": "old"}]})
AGAINST = json.dumps({
    "ops": [{"op": "flag", "files": ["feedback-noon.md", "feedback-tabs.md"], "reason": "tabs"}]
})  # fmt: skip


# what the subject of each kind's commit says
SUBJECTS = {
    "tabs": "add Uses tabs in Go.", "noon": "add Deploys go out at noon.",
    "edit": "edit Uses tabs in Go.", "rename": "rename tabs to go-tabs",
    "rename back": "rename go-tabs to tabs", "keep": "tea", "reinforce": "tea",
    "import": "import Lena owns the schema of the warehouse",
    "store": "The board is at board.example", "confirm": "confirm The board is at board.example",
    "accept": "The pipeline needs Docker 27",
    "resolve": "resolve, keep both: Deploys go out at noon. and 1 more",
    "compact": "delete noon", "remove": "remove tabs",
}  # fmt: skip


def add(memory: Memory, name: str, text: str) -> None:
    memory.add(name, type="feedback", description=text, body=text)


def imported(memory: Memory, folder: Path) -> None:
    source = folder / "facts.md"
    source.write_text("# Facts\n\n- Lena owns the schema of the warehouse.\n", "utf-8")
    assert memory.import_from(source).commit


def accepted(memory: Memory) -> None:
    with (writer := memory._writer()).locked(), writer.state() as state:
        put(memory.project, state, [FACT], TODAY)
    memory.accept(FACT.id)


def resolved(memory: Memory) -> None:
    memory.compact(plan=AGAINST)
    memory.resolve(memory.conflicts()[0].entry.id)


def changes(memory: Memory, folder: Path) -> dict[str, Callable[[], object]]:
    """Each kind of change, in an order in which it can be made, and what it is about."""
    return {
        "tabs": lambda: add(memory, "tabs", "Uses tabs in Go."),
        "noon": lambda: add(memory, "noon", "Deploys go out at noon."),
        "edit": lambda: memory.edit("tabs", body="Uses tabs in Go, and spaces in YAML."),
        "rename": lambda: memory.rename("tabs", "go-tabs"),
        "rename back": lambda: memory.rename("go-tabs", "tabs"),
        "keep": lambda: memory.keep("Remember that I like tea.", session="s", turn="m1"),
        "reinforce": lambda: memory.keep("Remember that I like tea.", session="s", turn="m2"),
        "import": lambda: imported(memory, folder),
        "store": lambda: memory.store("The board is at board.example", title="Board"),
        "confirm": lambda: memory.confirm("board"),
        "accept": lambda: accepted(memory),
        "resolve": lambda: resolved(memory),
        "compact": lambda: memory.compact(plan=DELETE),
        "remove": lambda: memory.remove("tabs"),
    }  # fmt: skip


def notes(memory: Memory) -> dict[str, str]:
    """What the notes say, and the open conflicts."""
    texts = {each.file: each.note.text for each in memory.notes()}
    return texts | {each.entry.id: each.entry.why for each in memory.conflicts()}


@pytest.mark.parametrize("own", [True, False])
def test_changes_of_every_kind_are_taken_back_one_by_one(
    own: bool, repository: Path, tmp_path: Path
) -> None:
    memory = Memory.init(repository, own_repo=own)[0]
    before: list[tuple[str, dict[str, str]]] = []
    for kind, change in changes(memory, tmp_path).items():
        seen = notes(memory)
        known = [entry.commit for entry, _ in memory.log()]
        change()
        made = [entry.commit for entry, _ in memory.log() if entry.commit not in known]
        assert SUBJECTS[kind] in memory.log()[0][0].subject, kind
        # a flag is a change of its own
        assert len(made) == (2 if kind == "resolve" else 1), kind
        before.append((kind, seen))
    for kind, seen in reversed(before):
        if kind == "resolve":
            memory.undo()
            assert len(memory.conflicts()) == 1
        assert memory.undo().facts, kind
        assert notes(memory) == seen, kind
    with pytest.raises(NotFound, match="nothing to undo"):
        memory.undo()
