"""A reading of a transcript proposes notes for what the user asked to be remembered, no more."""

from __future__ import annotations

import random
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmemory.capture.extract import Proposal, explain, propose
from mdmemory.capture.note_text import description_of, name_of
from mdmemory.files import digest
from mdmemory.note.editing import compose
from mdmemory.note.limits import check_description, check_name
from mdmemory.note.note import Note, parse
from mdmemory.store.store import StoredNote
from mdmemory.transcripts.opencode import read_export
from mdmemory.transcripts.turns import Turn

DATA = Path(__file__).parent / "data"
TODAY = "2026-06-20"


def said(*lines: str) -> list[Turn]:
    return [Turn(f"msg_{n:03}", "user", line) for n, line in enumerate(lines, 1)]


def plan(*lines: str, existing: tuple[StoredNote, ...] = ()) -> Proposal:
    return propose(said(*lines), existing, session="ses_1", today=TODAY)


def notes(proposal: Proposal) -> list[Note]:
    return [parse(text, file) for file, text in proposal.added]


def stored(text: str, file: str) -> StoredNote:
    return StoredNote(file, digest(text.encode()), parse(text, file))


def tabs(body: str = "Use tabs, not spaces.", **metadata: str) -> StoredNote:
    text = compose(
        name="tabs", type="feedback", description="About tabs", body=body, metadata=metadata
    )
    return stored(text, "feedback-tabs.md")


def test_a_whole_session_gives_the_notes_a_person_asked_for() -> None:
    transcript = read_export((DATA / "work.json").read_bytes())
    proposal = propose(transcript.turns, (), session=transcript.session, today=TODAY)
    assert [file for file, _ in proposal.added] == [
        "feedback-tests-run-tz-utc.md",
        "user-喜欢简短回答.md",
        "reference-deploys-listed.md",
    ]
    assert [(note.head.description, note.body) for note in notes(proposal)] == [
        ("Tests run with TZ=UTC, see `make check`", ""),
        ("我喜欢简短回答", ""),
        ("Deploys are listed at https://example.org/deploys", ""),
    ]
    assert proposal.dropped == [
        {"text": "remember this", "reasons": ["vague"]},
        {"text": "don't remember", "reasons": ["negated"]},
    ]
    assert proposal.watermark == "msg_010"


def test_a_chinese_session_gives_chinese_notes() -> None:
    transcript = read_export((DATA / "chinese.json").read_bytes())
    proposal = propose(transcript.turns, (), session=transcript.session, today=TODAY)
    assert [file for file, _ in proposal.added] == [
        "feedback-提交信息-英文写.md",
        "feedback-先写测试再写代码.md",
    ]
    assert [drop["reasons"] for drop in proposal.dropped] == [["negated"], ["deferred"]]


def test_a_note_says_where_it_came_from() -> None:
    assert plan("remember: use tabs, not spaces").added == [
        (
            "feedback-use-tabs.md",
            "---\n"
            "name: use-tabs\n"
            "description: Use tabs, not spaces\n"
            "aliases: [use-tabs]\n"
            "metadata:\n"
            "  type: feedback\n"
            "  source: explicit\n"
            "  created: 2026-06-20\n"
            "  updated: 2026-06-20\n"
            "  session: ses_1\n"
            "  turn: msg_001\n"
            "---\n",
        )
    ]


def test_the_assistant_never_triggers() -> None:
    turn = Turn("msg_001", "assistant", "remember: use tabs, not spaces")
    proposal = propose([turn], (), session="ses_1", today=TODAY)
    assert proposal == Proposal(watermark="msg_001")


def test_nothing_read_moves_no_watermark() -> None:
    assert plan() == Proposal()


def test_a_decision_is_a_project_note_of_that_kind() -> None:
    (note,) = notes(plan("remember that we decided to use SQLite"))
    assert (note.head.type, note.head.kind) == ("project", "decision")


