"""Of a session of Claude Code only what a person typed, and what was answered, is a turn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mdmemory.capture.notice import notice_wishes
from mdmemory.errors import BadTranscript
from mdmemory.transcripts.sources import read
from mdmemory.transcripts.turns import Transcript, select_turns

DATA = Path(__file__).parents[1] / "capture/data"
SESSION = "0d1f6c1e-6a53-4a0e-9c0b-2f7a3f9f0001"


def line(text: object, kind: str = "user", **more: Any) -> bytes:
    row = {"type": kind, "uuid": "u1", "sessionId": "s1", "message": {"content": text}, **more}
    return json.dumps(row).encode() + b"\n"


def texts(transcript: Transcript) -> list[str]:
    return [turn.text for turn in transcript.turns]


def test_only_what_was_said_becomes_a_turn() -> None:
    transcript = read(DATA / "claude.jsonl")
    assert transcript.session == SESSION
    assert transcript.title == "Fix the flaky date test"
    assert [(turn.role, turn.text) for turn in transcript.turns] == [
        ("user", "The date test fails on CI. Can you look?"),
        ("assistant", "I will read the test."),
        ("user", "remember: tests run with TZ=UTC, see `make check`"),
        ("assistant", "Fixed: the test now pins its time zone."),
        ("user", "Thanks. 记住：我喜欢简短回答"),
        (
            "user",
            "Where do deploys stand?\nremember: deploys are listed at https://example.org/deploys",
        ),
    ]
    assert transcript.turns[0].time == 1780304410250


def test_what_was_asked_for_is_found_and_nothing_else() -> None:
    turns = read(DATA / "claude.jsonl").turns
    assert [wish for turn in turns for wish in notice_wishes(turn.text).wishes] == [
        "tests run with TZ=UTC, see `make check`", "我喜欢简短回答",
        "deploys are listed at https://example.org/deploys",
    ]  # fmt: skip


def test_a_summary_of_the_client_is_kept_apart() -> None:
    assert [turn.text[:12] for turn in read(DATA / "claude.jsonl").summaries] == ["This session"]


def test_ids_without_an_order_are_read_on_in_the_order_of_the_lines() -> None:
    transcript = read(DATA / "claude.jsonl")
    ids = [turn.id for turn in transcript.turns]
    assert ids != sorted(ids), "these ids would prove nothing"
    assert [turn.id for turn in select_turns(transcript, ids[2])] == ids[3:]
    assert select_turns(transcript, ids[-1]) == []


def test_mdmemorys_own_sessions_have_no_turns() -> None:
    title = json.dumps({"type": "custom-title", "customTitle": "mdmemory extract"}).encode()
    assert read(line("remember: told to a model of ours") + title).turns == ()


@pytest.mark.parametrize(
    "row",
    [
        {"message": None}, {"message": "text"}, {"message": {"role": "assistant", "content": "x"}},
        {"message": {"content": 3}}, {"message": {"content": [3, None, {"type": "text"}]}},
        {"uuid": ""}, {"uuid": ["u"]}, {"type": ["user"]}, {"type": "attachment"},
        {"type": "attachment", "attachment": []}, {"message": {"content": ""}},
    ],
    ids=str,
)  # fmt: skip
def test_a_line_of_another_form_is_passed_over(row: dict[str, Any]) -> None:
    data = line("x", **row) + line("remember: the next is read", uuid="u2")
    assert texts(read(data)) == ["remember: the next is read"]


def test_a_time_that_is_none_is_unknown() -> None:
    for stamp in (None, 3, "yesterday", "9999-99-99", ""):
        assert read(line("x", timestamp=stamp)).turns[0].time == 0


def test_a_session_without_a_name_is_refused() -> None:
    for name in ("", None, "../x y"):
        with pytest.raises(BadTranscript, match="names no session"):
            read(line("x", sessionId=name))
