"""Adding, changing and removing one note: one commit each, and nothing else is touched."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from projects import Git, Patch
from stores import BeginStore

from mdmemory import Memory
from mdmemory.errors import NoteChanged, RepositoryState
from mdmemory.store.writer import Writer


@pytest.fixture
def memory(begin_store: BeginStore) -> Memory:
    return begin_store(clock=lambda: datetime(2026, 6, 1, 12, tzinfo=UTC))


def add(memory: Memory, name: str = "prefers-pnpm", text: str = "Uses pnpm, never npm.") -> str:
    return memory.add(name, type="feedback", description=text, body=text).file


def test_a_note_is_a_commit_of_it_and_the_index(memory: Memory, repository: Path, git: Git) -> None:
    done = memory.add("prefers-pnpm", type="feedback", description="Uses pnpm.", body="Why: x.")
    names = git(repository, "show", "--format=%an%n%s", "--name-only", "HEAD").split()
    assert names[:2] == ["A", "Person"]
    assert names[-2:] == ["notes/memory/MEMORY.md", "notes/memory/feedback-prefers-pnpm.md"]
    stored = memory.note("prefers-pnpm")
    assert (stored.file, stored.digest) == (done.file, done.digest)
    assert stored.note.head.created == stored.note.head.updated == "2026-06-01"
    assert git(repository, "status", "--porcelain") == ""


def test_a_taken_name_gets_a_number_across_types_and_cases(memory: Memory) -> None:
    add(memory)
    second = memory.add("prefers-pnpm", type="user", description="Another.", body="Another.")
    assert (second.file, second.name) == ("user-prefers-pnpm-2.md", "prefers-pnpm-2")
    (memory.project.store / "Feedback-Prefers-NPM.md").write_text("by hand\n", encoding="utf-8")
    third = memory.add("prefers-npm", type="feedback", description="Third.", body="Third.")
    assert third.file == "feedback-prefers-npm-2.md"


def test_a_name_of_eighty_bytes_still_finds_a_free_number(memory: Memory) -> None:
    done = [memory.add("喜" * 26, type="user", description=text, body=text) for text in "ab"][1]
    assert done.name.endswith("-2")
    assert len(done.name.encode()) <= 80


def test_an_edit_of_a_hand_written_note_keeps_every_other_byte(
    memory: Memory, repository: Path, git: Git
) -> None:
    path = memory.project.store / "mine.md"
    own = (
        "\ufeff---\r\n# about it\r\ndescription: 'Old: words'   # why\r\nname: mine\r\n"
        "tags: [a, b]\r\n---\r\n\r\nText\r\n\r\n\r\nend"
    ).encode()
    path.write_bytes(own)
    memory.edit("mine", description="New words")
    now = path.read_bytes()
    kept = [line for line in own.split(b"\r\n") if not line.startswith(b"description")]
    assert all(line in now.split(b"\r\n") for line in kept)
    assert now.startswith(b"\xef\xbb\xbf---\r\n# about it\r\n")
    assert now.endswith(b"end")
    # what the person had written is in git, though they had never committed it
    _, first = git(repository, "log", "--format=%H", "--", "notes/memory/mine.md").split()
    assert int(git(repository, "cat-file", "-s", f"{first}:notes/memory/mine.md")) == len(own)


def test_an_edit_that_changes_nothing_makes_no_commit(memory: Memory, git: Git) -> None:
    add(memory)
    before = git(memory.project.root, "rev-parse", "HEAD")
    assert memory.edit("prefers-pnpm", body="Uses pnpm, never npm.\n").same
    assert git(memory.project.root, "rev-parse", "HEAD") == before


def test_a_text_from_an_editor_is_refused_when_the_note_changed_meanwhile(memory: Memory) -> None:
    file = add(memory)
    seen = memory.note(file).digest
    (memory.project.store / file).write_bytes(b"saved by another editor\n")
    with pytest.raises(Exception, match="changed meanwhile"):
        memory.replace_text(file, "mine", replaces=seen)
    assert (memory.project.store / file).read_bytes() == b"saved by another editor\n"


def test_a_removed_note_is_in_history_even_if_it_was_never_committed(
    memory: Memory, repository: Path, git: Git
) -> None:
    (memory.project.store / "mine.md").write_bytes(b"only here\n")
    memory.remove("mine")
    assert not (memory.project.store / "mine.md").exists()
    assert git(repository, "show", "HEAD~1:notes/memory/mine.md") == "only here\n"
    memory.undo()
    assert (memory.project.store / "mine.md").read_bytes() == b"only here\n"


def test_in_the_middle_of_a_merge_notes_are_added_and_committed_later(
    memory: Memory, repository: Path, git: Git
) -> None:
    head = git(repository, "rev-parse", "HEAD").strip()
    (repository / ".git" / "MERGE_HEAD").write_text(head + "\n", encoding="utf-8")
    file = add(memory)
    with pytest.raises(RepositoryState, match="merge"):
        memory.remove(file)
    assert git(repository, "rev-parse", "HEAD").strip() == head
    (repository / ".git" / "MERGE_HEAD").unlink()
    memory.add("second", type="user", description="Second.", body="Second.")
    assert "Uses pnpm" in git(repository, "show", f"HEAD:notes/memory/{file}")
    assert git(repository, "status", "--porcelain") == ""


def test_a_note_that_changed_between_reading_and_writing_is_kept(
    memory: Memory, monkeypatch: Patch
) -> None:
    file = add(memory)
    write = Writer.write

    def saved_meanwhile(*args: Any, **named: Any) -> Any:
        (memory.project.store / file).write_bytes(b"late\n")
        return write(*args, **named)

    monkeypatch.setattr(Writer, "write", saved_meanwhile)
    with pytest.raises(NoteChanged):
        memory.remove(file)
    assert (memory.project.store / file).read_bytes() == b"late\n"
