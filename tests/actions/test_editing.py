"""Adding, changing and removing one note: one commit each, and nothing else is touched."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from stores import BeginStore

from mdmemory import Memory
from mdmemory.errors import BadNote, NoGit, NoteChanged, NotFound, RepositoryState
from mdmemory.files import digest
from mdmemory.store.writer import Writer

Git = Callable[..., str]


@pytest.fixture
def memory(begin_store: BeginStore) -> Memory:
    return begin_store(clock=lambda: datetime(2026, 6, 1, 12, tzinfo=UTC))


def add(memory: Memory, name: str = "prefers-pnpm", text: str = "Uses pnpm, never npm.") -> str:
    return memory.add(name, type="feedback", description=text, body=text).file


def test_a_note_is_one_commit_of_the_note_and_the_index(
    memory: Memory, repository: Path, git: Git
) -> None:
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
    name = "喜" * 26
    for text in ("one", "two"):
        done = memory.add(name, type="user", description=text, body=text)
    assert done.name.endswith("-2")
    assert len(done.name.encode()) <= 80


def test_the_same_text_again_names_the_note_there_is(memory: Memory, git: Git) -> None:
    add(memory)
    before = git(memory.project.root, "rev-parse", "HEAD")
    again = memory.add("other", type="feedback", description="Uses pnpm, never npm.",
                       body="Uses pnpm, never npm.")  # fmt: skip
    assert again.same
    assert again.file == "feedback-prefers-pnpm.md"
    assert git(memory.project.root, "rev-parse", "HEAD") == before


@pytest.mark.parametrize(
    ("name", "type", "description", "body"),
    [
        ("Not Kebab", "user", "fine", "fine"),
        ("fine", "fact", "fine", "fine"),
        ("fine", "user", "two\nlines", "fine"),
        ("fine", "user", "x" * 221, "fine"),
        ("fine", "user", "fine", "---\nname: x\n---\n"),
        ("../escape", "user", "fine", "fine"),
    ],
)
def test_a_bad_piece_is_refused_and_nothing_is_written(
    memory: Memory, git: Git, name: str, type: str, description: str, body: str
) -> None:
    before = git(memory.project.root, "rev-parse", "HEAD")
    with pytest.raises(BadNote) as problem:
        memory.add(name, type=type, description=description, body=body)
    assert problem.value.hint
    assert memory.notes() == []
    assert git(memory.project.root, "rev-parse", "HEAD") == before


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
    assert b"description: 'Old: words'   # why" in own
    kept = [line for line in own.split(b"\r\n") if not line.startswith(b"description")]
    assert all(line in now.split(b"\r\n") for line in kept)
    assert now.endswith(b"end")
    assert now.startswith(b"\xef\xbb\xbf---\r\n# about it\r\n")
    # what the person had written is in git, though they had never committed it
    blobs = git(repository, "log", "--format=%H", "--", "notes/memory/mine.md").split()
    first = git(repository, "rev-parse", f"{blobs[-1]}:notes/memory/mine.md").strip()
    assert len(blobs) == 2
    assert int(git(repository, "cat-file", "-s", first)) == len(own)


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


def test_without_git_notes_are_added_and_edited_and_nothing_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    memory, _ = Memory.init(tmp_path / "p")
    file = add(memory)
    old = memory.note(file)
    assert memory.edit(file, body="Another text.").written.commit is None
    aside = memory.project.root / ".mdmemory" / "aside" / f"{file}.{old.digest[:12]}"
    assert digest(aside.read_bytes()) == old.digest
    with pytest.raises(NoGit) as problem:
        memory.remove(file)
    assert "git" in problem.value.hint
    assert memory.note(file).note.body == "Another text."


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


def test_a_secret_is_stopped_before_it_is_written(memory: Memory) -> None:
    secret = "ghp_" + "aB3dE5fG7h" * 3 + "aB3dE5"
    with pytest.raises(BadNote, match="secret"):
        memory.add("token", type="user", description="A token.", body=f"It is {secret}.")
    assert memory.notes() == []


def test_a_hand_written_secret_is_held_back_and_left_alone(
    memory: Memory, repository: Path, git: Git
) -> None:
    path = memory.project.store / "mine.md"
    text = "The token is ghp_" + "aB3dE5fG7h" * 3 + "aB3dE5\n"
    path.write_text(text, encoding="utf-8")
    memory.index()
    index = (memory.project.store / "MEMORY.md").read_text(encoding="utf-8")
    assert "(mine.md)" not in index
    assert "1 note held back" in index
    for act in (lambda: memory.edit("mine", body="x"), lambda: memory.remove("mine")):
        with pytest.raises(BadNote, match="on hold"):
            act()
    memory.compact()
    assert path.read_text(encoding="utf-8") == text
    assert "mine.md" not in git(repository, "log", "--all", "--name-only", "--format=")


def test_a_note_that_is_not_there_names_its_neighbours(memory: Memory) -> None:
    add(memory)
    with pytest.raises(NotFound) as problem:
        memory.note("prefer-pnpm")
    assert "prefers-pnpm" in problem.value.hint


def test_an_unreadable_note_is_listed_and_left_alone(memory: Memory) -> None:
    path = memory.project.store / "binary.md"
    path.write_bytes(b"\xff\xfe\x00\x01")
    row = next(row for row in memory.listing() if row.head.file == "binary.md")
    assert row.status == "unreadable"
    with pytest.raises(BadNote):
        memory.edit("binary", body="x")
    assert path.read_bytes() == b"\xff\xfe\x00\x01"


def test_a_note_that_changed_between_reading_and_writing_is_kept(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
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
