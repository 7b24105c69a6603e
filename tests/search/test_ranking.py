"""The order of hits, from scores alone."""

from __future__ import annotations

from datetime import date

import pytest

from mdmemory.search.ranking import (
    LONE,
    Channel,
    TermMatch,
    aged,
    covered,
    folded,
    fused,
    is_named,
    rarity,
    same,
    smoothed,
)

TODAY = date(2026, 6, 12)


def test_channels_meet_between_their_least_and_their_best() -> None:
    keywords = Channel(0.5, {1: 2e-6, 2: 1e-6})
    vectors = Channel(0.5, {1: 0.2, 3: 0.8}, low=0.2)
    assert fused([keywords, vectors]) == {1: 0.5, 2: 0.25, 3: 0.5}


def test_a_channel_alone_counts_whole_and_an_empty_one_not_at_all() -> None:
    assert fused([Channel(0.3, {1: 4.0, 2: 1.0}), Channel(0.7, {})]) == {1: 1.0, 2: 0.25}
    assert fused([Channel(0.0, {1: 1.0})]) == {1: 0.0}
    assert fused([]) == {}


def test_a_hit_by_words_stays_a_hit_whatever_the_vectors_say() -> None:
    assert fused([Channel(0.3, {1: 1.0}), Channel(0.7, {2: 0.9}, low=-1.0)])[1] == 0.3


def test_rare_words_say_more_and_none_says_nothing() -> None:
    assert rarity(0, 100) > rarity(1, 100) > rarity(99, 100) > 0
    assert rarity(1, 2) > rarity(2, 2) > 0


def test_coverage_weighs_what_is_missing() -> None:
    asked = [TermMatch(3.0, {1}), TermMatch(1.0, {1, 2}, sure=0.5)]
    assert covered(asked, 1) == 0.875
    assert covered(asked, 2) == 0.125 * LONE
    assert covered([], 1) == 1.0
    assert covered([TermMatch(1.0, {1})] * 12 + [TermMatch(0.1, ())] * 30, 1) == 1.0


def test_one_word_alone_is_enough_when_it_is_all_that_is_asked_for() -> None:
    assert covered([TermMatch(3.0, {1})], 1) == 1.0
    assert covered([TermMatch(3.0, {1}), TermMatch(1.0, (), telling=False)], 1) == 0.75


def test_a_name_is_asked_for_when_all_its_words_are() -> None:
    assert is_named("monorepo-layout", frozenset({"monorepo", "layout", "is"}))
    assert not is_named("monorepo-layout", frozenset({"monorepo"}))
    assert not is_named("--", frozenset({"x"}))


@pytest.mark.parametrize(
    ("written", "half_life", "score"),
    [("2026-06-12", 30, 1.0), ("2026-05-13", 30, 0.75), ("", 30, 1.0), ("2026-99-99", 30, 1.0),
     ("2020-01-01", 0, 1.0), ("2027-01-01", 30, 1.0)],
)  # fmt: skip
def test_age_takes_up_to_half_and_only_where_it_is_asked_to(
    written: str, half_life: int, score: float
) -> None:
    assert aged(1.0, written, TODAY, half_life) == score


LONG = "the quick brown fox jumps over a lazy dog and then runs home to eat all of its dinner"


@pytest.mark.parametrize(
    ("one", "other", "folds"),
    [
        ("Use pnpm, never npm.", "use pnpm never npm", False),  # another capital may be a name
        ("Use pnpm.", "Use pnpm!", True),
        (f"{LONG} quickly", LONG, True),
        (f"{LONG} 30", f"{LONG} 60", False),
        (f"{LONG} not", LONG, False),
        (f"{LONG} Vienna", f"{LONG} Graz", False),
    ],
)
def test_only_what_says_nothing_else_is_folded(one: str, other: str, folds: bool) -> None:
    assert same(one, other) is folds


def test_one_place_a_file_and_no_repetition() -> None:
    hits = [(1, "a.md", "tea"), (2, "a.md", "milk"), (3, "b.md", "tea"), (4, "c.md", "rum")]
    assert folded(hits, 5) == [1, 4]
    assert folded(hits, 1) == [1]


def test_a_turn_counts_for_its_neighbours_and_a_session_may_have_several_places() -> None:
    windows = {1: [2], 2: [1, 3], 3: [2], 9: []}
    found = smoothed({2: 1.0, 3: 0.5, 9: 0.2}, windows)
    assert found == pytest.approx({1: 0.3, 2: 1.15, 3: 0.8, 9: 0.2})
    turns = [(n, "ses", f"turn {n}") for n in range(5)]
    assert folded(turns, 9, 3) == [0, 1, 2]


def test_a_channel_that_is_scaled_already_stays_so() -> None:
    scaled = Channel(0.5, {1: 0.4}, high=1.0)
    assert fused([scaled, Channel(0.5, {2: 0.9, 3: 0.1}, low=0.1)]) == {1: 0.2, 2: 0.5, 3: 0.0}
