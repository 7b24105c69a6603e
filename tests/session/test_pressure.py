"""How full the context is: from real counts where there are any, and told once for each level."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmemory.session.pressure import THRESHOLDS, ContextUsage, find_level, notice, usable

SIZES = {"goal": 1204, "lists": 560}


@pytest.mark.parametrize(
    ("usage", "percent"),
    [
        (ContextUsage(90_000, 100_000, 999_999), 90), (ContextUsage(0, 100_000, 200_000), 50),
        (ContextUsage(0, 0, 90_000), None), (ContextUsage(22_500, 0, 5), None),
        (ContextUsage(), None),
    ],
)  # fmt: skip
def test_the_share_comes_from_what_is_known(usage: ContextUsage, percent: float | None) -> None:
    assert usage.percent == percent


@pytest.mark.parametrize(
    ("percent", "name"),
    [(0, "safe"), (69.9, "safe"), (70, "moderate"), (84.9, "moderate"), (85, "high"),
     (94.9, "high"), (95, "critical"), (300, "critical")],
)  # fmt: skip
def test_the_levels_begin_where_the_table_says(percent: float, name: str) -> None:
    assert find_level(ContextUsage(round(percent * 1000), 100_000)) == name


def test_a_level_is_told_when_it_changes_and_not_again() -> None:
    before, said = "safe", []
    for tokens in (10, 71, 75, 86, 90, 96, 99, 100, 20, 97):
        now = ContextUsage(tokens, 100)
        said.append(notice(before, now, SIZES))
        before = find_level(now)
    assert [bool(each) for each in said] == [
        False, True, False, True, False, True, False, False, True, True,
    ]  # fmt: skip
    assert said[1].startswith("Context moderate: about 71% full.")


def test_the_intervention_names_sizes_and_choices_and_repeats_nothing() -> None:
    said = notice("high", ContextUsage(96, 100), SIZES)
    assert "goal 1,204, lists 560" in said
    for choice in ("session_memory", "remove or clear", "compacted", "new session"):
        assert choice in said
    assert len(said) < 800
    assert "Choices" not in notice("moderate", ContextUsage(86, 100), SIZES)


def test_a_window_has_room_for_the_answer() -> None:
    assert usable(200_000, 0, 64_000) == 168_000
    assert usable(200_000, 0, 8_000) == 192_000
    assert usable(0, 100_000, 8_000) == 92_000
    assert usable(0) == 0


@given(st.integers(0, 200), st.integers(0, 200))
def test_more_is_never_a_lower_level(one: int, other: int) -> None:
    names = [each.level for each in THRESHOLDS]
    low, high = (find_level(ContextUsage(each, 100)) for each in sorted((one, other)))
    assert names.index(low) <= names.index(high)


def test_without_a_known_window_tokens_are_said_and_no_share_of_it() -> None:
    before, said = "safe", []
    for tokens in (10, 49_999, 50_000, 99_000, 128_000, 150_000, 20_000, 210_000):
        now = ContextUsage(tokens)
        said.append(notice(before, now, SIZES))
        before = find_level(now)
        assert before not in ("moderate", "high", "critical")
    assert [bool(each) for each in said] == [False, False, True, False, True, False, False, True]
    assert said[2].startswith("Context: about 50,000 tokens; how many fit is not known.")
    assert not any("%" in each for each in said)
    # the window becomes known
    assert notice(before, ContextUsage(60_000, 200_000), SIZES) == ""
    assert "75% full" in notice(before, ContextUsage(150_000, 200_000), SIZES)
