"""The life of one note: nothing that a note ever said is out of reach."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from projects import Git
from stores import BeginStore

from mdmemory import Memory
from mdmemory.actions.note_history import Step
from mdmemory.errors import NotFound


@pytest.fixture
def memory(begin_store: BeginStore) -> Memory:
    return begin_store(clock=lambda: datetime(2026, 6, 1, 12, tzinfo=UTC))


def add(memory: Memory, name: str, text: str) -> str:
    return memory.add(name, type="feedback", description=text, body=text).file


def merge(memory: Memory, sources: list[str], target: str, text: str) -> str:
    op = {
        "op": "merge", "sources": sources, "target": f"feedback-{target}.md", "name": target,
        "type": "feedback", "description": text, "body": text,
    }  # fmt: skip
    done = memory.compact(plan=json.dumps({"ops": [op]}))
    assert done.outcome == "applied", done
    assert done.id
    return done.id


def told(steps: list[Step]) -> list[tuple[str, str]]:
    return [(step.kind, step.file) for step in steps]


def last_line(step: Step) -> str | None:
    return step.text and step.text.rstrip("\n").rpartition("\n")[2]


@pytest.fixture
def merged(memory: Memory) -> Memory:
    """Two notes, one of them edited, that became a third."""
    add(memory, "go-tabs", "Uses tabs in go files.")
    add(memory, "tabs-in-go", "Uses tabs in all go files.")
    memory.edit("go-tabs", body="Uses tabs in each of the go files.")
    merge(memory, ["feedback-go-tabs.md", "feedback-tabs-in-go.md"], "tabs", "Uses tabs in go.")
    return memory


def test_each_text_of_a_note_is_a_step_newest_first(memory: Memory) -> None:
    add(memory, "go-tabs", "Uses tabs.")
    memory.edit("go-tabs", body="Uses spaces.")
    steps = memory.history("go-tabs")
    assert told(steps) == [("edit", "feedback-go-tabs.md"), ("add", "feedback-go-tabs.md")]
    assert [last_line(step) for step in steps] == ["Uses spaces.", "Uses tabs."]
    assert [step.logged.commit for step in steps] == [row.commit for row, *_ in memory.log(2)]


def test_a_merged_note_has_the_lives_of_all_its_sources(merged: Memory) -> None:
    expected = [
        ("compact", "feedback-tabs.md"),
        ("edit", "feedback-go-tabs.md"),
        ("add", "feedback-tabs-in-go.md"),
        ("add", "feedback-go-tabs.md"),
    ]
    for name in ("tabs", "go-tabs", "feedback-tabs-in-go.md"):  # the gone ones lead there, too
        assert told(merged.history(name)) == expected


def test_a_merge_that_was_undone_links_nothing(merged: Memory) -> None:
    merged.undo()
    kinds = ("undo", "compact", "edit", "add")
    assert told(merged.history("go-tabs")) == [(kind, "feedback-go-tabs.md") for kind in kinds]
    assert [step.text is None for step in merged.history("go-tabs")][:2] == [False, True]
    assert told(merged.history("tabs")) == [(kind, "feedback-tabs.md") for kind in kinds[:2]]


def test_a_merge_that_git_reverts_links_nothing(merged: Memory, repository: Path, git: Git) -> None:
    git(repository, "revert", "--no-edit", "HEAD")
    lives = told(merged.history("tabs-in-go"))
    assert lives[0] == ("revert", "feedback-tabs-in-go.md")
    assert "feedback-go-tabs.md" not in [file for _, file in lives]
    kinds = [kind for kind, _ in told(merged.history("go-tabs"))]
    assert kinds == ["revert", "compact", "edit", "add"]


def test_a_merge_that_is_brought_back_links(merged: Memory, repository: Path, git: Git) -> None:
    lives = told(merged.history("tabs"))
    for _ in range(2):
        git(repository, "revert", "--no-edit", "HEAD")
    found = told(merged.history("tabs"))
    assert found[0] == ("revert", "feedback-tabs.md")
    assert [step for step in found if step[0] != "revert"] == lives
    assert merged.undo("HEAD~2").restored


def renamed(memory: Memory, git: Git) -> None:
    add(memory, "go-tabs", "Uses tabs.")
    git(memory.project.store, "mv", "feedback-go-tabs.md", "tabs.md")


def commit(git: Git, folder: Path, subject: str) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", subject)


def test_a_note_renamed_by_hand_keeps_its_past(memory: Memory, repository: Path, git: Git) -> None:
    renamed(memory, git)
    past = ("add", "feedback-go-tabs.md")
    assert told(memory.history("tabs.md")) == [("work tree", "tabs.md"), past]
    commit(git, repository, "tidy up")
    for name in ("tabs.md", "feedback-go-tabs"):
        assert told(memory.history(name)) == [("by hand", "tabs.md"), past]


def test_a_name_that_serves_a_second_note_does_not_mix_two_lives_after_a_rename(
    memory: Memory, repository: Path, git: Git
) -> None:
    renamed(memory, git)
    commit(git, repository, "tidy up")
    other = memory.project.store / "feedback-go-tabs.md"
    other.write_text("Quite another matter: coffee without milk.\n", encoding="utf-8")
    commit(git, repository, "coffee")
    subjects = [step.logged.subject for step in memory.history("tabs.md")]
    assert subjects == ["tidy up", "memory: add Uses tabs."]


def test_a_removed_note_is_found_by_file_stem_and_name(memory: Memory) -> None:
    add(memory, "go-tabs", "Uses tabs.")
    memory.remove("go-tabs")
    for name in ("feedback-go-tabs.md", "feedback-go-tabs", "go-tabs", "GO-TABS"):
        steps = memory.history(name)
        assert told(steps) == [("remove", "feedback-go-tabs.md"), ("add", "feedback-go-tabs.md")]
        assert [last_line(step) for step in steps] == [None, "Uses tabs."]


def test_the_uncommitted_text_is_the_first_step(memory: Memory) -> None:
    file = memory.project.store / add(memory, "go-tabs", "Uses tabs.")
    file.write_text("Uses spaces.\n", encoding="utf-8")
    first, second = memory.history(file.name)
    assert (first.logged.commit, first.kind, first.text) == ("", "work tree", "Uses spaces.\n")
    assert second.kind == "add"
    file.unlink()
    assert told(memory.history(file.name)) == [("work tree", file.name), ("add", file.name)]
    assert memory.history(file.name)[0].text is None


def test_line_ends_that_git_converts_are_no_step(memory: Memory) -> None:
    file = memory.project.store / add(memory, "go-tabs", "Uses tabs.")
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert told(memory.history("go-tabs")) == [("add", file.name)]


def test_a_conflict_settled_by_hand_is_a_step(memory: Memory, repository: Path, git: Git) -> None:
    file = memory.project.store / add(memory, "go-tabs", "Uses tabs.")
    git(repository, "switch", "-qc", "side")
    memory.edit("go-tabs", body="Uses spaces.")
    git(repository, "switch", "-q", "main")
    memory.edit("go-tabs", body="Uses both.")
    with pytest.raises(AssertionError, match="git merge"):
        git(repository, "merge", "-q", "side")
    file.write_text("settled\n", encoding="utf-8")
    commit(git, repository, "settled")
    steps = memory.history(file.name)
    assert [step.kind for step in steps] == ["by hand", "edit", "edit", "add"]
    assert steps[0].text == "settled\n"


def test_an_odd_commit_message_stops_nothing(memory: Memory, repository: Path, git: Git) -> None:
    (memory.project.store / "a.md").write_text("one\n", encoding="utf-8")
    git(repository, "add", "-A")
    odd = ":100644 x\n\nMemory-Op: compact\nMemory-Files: [not json\nMemory-Files: 7\n\x1e\x1f"
    git(repository, "commit", "-q", "-F", "-", text=odd)
    (step,) = memory.history("a")
    assert (step.file, step.text) == ("a.md", "one\n")


def test_names_that_git_quotes_are_followed(memory: Memory, repository: Path, git: Git) -> None:
    (memory.project.store / 'a "b"\tß.md').write_text("喜欢\n", encoding="utf-8")
    commit(git, repository, "odd")
    assert [step.text for step in memory.history('a "b"\tß.md')] == ["喜欢\n"]


def test_a_name_that_never_was_is_told_with_the_nearest(memory: Memory) -> None:
    add(memory, "go-tabs", "Uses tabs.")
    with pytest.raises(NotFound, match="There is no note go-tab") as caught:
        memory.history("go-tab")
    assert "feedback-go-tabs" in caught.value.hint


def test_a_store_at_the_root_of_its_repository_has_lives_too(repository: Path) -> None:
    memory, _ = Memory.init(repository, own_repo=True)
    add(memory, "go-tabs", "Uses tabs.")
    assert told(memory.history("go-tabs")) == [("add", "feedback-go-tabs.md")]
