"""A small model is asked one pair at a time, and what it says can lose no literal."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import Scripted

from mdmemory.compact import dialogue
from mdmemory.compact.model_planner import ModelPlanner
from mdmemory.compact.plan import Merge, parse
from mdmemory.compact.planner import ProposedPlan
from mdmemory.llm import probe
from mdmemory.llm.answer import Asking, ModelFailed
from mdmemory.llm.sizes import tokens
from mdmemory.store.store import StoredNote


@pytest.fixture
def notes(make: Any) -> list[StoredNote]:
    return [
        make("short", "Prefers short answers", "Reads them on the way."),
        make("brief", "Prefers answers that are short", "Long ones stay unread."),
        make("port", "The proxy listens on port 8080", "As told.", type="project"),
        make("port-2", "The proxy listens on port 9090", "As told.", type="project"),
        make("cat", "Has a cat", "It sleeps."),
    ]


def plan(notes: list[StoredNote], model: Scripted) -> ProposedPlan:
    planner = ModelPlanner(
        "scripted", lambda: Asking(model, "rules"), "2026-06-01", lambda text: text, by_pairs=True
    )
    return planner.propose(notes, conflicts=[])


def test_two_notes_of_which_it_says_yes_become_one_with_both_texts(notes: list[StoredNote]) -> None:
    model = Scripted("Yes.")
    (op,) = parse(plan(notes, model).answer).ops
    assert isinstance(op, Merge)
    assert {*op.sources} == {"user-short.md", "user-brief.md"}
    assert {*op.body.split("\n\n")} == {"Reads them on the way.", "Long ones stay unread."}
    (asked,) = model.asked
    sentences = {"Prefers short answers", "Prefers answers that are short"}
    assert {*json.loads(asked.user)["sentences"]} == sentences
    assert tokens(asked.system + asked.user) < 130, "a small question"
    assert asked.schema is None
    assert model.reread == []


@pytest.mark.parametrize("answer", ["no", "No, the second says more.", "I think so", "", "{}"])
def test_what_is_no_yes_changes_nothing(notes: list[StoredNote], answer: str) -> None:
    assert parse(plan(notes, Scripted(answer or "?")).answer).ops == ()


def test_notes_with_other_numbers_are_not_even_asked_about(notes: list[StoredNote]) -> None:
    model = Scripted()
    assert parse(plan(notes[2:], model).answer).ops == ()
    assert model.asked == []


def test_a_model_that_fails_is_told_and_the_notes_are_asked_about_again(
    notes: list[StoredNote],
) -> None:
    done = plan(notes, Scripted(ModelFailed("It is down.", "Start it.", "unreachable")))
    assert done.failed == (("unreachable", "It is down. Start it."),)
    assert done.looks is not None
    assert {"user-short.md", "user-brief.md"} <= done.looks.unanswered


@given(st.dictionaries(st.integers(0, 9), st.integers(0, 9)))
def test_a_pair_is_two_notes_that_are_each_others_nearest_and_no_note_is_in_two(
    make: Any, nearest: dict[int, int]
) -> None:
    notes = [make(f"n{at}", f"Fact {at}") for at in range(10)]
    place = {note.file: at for at, note in enumerate(notes)}

    def near(note: StoredNote) -> StoredNote | None:
        at = nearest.get(place[note.file], place[note.file])
        return None if at == place[note.file] else notes[at]

    found = [(place[a.file], place[b.file]) for a, b in dialogue.list_nearest(notes, near)]
    assert all(nearest[a] == b and nearest[b] == a for a, b in found)
    assert len({at for pair in found for at in pair}) == 2 * len(found)


# --- whether a model is small --------------------------------------------------------------------


def answers(*words: str) -> dict[str, Any]:
    rows = [{"number": str(at), "verdict": word} for at, word in enumerate(words, 1)]
    return {"verdicts": rows}


@pytest.mark.parametrize(
    ("words", "right"),
    [
        (("ok", "lost", "changed"), 3), (("ok", "lost", "added"), 3), (("ok", "ok", "ok"), 1),
        (("lost", "lost", "lost"), 2), (("ok",), 1), (("perhaps",), 0), ((), 0),
    ],
)  # fmt: skip
def test_a_model_is_known_by_three_answers(words: tuple[str, ...], right: int) -> None:
    assert probe.count_right(Scripted(reader=answers(*words))) == right
