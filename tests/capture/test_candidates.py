"""A model's answer is believed in nothing, and read candidate by candidate."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmemory.capture.candidates import MAX_ANSWER, MAX_CANDIDATES, Answered, Candidate, parse
from mdmemory.llm.json_answer import BadAnswer
from mdmemory.llm.schemas import CANDIDATES

GOOD = {
    "action": "add", "type": "feedback", "kind": "", "name": "short-answers",
    "description": "Wants short answers", "body": "Keep answers short.", "file": "",
    "quote": "keep it short please", "superseded": [],
}  # fmt: skip


def answer(*candidates: object) -> str:
    return json.dumps({"candidates": candidates})


def test_an_object_a_list_and_a_fenced_answer_are_read_alike() -> None:
    found = parse(answer(GOOD))
    assert found.candidates == (Candidate(**{**GOOD, "superseded": ()}),)  # type: ignore[arg-type]
    assert parse(json.dumps([GOOD])) == found
    assert parse(f"```json\n{answer(GOOD)}\n```\n") == found


def test_nothing_found_is_a_good_answer() -> None:
    assert parse('{"candidates": []}') == Answered()


@pytest.mark.parametrize(
    "text",
    [
        "", "I found nothing.", answer(GOOD)[:-5], '{"candidates": [], "candidates": []}',
        '{"candidates": {}}', "{}", "null", "3", '"add"',
        answer(GOOD).replace('"kind"', '"type"'), "[" * 100_000, "9" * 10_000,
        " " * MAX_ANSWER + "[]",
    ],
)  # fmt: skip
def test_an_answer_without_one_candidate_that_can_be_read_is_refused(text: str) -> None:
    with pytest.raises(BadAnswer) as refused:
        parse(text)
    assert refused.value.code == "bad_answer"
    assert "again" in refused.value.hint


@pytest.mark.parametrize(
    "change",
    [
        {"action": "delete"}, {"action": ["add"]}, {"type": "decision"}, {"type": None},
        {"kind": "choice"}, {"kind": "decision"}, {"description": ""}, {"body": True},
        {"description": 5}, {"description": "-"}, {"body": 5},
        {"quote": " "}, {"file": "user-a.md"}, {"superseded": ["5432"]}, {"superseded": "5432"},
        {"body": "\ud800"}, {"body": "x" * 5_000}, {"name": "a\x00b"},
        {"action": "update"}, {"action": "flag", "file": ""}, {"action": "reinforce"},
        {"action": "update", "file": "feedback-a.md", "superseded": [""]},
    ],
)  # fmt: skip
def test_a_candidate_with_a_wrong_field_is_left_out_and_the_others_go_on(
    change: dict[str, Any],
) -> None:
    found = parse(answer(GOOD, {**GOOD, **change}))
    assert len(found.candidates) == 1
    assert [why for _, why in found.dropped] == ["schema"]


def test_what_a_lax_endpoint_leaves_away_is_empty() -> None:
    found = parse(answer({"action": "reinforce", "file": "user-a.md", "quote": "I live at sea"}))
    assert found.candidates[0].file == "user-a.md"
    assert found.candidates[0].superseded == ()


def test_a_flood_is_cut() -> None:
    found = parse(answer(*[GOOD] * (MAX_CANDIDATES + 5)))
    assert len(found.candidates) == MAX_CANDIDATES
    assert [why for _, why in found.dropped] == ["too_many"] * 5


def test_the_fields_are_those_that_models_are_asked_for() -> None:
    items: Any = CANDIDATES["properties"]["candidates"]["items"]  # type: ignore[index]
    assert set(items["properties"]) == set(Candidate._fields)


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=12,
)


@given(st.text() | VALUES.map(json.dumps) | VALUES.map(lambda value: answer(value, GOOD)))
def test_no_answer_breaks_the_reader(text: str) -> None:
    try:
        found = parse(text)
    except BadAnswer:
        return
    for said, _ in found.dropped:
        said.encode("utf-8")
