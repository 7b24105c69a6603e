"""The same fact has one key however it is typed; different facts keep different ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmemory.capture.duplicates import canonical, identity


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
    ("text", "url"),
    [
        ("see HTTPS://Example.org/a/#top.", ""),
        ("see https://Example.ORG/A/?q=1#top.", "https://example.org/A/?q=1"),
        ("（https://example.org/）", "https://example.org"),
        ("nothing", ""),
    ],
)
def test_a_pointer_is_known_by_its_first_url(text: str, url: str) -> None:
    assert identity(text) == url
