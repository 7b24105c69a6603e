"""An import cuts a markdown text into facts and loses none of its words."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmemory.capture.imports.markdown_blocks import MAX_WHOLE, Block, blocks

PIECES = [
    "# Title", "## Rules ##", "Heading\n===", "Intro:", "- one", "* two `code`", "  - nested",
    "    deeper", "1. first", "2) second", "- [ ] task", "- [x] done", "> quote", "```\ncode\n```",
    "~~~", "| a | b |\n|---|---|\n| 1 | 2 |", "[ref]: http://example.org", "<!-- note -->",
    "---", "***", "", "", "", "plain words", "a *b* `c` d", "\tindented", "      far", "-", "1.",
    "long " * 400, "Ünïcödé 漢字 한국어", "http://example.org/a_b", "<b>html</b>", "\\* no list",
]  # fmt: skip


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def facts(text: str) -> list[str]:
    return [block.text for block in blocks(text) if not block.reason]


@given(st.lists(st.sampled_from(PIECES), max_size=14))
def test_every_word_of_a_text_is_in_a_block_or_in_the_section_of_one(pieces: list[str]) -> None:
    text = "\n".join(pieces)
    found = blocks(text)
    kept = [word for block in found for word in words(block.text)]
    sections = {word for block in found for word in words(" ".join(block.section))}
    missing = [word for word in words(text) if word not in kept and word not in sections]
    # the number of a numbered item is its place, and is not kept
    assert [word for word in missing if word not in ("1", "2")] == []


@given(st.text(alphabet="ab -*>#`\n\t1.|[]:<!", max_size=120))
def test_no_text_is_too_odd(text: str) -> None:
    kept = {w for block in blocks(text) for w in words(block.text + " ".join(block.section))}
    assert {w for w in words(text) if w.isalpha()} <= kept | set("1")


def test_an_item_keeps_what_is_nested_in_it() -> None:
    text = "- Use tabs\n  in Go\n  - but `two spaces` in YAML\n\n  and never both\n- Next"
    assert facts(text) == [
        "Use tabs\nin Go\n- but `two spaces` in YAML\n\nand never both", "Next",
    ]  # fmt: skip


def test_paragraphs_beside_a_list_are_facts_too() -> None:
    text = "# Rules\n\nWe deploy on Tuesdays.\n\n- Use tabs in Go\n\nStaging is at 10.0.4.7.\n"
    assert facts(text) == ["We deploy on Tuesdays.", "Use tabs in Go", "Staging is at 10.0.4.7."]
    assert {block.section for block in blocks(text)} == {("Rules",)}


def test_a_short_line_above_a_list_is_its_heading() -> None:
    (item,) = blocks("# About me\n\nThings I like:\n\n- tea\n")
    assert item == Block("tea", 5, ("About me", "Things I like"))


def test_numbered_steps_are_one_fact_with_the_line_above_them() -> None:
    text = "Release:\n\n1. run the tests\n2. tag\n\n- Use tabs\n"
    assert facts(text) == ["Release:\n\n1. run the tests\n2. tag", "Use tabs"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("- a\n\n```\nmake\n```", "no_fact"),
        ("- a\n\n> said", "no_fact"),
        ("- a\n\n| a |\n|---|\n| 1 |", "no_fact"),
        ("- a\n- [ ] later", "task"),
        ("- a\n\n[x]: http://example.org", "no_fact"),
        ("- a\n\n# Nothing below", "no_fact"),
    ],
)
def test_what_is_no_fact_is_handed_on_with_the_reason(text: str, reason: str) -> None:
    fact, other = blocks(text)
    assert (fact.text, fact.reason) == ("a", "")
    assert other.reason == reason
    assert other.text in text


def test_a_short_text_without_a_list_is_one_fact() -> None:
    text = "We deploy on Tuesdays.\n\nWhy: on-call is complete."
    assert facts(text) == [text]
    assert len(facts(text + "\n\n" + "x " * MAX_WHOLE)) == 3