def test_a_secret_is_redacted_before_anything_is_planned() -> None:
    secret = "".join(random.Random(7).choices(string.ascii_letters, k=8)) + "7"
    proposal = plan(
        f"remember: the staging database listens on port 5433, password: {secret}",
        f"remember: my password is {secret}",
        f"remember: {secret}?",
        f"remember this later: password: {secret}",
    )
    assert secret not in repr([proposal.added, proposal.dropped[0], proposal.dropped[2:]])
    assert notes(proposal)[0].head.description.endswith("password: [redacted:password]")
    assert proposal.dropped[0] == {
        "text": "my password is [redacted:password]",
        "reasons": ["secret"],
    }


def test_private_text_is_neither_stored_nor_told() -> None:
    proposal = plan(
        "remember: <private>the code name is heron</private>",
        "remember: use tabs <private>in the heron project</private>",
        "<private>\nremember: heron is the code name",
    )
    assert "heron" not in repr(proposal)
    assert [note.head.description for note in notes(proposal)] == ["Use tabs"]
    assert proposal.dropped == [{"text": "remember", "reasons": ["private"]}]


def test_invisible_characters_reach_no_note() -> None:
    (note,) = notes(plan("remember: use\u202e tabs\U000e0041,\x07 not spaces"))
    assert (note.head.description, note.body) == ("Use tabs, not spaces", "")


def test_the_same_fact_twice_makes_one_note() -> None:
    assert len(plan("remember: use tabs always", "Remember that: Use tabs, always!").added) == 1


def test_a_question_before_it_does_not_hide_a_fact() -> None:
    assert len(plan("remember use tabs always?", "remember: use tabs always").added) == 1


def test_taken_names_get_a_number_across_types_and_case() -> None:
    there = stored("---\nname: Use-Tabs-Always\n---\n\nSomething else.\n", "project-x.md")
    proposal = plan(
        "remember: use tabs always",
        "remember: Use tabs! Always",
        "remember: use tabs always 2",
        "remember: use tabs always ++",
        existing=(there,),
    )
    assert [file for file, _ in proposal.added] == [
        "feedback-use-tabs-always-2.md",
        "feedback-use-tabs-always-3.md",
    ]


def test_a_file_in_the_way_is_not_written_over() -> None:
    there = stored("---\nname: other\n---\n\nSomething else.\n", "feedback-use-tabs-always.md")
    proposal = plan("remember: use tabs always", existing=(there,))
    assert [file for file, _ in proposal.added] == ["feedback-use-tabs-always-2.md"]


def test_a_long_fact_is_kept_whole_in_the_body() -> None:
    fact = " ".join(f"word{n}" for n in range(90))
    (note,) = notes(plan(f"remember: {fact}"))
    assert note.body == fact
    assert note.head.name == "word0-word1-word2-word3-word4"
    assert len(note.head.description) <= 220
    assert note.head.description.endswith("…")
    assert fact.startswith(note.head.description[:-1] + " ")


def test_a_fact_no_note_may_hold_is_told() -> None:
    assert plan("remember: " + "x" * 20_001).dropped[0]["reasons"] == ["unfit"]
    assert plan("remember: <<<<<<< HEAD of it").dropped[0]["reasons"] == ["unfit"]


# --- said again ------------------------------------------------------------------------------


def reinforced(note: StoredNote) -> Note | None:
    proposal = plan("remember: use tabs (not spaces)", existing=(note,))
    assert proposal.added == []
    return proposal.reinforced[0][1] if proposal.reinforced else None


def test_a_stored_fact_is_reinforced_and_nothing_else_in_it_changes() -> None:
    before = tabs(created="2026-01-01", session="ses_0", turn="msg_0")
    after = reinforced(before)
    assert after is not None
    assert (after.head.reinforced, after.head.last_reinforced) == (1, TODAY)
    added = ["  reinforced: 1", f"  last_reinforced: {TODAY}"]
    kept = [line for line in after.text.split("\n") if line not in added]
    assert "\n".join(kept) == before.note.text


