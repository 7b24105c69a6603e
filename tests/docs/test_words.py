"""How much the documents say, and in which words.

A page has at most the words that `LIMITS` gives it, counted as `wc -w` does, and no phrase of
phrases.toml. That the menu of the site names every page is in tests/test_docs.py.
"""

import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from blocks import steps
from scene import Scene

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


# Each guide shows what really happens: its blocks are run, in order, in a new person's home.


def _nothing(scene: Scene) -> None:
    """The home and the project, as every page has them."""


_LAPTOP = """#!/bin/sh
[ "$1" = laptop ] || exit 1
cd ~/laptop && HOME=$PWD exec sh -c "$2"
"""


def _two_machines(scene: Scene) -> None:
    """Clones of two projects, here and on a `laptop`, which is a home below this one; and remotes
    at git@example.com:you/, which are folders: git and mdmemory know them by that address only."""
    (scene.home / ".local/bin/ssh").write_text(_LAPTOP, encoding="utf-8")
    (scene.home / ".local/bin/ssh").chmod(0o755)
    remotes = "git@example.com:you"
    setup = f"""set -e
        git config --global url.{scene.home}/remotes.insteadOf {remotes}
        mkdir ~/laptop && cp ~/.gitconfig ~/laptop && git clone -q . ~/blog
        for each in shop blog shop-memory my-memory; do git init -q --bare ~/remotes/$each.git; done
        for each in shop blog; do
            git -C ~/$each push -q {remotes}/$each.git main
            git -C ~/$each remote remove origin 2> /dev/null || true
            git -C ~/$each remote add origin {remotes}/$each.git
            git -C ~/$each fetch -q && git -C ~/$each branch -q -u origin/main
            git clone -q {remotes}/$each.git ~/laptop/$each
        done"""
    assert scene.run(setup) == (0, "")


# A page, and what is there before its first block. The folder of the shell is ~/shop.
GUIDES: dict[str, Callable[[Scene], None]] = {
    "README.md": _nothing,
    "docs/inbox.md": _nothing,
    "docs/models.md": _nothing,
    "docs/team.md": _two_machines,
    "docs/first-day.md": lambda scene: scene.install("claude"),
    "docs/clients.md": lambda scene: scene.install("opencode", "claude", "codex", "gemini"),
    "docs/by-hand.md": _nothing,
}


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    home = (tmp_path / "you").resolve()
    home.mkdir()
    return Scene(home)


def test_every_page_with_something_typed_is_tried() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    typed = {str(path.relative_to(ROOT)) for path in pages if steps(path.read_text("utf-8"))}
    assert typed == set(GUIDES)


@pytest.mark.slow
@pytest.mark.parametrize("page", GUIDES)
def test_a_guide_shows_what_really_happens(page: str, scene: Scene) -> None:
    typed = steps((ROOT / page).read_text(encoding="utf-8"))
    assert len(typed) > 2
    GUIDES[page](scene)
    scene.follow(typed)
