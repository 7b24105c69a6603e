"""A model's answer is believed in nothing, and read candidate by candidate."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmemory.capture.candidates import (
    MAX_ANSWER,
    MAX_BODIES,
    MAX_CANDIDATES,
    Answered,
    Candidate,
    parse,
    question,
    redacted,
)
from mdmemory.files import digest
from mdmemory.llm.json_answer import BadAnswer
from mdmemory.llm.schemas import CANDIDATES
from mdmemory.note.editing import compose
from mdmemory.note.note import parse as parse_note
from mdmemory.store.store import StoredNote
from mdmemory.transcripts.turns import Turn

GOOD = {
    "action": "add", "type": "feedback", "kind": "", "title": "Answers",
    "fact": "Wants short answers", "why": "reads on a phone", "quote": "keep it short please",
    "replaces": [],
}  # fmt: skip


def answer(*candidates: object) -> str:
    return json.dumps({"candidates": candidates})


def note(name: str, body: str) -> StoredNote:
    text = compose(name=name, type="project", description=body[:100], body=body)
    file = f"project-{name}.md"
    return StoredNote(file, digest(text.encode()), parse_note(text, file))


# --- the answer --------------------------------------------------------------------------------


def test_an_object_a_list_and_a_fenced_answer_are_read_alike() -> None:
    found = parse(answer(GOOD))
    assert found.candidates == (Candidate(**{**GOOD, "replaces": ()}),)  # type: ignore[arg-type]
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
        {"kind": "choice"}, {"kind": "decision"}, {"fact": ""}, {"why": True}, {"fact": 5},
        {"fact": "-"}, {"fact": "8443"}, {"quote": " "}, {"replaces": [{}]}, {"replaces": {"a": 1}},
        {"replaces": [f"n{at}.md" for at in range(11)]}, {"fact": "\ud800"}, {"why": "x" * 5_000},
        {"title": "a\x00b"}, {"action": "reinforce"}, {"action": "reinforce", "replaces": [""]},
    ],
)  # fmt: skip
def test_a_candidate_with_a_wrong_field_is_left_out_and_the_others_go_on(
    change: dict[str, Any],
) -> None:
    found = parse(answer(GOOD, {**GOOD, **change}))
    assert len(found.candidates) == found.unreadable == 1
    assert [why for _, why in found.dropped] == ["schema"]


@pytest.mark.parametrize("left", ["title", "why", "kind", "replaces"])
def test_a_field_that_says_nothing_may_be_empty_null_or_missing(left: str) -> None:
    whole = parse(answer({**GOOD, left: [] if left == "replaces" else ""})).candidates
    assert len(whole) == 1
    assert parse(answer({**GOOD, left: None})).candidates == whole
    assert parse(answer({k: v for k, v in GOOD.items() if k != left})).candidates == whole


def test_a_smaller_model_that_answers_in_the_former_form_is_understood() -> None:
    former = {
        "action": "update", "type": "project", "kind": "", "name": "x", "body": "b",
        "description": "The proxy is on 8443", "file": "project-proxy.md", "quote": "8443 now",
        "superseded": ["8080"],
    }  # fmt: skip
    (read,) = parse(answer(former)).candidates
    assert (read.fact, read.replaces) == ("The proxy is on 8443", ("project-proxy.md",))
    both = {**former, "fact": "The proxy is on 8444", "replaces": ["b.md", "b.md", " a.md "]}
    (read,) = parse(answer(both)).candidates
    assert (read.fact, read.replaces) == ("The proxy is on 8444", ("b.md", "a.md"))
    (read,) = parse(answer({**former, "replaces": "b.md"})).candidates
    assert read.replaces == ("b.md",)


def test_a_flood_is_cut() -> None:
    many = [{**GOOD, "fact": f"Wants answer {at}"} for at in range(MAX_CANDIDATES + 5)]
    found = parse(answer(*many))
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


# --- the question ------------------------------------------------------------------------------


def test_a_question_shows_turns_and_notes_and_no_secret_of_either() -> None:
    secret = "ghp_" + "a1B2" * 9
    turns = redacted([Turn("m1", "user", f"The token is {secret}, and the proxy is slow")])
    asked = question(turns, [note("token", f"The old token is {secret}")], "2026-06-20")
    assert secret not in asked.text
    assert "[redacted:" in asked.text
    shown = json.loads(asked.text)
    assert [each["id"] for each in shown["turns"]] == ["m1"]
    assert [each["file"] for each in shown["notes"]] == ["project-token.md"]


def test_a_turn_that_alone_is_too_long_is_cut_and_says_so() -> None:
    (turn,) = redacted([Turn("m1", "user", "a log " * 10_000)])
    assert len(turn.text) < 24_100
    assert turn.text.endswith("[36000 more characters]")


def test_with_too_many_notes_the_nearest_are_shown_whole_and_others_by_their_heads() -> None:
    proxy = note("proxy", "The proxy listens on port 8080, see `proxy.toml`.")
    notes = [note(f"n{n}", f"Fact {n}. " + "filler " * 300) for n in range(20)] + [proxy]
    asked = question([Turn("m1", "user", "The port of the proxy is 8443 now")], notes, "2026-06-20")
    assert proxy.file in asked.opened
    assert 0 < len(asked.opened) < len(asked.shown) <= len(notes)
    assert len(asked.text) < 3 * MAX_BODIES
