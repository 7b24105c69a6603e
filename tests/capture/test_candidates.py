"""A model's answer is believed in nothing, and read candidate by candidate."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import Scripted

from mdmemory.capture import candidates
from mdmemory.capture.candidates import (
    MAX_ANSWER,
    MAX_BODIES,
    MAX_CANDIDATES,
    Answered,
    Candidate,
    make_question,
    parse,
    redact_turns,
)
from mdmemory.errors import MdmemoryError
from mdmemory.files import digest
from mdmemory.llm.answer import Answer, Asking, ContextExceeded, ModelFailed, Schema, in_words
from mdmemory.llm.json_answer import BadAnswer
from mdmemory.llm.schemas import CANDIDATES
from mdmemory.llm.sizes import tokens
from mdmemory.note.editing import compose
from mdmemory.note.note import parse as parse_note
from mdmemory.search.near import scan_notes
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


def test_an_object_a_list_and_a_fenced_answer_are_read_alike() -> None:
    found = parse(answer(GOOD))
    assert found.candidates == (Candidate(**{**GOOD, "replaces": ()}),)  # type: ignore[arg-type]
    assert parse(json.dumps([GOOD])) == found
    assert parse(f"```json\n{answer(GOOD)}\n```\n") == found
    assert parse('{"candidates": []}') == Answered()
    items: Any = CANDIDATES["properties"]["candidates"]["items"]  # type: ignore[index]
    assert set(items["properties"]) == set(GOOD), "the fields that models are asked for"


def test_an_answer_without_one_candidate_that_can_be_read_is_refused() -> None:
    for text in (
        "", "I found nothing.", answer(GOOD)[:-5], '{"candidates": [], "candidates": []}',
        '{"candidates": {}}', "{}", "null", "3", '"add"',
        answer(GOOD).replace('"kind"', '"type"'), "[" * 100_000, "9" * 10_000,
        " " * MAX_ANSWER + "[]",
    ):  # fmt: skip
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
def test_a_candidate_with_a_wrong_field_is_left_out_and_others_go_on(
    change: dict[str, Any],
) -> None:
    found = parse(answer(GOOD, {**GOOD, **change}))
    assert len(found.candidates) == found.unreadable == 1
    assert [why for _, why in found.dropped] == ["schema"]


def test_a_field_that_says_nothing_may_be_empty_null_or_missing() -> None:
    for left, empty in (("title", ""), ("why", ""), ("kind", ""), ("replaces", [])):
        whole = parse(answer({**GOOD, left: empty})).candidates
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


def test_a_question_shows_turns_and_notes_and_no_secret_of_either() -> None:
    secret = "ghp_" + "a1B2" * 9
    turns = redact_turns([Turn("m1", "user", f"The token is {secret}, and the proxy is slow")])
    asked = make_question(turns, [note("token", f"The old token is {secret}")], "2026-06-20")
    assert secret not in asked.text
    assert "[redacted:" in asked.text
    shown = json.loads(asked.text)
    assert [each["id"] for each in shown["turns"]] == ["m1"]
    assert [each["file"] for each in shown["notes"]] == ["project-token.md"]


def test_a_secret_that_answers_a_question_is_taken_out() -> None:
    def answered(question: str, answer: str) -> str:
        return redact_turns([Turn("m1", "assistant", question), Turn("m2", "user", answer)])[1].text

    secret = "Hunt" + "er2!x9"
    assert answered("Done. What is the root password?", secret) == "[redacted:password]"
    assert answered("Which engine do we use?", "V8 in build-server.md") == "V8 in build-server.md"


def test_a_turn_that_alone_is_too_long_is_cut_and_says_so() -> None:
    (turn,) = redact_turns([Turn("m1", "user", "a log " * 10_000)])
    assert len(turn.text) < 24_100
    assert turn.text.endswith("[36000 more characters]")


def test_with_too_many_notes_the_nearest_are_shown_whole_and_others_by_their_heads() -> None:
    proxy = note("proxy", "The proxy listens on port 8080, see `proxy.toml`.")
    notes = [note(f"n{n}", f"Fact {n}. " + "filler " * 300) for n in range(20)] + [proxy]
    said = [Turn("m1", "user", "The port of the proxy is 8443 now")]
    asked = make_question(said, notes, "2026-06-20")
    whole = [each["file"] for each in json.loads(asked.text)["notes"] if "body" in each]
    assert proxy.file in whole
    assert 0 < len(whole) < len(asked.shown) <= len(notes)
    assert len(asked.text) < 3 * MAX_BODIES


TURNS = [
    Turn(f"m{at:02}", "user", f"Point {at}: {'we say it at length ' * 12}") for at in range(12)
]
LONG = Turn("long", "user", "a log line that goes on " * 900)
NOTHING: dict[str, object] = {"candidates": []}


RULES = "the rules"


class Window(Scripted):
    """A model that fails on a longer question than it takes; `tells` says if it is known before."""

    def __init__(self, size: int, *, tells: bool) -> None:
        super().__init__()
        self.size = size
        self.context_tokens = size if tells else 0
        self.refused = 0

    def complete(self, system: str, user: str, schema: Schema | None = None) -> Answer:
        if tokens(system) + tokens(user) + tokens(in_words(CANDIDATES)) > self.size:
            self.refused += 1
            self.context_tokens = self.size
            raise ContextExceeded("It is too long.", self.size)
        if not self.answers:
            self.say(NOTHING)
        return super().complete(system, user, schema)


def read(model: Scripted, turns: list[Turn], *notes: StoredNote) -> candidates.SessionReading:
    return candidates.ask_about(Asking(model, RULES), turns, notes, "2026-06-01", scan_notes)


def shown(model: Scripted) -> list[list[str]]:
    return [[turn["id"] for turn in json.loads(each.user)["turns"]] for each in model.asked]


def found(quote: str) -> dict[str, object]:
    return {"candidates": [{"action": "reinforce", "replaces": ["a.md"], "quote": quote}]}


def test_a_small_window_is_asked_about_all_turns_in_order_and_once_each() -> None:
    for tells in (True, False):
        model = Window(1_500, tells=tells)
        done = read(model, TURNS)
        assert [id for each in shown(model) for id in each] == [turn.id for turn in TURNS]
        assert len(shown(model)) >= 3
        assert model.refused == (0 if tells else 1), "a window is learnt once"
        assert (done.upto, done.failure, done.dropped) == ("m11", None, [])


def test_notes_make_room_for_turns_but_the_nearest_head_is_still_shown() -> None:
    model = Window(1_500, tells=True)
    read(model, TURNS[:2], *(note(f"n{at}", f"Note {at} " + "body " * 400) for at in range(5)))
    assert model.refused == 0
    for each in model.asked:
        seen = json.loads(each.user)["notes"]
        assert seen
        assert not any("body" in note for note in seen)


def test_what_was_read_before_a_failure_counts() -> None:
    model = Window(1_500, tells=True)
    model.say(found("one"), found("two"), ModelFailed("It is down."))
    done = read(model, TURNS)
    first = [id for each in shown(model)[:2] for id in each]
    assert (done.upto, isinstance(done.failure, MdmemoryError)) == (first[-1], True)
    assert [each.quote for each in done.candidates] == ["one", "two"]


def test_a_turn_longer_than_the_window_is_cut_and_says_so_and_the_others_are_read() -> None:
    model = Window(1_500, tells=True)
    assert read(model, [*TURNS[:2], LONG, TURNS[2]]).upto == "m02"
    turns = [turn for each in model.asked for turn in json.loads(each.user)["turns"]]
    (cut,) = (turn["text"] for turn in turns if turn["id"] == "long")
    assert cut.endswith(" more characters]")
    model.size = 0  # a window that takes not even a part of a turn
    done = read(model, [LONG])
    assert [reason for _, reason in done.dropped] == ["too_long"]
    assert (done.upto, done.failure) == ("long", None)


def test_a_window_that_the_instructions_fill_is_told_and_nothing_is_asked() -> None:
    asking = Asking(model := Window(1_000, tells=True), "the rules " * 900)
    done = candidates.ask_about(asking, TURNS, [], "2026-06-01", scan_notes)
    assert (done.failure is not None, done.upto, model.asked) == (True, "", [])


def test_an_answer_that_was_cut_counts_as_far_as_it_goes_and_the_turns_are_asked_again() -> None:
    cut = Answer(json.dumps(found("one")), 100, 10, cut=True)
    model = Scripted(cut, found("one"), found("two"))
    done = read(model, TURNS[:4])
    assert shown(model) == [["m00", "m01", "m02", "m03"], ["m00", "m01"], ["m02", "m03"]]
    assert [each.quote for each in done.candidates] == ["one", "two"]
    model = Scripted(Answer('{"candidates": [{"act', 1, 1, cut=True), NOTHING, NOTHING)
    assert read(model, TURNS[:2]).failure is None
