"""A streamed answer: what counts as a sign of life, and it is whole where the model says so."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_server import FakeServer
from hypothesis import given, settings
from hypothesis import strategies as st
from pace import FULL, HUNG, scaled
from rows import each

from mdmemory.llm import connection, json_answer, openai_api
from mdmemory.llm.answer import ModelFailed
from mdmemory.llm.connection import PINGED, AnswerReader, Clock, Senseless, TooLong, Unfinished
from mdmemory.llm.openai_api import OpenAIModel
from mdmemory.llm.sizes import tokens

TEXT = "a text of words"


def model(server: FakeServer, folder: Path, timeout: float = 1.0) -> OpenAIModel:
    return OpenAIModel(
        "m", server.url, "", folder / "state.db", timeout, sleep=lambda _: None, today="2026-06-01"
    )


def delta(**fields: object) -> str:
    return json.dumps({"choices": [{"index": 0, "delta": fields}]})


def test_tokens_and_thoughts_keep_an_answer_going_beyond_the_deadline_of_silence(
    server: FakeServer, tmp_path: Path
) -> None:
    server.misbehave(text=TEXT, thinking="let me see", pace=0.2)
    begun = time.monotonic()
    assert model(server, tmp_path).complete("s", "u").text == TEXT
    assert time.monotonic() - begun > 1.0


def test_pings_keep_a_slow_server_alive_and_one_that_hangs_not_for_ever(
    server: FakeServer, tmp_path: Path
) -> None:
    slow = [*[delta(role="assistant", content="")] * 20, delta(content=TEXT), "[DONE]"]
    server.misbehave(events=tuple(slow), pace=0.05)
    assert model(server, tmp_path, 0.5).complete("s", "u").text == TEXT
    begun = time.monotonic()
    server.misbehave(comments=0.05)
    with pytest.raises(ModelFailed, match=r"did not answer within 0\.5 s"):
        model(server, tmp_path, 0.5).complete("s", "u")
    assert time.monotonic() - begun > 0.5 * PINGED


def test_a_model_that_repeats_itself_is_ended_and_what_is_whole_counts(
    server: FakeServer, tmp_path: Path
) -> None:
    first = '{"ops": [{"op": "delete", "file": "a.md", "reason": "old"}, '
    server.misbehave(events=(delta(content=first), *[delta(content="and so on, ")] * 99_999))
    answer = model(server, tmp_path).complete("s", "u")
    assert answer.cut
    assert answer.text.startswith(first)
    assert len(answer.text) < 10_000
    long = " ".join(f"Sentence {n} is about another thing." for n in range(900))
    server.misbehave(events=tuple(delta(content=each) for each in re.findall(r".{1,9}", long)))
    assert model(server, tmp_path).complete("s", "u").text == long


def test_a_cost_that_no_server_tells_is_estimated(server: FakeServer, tmp_path: Path) -> None:
    end = json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    server.misbehave(events=(delta(content=TEXT), end))
    answer = model(server, tmp_path).complete("one two three", "four five six")
    assert (answer.input_tokens, answer.output_tokens) == (8, tokens(TEXT))


def test_silence_in_the_middle_ends_it(server: FakeServer, tmp_path: Path) -> None:
    server.misbehave(events=(delta(content="half"), *['{"choices": []}'] * 9), pace=HUNG)
    with pytest.raises(ModelFailed, match=r"fell silent for 0\.5 s in the middle of its answer"):
        model(server, tmp_path, 0.5).complete("s", "u")


def test_an_answer_without_end_is_left_at_the_cap(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_api, "LONGEST", 0.6)
    server.misbehave(events=(delta(reasoning_content="hm "),) * 10_000, pace=0.05)
    with pytest.raises(ModelFailed, match="was not done after"):
        model(server, tmp_path).complete("s", "u")


def test_all_tries_of_a_question_have_one_deadline_together(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clocks: list[Clock] = []

    def begin(silence: float, longest: float) -> Clock:
        clocks.append(Clock(silence, longest))
        return clocks[-1]

    monkeypatch.setattr(connection, "Clock", begin)
    server.script.unknown = frozenset(["temperature"])  # it is refused, and tried without
    server.misbehave(status=503)
    server.misbehave(comments=0.05)  # pings prolong it, and then it is over
    with pytest.raises(ModelFailed, match=r"did not answer within 0\.5 s"):
        model(server, tmp_path, 0.5).complete("s", "?")
    assert len(server.requests) == 3
    (clock,) = clocks
    assert clock.left() <= 0
    clock.hold(60.0)  # a pause before a try is no silence
    assert clock.left() > 0


def test_an_answer_that_said_its_end_counts_though_the_line_stays_open(
    server: FakeServer, tmp_path: Path
) -> None:
    end = json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    server.misbehave(events=(delta(content=TEXT), end, '{"choices": []}'), pace=0.4)
    assert model(server, tmp_path).complete("s", "u").text == TEXT


# --- servers that do it in other ways ----------------------------------------------------------


def test_fields_that_a_server_refuses_by_name_are_left_out_from_then_on(
    server: FakeServer, tmp_path: Path
) -> None:
    rows = (
        ({"stream"}, {"max_tokens", "temperature"}),
        ({"stream_options"}, {"stream", "max_tokens", "temperature"}),
        ({"temperature"}, {"stream", "stream_options", "max_tokens"}),
        ({"max_tokens"}, {"stream", "stream_options", "max_completion_tokens", "temperature"}),
        ({"max_tokens", "max_completion_tokens"}, {"stream", "stream_options", "temperature"}),
    )

    def check(unknown: set[str], kept: set[str]) -> None:
        server.script.unknown = frozenset(unknown)
        here = model(server, tmp_path / "-".join(sorted(unknown)))
        for _ in range(2):
            assert here.complete("s", "?").text == "Done."
        assert set(server.requests[-1]) == {"model", "messages", *kept}
        assert set(server.requests[-2]) == set(server.requests[-1]), "it was not remembered"

    each(rows, check)


def test_an_effort_is_asked_of_models_that_reason_until_it_is_refused(
    server: FakeServer, tmp_path: Path
) -> None:
    for name, asked in (("o3-mini", True), ("openai/gpt-5-mini", True), ("gpt-5-chat", False),
                        ("gpt-4o", False), ("qwen3:8b", False)):  # fmt: skip
        OpenAIModel(name, server.url, "", tmp_path / "state.db").complete("s", "u")
        assert ("reasoning_effort" in server.requests[-1]) == asked, name
        assert ("max_completion_tokens" in server.requests[-1]) == asked
    server.script.unknown = frozenset(["reasoning_effort"])
    OpenAIModel("o4", server.url, "", tmp_path / "state.db").complete("s", "u")
    assert "reasoning_effort" not in server.requests[-1]
    assert "temperature" not in server.requests[-1]


def test_an_error_in_the_middle_of_a_stream_is_a_failure_and_none_of_it_counts(
    server: FakeServer, tmp_path: Path
) -> None:
    trouble = json.dumps({"error": {"code": 503, "message": f"overloaded: {TEXT}"}})
    for _ in range(2):
        server.misbehave(events=(delta(content='{"ops": []}'), trouble))
    with pytest.raises(ModelFailed, match=r"failed \(503\)") as failed:
        model(server, tmp_path).complete("s", TEXT)
    assert TEXT not in failed.value.message


def test_an_answer_that_ends_at_its_limit_says_that_it_was_cut(
    server: FakeServer, tmp_path: Path
) -> None:
    server.misbehave(text='{"ops": [', finish="length")
    answer = model(server, tmp_path).complete("s", "u")
    assert (answer.text, answer.cut) == ('{"ops": [', True)


EVENTS = (
    b"\xef\xbb\xbf: hello\r\n\r\nevent: x\r\ndata: " + delta(content="one ").encode()
    + b"\r\n\r\ndata:" + delta(content=[{"type": "thinking", "thinking": [{"text": "hm"}]},
                                        {"type": "text", "text": "two"}]).encode()
    + b'\n\ndata: {"choices":[{"index":1,"delta":{"content":"other"}}]}\n\n'
    + b'data: {"choices":[],"usage":{"prompt_tokens":5}}\n\ndata: [DONE]\n\nignored'
)  # fmt: skip


def test_a_stream_is_the_same_however_it_is_cut_into_pieces() -> None:
    for size in (1, 2, 3, 7, 64, len(EVENTS)):
        reader = AnswerReader(1_000)
        for at in range(0, len(EVENTS), size):
            reader.take(EVENTS[at : at + size])
        whole = reader.completion()
        assert reader.is_done
        assert whole["choices"][0]["message"]["content"] == "one two"
        assert whole["usage"] == {"prompt_tokens": 5}


def test_half_a_stream_nonsense_and_too_much_are_told() -> None:
    half = AnswerReader(1_000)
    half.take(EVENTS[:150])
    with pytest.raises(Unfinished):
        half.completion()
    for nonsense in (b"data: nothing\n\n", b"data: 7\n\n", b"data: " + b"[" * 9_000 + b"\n\n"):
        with pytest.raises(Senseless):
            AnswerReader(10_000).take(nonsense)
    for much in (b"data: " + b"x" * 2_000, EVENTS[:20] * 2 + b"x" * 2_000, b"{" * 2_000):
        with pytest.raises(TooLong):
            AnswerReader(1_000).take(much)


# Whatever is around an answer, or missing at its end: what is read of it was said.

Item = dict[str, str]
ODD = st.sampled_from([*"ab {}[]\",:'\\\n/#“”‘-`<>1é"])
SHORT = st.text(alphabet=ODD | st.characters(codec="utf-8", exclude_characters="\0"), max_size=25)
# but <text>, which counts as a place of our examples that was left as it is
FILLED = SHORT.filter(lambda text: not re.fullmatch(r"\s*<.*>\s*", text, re.DOTALL))
ITEM = st.fixed_dictionaries({"action": st.just("add"), "body": FILLED, "quote": FILLED})
DRAFT = {"action": "add", "body": "draft", "quote": "d"}
EXAMPLES = 4_000 if FULL else scaled(150)


def said(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# what models put around the same items, and make of their JSON
FORMS: tuple[Callable[[list[Item]], str], ...] = (
    lambda items: said({"candidates": items}),
    lambda items: f"Sure, [1] {{x}}:\n{said({'candidates': items})}\nDone.",
    lambda items: f"<think>{DRAFT!r}</think>{said({'candidates': items})}",
    lambda items: f"{said({'candidates': [DRAFT]})} </think>{said({'candidates': items})}",
    lambda items: f"```json\n{json.dumps({'candidates': items}, indent=2)}\n```",
    lambda items: repr({"candidates": items}),
    lambda items: said(said({"candidates": items})),
    lambda items: said({"plan": {"candidates": items}}),
    lambda items: "\n".join(map(said, items)),
    said,
    lambda items: said({"candidates": items})[:-2] + ",]}",
    lambda items: said({"candidates": items}).replace('"action"', "action"),
    lambda items: f"\ufeff{said({'candidates': items})} // end",
    lambda items: said({"note": 1, "candidates": items, "x": None}),
)


def objects(text: str) -> list[dict[str, Any]]:
    """The items that are read, none where nothing can be."""
    fields = ("action", "body", "quote")
    try:
        read = json_answer.read_list(text, "candidates", fields=fields, mark="action")
    except json_answer.BadAnswer:
        return []
    return [*read.objects]


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(ITEM, min_size=1, max_size=3), st.sampled_from(FORMS), st.integers(0, 400))
def test_no_item_is_read_that_was_not_said(
    items: list[Item], form: Callable[[list[Item]], str], cut: int
) -> None:
    whole = form(items)
    assert all(each in items for each in objects(whole))
    # of an answer that ends within its thoughts, a draft may be all there is
    assert all(each in items or each.get("body") == "draft" for each in objects(whole[:cut]))


@pytest.mark.parametrize("form", FORMS)
def test_plain_items_are_read_in_every_form(form: Callable[[list[Item]], str]) -> None:
    items = [{"action": "add", "body": f"Port {port}.", "quote": "so"} for port in (80, 81)]
    assert objects(form(items)) == items
