"""Which hits are strong."""

from __future__ import annotations

import pytest

from mdmemory.search.evidence import NEEDED, STRONG, by_meaning, by_words
from mdmemory.search.ranking import TermMatch


def test_a_hit_with_most_of_the_query_is_strong_and_one_with_little_is_not() -> None:
    asked = [TermMatch(4.0, {1}), TermMatch(3.0, {1}), TermMatch(1.0, {1, 2})]
    assert by_words(asked, 1) == 1.0
    assert by_words(asked, 2) < STRONG
    assert by_words([TermMatch(NEEDED, {1}), TermMatch(1 - NEEDED, ())], 1) < STRONG


def test_what_is_near_is_strong_from_the_floor_on() -> None:
    assert by_meaning(0.3, 0.3) == STRONG
    assert by_meaning(1.0, 0.3) == pytest.approx(1.0)
    assert by_meaning(0.15, 0.3) == pytest.approx(STRONG / 2)
    assert by_meaning(-1.0, 0.3) == 0.0
