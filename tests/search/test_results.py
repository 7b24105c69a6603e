"""What is shown of a hit."""

from __future__ import annotations

from rows import replace

from mdmemory.search.results import Found, Hit, as_json, telling

HIT = Hit("a.md", "a", 1, 4, 0.5, "memory", "One.\n\nTwo cups.\nThree.", description="One fact")


def test_a_passage_is_shown_from_the_line_that_tells_and_only_where_it_adds_something() -> None:
    assert telling(HIT, "cups", 2, 80) == ["Two cups.", "Three."]
    assert telling(HIT, "zebra", 1, 80) == ["One."]
    assert telling(replace(HIT, text="One fact."), "cups", 2, 80) == []


def test_of_a_weak_hit_only_a_line_is_shown_that_has_a_word_of_the_query() -> None:
    weak = replace(HIT, weak=True)
    assert telling(weak, "cups", 1, 80) == ["Two cups."]
    assert telling(weak, "zebra", 1, 80) == []
    assert telling(replace(weak, description=""), "zebra", 1, 80) == ["One."]


def test_of_a_long_line_the_part_with_the_word_is_shown() -> None:
    long = replace(HIT, text=f"{'first words ' * 50}two cups {'last words ' * 50}\nThree.")
    line, other = telling(long, "cups", 2, 80)
    assert len(line) == 80
    assert line.startswith("…first words two")
    assert "two cups last" in line
    assert other == "Three."
    assert "cups" in telling(replace(HIT, text="w" * 300 + " cups"), "cups", 1, 80)[0]
    assert telling(replace(HIT, text="w" * 300), "w*", 1, 80) == ["w" * 80]


def test_strong_weak_and_superseded_hits_stand_apart() -> None:
    weak, old = replace(HIT, weak=True), replace(HIT, status="superseded", superseded_by="b")
    sections = Found("keyword", (HIT, weak, old)).sections()
    assert sections == [("", [HIT]), ("Weaker matches", [weak]), ("Superseded", [old])]
    assert (weak.marks, old.marks) == (["weak"], ["superseded by b"])


def test_scripts_get_weak_and_not_what_it_was_judged_by() -> None:
    assert as_json(HIT)["weak"] is False
    assert "evidence" not in as_json(HIT)
