"""How much the documents say, and in which words.

A page has at most the words that `LIMITS` gives it, counted as `wc -w` does, and no phrase of
phrases.toml. That the menu of the site names every page is in tests/test_docs_site.py.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
README, DOCS = ROOT / "README.md", ROOT / "docs"
LIMITS = {
    "first-day.md": 470,
    "clients.md": 900,
    "by-hand.md": 750,
    "inbox.md": 770,
    "team.md": 710,
    "models.md": 480,
    "safety.md": 1_350,
    "command-line.md": 680,
    "settings.md": 1_180,
    "architecture.md": 1_140,
    "figures.md": 900,
    "decisions.md": 1_030,
}
RECORDS = ("figures.md", "decisions.md")  # what was measured and decided, for whoever checks
OF_README, OF_CONTRIBUTING, OF_ALL_PAGES = 820, 500, 8_400
PHRASES: list[dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("phrases.toml").read_text(encoding="utf-8")
)["phrase"]


def words(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").split())


def test_every_page_is_within_its_limit_and_none_is_without() -> None:
    pages = {path.name: words(path) for path in DOCS.rglob("*.md")}
    assert pages.keys() == LIMITS.keys()
    assert {name: count for name, count in pages.items() if count > LIMITS[name]} == {}
    assert max(LIMITS.values()) <= 1_500
    assert words(README) <= OF_README
    assert words(ROOT / "CONTRIBUTING.md") <= OF_CONTRIBUTING


def test_all_pages_together_are_within_their_limit() -> None:
    pages = [path for path in DOCS.rglob("*.md") if path.name not in RECORDS]
    assert sum(map(words, pages)) <= OF_ALL_PAGES


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The paragraphs of a page, each in one line, with the number of its first line: without its
    blocks of code, headings and addresses. A code span is the word CODE."""
    text = re.sub(r"^```.*?^```$", lambda block: "\n" * block[0].count("\n"), text, flags=_LINES)
    text = re.sub(r"^(?:#|<!--).*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"`[^`]+`", lambda span: "CODE" + "\n" * span[0].count("\n"), text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    line = 1
    for paragraph in re.split(r"\n(?=\n|\s*[-|\d]|.* \| )", text):
        yield (
            line + paragraph.count("\n", 0, len(paragraph) - len(paragraph.lstrip("\n"))),
            " ".join(re.sub(r"^\s*(?:[-|]|\d+\.)\s*|\*\*", "", paragraph).split()),
        )
        line += paragraph.count("\n") + 1


_LINES = re.MULTILINE | re.DOTALL
PATTERNS = [(re.compile(row["pattern"], re.IGNORECASE), row["better"]) for row in PHRASES]


def avoided(text: str) -> list[str]:
    """What a page should say otherwise: the line, the phrase, and how it is better said."""
    return [
        f"line {line}: {found[0]!r}; better such as: {better}"
        for line, sentence in prose(text)
        for pattern, better in PATTERNS
        if (found := pattern.search(sentence))
    ]


@pytest.mark.parametrize("path", [README, *sorted(DOCS.rglob("*.md"))], ids=lambda path: path.name)
def test_a_page_has_no_phrase_that_a_reader_has_to_learn(path: Path) -> None:
    assert avoided(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("row", PHRASES, ids=lambda row: row["avoid"])
def test_each_phrase_is_found_and_its_better_one_is_not(row: dict[str, Any]) -> None:
    assert re.search(row["pattern"], row["avoid"], re.IGNORECASE)
    assert avoided(row["better"]) == []
    page = f"# Title\n\nA first line.\n- {row['avoid']}\n"
    assert [each.partition(":")[0] for each in avoided(page)] == ["line 4"]
