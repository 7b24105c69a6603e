"""Which words a text denies: what says the opposite is told, and a doubt never makes two texts
opposite."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmemory.text.conflict import clause_parts, count_negations, find_polarities, reversed_words

OPPOSITE = [
    ("Deploy on Fridays", "never deploy on Fridays"),
    ("Use spaces in Go", "Use tabs in Go, not spaces"),
    ("Comments are wanted in tests", "no comments in tests, please"),
    ("The worker may send mail", "The worker isn't allowed to send mail"),
    ("The team uses yarn", "stop using yarn in the team"),
    ("Wir nutzen npm im Projekt", "Wir nutzen npm nicht im Projekt"),
    ("Tabs in den Vorlagen", "Wir wollen keine Tabs in den Vorlagen"),
    ("Utilise yarn", "n'utilise pas yarn"),
    ("Usa yarn en el proyecto", "nunca usa yarn en el proyecto"),
    ("Usa yarn em produção", "não usa yarn em produção"),
    ("Usa yarn nel progetto", "senza yarn nel progetto"),
    ("使用 npm 安装", "不要使用 npm 安装"),
    ("テストは並列で実行", "テストは並列で実行しないでください"),
    ("npm을 쓴다", "npm을 쓰지 마"),
]
ALIKE = [
    ("Never deploy on Fridays", "deploys do not go out on Fridays"),
    ("Use tabs", "Use tabs, not spaces"),
    ("Tests run without a database", "the tests need no database"),
    ("Avoid yarn", "no yarn in this repository"),
    ("Lena reviews migrations", "Bob never merges, and Lena reviews migrations"),
    ("Uses pnpm", "I never use npm but pnpm"),
    ("Notebooks are cleared", "notebooks and nightly jobs are cleared"),
    ("", "never"),
]


@pytest.mark.parametrize(("claim", "source"), OPPOSITE)
def test_what_one_states_and_the_other_denies_is_named_from_either_side(
    claim: str, source: str
) -> None:
    assert reversed_words(claim, source)
    assert sorted(reversed_words(claim, source)) == sorted(reversed_words(source, claim))


@pytest.mark.parametrize(("claim", "source"), ALIKE)
def test_what_denies_the_same_or_something_else_is_no_opposite(claim: str, source: str) -> None:
    assert reversed_words(claim, source) == []
    assert reversed_words(source, claim) == []


def test_a_word_whose_clause_and_part_disagree_counts_as_both() -> None:
    found = find_polarities("Do not merge and rebase, but ask")
    assert found["merg"] == {True}
    assert found["rebas"] == {True, False}
    assert found["ask"] == {False}


def test_the_parts_of_a_text_end_at_marks_and_at_words_that_join() -> None:
    assert [
        part.strip() for part in clause_parts("Tabs, and spaces but no LF. v1.5 is 没有，好")
    ] == ["Tabs", "spaces", "no LF", "v1.5 is 没有", "好"]


def test_words_that_deny_are_counted_and_words_that_only_hold_one_are_not() -> None:
    assert count_negations("Never use npm, don't use yarn, ohne Tabs, pas de LF") == 4
    assert count_negations("notes, knot, nothing2do, Nonne, sinus, noon") == 0


@given(st.text(max_size=300))
def test_no_text_is_the_opposite_of_itself(text: str) -> None:
    assert reversed_words(text, text) == []


WORDS = ["never ", "deploy ", "on Fridays", "not ", "and ", ", ", "tabs ", "不", "kein ", ". "]


@given(*[st.lists(st.sampled_from(WORDS), max_size=12).map("".join)] * 2)
def test_what_is_reversed_stands_in_both_and_is_the_same_from_either_side(
    one: str, other: str
) -> None:
    odd = reversed_words(one, other)
    assert set(odd) <= find_polarities(one).keys() & find_polarities(other).keys()
    assert sorted(odd) == sorted(reversed_words(other, one))
