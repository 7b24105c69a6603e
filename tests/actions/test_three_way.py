"""Two edits of one note: both stand where they concern other lines, and neither is lost."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from projects import Patch
from rows import each

from mdmemory import Memory
from mdmemory.actions import editing
from mdmemory.actions.editing import MOST_LINES, Edited, three_way
from mdmemory.actions.word_diff import GONE, NEW, Line, diff_lines, diff_sides, shorten_lines
from mdmemory.errors import NoteChanged
from mdmemory.store.store import StoredNote
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
    sides = ((ours, base), (base, ours), (ours, ours))
    assert {three_way(base, *each) for each in sides} == {ours}


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
    done = saved(memory, seen)
    note = memory.note("plan").note
    assert done.written.commit
    assert (note.head.description, note.body.strip()) == ("The plan of June", "First.\n\n2nd.")


def saved(memory: Memory, seen: StoredNote) -> Edited:
    """An editor saves what it began with, with another second line."""
    text = seen.note.text.replace("Second.", "2nd.")
    return memory.replace_text(seen.file, text, replaces=seen.digest, seen=seen.note.text)


def test_an_edit_of_the_same_lines_is_refused_and_nothing_is_lost(memory: Memory) -> None:
    seen = memory.note("plan")
    memory.edit("plan", body="First.\n\nThe second.")
    with pytest.raises(NoteChanged, match="in the same lines"):
        saved(memory, seen)
    assert memory.note("plan").note.body.strip() == "First.\n\nThe second."


@pytest.mark.parametrize("lines", ["other", "same"])
def test_a_hand_that_saves_in_the_very_moment_of_an_edit_is_not_overwritten(
    memory: Memory, monkeypatch: Patch, lines: str
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
    assert [(piece.sign, piece.words) for piece in line] == [
        (" ", "go "), ("-", "with freight"), ("+", "by the parcel service"),
    ]  # fmt: skip


def test_only_lines_around_a_change_are_shown() -> None:
    before = "\n".join(map(str, range(20)))
    (stretch,) = shorten_lines(diff_lines(before, before.replace("\n10\n", "\nten\n")))
    assert ["".join(piece.words for piece in line) for line in stretch] == [
        "8", "9", "10ten", "11", "12",
    ]  # fmt: skip


def test_what_is_too_long_to_compare_went_and_came_as_a_whole() -> None:
    one, other = (" ".join(f"{letter}{n}" for n in range(900)) for letter in "ab")
    (line,) = diff_lines(one, other)
    assert [piece.sign for piece in line] == ["-", "+"]
