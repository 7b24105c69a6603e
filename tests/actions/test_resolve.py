"""A contradiction is shown until a person settles it, and settling can be undone."""

import pytest
from projects import Git
from stores import BeginStore

from mdmemory import Memory
from mdmemory.errors import NotFound, RepositoryState
from mdmemory.store.conflicts import Entry, is_stale
from mdmemory.store.store import Store

EIGHT, FOUR = "feedback-indent-with-8.md", "feedback-indent-with-4.md"


def fill(memory: Memory) -> None:
    for what in ("8", "4"):
        text = f"Indent Python with {what} spaces."
        memory.add(f"indent-with-{what}", type="feedback", description=text, body=text)
    assert len(memory.conflicts()) == 1, "a note by hand is looked at at once"


@pytest.fixture
def memory(begin_store: BeginStore) -> Memory:
    return begin_store(fill=fill)


def has_changed(memory: Memory, entry: Entry) -> bool:
    return is_stale(entry, Store(memory.project.store).digests(entry.files))


def index(memory: Memory) -> str:
    return (memory.project.store / "MEMORY.md").read_text(encoding="utf-8")


def test_both_notes_stay_as_they_are_until_a_person_decides(memory: Memory, git: Git) -> None:
    (conflict,) = memory.conflicts()
    assert conflict.files == (FOUR, EIGHT)
    assert not has_changed(memory, conflict)
    assert "1 conflict needs a person" in index(memory)
    assert index(memory).count(" ⚠\n") == 2
    assert [row.status for row in memory.listing()] == ["in conflict"] * 2
    assert [hit.status for hit in memory.search("indent python").hits] == ["in conflict"] * 2
    before = git(memory.project.root, "rev-parse", "HEAD")
    assert memory.compact().outcome == "noop"
    assert git(memory.project.root, "rev-parse", "HEAD") == before
    assert {note.file for note in memory.notes()} == {EIGHT, FOUR}


def test_keeping_one_removes_the_other_in_one_commit_that_can_be_undone(memory: Memory) -> None:
    (conflict,) = memory.conflicts()
    done = memory.resolve(conflict.id, keep="indent-with-8")
    assert done.removed == (FOUR,)
    assert [note.file for note in memory.notes()] == [EIGHT]
    assert memory.conflicts() == []
    assert "conflict" not in index(memory)
    assert "⚠" not in index(memory)
    assert [hit.status for hit in memory.search("indent python").hits] == [""]
    memory.undo(done.written.id)
    assert {note.file for note in memory.notes()} == {EIGHT, FOUR}
    assert len(memory.conflicts()) == 1


@pytest.mark.parametrize("keep", ["indent-with-8", None])
def test_an_older_answer_goes_while_a_newer_one_holds(memory: Memory, keep: str | None) -> None:
    for port in ("8080", "9090"):
        text = f"The API listens on port {port}."
        memory.add(f"port-{port}", type="project", description=text, body=text)
    older, newer = memory.conflicts()
    if older.files != (FOUR, EIGHT):
        older, newer = newer, older
    done = memory.resolve(older.id, keep=keep)
    memory.resolve(newer.id, keep="port-9090")
    memory.undo(done.written.id)
    assert memory.conflicts() == [older]
    assert {EIGHT, FOUR} <= {note.file for note in memory.notes()}
    assert "project-port-8080.md" not in {note.file for note in memory.notes()}


def test_keeping_both_is_not_flagged_again(memory: Memory) -> None:
    (conflict,) = memory.conflicts()
    memory.resolve(conflict.id)
    assert memory.conflicts() == []
    assert memory.compact().outcome == "noop"
    assert {note.file for note in memory.notes()} == {EIGHT, FOUR}


def test_a_tick_by_hand_clears_an_entry(memory: Memory) -> None:
    ledger = memory.project.store / "_CONFLICTS.md"
    ledger.write_text(ledger.read_text("utf-8").replace("- [ ]", "- [x]"), "utf-8")
    assert memory.conflicts() == []
    memory.index()
    assert "conflict" not in index(memory)
    assert memory.compact().outcome == "noop"


def test_a_changed_note_makes_its_entry_stale(memory: Memory) -> None:
    memory.edit("indent-with-8", body="Something else entirely.")
    (conflict,) = memory.conflicts()
    assert has_changed(memory, conflict)


@pytest.mark.parametrize(("id", "keep"), [("c-00000000", None), ("", "user-elsewhere")])
def test_what_is_not_in_the_ledger_is_not_settled(
    memory: Memory, git: Git, id: str, keep: str | None
) -> None:
    memory.add("elsewhere", type="user", description="Elsewhere.", body="Elsewhere.")
    before = git(memory.project.root, "rev-parse", "HEAD")
    with pytest.raises(NotFound):
        memory.resolve(id or memory.conflicts()[0].id, keep=keep)
    assert git(memory.project.root, "rev-parse", "HEAD") == before


def test_nothing_is_settled_where_it_could_not_be_taken_back(memory: Memory, git: Git) -> None:
    git(memory.project.root, "checkout", "-q", "--detach")
    with pytest.raises(RepositoryState):
        memory.resolve(memory.conflicts()[0].id)
    assert len(memory.conflicts()) == 1
