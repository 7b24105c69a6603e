"""Two facts that differ in one literal are shown to a person, and no others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmemory.text.conflict import find_pairs, other_literal, why_contrary

PAIRS = [
    ("The API limit is 100 requests per minute", "The API limit is 500 requests per minute", "100"),
    ("Deploys go out on Friday", "Deploys go out on Monday.", "Friday"),
    ("The daily standup is at 9:30", "the daily standup is at 10:00", "9:30"),
    ("Runs everything on Node v18", "Runs everything on Node v20", "v18"),
    ("The default branch is `main_dev`", "The default branch is `main_release`", "main_dev"),
    ("The release was on 2026-03-01", "The release was on 2026-04-01", "2026-03-01"),
    ("The database of the project is Postgres", "The database of the project is MySQL", "Postgres"),
    ("Backups are kept for 30 days", "Backups are kept for 90 days", "30"),
    ("服务器端口是8080", "服务器端口是9090", "8080"),
]  # fmt: skip
APART = [
    ("Use tabs for indentation in Go", "Use spaces for indentation in Go"),  # no literal
    ("Always squash commits", "Never squash commits"),
    ("The staging proxy listens on port 8080", "The production proxy listens on port 9090"),
    ("The limit is 100 requests", "The limit is 100 requests since 2025"),  # an addition
    ("The limit is 100 requests", "the limit is 100 requests!"),  # the same
    ("The proxy listens on port 8080", "Port 9090 is what the proxy uses"),
    ("Billing is written in Go", "Search is written in Go"),  # of two things
    ("limit is 100", "limit is 200"),  # too little in common
    ("", ""),
]


@pytest.mark.parametrize(("one", "other", "literal"), PAIRS)
def test_the_one_literal_in_which_two_facts_differ_is_named_as_each_has_it(
    one: str, other: str, literal: str
) -> None:
    found = other_literal(one, other)
    assert found is not None
    assert found[0] == literal
    assert other_literal(other, one) == found[::-1]
    assert why_contrary(found) == f"the same words but for {found[0]} and {found[1]}"


@pytest.mark.parametrize(("one", "other"), APART)
def test_facts_that_differ_in_more_or_in_no_literal_are_left_alone(one: str, other: str) -> None:
    assert other_literal(one, other) is None
    assert other_literal(other, one) is None


@given(st.text(max_size=200), st.text(max_size=200))
def test_of_any_two_texts_what_differs_stands_in_them(one: str, other: str) -> None:
    assert other_literal(one, one) is None
    found = other_literal(one, other)
    assert found is None or (found[0] in one and found[1] in other)


@given(st.integers(0, 99_999), st.integers(0, 99_999))
def test_two_numbers_in_the_same_sentence_are_a_conflict_unless_they_are_one(
    one: int, other: int
) -> None:
    said = "The proxy of the shop listens on {}"
    found = other_literal(said.format(one), said.format(other))
    assert found == (None if one == other else (str(one), str(other)))


WORDS = st.sampled_from(["Node", "18", "20", "runs", "The", "shop", "端口", "9:30"])


@given(st.lists(st.lists(WORDS, min_size=3, max_size=6).map(" ".join), max_size=9))
def test_of_many_facts_each_two_that_differ_so_are_found(facts: list[str]) -> None:
    kinds = ["user"] * len(facts)
    every = [(at, more) for more in range(len(facts)) for at in range(more)]
    odd = {(at, more) for at, more in every if other_literal(facts[at], facts[more])}
    assert odd <= {*find_pairs(facts, kinds)}
    for wanted in range(len(facts)):
        some = find_pairs(facts, kinds, [wanted])
        assert {pair for pair in odd if wanted in pair} <= {*some}
        assert all(wanted in pair for pair in some)
    assert find_pairs(facts, [str(at) for at in range(len(facts))]) == []
