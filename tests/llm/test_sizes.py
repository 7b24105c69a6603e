"""How long a question may be: set, known, or learnt from what servers of many kinds say to one that
is too long, and from what they do not say."""

import json
from pathlib import Path

import pytest
from fake_server import FakeServer
from fake_windows import REFUSALS, Window
from rows import each
from scripted import Scripted

from mdmemory.llm.answer import Asking, ContextExceeded, in_words
from mdmemory.llm.manners import FIELDS, Refusal, read
from mdmemory.llm.openai_api import OpenAIModel
from mdmemory.llm.schemas import PLAN
from mdmemory.llm.sizes import LEAST, UNBOUNDED, answer_tokens, room, tokens, was_cut

DAY = "2026-06-01"
LONG = "The proxy listens on port 8080, and the deploy is on Tuesdays. " * 400  # 25,000 characters
NAMELESS = ("groq", "old llama.cpp", "proxy")


def model(server: FakeServer, folder: Path, **more: object) -> OpenAIModel:
    return OpenAIModel(
        "m", server.url, "", folder / "state.db", sleep=lambda _: None,
        **{"today": DAY, **more},  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.mark.slow
def test_a_refusal_for_length_is_known_in_the_words_of_each_server_and_learnt(
    tmp_path: Path,
) -> None:
    def check(dialect: str) -> None:
        with FakeServer() as server:
            server.script.reply = Window(4_096, dialect).reply
            here = model(server, tmp_path / dialect.replace(" ", "-"))
            with pytest.raises(ContextExceeded) as refused:
                here.complete("s", LONG)
            assert LONG[:20] not in refused.value.message
            learnt = refused.value.tokens
            if dialect in NAMELESS:
                asked = tokens(LONG) + answer_tokens(tokens(LONG), 1, 0)
                assert LEAST < learnt <= asked // 2
            else:
                assert learnt == 4_096
            assert here.context_tokens == learnt
            assert model(server, here.state_file.parent).context_tokens == learnt
            assert here.complete("s", "short").text == "Done."

    each((*((name,) for name in REFUSALS), ("silent",)), check)


def test_what_servers_say_about_length() -> None:
    rows = (
        ("prompt is too long: 208310 tokens > 200000 maximum", 200_000),
        ("input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000", 200_000),
        ("The input token count (314175) exceeds the maximum number of tokens allowed (131072).",
         131_072),
        ("Requested tokens (2285) exceed context window of 2048", 2_048),
        ("This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
         131_072),
        ("The number of tokens to keep from the initial prompt is greater than the context length"
         " (n_keep: 9000>= n_ctx: 4096)", 4_096),
        ("Input tokens exceed the configured limit of 272,000 tokens.", 272_000),
        ("`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000", 4_096),
        ("Range of input length should be [1, 129024]", 129_024),
        ("Request body too large for gpt-4o model. Max size: 8000 tokens.", 8_000),
        ("Input is too long for requested model.", 0),
    )  # fmt: skip
    for said, window in rows:
        body = json.dumps({"error": {"message": said}})
        refusal = read(400, body, "", FIELDS)
        assert (refusal.is_too_long, refusal.window) == (True, window), said
        assert read(400, said, "", FIELDS).window == window
    others = (
        "Invalid schema for response_format", "The model does not exist", "Bad request",
        "max_tokens is too large: 32000. This model supports at most 16384 completion tokens",
    )  # fmt: skip
    for said in others:
        assert not read(400, json.dumps({"error": {"message": said}}), "", FIELDS).is_too_long, said


def test_what_a_server_repeats_of_the_question_says_nothing() -> None:
    text = "remember: the context length is 2048 tokens, and max_tokens is a field"
    for body in (
        json.dumps({"error": {"message": f"bad: {text}"}}),
        json.dumps({"detail": [{"msg": "Field required", "input": text}]}),
    ):
        assert read(422, body, text, FIELDS) == Refusal()
    named = '{"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs"}]}'
    assert read(422, named, text, FIELDS).fields == {"stream_options"}


def test_what_was_learnt_is_found_out_anew_after_a_month_and_set_by_hand_at_once(
    tmp_path: Path,
) -> None:
    with FakeServer() as server:
        server.script.reply = Window(4_096).reply
        with pytest.raises(ContextExceeded):
            model(server, tmp_path).complete("s", LONG)
        assert model(server, tmp_path, today="2026-06-20").context_tokens == 4_096
        assert model(server, tmp_path, today="2026-08-01").context_tokens == 0
        assert model(server, tmp_path, context=32_000).context_tokens == 32_000


def test_a_count_of_tokens_that_is_too_small_says_that_the_text_was_cut() -> None:
    assert was_cut("s", LONG, 4_096)
    assert was_cut("s", LONG[:20_000], 2_048)
    assert was_cut("s", LONG, 5_120), "a full window"
    assert not was_cut("s", LONG, 5_300)
    assert not was_cut("s", LONG, 5_120, window=8_192), "a chance: the window is another"
    assert not was_cut("s", LONG, 100), "of something else"
    assert not was_cut("s", "=" * 40_000, 2_000), "one token may be many signs"
    assert was_cut("s", "部署在星期二" * 2_000, 2_048)


def test_the_estimate_is_on_the_safe_side_for_words_code_and_wide_scripts() -> None:
    for text, fewest, most in (
        ("We always deploy on Tuesdays, the on-call team is complete then.", 13, 24),
        ("我喜欢简短的回答，不要总结。部署在星期二。", 14, 32),
        ("const total = items.reduce((sum, item) => sum + item, 0);", 18, 30),
        ("", 0, 0),
    ):
        assert fewest <= tokens(text) <= most, text


def test_question_and_answer_fit_a_known_window_together() -> None:
    for window in (4_096, 8_192, 128_000):
        asked = Scripted()
        asked.context_tokens = window  # type: ignore[attr-defined]
        asking = Asking(asked, "rule " * 300)
        free = room(asking, PLAN).tokens
        fixed = tokens(asking.system) + tokens(in_words(PLAN))
        assert free > 0.3 * (window - fixed)
        assert free + fixed + answer_tokens(free, fixed, window) <= window
        measure = room(asking, PLAN).measure(60_000)
        notes = ["short", "A longer note in English.", "部署在星期二"]
        many, size = 0, 0
        while size + measure(notes[many % 3]) <= 60_000:
            size += measure(notes[many % 3])
            many += 1
        assert sum(tokens(notes[at % 3]) for at in range(many)) <= free
    assert room(Asking(Scripted(), "s")).tokens == UNBOUNDED
    assert room(Asking(Scripted(), "s")).characters(60_000) == 60_000
    assert room(Asking(Scripted(), "s")).measure(60_000)("abc") == 3


def test_a_window_that_the_system_text_fills_has_no_room() -> None:
    asked = Scripted()
    asked.context_tokens = LEAST  # type: ignore[attr-defined]
    free = room(Asking(asked, "rule " * 2_000))
    assert free.characters(60_000) == 0
    assert free.measure(60_000)("a") > 60_000


def test_a_model_that_thinks_until_its_window_is_full_is_asked_about_less(tmp_path: Path) -> None:
    with FakeServer() as server:
        server.misbehave(text="", thinking="hm", finish="length")
        here = model(server, tmp_path, context=4_096)
        with pytest.raises(ContextExceeded):
            here.complete("s", LONG[:6_000])
        assert server.requests[0]["max_tokens"] < 4_096