@pytest.mark.parametrize(
    ("count", "last", "becomes"),
    [
        ("2", "2026-06-13", (3, TODAY)),
        ("2", "2026-06-14", None),
        ("2", TODAY, None),
        ("5", "2026-06-01", (6, TODAY)),
        ("6", "2026-06-01", (6, TODAY)),
        ("9", "2026-06-01", (9, TODAY)),
        ("1", "last week", (2, TODAY)),
        ("1", "2099-01-01", (2, TODAY)),
    ],
)
def test_it_counts_once_in_seven_days_and_up_to_six(
    count: str, last: str, becomes: tuple[int, str] | None
) -> None:
    after = reinforced(tabs(reinforced=count, last_reinforced=last))
    assert (after and (after.head.reinforced, after.head.last_reinforced)) == becomes


def test_said_often_in_one_reading_counts_once() -> None:
    proposal = plan(*["remember: use tabs, not spaces"] * 5, existing=(tabs(),))
    assert [note.head.reinforced for _, note in proposal.reinforced] == [1]


def test_reading_the_same_turn_again_reinforces_nothing() -> None:
    assert reinforced(tabs(session="ses_1", turn="msg_001")) is None


def test_what_the_user_says_is_no_longer_unconfirmed() -> None:
    after = reinforced(tabs(status="unconfirmed", last_reinforced=TODAY))
    assert after is not None
    assert after.head.status == ""


def test_a_fact_that_is_a_description_is_known_too() -> None:
    text = compose(name="x", type="feedback", description="Use tabs, not spaces", body="Why: so.")
    assert reinforced(stored(text, "feedback-x.md")) is not None


def test_a_note_held_back_is_not_touched() -> None:
    secret = "".join(random.Random(8).choices(string.ascii_letters, k=9)) + "3"
    text = "---\ndescription: use tabs not spaces\n---\n\npassword: " + secret + "\n"
    proposal = plan("remember: use tabs, not spaces", existing=(stored(text, "tabs.md"),))
    assert proposal.reinforced == proposal.added == []
    assert proposal.dropped == [{"text": "tabs", "reasons": ["held"]}]


# --- names, descriptions, explanations -------------------------------------------------------


@pytest.mark.parametrize(
    ("fact", "name"),
    [
        ("Use pnpm, never npm, in every JavaScript project", "use-pnpm"),
        ("我喜欢简短的回答，不要总结，也不要表格", "喜欢简短-回答"),
        ("The bank's API reference is here", "bank-api-reference"),
        ("用 pnpm 安装依赖", "pnpm-安装依赖"),
        ("https://example.org/board", "https-example-org-board"),
        ("!!! ???", "fact"),
    ],
)
def test_a_name_is_made_of_the_first_words(fact: str, name: str) -> None:
    assert name_of(fact) == name


@given(st.text(min_size=8, max_size=400))
def test_whatever_is_said_the_proposal_can_be_written(text: str) -> None:
    for file, whole in plan(f"remember: {text}").added:
        note = parse(whole, file)
        assert note.head.problems == ()
        check_name(note.head.name)
        check_description(note.head.description)


@given(st.text(alphabet="ab 我。", min_size=1, max_size=600))
def test_a_description_is_the_beginning_of_the_fact(fact: str) -> None:
    line = " ".join(fact.split())
    cut = description_of(fact)
    assert len(cut) <= 220
    assert cut == line or line.startswith(cut.removesuffix("…"))


def test_explain_says_why_a_message_is_remembered() -> None:
    note = tabs()
    assert explain("remember: Use tabs, not spaces!", (note,)) == {
        "text": "remember: Use tabs, not spaces!",
        "private_removed": 0,
        "redacted": [],
        "trigger": "remember",
        "negated": False,
        "facts": [{"type": "feedback", "kind": "", "text": "Use tabs, not spaces!"}],
        "gate": {"accepted": True, "reasons": []},
        "words": {"show": "unsure", "lasts": [], "passes": []},
        "key": "use tabs not spaces",
        "identity": "",
        "near": [{"file": "feedback-tabs.md", "score": 1.0}],
    }


def test_explain_says_why_a_message_is_not_remembered() -> None:
    assert explain("I use tabs")["gate"] == {"accepted": False, "reasons": ["too_short"]}
    assert explain("I use tabs")["trigger"] == ""
    refused = explain("don't remember this: <private>x</private>")
    assert (refused["negated"], refused["private_removed"]) == (True, 1)
    assert refused["gate"] == {"accepted": False, "reasons": ["negated"]}
