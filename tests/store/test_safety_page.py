"""docs/safety.md and tests/promises.toml: each promise names tests that prove it, which exist."""

import re
import tomllib
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "safety.md").read_text(encoding="utf-8")
PROVEN = tomllib.loads((TESTS / "promises.toml").read_text(encoding="utf-8"))
PROMISES = re.findall(r"^(\d+)\. (.*(?:\n {3,}.*)*)", PAGE, re.MULTILINE)


def named(text: str) -> set[str]:
    return set(re.findall(r"`(test_\w+)`", text))


def test_there_are_twenty_promises_each_with_a_test() -> None:
    numbers = [str(number) for number in range(1, 21)]
    assert [number for number, _ in PROMISES] == [*PROVEN["promises"]] == numbers
    for number, promise in PROMISES:
        assert named(promise), number
        assert named(promise) <= {*PROVEN["promises"][number]}, number


def test_every_test_that_stands_behind_the_page_exists() -> None:
    texts = (path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))
    there = {name for text in texts for name in re.findall(r"^def (test_\w+)\(", text, re.M)}
    wanted = [name for part in PROVEN.values() for tests in part.values() for name in tests]
    assert len(wanted) > 150
    assert set(wanted) - there == set()


def test_the_kinds_of_repositories_are_as_many_as_the_page_says() -> None:
    text = (TESTS / "git" / "test_transaction.py").read_text(encoding="utf-8")
    kinds = re.search(r"^KINDS: .*?^\}", text, re.MULTILINE | re.DOTALL)
    count = len(re.findall(r'^    "', kinds[0], re.MULTILINE))
    assert f"{count} kinds of repositories" in PAGE
