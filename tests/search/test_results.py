"""What is shown of a hit."""

from __future__ import annotations

from rows import replace

from mdmemory.search.results import Hit, as_json, matched_words, telling_lines

HIT = Hit("a.md", "a", 1, 4, 0.5, "memory", "One.\n\nTwo cups.\nThree.", description="One fact")


def test_a_passage_is_shown_from_the_line_that_tells_and_only_where_it_adds_something() -> None:
    assert telling_lines(HIT, "cups", 2, 80) == ["Two cups.", "Three."]
    assert telling_lines(HIT, "zebra", 1, 80) == ["One."]
    assert telling_lines(replace(HIT, text="One fact."), "cups", 2, 80) == []


def test_of_a_long_line_the_part_with_the_word_is_shown() -> None:
    long = replace(HIT, text=f"{'first words ' * 50}two cups {'last words ' * 50}\nThree.")
    line, other = telling_lines(long, "cups", 2, 80)
    assert len(line) == 80
    assert line.startswith("…first words two")
    assert "two cups last" in line
    assert other == "Three."
    assert "cups" in telling_lines(replace(HIT, text="w" * 300 + " cups"), "cups", 1, 80)[0]
    assert telling_lines(replace(HIT, text="w" * 300), "w*", 1, 80) == ["w" * 80]


def test_a_hit_tells_which_of_its_words_the_query_has() -> None:
    texts = ("Two cups, or a CUP", "of tea")
    assert matched_words(texts, "teas in the cup") == ("cups", "cup", "tea")
    assert matched_words(texts, "zebra") == ()
    assert as_json(replace(HIT, matched=("cups",)))["matched"] == ["cups"]
    assert "cited" not in as_json(HIT), "scripts have the states of what is cited"
