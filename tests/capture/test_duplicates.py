"""The same fact has one key however it is typed; different facts keep different ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmemory.capture.duplicates import canonical, identity, pointer


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


BOARD = "The error dashboard is at https://grafana.example.org/d/7"


@pytest.mark.parametrize(
    ("text", "is_same"),
    [
        ("Error dashboard: https://Grafana.example.org/d/7/", True),
        ("https://grafana.example.org/d/7#top is the dashboard for the errors", True),
        ("The error dashboard is not at https://grafana.example.org/d/7", False),
        ("The error dashboard, which Lena owns, is at https://grafana.example.org/d/7", False),
        ("The error dashboard is at https://grafana.example.org/d/8", False),
        ("The latency dashboard is at https://grafana.example.org/d/7", False),
        ("The error dashboard is at https://grafana.example.org/d/7 and http://a.example", False),
        ("The error dashboard is on the wall", False),
    ],
)  # fmt: skip
def test_a_pointer_is_known_by_its_url_and_its_words(text: str, is_same: bool) -> None:
    assert (pointer(text) == pointer(BOARD)) == is_same
    assert pointer(BOARD)
