"""The same fact has one key however it is typed; different facts keep different ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmemory.capture.duplicates import Statement, canonical, identity, same, winner


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use tabs, not spaces.", "use  tabs — not spaces"),
        ("Use `pnpm`!", "use pnpm"),
        ("ＡＢＣ １２３", "abc 123"),
        ("我喜欢，简短回答。", "我喜欢 简短回答"),
        ("STRASSE", "straße"),
        ("cafe\u0301", "café"),
    ],
)
def test_case_punctuation_and_width_do_not_matter(one: str, other: str) -> None:
    assert canonical(one) == canonical(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("version 1.5", "version 1 5"),
        ("offset -1", "offset 1"),
        ("use tabs", "use tab"),
        ("I write C++", "I write C"),
        ("I write C#", "I write C++"),
        ("done is ✅", "done is ❌"),
        ("किताब", "कतब"),
    ],
)
def test_different_facts_stay_different(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


@given(st.text())
def test_a_key_is_its_own_key(text: str) -> None:
    key = canonical(text)
    assert canonical(key) == key


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("see HTTPS://Example.org/a/#top.", "https://example.org/a"),
        ("see https://Example.ORG/A/?q=1#top.", "https://example.org/A/?q=1"),
        ("https://example.org/a?q=1 and docs/a.md", "https://example.org/a?q=1"),
        ("（https://example.org/）", "https://example.org"),
        ("the runbook is docs/runbooks/queue.md.", "docs/runbooks/queue.md"),
        ("see ./docs/adr/ for decisions", "docs/adr"),
        ("配置在 /etc/app/config.toml，每晚重读", "/etc/app/config.toml"),
        ("the parser comes from grammar.py, by hand", "grammar.py"),
        ("~/notes/todo first", "~/notes/todo"),
        ("read and/or write, 24/7, TCP/IP, 1/2, v1.2.3", ""),
        ("write to a@example.org", ""),
        ("nothing", ""),
    ],
)
def test_a_pointer_is_known_by_its_first_url_or_path(text: str, place: str) -> None:
    assert identity(text) == place


OLD, NEW = "2026-01-01", "2026-06-01"


def test_pointers_to_one_place_are_one_fact_and_ways_of_working_are_not() -> None:
    one, other = "Deploys: https://example.org/d", "the deploy board is https://example.org/d/"
    for type_ in ("reference", "project"):
        assert same(Statement(one, type_), Statement(other, type_))
    for type_ in ("feedback", "user"):
        assert not same(Statement(one, type_), Statement(other, type_))
    decision = Statement(one, "project", "decision")
    assert not same(decision, Statement(other, "project", "decision"))
    assert not same(Statement(one, "reference"), Statement(other, "project"))


def test_the_same_words_are_one_fact_whatever_the_type() -> None:
    assert same(Statement("Use tabs!", "feedback"), Statement("use tabs", "user"))
    assert not same(Statement("!!", "feedback"), Statement("??", "feedback"))


@pytest.mark.parametrize(
    ("stays", "goes"),
    [
        (Statement("short", "user", source="explicit"), Statement("x" * 80, "user", updated=NEW)),
        (
            Statement("a", "user", source="manual", updated=OLD),
            Statement("b", "user", source="extraction", updated=NEW),
        ),
        (Statement("x" * 30, "user", updated=OLD), Statement("y" * 19, "user", updated=NEW)),
        (Statement("y" * 20, "user", updated=NEW), Statement("x" * 30, "user", updated=OLD)),
        (
            Statement("short", "project", "decision", updated=NEW),
            Statement("x" * 80, "project", "decision", updated=OLD),
        ),
        (Statement("dated", "user", updated=OLD), Statement("never", "user")),
    ],
)
def test_source_goes_before_length_and_that_before_date(stays: Statement, goes: Statement) -> None:
    assert winner(stays, goes) == winner(goes, stays) == stays


def test_on_a_tie_the_first_stays() -> None:
    one, other = Statement("a", "user"), Statement("b", "user")
    assert winner(one, other) is one
    assert winner(other, one) is other
