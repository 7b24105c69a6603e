"""Before a proposal becomes a note, it is asked once more: does it last, and does it make untrue
what it replaces?"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import Said, Scripted

from mdmemory import Memory
from mdmemory.capture import second_question
from mdmemory.capture.candidates import Candidate
from mdmemory.capture.extracted import Extracted
from mdmemory.capture.second_question import Asked, FactVerdict
from mdmemory.errors import NotFound
from mdmemory.llm.answer import Answer, ContextExceeded, ModelFailed, Schema
from mdmemory.store import conflicts
from mdmemory.transcripts.turns import Turn

NOW = datetime(2026, 6, 20, 12, tzinfo=UTC)
FACT, JUNK = (
    "The scale prints grams with the unit first",
    "The printer on the second floor is stuck",
)
OLD, NEW = "The proxy listens on port 8080", "The proxy listens on port 8443"
Git = Callable[..., str]


def proposal(text: str, *replaces: str, action: str = "") -> dict[str, object]:
    return {
        "action": action or ("update" if replaces else "add"), "type": "project", "kind": "",
        "title": "", "fact": text, "why": "", "quote": text, "replaces": [*replaces],
    }  # fmt: skip


def says(*verdicts: tuple[str, str]) -> dict[str, Any]:
    """What a model answers to the second question: a verdict, and whether the old is untrue."""
    return {
        "verdicts": [
            {"number": str(at), "reason": "", "verdict": word, "untrue": untrue}
            for at, (word, untrue) in enumerate(verdicts, 1)
        ]
    }


def talk(*said: str, session: str = "ses_1") -> bytes:
    messages = [
        {"info": {"id": f"m{number}", "role": "user"}, "parts": [{"type": "text", "text": text}]}
        for number, text in enumerate(said, 1)
    ]
    return json.dumps({"info": {"id": session, "title": "t"}, "messages": messages}).encode()


@pytest.fixture
def memory(repository: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    Memory.init(repository)
    monkeypatch.chdir(repository)
    return Memory.open(repository, clock=lambda: NOW)


def read(
    memory: Memory, *proposed: dict[str, object], judge: Said | Callable[[str], str],
    session: str = "ses_1",
) -> Extracted:  # fmt: skip
    said = f"{session}: hello. {FACT}. {JUNK}. {NEW}."
    model = Scripted({"candidates": [*proposed]}, judge=judge)
    return memory.extract(talk(said, session=session), model=model)


def candidate(text: str, *replaces: str) -> Candidate:
    return Candidate("add", "project", "", "", text, "", text, replaces)


# --- what is asked -----------------------------------------------------------------------------


def test_each_proposal_is_shown_with_its_quote_its_surroundings_and_what_it_replaces() -> None:
    quote = "the unit stands first"
    long = f"{'so ' * 900}{quote}{' and' * 900}"
    turns = [Turn("1", "assistant", "b" * 900), Turn("2", "user", long), Turn("3", "user", "ok")]
    proposed = [Asked(candidate(quote), 1, (OLD, "another old one")), Asked(candidate(FACT), -1)]
    asked = json.loads(second_question.question(proposed, range(2), turns, "2026-06-20"))
    first, second = asked["facts"]
    before, turn, after = first["around"]
    assert (asked["today"], first["number"], first["quote"]) == ("2026-06-20", "1", quote)
    assert first["replaces"] == [OLD, "another old one"]
    assert (before["role"], after["text"]) == ("assistant", "ok")
    assert quote in turn["text"]
    assert len(turn["text"]) <= 2_000
    assert len(before["text"]) <= 400
    assert (second["replaces"], second["around"]) == ([], [])


def test_it_is_asked_once_for_all_proposals_of_a_run_and_never_what_the_first_one_thought(
    memory: Memory,
) -> None:
    model = Scripted({"candidates": [proposal(FACT), proposal(JUNK)]})
    done = memory.extract(talk(f"{FACT}. {JUNK}."), model=model)
    (asked,) = model.looked
    assert asked.system.startswith("# Task: does it last")
    facts = json.loads(asked.user)["facts"]
    assert [each["text"] for each in facts] == [FACT, JUNK]
    assert set(facts[0]) == {"number", "text", "quote", "replaces", "around"}
    assert done.second is not None
    cost = {"input": 100, "output": 10, "calls": 1}
    assert done.second.as_json() == {"asked": 2, "tokens": cost}
    assert "Asked once more whether what it found lasts (2; 100 tokens in" in done.second.as_text()


def test_what_a_person_asked_for_and_what_lacks_proof_needs_no_second_question(
    memory: Memory,
) -> None:
    model = Scripted({"candidates": [proposal("Nobody said this in any of the turns")]})
    done = memory.extract(talk(f"remember: {FACT}"), model=model)
    assert (len(done.added), model.looked, done.second) == (1, [], None)


def test_injected_memory_private_parts_and_secrets_reach_no_question(memory: Memory) -> None:
    secret = "ghp_" + "a1B2" * 9
    memory.add("old", type="project", description=OLD)
    said = (
        f"<mdmemory>Drinks tea at dawn</mdmemory>{FACT}. The token is {secret}. "
        "<private>My sister is called Anna</private>"
    )
    model = Scripted({"candidates": [proposal(FACT)]})
    memory.extract(talk(said), model=model)
    whole = "".join(each.user for each in (*model.asked, *model.looked))
    assert len(model.looked) == 1
    for hidden in (secret, "Drinks tea at dawn", "Anna"):
        assert hidden not in whole


def test_more_than_a_question_holds_is_asked_in_parts() -> None:
    class Small(Scripted):
        context_tokens = 3_000

    proposed = [Asked(candidate(f"fact number {n} " * 60), -1) for n in range(9)]
    model = Small()
    look = second_question.ask(model, proposed, [], "2026-06-20")
    asked = [[each["number"] for each in json.loads(q.user)["facts"]] for q in model.looked]
    assert [number for part in asked for number in part] == [str(n) for n in range(1, 10)]
    assert len(asked) > 2
    assert look.verdicts == dict.fromkeys(range(9), FactVerdict("lasting"))


def test_a_question_that_is_too_long_is_halved() -> None:
    class Small(Scripted):
        def complete(self, system: str, user: str, schema: Schema | None = None) -> Answer:
            if len(json.loads(user)["facts"]) > 1:
                raise ContextExceeded("Too long.", 0)
            return super().complete(system, user, schema)

    proposed = [Asked(candidate(text), -1) for text in (FACT, JUNK, NEW)]
    look = second_question.ask(Small(judge=lambda text: "moment"), proposed, [], "2026-06-20")
    assert look.failure is None
    assert look.verdicts == dict.fromkeys(range(3), FactVerdict("moment"))


# --- what is answered --------------------------------------------------------------------------


def test_verdicts_are_read_one_by_one_and_two_on_one_fact_are_none() -> None:
    said = [
        {"number": "1", "verdict": "LASTING ", "untrue": "Yes"}, {"number": 2, "verdict": "x"},
        "no", {"verdict": "lasting"}, {"number": "9", "verdict": "lasting"},
        {"number": "3", "verdict": "lasting"}, {"number": "3", "verdict": "moment"},
        {"number": "²", "verdict": "lasting"}, {"number": "4", "verdict": ["lasting"]},
    ]  # fmt: skip
    found = {0: FactVerdict("lasting", True), 1: FactVerdict("unclear")}
    assert second_question.read(said, range(5)) == found


ODD = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.lists(st.integers())


@given(st.lists(ODD | st.dictionaries(st.sampled_from(["number", "verdict", "untrue"]), ODD)))
def test_no_answer_breaks_the_reader_nor_affirms_by_chance(objects: list[object]) -> None:
    found = second_question.read(objects, range(3))
    assert all(each.word == "unclear" for each in found.values())


@pytest.mark.parametrize(
    "answer", [ModelFailed("It is down."), "I would keep the first.", "{}", says()]
)
def test_without_an_answer_the_proposals_wait_and_the_turns_count_as_read(
    memory: Memory, answer: Said
) -> None:
    done = read(memory, proposal(FACT), judge=answer)
    assert (done.added, len(done.pending), done.failure) == ([], 1, None)
    assert done.watermark == "m1"
    assert [each.description for each in memory.pending()] == [FACT]
    assert read(memory, judge=answer).pending == [], "read once"
    is_failure = answer != says()
    assert done.second is not None
    assert ("failure" in done.second.as_json()) == is_failure
    assert done.second.as_text().endswith("What had no answer waits.") == is_failure


def test_an_answer_that_cannot_be_read_is_asked_for_once_more() -> None:
    class Improving(Scripted):
        def complete(self, system: str, user: str, schema: Schema | None = None) -> Answer:
            self.judge = "No." if not self.looked else says(("lasting", ""))
            return super().complete(system, user, schema)

    model = Improving()
    look = second_question.ask(model, [Asked(candidate(FACT), -1)], [], "2026-06-20")
    first, second = (each.user for each in model.looked)
    assert second.startswith(first)
    assert (look.verdicts, look.failure, look.calls) == ({0: FactVerdict("lasting")}, None, 2)


# --- what becomes of them ----------------------------------------------------------------------


def test_what_lasts_is_stored_what_is_of_the_moment_dropped_and_a_doubt_waits(
    memory: Memory,
) -> None:
    verdicts = says(("lasting", ""), ("moment", ""), ("unclear", ""))
    done = read(memory, proposal(FACT), proposal(JUNK), proposal(NEW), judge=verdicts)
    assert [memory.note(file).note.head.description for file in done.added] == [FACT]
    reasons = {each["text"]: each["reasons"] for each in done.dropped}
    assert reasons == {JUNK: ["momentary"], NEW: ["pending", "unclear"]}
    assert [each.description for each in memory.pending()] == [NEW]
    row = next(each for each in memory.captures() if each.outcome == "dropped")
    assert (row.reasons, row.preview) == (("momentary",), JUNK)


@pytest.mark.parametrize("untrue", ["yes", "no", ""])
@pytest.mark.parametrize("action", ["update", "flag"])
def test_a_note_is_replaced_only_if_both_readings_say_that_it_is_untrue(
    memory: Memory, action: str, untrue: str
) -> None:
    old = memory.add("proxy", type="project", description=OLD).file
    before = memory.note("proxy").digest
    new = proposal(NEW, old, action=action)
    done = read(memory, new, judge=says(("lasting", untrue)))
    ledger = memory.project.store / "_CONFLICTS.md"
    if action == "update" and untrue == "yes":
        (pair,) = done.superseded
        assert (pair["file"], pair["by"]) == (old, done.added[0])
        assert memory.note("proxy").note.head.status == "superseded"
        assert not ledger.exists()
        return
    (flagged,) = done.flagged
    assert done.superseded == []
    assert memory.note("proxy").digest == before
    (entry,) = conflicts.open_entries(ledger.read_text("utf-8"))
    assert set(entry.files) == {old, flagged}


@pytest.mark.parametrize("verdict", ["moment", "unclear"])
def test_what_is_not_stored_replaces_nothing(memory: Memory, verdict: str) -> None:
    old = memory.add("proxy", type="project", description=OLD).file
    before = memory.note("proxy").digest
    done = read(memory, proposal(NEW, old), judge=says((verdict, "yes")))
    assert (done.superseded, done.flagged, memory.note("proxy").digest) == ([], [], before)


def test_several_notes_that_became_untrue_go_with_one_and_come_back_with_its_undo(
    memory: Memory, git: Git
) -> None:
    files = [memory.add(f"p{at}", type="project", description=f"{OLD}, says {at}").file
             for at in "ab"]  # fmt: skip
    before = {each.file: each.digest for each in memory.notes()}
    commits = git(memory.project.root, "rev-list", "--count", "HEAD")
    done = read(memory, proposal(NEW, *files), judge=says(("lasting", "yes")))
    assert [pair["file"] for pair in done.superseded] == files
    assert int(git(memory.project.root, "rev-list", "--count", "HEAD")) == int(commits) + 1
    memory.undo(done.id)
    assert {each.file: each.digest for each in memory.notes()} == before


def test_a_note_in_an_open_conflict_is_left_to_a_person(memory: Memory) -> None:
    old = memory.add("proxy", type="project", description=OLD).file
    read(memory, proposal(NEW, old, action="flag"), judge=says(("lasting", "no")))
    again = "The proxy listens on port 9443"
    model = Scripted({"candidates": [proposal(again, old)]}, judge=says(("lasting", "yes")))
    done = memory.extract(talk(f"{again}, from now on", session="ses_2"), model=model)
    assert (done.superseded, len(done.flagged)) == ([], 1)
    assert memory.note("proxy").note.head.status != "superseded"


# --- said again --------------------------------------------------------------------------------


def test_what_waits_is_stored_when_it_is_said_again_in_another_session(memory: Memory) -> None:
    assert len(read(memory, proposal(FACT), judge=says(("unclear", ""))).pending) == 1
    done = read(memory, proposal(FACT), judge=says(("unclear", "")), session="ses_2")
    assert (len(done.added), done.pending, memory.pending()) == (1, [], [])
    memory.undo(done.id)
    assert memory.notes() == []


def test_what_is_said_again_in_the_same_session_goes_on_waiting(memory: Memory) -> None:
    for said in (("Hello. " + FACT,), ("Hello. " + FACT, FACT + ", you know")):
        model = Scripted({"candidates": [proposal(FACT)]}, judge=says(("unclear", "")))
        assert memory.extract(talk(*said), model=model).added == []
    assert len(memory.pending()) == 1


@pytest.mark.parametrize(
    ("waits", "other"),
    [
        (FACT, JUNK),
        (FACT, "The scale prints grams with the unit last"),
        ("The staging host is not reachable from home", "The staging host is reachable from home"),
        ("Never deploy on Fridays before a holiday", "Always deploy on Fridays before a holiday"),
        ("Anna owns the billing worker and its page", "Bilal owns the billing worker and its page"),
        ("The proxy of the shop is on port 8080", "The proxy of the shop is on port 8443"),
    ],
)
def test_another_fact_in_another_session_stores_nothing(
    memory: Memory, waits: str, other: str
) -> None:
    for text, session in ((waits, "ses_1"), (other, "ses_2")):
        model = Scripted({"candidates": [proposal(text)]}, judge=says(("unclear", "")))
        assert memory.extract(talk(f"Well: {text}.", session=session), model=model).added == []
    assert {each.description for each in memory.pending()} == {waits, other}


def test_what_was_invented_is_not_stored_for_being_proposed_twice(memory: Memory) -> None:
    invented = {**proposal(f"{FACT} at 14:30"), "quote": FACT}
    for session in ("ses_1", "ses_2"):
        assert read(memory, invented, judge=says(("lasting", "")), session=session).added == []
    assert [each.reasons for each in memory.pending()] == [("invented",)]


def test_of_the_moment_the_second_time_stores_nothing_and_leaves_the_inbox(memory: Memory) -> None:
    read(memory, proposal(FACT), judge=says(("unclear", "")))
    assert read(memory, proposal(FACT), judge=says(("moment", "")), session="ses_2").added == []
    assert len(memory.pending()) == 1


def test_a_dry_run_leaves_what_waits_where_it_is(memory: Memory) -> None:
    read(memory, proposal(FACT), judge=says(("unclear", "")))
    (waits,) = memory.pending()
    model = Scripted({"candidates": [proposal(FACT)]}, judge=says(("unclear", "")))
    done = memory.extract(talk(FACT, session="ses_2"), model=model, dry_run=True)
    assert len(done.added) == 1
    assert (memory.pending(), memory.notes()) == ([waits], [])
    with pytest.raises(NotFound):
        memory.note(done.added[0])
