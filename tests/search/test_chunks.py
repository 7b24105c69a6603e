"""How a text is cut: whole lines, an overlap, line numbers that lead back to the file."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from mdmemory.search.chunks import count_tokens, cut_text


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("abcd", 1), ("abcde", 2), ("数据库", 3), ("ab数", 2), ("한국", 2)]
)
def test_four_characters_are_a_token_and_each_of_cjk_is_one(text: str, count: int) -> None:
    assert count_tokens(text) == count


@pytest.mark.parametrize("text", ["", "   ", "\n\n \n"])
def test_an_empty_text_gives_no_piece(text: str) -> None:
    assert list(cut_text(text)) == []


def test_a_small_text_is_one_piece_as_it_stands() -> None:
    (piece,) = cut_text("one\n\ntwo", first=9)
    assert (piece.start, piece.end, piece.text) == (9, 11, "one\n\ntwo")


def test_pieces_are_whole_lines_that_overlap_and_stay_in_size() -> None:
    lines = [f"line {number} " + "word " * (number % 13) for number in range(300)]
    pieces = list(cut_text("\n".join(lines), 100, 20))
    assert len(pieces) > 10
    for piece in pieces:
        assert piece.text == "\n".join(lines[piece.start - 1 : piece.end])
        assert count_tokens(piece.text) <= 100
    for one, other in pairwise(pieces):
        assert one.start < other.start <= one.end + 1  # nothing between them
        assert count_tokens("\n".join(lines[other.start - 1 : one.end])) <= 20
    assert any(other.start <= one.end for one, other in pairwise(pieces))


def test_one_huge_line_is_split_at_spaces() -> None:
    text = "word " * 4000
    pieces = list(cut_text(text, 100, 0))
    assert "".join(piece.text for piece in pieces) == text
    assert {(piece.start, piece.end) for piece in pieces} == {(1, 1)}
    assert all(count_tokens(piece.text) <= 100 for piece in pieces)


@settings(max_examples=30, deadline=None)
@given(some.text(alphabet="ab \n数据", max_size=400), some.integers(1, 20), some.integers(0, 30))
def test_every_line_with_words_is_in_some_piece(text: str, size: int, overlap: int) -> None:
    pieces = list(cut_text(text, size, overlap))
    got = {number for piece in pieces for number in range(piece.start, piece.end + 1)}
    assert {number for number, line in enumerate(text.split("\n"), 1) if line.strip()} <= got
    assert all(count_tokens(piece.text) <= size for piece in pieces)
    whole = set(text.replace("\n", "").replace(" ", ""))
    assert whole == {sign for piece in pieces for sign in piece.text if not sign.isspace()}


@pytest.mark.slow
@pytest.mark.parametrize("text", ["words of a line\n" * 65_536, "数" * 349_525])
@pytest.mark.slow
def test_a_megabyte_is_cut_without_taking_much_more_than_itself(text: str) -> None:
    tracemalloc.start()
    count = sum(1 for _ in cut_text(text))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count > 500
    assert peak < 5 * len(text)
