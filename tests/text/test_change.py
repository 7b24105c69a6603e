"""When a new fact replaces a stored one, by the cases of changes.jsonl in eight languages.

A look-alike and an addition replace nothing, ever. A change that is missed costs a look at the
inbox; one that is wrong hides what still holds.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmemory.text.change import Former, changes

TEXT = Path(__file__).with_name("changes.jsonl").read_text("utf-8")
CASES = [json.loads(line) for line in TEXT.splitlines()]
PARCELS = "Parcels above 31.5 kg go with the freight carrier."
FROM_NOW_ON = "From now on parcels above 31.5 kg go with the parcel service."
Case = dict[str, Any]


def judged(said: str, *known: str) -> list[Former]:
    return changes(said, {f"{at}.md": text for at, text in enumerate(known)})


def verdict(case: Case, known: dict[str, str]) -> str:
    found = changes(case["said"], known)
    sure = [each.file for each in found if each.is_certain]
    if sure:
        return "superseded" if sure == [case["target"]] else "wrong"
    return "flagged" if case["target"] in [each.file for each in found] else "nothing"


@cache
def table() -> dict[str, Counter[str]]:
    """How often each verdict fell, by kind; the requests for the moment are a kind of their own."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for case in CASES:
        if case["kind"] != "chain":
            known = {note["name"]: note["text"] for note in case["notes"]}
            kind = "request" if case["expect"] == "none" else case["kind"]
            found[kind][verdict(case, known)] += 1
    return found


def share(kinds: tuple[str, ...], *verdicts: str) -> float:
    counts = sum((table()[kind] for kind in kinds), Counter[str]())
    return sum(counts[each] for each in verdicts) / counts.total()


def test_the_words_from_now_on_end_what_held_before() -> None:
    known = {"a.md": PARCELS, "b.md": "Parcels are picked up at 16:00."}
    [found] = changes(FROM_NOW_ON, known)
    assert found == Former("a.md", True, "freight carrier -> parcel service")


def test_a_value_that_a_note_names_twice_is_shown_once() -> None:
    found = judged("The retry limit is 4, no longer 2.", "The retry limit is 2, and 2 for pages.")
    assert found == [Former("0.md", True, "2 -> 4")]


def test_the_measure_of_an_order_is_no_subject() -> None:
    german = "Ab jetzt mit 4 Leerzeichen einrücken."
    for said, known, is_certain in (
        ("From now on indent with 4 spaces.", "Indent with 2 spaces.", True),
        (german, "Mit 2 Leerzeichen einrücken.", False),
    ):
        assert judged(said, known) == [Former("0.md", is_certain, "2 -> 4")]


def test_two_rules_with_measures_are_two_facts() -> None:
    known = "Parcels with 30 kg go by freight."
    assert judged("From now on parcels with 10 kg go by post.", known) == []


def test_what_has_a_word_of_change_or_names_the_old_value_supersedes() -> None:
    assert share(("change_word", "names_old"), "superseded") >= 0.9


def test_another_value_without_such_a_word_supersedes_or_is_flagged() -> None:
    assert share(("plain",), "superseded", "flagged") >= 0.9


def test_of_short_facts_most_changes_supersede_and_few_go_unseen() -> None:
    """Their subject is one word, so another value alone tells little: my car is a Fiat."""
    assert share(("short_change",), "superseded") >= 0.75
    assert share(("short_change", "short_plain"), "superseded", "flagged") >= 0.85


@pytest.mark.parametrize("kind", ["lookalike", "addition", "request"])
def test_what_is_no_change_supersedes_nothing(kind: str) -> None:
    assert table()[kind].total() >= {"lookalike": 100}.get(kind, 20)
    assert table()[kind]["wrong"] == 0


@pytest.mark.parametrize(
    "kind", ["change_word", "names_old", "plain", "short_change", "short_plain"]
)
def test_no_change_supersedes_another_note(kind: str) -> None:
    assert table()[kind]["wrong"] == 0


NOW = {
    "en": "From now on ", "de": "Ab sofort gilt: ", "fr": "Désormais ", "es": "Ahora ",
    "pt": "A partir de agora ", "it": "Adesso ", "zh": "从现在起", "ja": "今後",
}  # fmt: skip


def test_a_word_of_change_makes_no_change_of_a_lookalike() -> None:
    wrong = []
    for case in CASES:
        if case["kind"] == "lookalike":
            known = {note["name"]: note["text"] for note in case["notes"]}
            found = changes(NOW[case["lang"]] + case["said"], known)
            wrong += [case["id"] for each in found if each.is_certain]
    assert wrong == []


def test_among_sixty_notes_nothing_wrong_is_superseded_either() -> None:
    texts: dict[str, list[str]] = defaultdict(list)
    for case in CASES:
        texts[case["lang"]] += [note["text"] for note in case.get("notes", ())]
    wrong = []
    for at, case in enumerate(CASES):
        if case["kind"] == "chain":
            continue
        mine = {note["name"]: note["text"] for note in case["notes"]}
        others = [text for text in texts[case["lang"]] if text not in mine.values()]
        crowd = {f"x{n}": others[(at + 7 * n) % len(others)] for n in range(60 - len(mine))}
        if verdict(case, crowd | mine) == "wrong":
            wrong.append(case["id"])
    assert wrong == []


def chains() -> Iterator[tuple[str, list[str], Case]]:
    """The texts that are current after each step of each chain."""
    for case in CASES:
        current: list[str] = []
        for step in case.get("steps", ()):
            if not step["current"]:  # asks to forget: not judged here
                break
            found = changes(step["said"], {text: text for text in current})
            gone = {each.file for each in found if each.is_certain}
            current = [text for text in current if text not in gone]
            current.append(step["said"])
            yield case["id"], current, step


def test_after_each_step_of_a_chain_the_new_fact_stands_and_most_old_ones_do_not() -> None:
    held = 0
    steps = list(chains())
    for _, current, step in steps:
        *before, said = (text.casefold() for text in current)
        assert said == step["said"].casefold()
        held += not any(gone.casefold() in text for gone in step["gone"] for text in before)
    assert held / len(steps) >= 0.8


@given(st.sampled_from([case for case in CASES if case["kind"] != "chain"]), st.randoms())
def test_the_order_of_the_notes_does_not_matter(case: Case, random: Any) -> None:
    known = [(note["name"], note["text"]) for note in case["notes"]]
    mixed = random.sample(known, len(known))
    assert changes(case["said"], dict(known)) == changes(case["said"], dict(mixed))


@given(st.one_of(st.sampled_from([case["notes"][0]["text"] for case in CASES if "notes" in case]),
                 st.text(max_size=200)))  # fmt: skip
def test_the_same_words_replace_nothing(text: str) -> None:
    assert not any(each.is_certain for each in judged(text, text))


@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=4))
def test_any_text_is_judged(said: str, known: list[str]) -> None:
    assert len(judged(said, *known)) <= 3


@pytest.mark.parametrize("said", ["", "?", "from now on", "  \n"])
def test_nothing_said_replaces_nothing(said: str) -> None:
    assert judged(said, PARCELS, "") == []
