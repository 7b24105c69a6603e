"""A text answers by its meaning where it stands out from all others."""

from __future__ import annotations

import pytest

from mdmemory.search.database import Spread
from mdmemory.search.evidence import STRONG
from mdmemory.search.nearness import evidence


def test_what_lies_far_from_all_other_texts_is_strong() -> None:
    many = Spread(-0.2, 0.1, 0.1, 1_000)
    assert evidence(0.56, 0.3, many) >= STRONG
    assert 0 < evidence(0.54, 0.3, many) < STRONG
    assert evidence(0.29, 0.0, many) == 0.0, "many another text lies there"


def test_models_whose_texts_are_all_alike_are_judged_by_the_same_rule() -> None:
    crowded = Spread(0.7, 0.78, 0.01, 1_000)
    assert evidence(0.81, 0.3, crowded) < STRONG <= evidence(0.83, 0.3, crowded)


def test_a_near_text_below_the_floor_is_weak_and_far_below_it_nothing() -> None:
    many = Spread(-0.2, 0.0, 0.05, 1_000)
    assert 0 < evidence(0.29, 0.3, many) < STRONG
    assert evidence(0.14, 0.3, many) == 0.0


def test_among_few_texts_less_is_far() -> None:
    twelve = Spread(-0.2, 0.1, 0.2, 12)
    assert evidence(0.1 + 0.2 * 2.6, 0.3, twelve) >= STRONG
    assert 0 < evidence(0.1 + 0.2 * 2.4, 0.3, twelve) < STRONG


@pytest.mark.parametrize("count", [1, 2, 9])
def test_where_there_is_nothing_to_compare_with_nothing_is_strong(count: int) -> None:
    assert evidence(1.0, 0.3, Spread(0.0, 0.3, 0.2, count)) < STRONG
    assert evidence(1.0, 0.3, Spread(1.0, 1.0, 0.0, 1)) == 0.0
