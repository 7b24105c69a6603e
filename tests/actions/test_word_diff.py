"""Two texts word by word: nothing is left out, and nothing is made up."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from mdmemory.actions.word_diff import GONE, NEW, Line, diff_lines, diff_sides, shorten_lines

TEXTS = st.text(alphabet=st.sampled_from("ab \n一.\t"), max_size=60)


def said(lines: Iterable[Line], without: str) -> str:
    """All words of the lines but those with a sign, without what only lays them out."""
    pieces = (piece for line in lines for piece in line if piece.sign != without)
    return "".join(piece.words for piece in pieces).replace("\n", "")


@given(TEXTS, TEXTS)
def test_both_texts_can_be_read_out_of_the_difference(before: str, after: str) -> None:
    found = diff_lines(before, after)
    assert said(found, NEW) == before.replace("\n", "")
    assert said(found, GONE) == after.replace("\n", "")
    one, other = diff_sides(before, after)
    assert said(one, "none") == before.replace("\n", "")
    assert said(other, "none") == after.replace("\n", "")


@given(TEXTS)
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
