"""What a note says stays what it says: refused where it would not, and let pass where it would."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmemory.compact.guards import Verdict, check
from mdmemory.compact.plan import Merge, Op, Plan, Rewrite
from mdmemory.store.store import StoredNote
from mdmemory.text import frames, places, units
from mdmemory.text.frames import each_subject

Make = Callable[..., StoredNote]
Said = tuple[str, str]
CASES = runpy.run_path(str(Path(__file__).with_name("right_merges.py")))
RIGHT: list[tuple[list[Said], Said]] = CASES["RIGHT"]
WRONG: list[tuple[str, list[Said], Said]] = CASES["WRONG"]
CODES = {"literal_lost", "negation", "contradiction"}


def judged(make: Make, sources: list[Said], after: Said) -> Verdict:
    """A rewrite of one note, or a merge of several."""
    notes = [make(f"n{at}", *said, type="project") for at, said in enumerate(sources)]
    files = tuple(note.file for note in notes)
    op: Op = Rewrite(files[0], after[1], after[0])
    if len(notes) > 1:
        op = Merge(files, files[0], "n0", "project", *after)
    return check(Plan((op,)), notes, has_secret=lambda text: False)


@pytest.mark.parametrize(("sources", "after"), RIGHT, ids=[after[0] for _, after in RIGHT])
def test_a_right_merge_passes(make: Make, sources: list[Said], after: Said) -> None:
    assert judged(make, sources, after).refused == ()
    # the order of the notes says nothing
    assert judged(make, sources[::-1], after).refused == ()


@pytest.mark.parametrize(("sources", "after"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_what_a_note_says_is_not_changed(make: Make, sources: list[Said], after: Said) -> None:
    for notes in (sources, sources[::-1]):
        (found,) = judged(make, notes, after).refused
        assert found[1] in CODES


def test_both_of_two_alike_facts_may_stand_in_one_note(make: Make) -> None:
    two = [("Sarah owns billing", "For the shop."), ("Marek owns billing", "For the shop.")]
    both = ("Sarah and Marek own billing", "For the shop.")
    assert judged(make, two, both).refused == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Sarah owns billing", {"Sarah"}),
        ("The orders service owns the queue", {"orders", "service"}),
        ("Alice's phone is old", {"Alice"}),
        ("Der Bestelldienst besitzt die Warteschlange", {"Bestelldienst"}),
        ("Uses pnpm always", set()),
        ("Keep answers short", set()),
        ("Prefers short answers", set()),
        ("The user likes tea", set()),
    ],
)
def test_of_whom_a_sentence_speaks(text: str, found: set[str]) -> None:
    assert {word for subject in each_subject(text) for word in subject} == found


def test_a_number_keeps_its_unit() -> None:
    assert units.lost("It takes thirty minutes.", "A 30-minute slot") == []
    assert units.lost("It takes 5 days.", "Days it takes: 5") == []
    assert units.lost("5 days and 3 weeks", "3 days and 5 weeks") == ["3 weeks", "5 days"]
    assert units.lost("In 30 Minuten", "In 30 Tagen") == ["30 minutes"]


def test_values_keep_their_places() -> None:
    assert places.moved(["8080 is the API, 9090 the metrics."], "API: 8080\nMetrics: 9090") == []
    assert places.moved(["8080 is the API, 9090 the metrics."], "API: 9090\nMetrics: 8080") == [
        "8080", "9090"
    ]  # fmt: skip


def test_two_words_may_change_places_where_the_order_says_nothing() -> None:
    assert frames.replaced(["Likes tea and coffee."], "Likes coffee and tea.") is None
    assert frames.replaced(["Anna reviews Bob's code."], "Bob reviews Anna's code.")
