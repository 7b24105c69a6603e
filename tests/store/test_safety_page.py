"""docs/safety.md: each promise names tests that prove it, and these exist."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "safety.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d+) \|.*\| ([^|]*) \|$", PAGE, re.MULTILINE)


def named(text: str) -> list[str]:
    return re.findall(r"`(test_\w+)`", text)


def test_there_are_twenty_promises_each_with_a_test() -> None:
    assert [int(number) for number, _ in ROWS] == list(range(1, 21))
    assert [number for number, tests in ROWS if not named(tests)] == []


def test_every_test_that_the_page_names_exists() -> None:
    texts = (path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))
    there = {name for text in texts for name in re.findall(r"^def (test_\w+)\(", text, re.M)}
    assert [name for name in named(PAGE) if name not in there] == []


def test_the_kinds_of_repositories_are_as_many_as_the_page_says() -> None:
    text = (TESTS / "git" / "test_transaction.py").read_text(encoding="utf-8")
    kinds = re.search(r"^KINDS: .*?^\}", text, re.MULTILINE | re.DOTALL)
    assert kinds
    count = len(re.findall(r'^    "', kinds[0], re.MULTILINE))
    assert f"{count} kinds of repositories" in PAGE
