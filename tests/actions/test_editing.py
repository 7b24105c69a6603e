"""Adding, changing and removing one note: one commit each, and nothing else is touched."""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from projects import Git, Patch
from rows import each
from stores import BeginStore

from mdmemory import Memory
from mdmemory.actions import editing
from mdmemory.actions.editing import MOST_LINES, Edited, three_way
from mdmemory.actions.word_diff import GONE, NEW, Line, diff_lines, diff_sides, shorten_lines
from mdmemory.errors import NoteChanged, RepositoryState
from mdmemory.store.store import StoredNote
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
    long = [memory.add("喜" * 26, type="user", description=text, body=text) for text in "ab"][1]
    assert (long.name[-2:], len(long.name.encode()) <= 80) == ("-2", True)


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


# Two edits of one note: both stand where they concern other lines, and neither is lost.

BASE = "one\ntwo\nthree\nfour\n"
TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n"]), max_size=6).map("".join)
# ours, theirs, what comes of it
JOINED = (
    ("ONE\ntwo\nthree\nfour\n", "one\ntwo\nthree\nFOUR\n", "ONE\ntwo\nthree\nFOUR\n"),
    ("ONE\ntwo\nthree\nfour\n", "one\nTWO\nthree\nfour\n", "ONE\nTWO\nthree\nfour\n"),
    ("one\nthree\nfour\n", "one\ntwo\nthree\nfour\nfive\n", "one\nthree\nfour\nfive\n"),
    ("zero\none\ntwo\nthree\nfour\n", "one\ntwo\n3\nfour\n", "zero\none\ntwo\n3\nfour\n"),
    ("one\n2\nthree\nfour\n", "one\n2\nthree\nfour\n", "one\n2\nthree\nfour\n"),
    ("one\n2\nthree\nfour\n", "one\n2\nthree\n4\n", "one\n2\nthree\n4\n"),
    ("one\n2\nthree\nfour\n", "one\nzwei\nthree\nfour\n", None),
    ("one\n2\nthree\nfour\n", "one\nthree\nfour\n", None),
    (BASE + "five\n", BASE + "fünf\n", None),
    ("one\n2\n3\nfour\n", "one\ntwo\nand a half\nthree\nfour\n", None),
)


def test_changes_of_other_lines_are_joined_and_of_the_same_lines_are_not() -> None:
    def check(ours: str, theirs: str, both: str | None) -> None:
        assert three_way(BASE, ours, theirs) == both
        assert three_way(BASE, theirs, ours) == both

    each(JOINED, check)


@given(TEXTS, TEXTS)
def test_what_one_side_left_alone_is_what_the_other_made_of_it(base: str, ours: str) -> None:
    sides = ((ours, base), (base, ours), (ours, ours))
    assert {three_way(base, *each) for each in sides} == {ours}


def test_a_text_of_very_many_lines_is_not_compared() -> None:
    assert three_way("x\n" * MOST_LINES, "x\n" * MOST_LINES, "y\n" * (MOST_LINES + 1)) is None


@pytest.fixture
def planned(memory: Memory) -> Memory:
    memory.add("plan", type="project", description="The plan of May", body="First.\n\nSecond.")
    return memory


def test_an_edit_in_an_editor_keeps_what_was_saved_meanwhile_in_other_lines(
    planned: Memory,
) -> None:
    seen = planned.note("plan")
    planned.edit("plan", description="The plan of June")
    done = saved(planned, seen)
    note = planned.note("plan").note
    assert done.written.commit
    assert (note.head.description, note.body.strip()) == ("The plan of June", "First.\n\n2nd.")


def saved(planned: Memory, seen: StoredNote) -> Edited:
    """An editor saves what it began with, with another second line."""
    text = seen.note.text.replace("Second.", "2nd.")
    return planned.replace_text(seen.file, text, replaces=seen.digest, seen=seen.note.text)


def test_an_edit_of_the_same_lines_is_refused_and_nothing_is_lost(planned: Memory) -> None:
    seen = planned.note("plan")
    planned.edit("plan", body="First.\n\nThe second.")
    with pytest.raises(NoteChanged, match="in the same lines"):
        saved(planned, seen)
    assert planned.note("plan").note.body.strip() == "First.\n\nThe second."


@pytest.mark.parametrize("lines", ["other", "same"])
def test_a_hand_that_saves_in_the_very_moment_of_an_edit_is_not_overwritten(
    planned: Memory, monkeypatch: Patch, lines: str
) -> None:
    path = planned.project.store / planned.note("plan").file
    by_hand = "Erst." if lines == "other" else "By hand."
    write = Writer.write

    def meanwhile(writer: Writer, *words: object, **more: object) -> object:
        old = "First." if lines == "other" else "Second."
        path.write_text(path.read_text("utf-8").replace(old, by_hand), "utf-8")
        return write(writer, *words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(editing.Writer, "write", meanwhile)
    if lines == "other":
        planned.edit("plan", body="First.\n\n2nd.")
        assert planned.note("plan").note.body.strip() == "Erst.\n\n2nd."
    else:
        with pytest.raises(NoteChanged):
            planned.edit("plan", body="First.\n\n2nd.")
        assert planned.note("plan").note.body.strip() == "First.\n\nBy hand."


# Two texts word by word: nothing is left out, and nothing is made up.

WORDY = st.text(alphabet=st.sampled_from("ab \n一.\t"), max_size=60)


def said(lines: Iterable[Line], without: str) -> str:
    """All words of the lines but those with a sign, without what only lays them out."""
    pieces = (piece for line in lines for piece in line if piece.sign != without)
    return "".join(piece.words for piece in pieces).replace("\n", "")


@given(WORDY, WORDY)
def test_both_texts_can_be_read_out_of_the_difference(before: str, after: str) -> None:
    found = diff_lines(before, after)
    assert said(found, NEW) == before.replace("\n", "")
    assert said(found, GONE) == after.replace("\n", "")
    one, other = diff_sides(before, after)
    assert said(one, "none") == before.replace("\n", "")
    assert said(other, "none") == after.replace("\n", "")


@given(WORDY)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert {piece.sign for line in diff_lines(text, text) for piece in line} <= {" "}
    assert shorten_lines(diff_lines(text, text)) == []


def test_words_are_marked_and_blanks_between_them_go_along() -> None:
    (line,) = diff_lines("go with freight", "go by the parcel service")
    expected = [(" ", "go "), ("-", "with freight"), ("+", "by the parcel service")]
    assert [(piece.sign, piece.words) for piece in line] == expected


def test_only_lines_around_a_change_are_shown() -> None:
    before = "\n".join(map(str, range(20)))
    (stretch,) = shorten_lines(diff_lines(before, before.replace("\n10\n", "\nten\n")))
    expected = ["8", "9", "10ten", "11", "12"]
    assert ["".join(piece.words for piece in line) for line in stretch] == expected


def test_what_is_too_long_to_compare_went_and_came_as_a_whole() -> None:
    one, other = (" ".join(f"{letter}{n}" for n in range(900)) for letter in "ab")
    (line,) = diff_lines(one, other)
    assert [piece.sign for piece in line] == ["-", "+"]
