"""How full the context is: from real counts where there are any, and told once for each level."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmemory.session.pressure import ContextUsage, level, notice, thresholds, usable

TABLE = thresholds({})
SIZES = {"core": 1204, "hot": 560}


@pytest.mark.parametrize(
    ("usage", "percent"),
    [
        (ContextUsage(90_000, 100_000, 999_999), 90), (ContextUsage(0, 100_000, 200_000), 50),
        (ContextUsage(0, 0, 90_000), 50), (ContextUsage(22_500, 0, 5), 50), (ContextUsage(), 0),
    ],
)  # fmt: skip
def test_the_share_comes_from_what_is_known(usage: ContextUsage, percent: float) -> None:
    assert usage.percent == percent


@pytest.mark.parametrize(
    ("percent", "name"),
    [(0, "safe"), (69.9, "safe"), (70, "moderate"), (84.9, "moderate"), (85, "high"),
     (94.9, "high"), (95, "critical"), (300, "critical")],
)  # fmt: skip
def test_the_levels_begin_where_the_table_says(percent: float, name: str) -> None:
    assert level(percent, TABLE).level == name


def test_the_thresholds_are_settings() -> None:
    assert level(50, thresholds({"moderate": 40})).level == "moderate"
    assert level(99, thresholds({"critical": 100})).level == "high"


def test_a_level_is_told_when_it_changes_and_not_again() -> None:
    before, said = "safe", []
    for tokens in (10, 71, 75, 86, 90, 96, 99, 100, 20, 97):
        now = ContextUsage(tokens, 100)
        said.append(notice(before, now, TABLE, SIZES))
        before = level(now.percent, TABLE).level
    assert [bool(each) for each in said] == [
        False, True, False, True, False, True, False, False, True, True,
    ]  # fmt: skip
    assert said[1].startswith("Context moderate: about 71% full.")


def test_the_intervention_names_sizes_and_choices_and_repeats_nothing() -> None:
    said = notice("high", ContextUsage(96, 100), TABLE, SIZES)
    assert "core 1,204, hot 560" in said
    for choice in ("core_memory_update", "working_memory_clear", "compacted", "new session"):
        assert choice in said
    assert len(said) < 800
    assert "Choices" not in notice("moderate", ContextUsage(86, 100), TABLE, SIZES)


def test_a_window_has_room_for_the_answer() -> None:
    assert usable(200_000, 0, 64_000) == 168_000
    assert usable(200_000, 0, 8_000) == 192_000
    assert usable(0, 100_000, 8_000) == 92_000
    assert usable(0) == 0


@given(st.floats(0, 200), st.floats(0, 200))
def test_more_is_never_a_lower_level(one: float, other: float) -> None:
    names = [each.level for each in TABLE]
    low, high = sorted((one, other))
    assert names.index(level(low, TABLE).level) <= names.index(level(high, TABLE).level)
