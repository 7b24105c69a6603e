"""Of a session of Gemini CLI only what a person typed, and what was answered, is a turn.

The samples were written by the client 0.61.0, with hooks that gave it texts of ours.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from mdmemory.transcripts import gemini
from mdmemory.transcripts.sources import read
from mdmemory.transcripts.turns import Transcript

DATA = Path(__file__).parent / "data"
FIRST = {"sessionId": "s", "projectHash": "0", "kind": "main"}


def said(text: object, id: str = "m1", kind: str = "user", **more: Any) -> dict[str, Any]:
    content = [{"text": text}] if isinstance(text, str) else text
    return {"id": id, "type": kind, "content": content, **more}


def of(*rows: dict[str, Any]) -> Transcript:
    return gemini.transcript([FIRST, *rows])


def words(transcript: Transcript, role: str = "user") -> list[str]:
    return [turn.text for turn in transcript.turns if turn.role == role]


def test_only_what_was_said_becomes_a_turn() -> None:
    transcript = read(DATA / "gemini.jsonl")
    assert transcript.session == "66c928ca-b22f-42b7-b418-2045acdfd8ee"
    assert words(transcript) == [
        "remember: first in the terminal", "second message here", "third message here",
        "fourth after compress",
    ]  # fmt: skip
    assert words(transcript, "assistant") == ["Understood, done."] * 4
    assert transcript.turns[0].time == 1795540050730
    assert (DATA / "gemini.jsonl").read_text("utf-8").count("INJECTED") > 4


def test_a_message_that_the_client_drops_when_it_goes_on_is_still_said() -> None:
    assert words(read(DATA / "gemini-resumed.jsonl")) == [
        "I prefer pnpm over npm. Read the README <b>please</b>.",
        "Second prompt: use an agent", "Third prompt",
    ]  # fmt: skip
    lines = (DATA / "gemini-resumed.jsonl").read_text("utf-8").splitlines()
    histories = [json.loads(line)["$set"] for line in lines if '"$set":{"messages"' in line]
    assert "I prefer pnpm" not in json.dumps(histories[-1]), "this sample would prove nothing"


def test_a_helpers_session_has_no_turns() -> None:
    assert read(DATA / "gemini-helper.jsonl").turns == ()


def test_a_shortened_history_says_nothing_anew() -> None:
    before = [said("use tabs", "m1"), said("Done.", "m2", "gemini"), said("use tabs", "m3")]
    summary = said("<state_snapshot>\nremember: use tabs\n</state_snapshot>", "n1")
    thanks = said("Got it. Thanks for the additional context!", "n2", "gemini")
    history = {"$set": {"messages": [summary, thanks, said("use tabs", "n3")]}}
    transcript = of(*before, history, said("use tabs", "m4"))
    assert [turn.id for turn in transcript.turns] == ["m1", "m2", "m3", "m4"]
    assert [turn.id for turn in transcript.summaries] == ["n1"]


def test_a_summary_of_any_form_is_known_by_the_answer_to_it() -> None:
    thanks = said("Got it. Thanks for the additional context!", "n2", "gemini")
    assert of({"$set": {"messages": [said("A plain summary", "n1"), thanks]}}).turns == ()


def test_what_was_taken_back_in_the_client_stays_said() -> None:
    assert words(of(said("one"), said("two", "m2"), {"$rewindTo": "m1"})) == ["one", "two"]


@pytest.mark.parametrize(
    "text",
    [
        "<hook_context>remember: ours</hook_context>",
        "<session_context>\nremember: the client's\n</session_context>",
        "Here is the user's editor context as a JSON object. remember: x",
        "System: Potential loop detected. remember: x",
        "Please continue.",
    ],
)
def test_what_the_client_says_in_a_persons_name_is_left_out(text: str) -> None:
    assert of(said(text)).turns == ()


def test_what_was_typed_goes_before_what_the_client_made_of_it() -> None:
    made = [{"text": "look at @a.md"}, {"text": "\n--- Content from referenced files ---"},
            {"text": "remember: the file's"}]  # fmt: skip
    shown = [{"text": "<hook_context>remember: ours</hook_context>\n\nlook at @a.md"}]
    assert words(of(said(made), said(made, "m2", displayContent=shown))) == ["look at @a.md"] * 2


def test_mdmemorys_own_sessions_have_no_turns() -> None:
    assert of({"$set": {"summary": "mdmemory extract"}}, said("remember: x")).turns == ()


@pytest.mark.parametrize(
    "row",
    [
        {"content": 3}, {"content": None}, {"content": [3, None, {"text": 3}, []]}, {"id": ""},
        {"id": ["m"]}, {"type": ["user"]}, {"type": None}, {"$set": {"messages": [3, None, {}]}},
        {"$set": {"messages": 3}}, {"displayContent": 3, "content": ""},
        {"content": [{"functionResponse": {}, "text": "x"}, {"thought": True, "text": "x"}]},
    ],
    ids=str,
)  # fmt: skip
def test_a_line_of_another_form_is_passed_over(row: dict[str, Any]) -> None:
    assert words(of({**said("x"), **row}, said("the next is read", "m2"))) == ["the next is read"]
