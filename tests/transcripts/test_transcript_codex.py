"""Of a session of Codex only what a person typed, and what was answered, is a turn.

The samples were written by the client 0.169.0, with hooks that gave it texts of ours.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from mdmemory.capture.notice import notice_wishes
from mdmemory.errors import BadTranscript
from mdmemory.transcripts import codex
from mdmemory.transcripts.sources import read
from mdmemory.transcripts.turns import Transcript

DATA = Path(__file__).parent / "data"
SESSION = "01a20e81-3c7b-7822-857a-db9c28edb8c6"
META = {"type": "session_meta", "payload": {"id": "s", "cwd": "/repo"}}


def item(text: str, at: int = 0, kind: str = "UserMessage", **more: Any) -> dict[str, Any]:
    content = [{"type": "Text" if kind == "AgentMessage" else "text", "text": text}]
    payload = {"type": "item_completed", "thread_id": "s", **more,
               "item": {"type": kind, "id": f"i{at}", "content": content}}  # fmt: skip
    return {"type": "event_msg", "timestamp": f"2026-06-01T10:{at:02}:00Z", "payload": payload}


def of(*rows: dict[str, Any]) -> Transcript:
    return codex.transcript([META, *rows])


def words(transcript: Transcript, role: str = "user") -> list[str]:
    return [turn.text for turn in transcript.turns if turn.role == role]


def test_only_what_was_said_becomes_a_turn() -> None:
    transcript = read(DATA / "codex.jsonl")
    assert (transcript.session, transcript.parent) == (SESSION, "")
    assert words(transcript) == [
        "remember: codex says tabs",
        "remember: codex second says spaces",
        "remember: after compaction says fourth",
    ]
    assert words(transcript, "assistant") == ["Understood, done."] * 3
    assert transcript.turns[0].time == 1795539681095


def test_what_our_hooks_gave_is_never_asked_for() -> None:
    transcript = read(DATA / "codex.jsonl")
    raw = (DATA / "codex.jsonl").read_text("utf-8")
    assert raw.count("INJECTED") > 5
    assert raw.count("the agents file speaks") > 0
    assert [wish for turn in transcript.turns for wish in notice_wishes(turn.text).wishes] == [
        "codex says tabs", "codex second says spaces", "after compaction says fourth",
    ]  # fmt: skip


def test_a_providers_name_that_comes_twice_is_made_unique() -> None:
    assert len({turn.id for turn in read(DATA / "codex.jsonl").turns}) == 6


def test_a_compactions_summary_is_kept_apart() -> None:
    transcript = read(DATA / "codex.jsonl")
    assert [turn.text[:22] for turn in transcript.summaries] == ["Another language model"]


def test_a_fork_has_only_its_own_turns() -> None:
    assert words(read(DATA / "codex-fork.jsonl")) == ["remember: the fork says third"]


def test_a_reviewers_orders_are_nobodys_words() -> None:
    assert words(read(DATA / "codex-review.jsonl")) == []
    reviewer = read(DATA / "codex-reviewer.jsonl")
    assert (reviewer.turns, reviewer.parent != "") == ((), True)


@pytest.mark.parametrize(
    "meta",
    [
        {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}},
        {"source": {"internal": "memory_consolidation"}},
        {"source": "cli", "thread_source": "subagent"},
    ],
    ids=str,
)
def test_the_clients_own_sessions_have_no_turns(meta: dict[str, Any]) -> None:
    first = {"type": "session_meta", "payload": {"id": "s", **meta}}
    transcript = codex.transcript([first, item("remember: an order to a helper")])
    assert (transcript.turns, transcript.parent != "") == ((), True)


def test_a_message_that_is_told_twice_within_seconds_is_one_turn() -> None:
    assert words(of(item("use tabs", 1), item("use tabs", 1), item("use tabs", 2))) == [
        "use tabs", "use tabs",
    ]  # fmt: skip


def test_what_an_editor_or_a_pipe_added_is_left_out() -> None:
    editor = "# Context from my IDE setup:\n\n## Active file: a.md\nremember: x\n\n"
    asked = f"{editor}## My request for Codex:\nremember: use tabs\n"
    piped = "What is wrong?\n\n<stdin>\nremember: a log\n</stdin>"
    assert words(of(item(asked, 1), item(piped, 2))) == ["remember: use tabs", "What is wrong?"]


def test_what_belongs_to_another_thread_or_a_review_is_left_out() -> None:
    review = item("", 1, "EnteredReviewMode")
    end = item("", 3, "ExitedReviewMode")
    assert words(of(item("a", 0, thread_id="other"), review, item("b", 2), end, item("c", 4))) == [
        "c"
    ]


def test_a_session_without_its_first_line_is_refused() -> None:
    with pytest.raises(BadTranscript, match="names no session"):
        read(json.dumps(item("x")).encode())


UNNAMED = {
    "type": "item_completed",
    "item": {"type": "UserMessage", "content": [{"type": "text", "text": "x"}]},
}


@pytest.mark.parametrize(
    "row",
    [
        {"payload": None}, {"payload": "text"}, {"payload": {}}, {"payload": {"type": 3}},
        {"payload": {"type": "item_completed", "item": 3}},
        {"payload": {"type": "item_completed", "item": {"type": "UserMessage", "content": [3]}}},
        {"timestamp": "no moment at all!", "payload": UNNAMED}, {"type": ["event_msg"]},
        {"timestamp": None, "payload": UNNAMED},
    ],
    ids=str,
)  # fmt: skip
def test_a_line_of_another_form_is_passed_over(row: dict[str, Any]) -> None:
    assert words(of({**item("x"), **row}, item("the next is read", 1))) == ["the next is read"]
