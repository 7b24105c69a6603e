"""Two edits of one note: both stand where they concern other lines, and neither is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import each

from mdmemory import Memory
from mdmemory.actions import editing
from mdmemory.actions.editing import MOST_LINES, three_way
from mdmemory.errors import NoteChanged
from mdmemory.store.writer import Writer

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
    assert (
        three_way(base, ours, base)
        == three_way(base, base, ours)
        == three_way(base, ours, ours)
        == ours
    )


def test_a_text_of_very_many_lines_is_not_compared() -> None:
    assert three_way("x\n" * MOST_LINES, "x\n" * MOST_LINES, "y\n" * (MOST_LINES + 1)) is None


@pytest.fixture
def memory(repository: object) -> Memory:
    memory = Memory.init(str(repository))[0]
    memory.add("plan", type="project", description="The plan of May", body="First.\n\nSecond.")
    return memory


def test_an_edit_in_an_editor_keeps_what_was_saved_meanwhile_in_other_lines(memory: Memory) -> None:
    seen = memory.note("plan")
    memory.edit("plan", description="The plan of June")
    done = memory.replace_text(
        seen.file, seen.note.text.replace("Second.", "2nd."), replaces=seen.digest,
        seen=seen.note.text,
    )  # fmt: skip
    note = memory.note("plan").note
    assert done.written.commit
    assert (note.head.description, note.body.strip()) == ("The plan of June", "First.\n\n2nd.")


def test_an_edit_of_the_same_lines_is_refused_and_nothing_is_lost(memory: Memory) -> None:
    seen = memory.note("plan")
    memory.edit("plan", body="First.\n\nThe second.")
    with pytest.raises(NoteChanged, match="in the same lines"):
        memory.replace_text(
            seen.file, seen.note.text.replace("Second.", "2nd."), replaces=seen.digest,
            seen=seen.note.text,
        )  # fmt: skip
    assert memory.note("plan").note.body.strip() == "First.\n\nThe second."


@pytest.mark.parametrize("lines", ["other", "same"])
def test_a_hand_that_saves_in_the_very_moment_of_an_edit_is_not_overwritten(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, lines: str
) -> None:
    path = memory.project.store / memory.note("plan").file
    by_hand = "Erst." if lines == "other" else "By hand."
    write = Writer.write

    def meanwhile(writer: Writer, *words: object, **more: object) -> object:
        old = "First." if lines == "other" else "Second."
        path.write_text(path.read_text("utf-8").replace(old, by_hand), "utf-8")
        return write(writer, *words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(editing.Writer, "write", meanwhile)
    if lines == "other":
        memory.edit("plan", body="First.\n\n2nd.")
        assert memory.note("plan").note.body.strip() == "Erst.\n\n2nd."
    else:
        with pytest.raises(NoteChanged):
            memory.edit("plan", body="First.\n\n2nd.")
        assert memory.note("plan").note.body.strip() == "First.\n\nBy hand."
