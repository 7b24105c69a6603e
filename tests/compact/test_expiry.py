"""A superseded note goes after 30 days, by a pass of any planner, and an undo brings it back."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from scripted import Scripted

from mdmemory import Memory
from mdmemory.compact.plan import Delete
from mdmemory.compact.runner import Outcome, outlived

Git = Callable[..., str]
LATER = datetime(2026, 8, 1, 12, tzinfo=UTC)
NOTES = {
    "freight": ("Parcels go by freight", "parcels", "2026-06-01"),
    "parcels": ("Parcels go by the parcel service", "", ""),
    "port-1": ("The proxy listens on 8080", "port-2", "2026-05-01"),
    "port-2": ("The proxy listens on 9090", "port", "2026-06-01"),
    "port": ("The proxy listens on 9191", "", ""),
    "young": ("The office is in Rome", "office", "2026-07-20"),
    "office": ("The office is in Oslo", "", ""),
    "linked": ("The team is called Blue", "team", "2026-06-01"),
    "team": ("The team is called Green, see [[linked]]", "", ""),
    "orphan": ("The desk is blue", "nobody", "2026-06-01"),
}


def text(name: str) -> str:
    says, by, day = NOTES[name]
    mark = f"  status: superseded\n  superseded_by: {by}\n  superseded: {day}\n" if by else ""
    head = f"name: {name}\ndescription: {says}\nmetadata:\n  type: project\n{mark}"
    return f"---\n{head}---\n\n{says}.\n"


@pytest.fixture
def memory(repository: Path, git: Git) -> Memory:
    memory, _ = Memory.init(repository)
    for name in NOTES:
        (memory.project.store / f"project-{name}.md").write_text(text(name))
    memory.index()
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "by hand")
    return Memory.open(repository, clock=lambda: LATER)


def deleted(outcome: Outcome) -> list[str]:
    return [op.file for op in outcome.applied if isinstance(op, Delete)]


def test_what_was_superseded_over_30_days_ago_goes(memory: Memory) -> None:
    gone = ["project-freight.md", "project-port-1.md"]
    done = memory.compact(offline=True)
    assert sorted(deleted(done)) == gone
    assert "superseded on 2026-06-01" in {op.reason for op in done.applied}
    assert not done.refused, "what stays is not even proposed"
    assert deleted(memory.compact(offline=True)) == ["project-port-2.md"], "the next of its chain"
    left = {note.note.head.name for note in memory.notes()}
    assert left == NOTES.keys() - {"freight", "port-1", "port-2"}


@pytest.mark.parametrize(
    ("day", "goes"),
    [("2026-07-31", True), ("2026-08-01", False), ("2027-01-01", False), ("soon", False)],
)
def test_a_note_goes_after_its_own_last_day_and_an_undo_brings_it_back(
    memory: Memory, day: str, goes: bool
) -> None:
    file = memory.project.store / "project-office.md"
    dated = file.read_text().replace("type: project\n", f"type: project\n  expires: {day}\n")
    file.write_text(dated)
    (memory.project.store / "project-young.md").unlink()  # what it replaced holds it
    done = memory.compact(offline=True)
    assert ("project-office.md" in deleted(done)) == goes
    assert not goes or f"held until {day}" in {op.reason for op in done.applied}
    memory.undo(done.id)
    assert file.read_text() == dated


def test_an_undo_brings_it_back_for_good(memory: Memory) -> None:
    before = {path.name: path.read_bytes() for path in memory.project.store.glob("project-*")}
    memory.undo(memory.compact(offline=True).id)
    assert before == {p.name: p.read_bytes() for p in memory.project.store.glob("project-*")}
    assert memory.compact(offline=True).outcome == "noop"


def test_a_model_need_not_say_so_and_a_plan_of_ones_own_is_all_that_is_done(memory: Memory) -> None:
    plan = {"ops": [{"op": "delete", "file": "project-freight.md", "reason": "old"}]}
    done = memory.compact(plan=json.dumps(plan), dry_run=True)
    assert [code for _, code, _ in done.refused] == ["held"]
    assert memory.compact(plan='{"ops": []}').outcome == "noop"
    done = memory.compact(model=Scripted(plan, plan))
    assert sorted(deleted(done)) == ["project-freight.md", "project-port-1.md"]


def test_they_count_in_the_number_of_notes_that_may_go(memory: Memory, git: Git) -> None:
    root, folder = memory.project.root, memory.project.store
    for at in range(4):
        more = text("freight").replace("freight", f"more-{at}")
        (folder / f"project-more-{at}.md").write_text(more)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "by hand")
    done = memory.compact(offline=True)
    assert (len(deleted(done)), done.more) == (3, True)
    assert len(deleted(memory.compact(offline=True))) == 3


def test_of_very_many_some_go_in_a_pass_and_one_that_stays_holds_nobody_up(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mdmemory.compact.runner._AT_ONCE", 1)
    asked: list[str] = []
    monkeypatch.setattr(
        "mdmemory.actions.replacing.tell_anothers",
        lambda writer, many: lambda note: bool(asked.append(note.file)),
    )
    passes = [memory.compact(offline=True) for _ in range(4)]
    assert [deleted(done) for done in passes] == [
        ["project-freight.md"], ["project-port-1.md"], ["project-port-2.md"], []
    ]  # fmt: skip
    assert [done.more for done in passes] == [True, False, False, False]
    assert asked[:3] == ["project-freight.md", "project-linked.md", "project-port-1.md"]


def test_another_persons_note_stays(repository: Path, git: Git) -> None:
    memory, _ = Memory.init(repository)
    folder = memory.project.store
    for name in ("freight", "parcels"):
        (folder / f"project-{name}.md").write_text(text(name))
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "theirs", "--author=Else <else@example.org>")
    memory = Memory.open(repository, clock=lambda: LATER)
    assert memory.compact(offline=True).outcome == "noop"
    assert [note.file for note in outlived(memory.notes(), "2026-08-01")] == ["project-freight.md"]
