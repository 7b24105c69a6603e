"""What a model proposes is stored if it lasts: by a second question, and by its words."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from scripted import Scripted

from mdmemory import Memory
from mdmemory.capture import lasting
from mdmemory.capture.candidates import Candidate
from mdmemory.capture.endurance import LASTING, MOMENT, UNSURE, Shown, beside, shown
from mdmemory.capture.extracted import Extracted
from mdmemory.capture.lasting import Proposed, Record, TimeVerdict, decided, is_judge
from mdmemory.cli import main
from mdmemory.config import person
from mdmemory.layers import Layers
from mdmemory.llm.answer import ContextExceeded, ModelFailed
from mdmemory.review import waiting
from mdmemory.review.items import FROM_ONE, folded
from mdmemory.store.state import State
from mdmemory.transcripts.turns import Turn

NOW = datetime(2026, 6, 20, 12, tzinfo=UTC)
FACT = "The scale prints grams with the unit first"
JUNK = "The printer is stuck"
SAID = [
    ("user", "The scale prints grams with the unit first. Oh, and the printer is stuck today."),
    ("assistant", "I see."),
]

BLANK = {"type": "", "kind": "", "name": "", "description": "", "body": "", "file": ""}


def export(said: list[tuple[str, str]], session: str = "ses_1") -> bytes:
    messages = [
        {
            "info": {"id": f"m{number:03}", "role": role, "time": {"created": number}},
            "parts": [{"type": "text", "text": text}],
        }
        for number, (role, text) in enumerate(said, 1)
    ]
    return json.dumps({"info": {"id": session, "title": "t"}, "messages": messages}).encode()


@pytest.fixture
def memory(repository: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    Memory.init(repository)
    monkeypatch.chdir(repository)
    return Memory.open(repository, clock=lambda: NOW)


def proposal(text: str) -> dict[str, object]:
    return BLANK | {
        "action": "add", "type": "project", "name": "", "description": text, "body": f"{text}.",
        "quote": text,
    }  # fmt: skip


def read(memory: Memory, model: Scripted, session: str = "ses_1") -> Extracted:
    said = [(role, text.replace("Oh", f"{session}: oh")) for role, text in SAID]
    return memory.extract(export(said, session), model=model)


def proposing(*texts: str, judge: object = lambda _: LASTING) -> Scripted:
    return Scripted({"candidates": [proposal(text) for text in texts]}, judge=judge)  # type: ignore[arg-type]


def candidate(text: str) -> Candidate:
    return Candidate("add", "project", "", "", text, text, "", text)


# --- the two judges ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "verdict", "outcome"),
    [
        (LASTING, "lasting", "stored"), (UNSURE, "lasting", "stored"), (MOMENT, "lasting", "waits"),
        (LASTING, "unclear", "waits"), (UNSURE, "unclear", "waits"), (MOMENT, "unclear", "waits"),
        (LASTING, "moment", "waits"), (UNSURE, "moment", "waits"), (MOMENT, "moment", "dropped"),
    ],
)  # fmt: skip
def test_what_both_hold_for_lasting_is_stored_and_what_neither_does_is_dropped(
    words: str, verdict: str, outcome: str
) -> None:
    fate = decided(Shown(words), TimeVerdict(verdict), is_believed=True)
    said = "dropped" if fate.is_dropped else "waits" if fate.reasons else "stored"
    assert said == outcome


def test_the_word_of_a_model_that_is_no_judge_stores_only_what_the_words_show() -> None:
    affirmed = TimeVerdict("lasting")
    assert decided(Shown(UNSURE), affirmed, is_believed=False).reasons == (lasting.DOUBTED,)
    assert not decided(Shown(LASTING), affirmed, is_believed=False).reasons


def test_a_model_is_no_judge_that_affirms_everything_or_what_is_plainly_of_the_moment() -> None:
    assert is_judge(Record(), 1)  # a new one is believed
    assert is_judge(Record(), lasting.MANY - 1)
    assert not is_judge(Record(), lasting.MANY)
    assert is_judge(Record(denied=1), 20)
    assert not is_judge(Record(plain=1, affirmed=1), 1)
    assert not is_judge(Record(plain=4, affirmed=3, denied=9), 1)
    assert is_judge(Record(plain=4, affirmed=2), 9)
    assert Record(plain=50, affirmed=10, denied=40).aged() == Record(25, 5, 20)


def test_whose_quote_speaks_of_today_is_of_the_moment_whatever_the_claim_says() -> None:
    assert shown("Deploys always happen on Tuesdays", "we deploy tonight", "project").passes
    assert shown("The user likes tea", "I always drink tea", "user").value == LASTING
    assert shown("Always drinks tea", "I drink tea", "user").value == UNSURE  # a model's words
    assert shown("Doors stay shut", "keep the doors shut", "project",
                 beside="just for tonight,").value == MOMENT  # fmt: skip
    rest = beside("push to main", "Tests first. This once push to main, please. Then rest.")
    assert rest == "This once  , please"


def test_a_rule_that_names_what_it_forbids_is_not_refused_as_progress() -> None:
    rule = "Fix flaky tests instead of retrying them."
    assert shown(rule, rule, "feedback").value != MOMENT


# --- the question --------------------------------------------------------------------------------


def test_each_proposal_is_shown_in_its_turn_with_a_line_of_those_around() -> None:
    quote = "the unit stands first"
    long = f"{'so ' * 400}{quote}{' and' * 400}"
    turns = [Turn("1", "assistant", "b" * 900), Turn("2", "user", long), Turn("3", "user", "ok")]
    proposed = [Proposed(candidate(quote), 1, Shown(UNSURE))]
    (places,) = lasting.parts(proposed, turns, "2026-06-20")
    asked = json.loads(lasting.question(proposed, places, turns, "2026-06-20"))
    (fact,) = asked["facts"]
    before, turn, after = (each["text"] for each in fact["around"])
    assert (fact["number"], fact["quote"], after) == ("1", quote, "ok")
    assert quote in turn
    assert len(turn) <= lasting.TURN + 4
    assert len(before) <= lasting.BESIDE + 2


def test_more_than_a_question_holds_is_asked_in_parts() -> None:
    proposed = [Proposed(candidate(f"fact number {n} " * 20), -1, Shown(UNSURE)) for n in range(9)]
    parts = lasting.parts(proposed, [], "2026-06-20", room=2_000)
    assert [at for part in parts for at in part] == [*range(9)]
    assert len(parts) > 2
    texts = [lasting.question(proposed, part, [], "2026-06-20") for part in parts]
    assert max(map(len, texts)) <= 2_000


def test_verdicts_are_read_one_by_one() -> None:
    said = [
        {"number": "1", "verdict": "LASTING ", "reason": "a  habit"}, {"number": 2, "verdict": "x"},
        "no", {"verdict": "lasting"}, {"number": "9", "verdict": "lasting"},
        {"number": "3", "verdict": "lasting"}, {"number": "3", "verdict": "moment"},
        {"number": "²", "verdict": "lasting"},
    ]  # fmt: skip
    assert lasting.read(said, range(4)) == {
        0: TimeVerdict("lasting", "a habit"), 1: TimeVerdict("unclear")
    }  # fmt: skip


# --- a run ---------------------------------------------------------------------------------------


def test_a_fact_is_stored_and_a_thing_of_the_moment_is_dropped_with_its_reason(
    memory: Memory,
) -> None:
    model = proposing(FACT, JUNK, judge=lambda text: LASTING if text == FACT else MOMENT)
    done = read(memory, model)
    assert (len(done.added), done.pending) == (1, [])
    assert done.dropped[0]["text"] == JUNK
    assert done.dropped[0]["reasons"][0] == lasting.MOMENTARY  # type: ignore[index]
    (asked,) = model.looked
    assert asked.system.startswith("# Task: does it last")
    assert [each["text"] for each in json.loads(asked.user)["facts"]] == [FACT, JUNK]
    assert done.second is not None
    assert done.second.as_json() == {
        "asked": 2, "believed": True, "tokens": {"input": 100, "output": 10, "calls": 1},
    }  # fmt: skip
    row = next(each for each in memory.captures() if each.outcome == "dropped")
    assert lasting.MOMENTARY in row.reasons


@pytest.mark.parametrize("answer", [ModelFailed("It is down."), "I would keep the first.", "{}"])
def test_without_an_answer_the_proposals_wait_and_the_turns_count_as_read(
    memory: Memory, answer: object
) -> None:
    done = read(memory, proposing(FACT, judge=answer))
    assert (done.added, len(done.pending), done.failure) == ([], 1, None)
    assert done.watermark == "m002"
    assert done.second is not None
    assert done.second.failure is not None
    assert read(memory, Scripted()).pending == []  # read once


def test_a_second_question_that_the_cap_forbids_is_not_said_to_be_asked() -> None:
    capped = ModelFailed("Models were asked once today (UTC), which is the limit.", "", "over_cap")
    proposed = Proposed(Candidate("add", "project", "", "", FACT, FACT, "", FACT), 0, Shown("", ()))
    told = lasting.SecondLook((proposed,), failure=capped).as_text()
    assert told.startswith("Whether what it found lasts (1) was not asked. Models were asked once")
    assert told.endswith("It waits.")


def test_a_question_that_is_too_long_is_halved(memory: Memory) -> None:
    class Small(Scripted):
        def complete(self, system, user, schema=None):  # type: ignore[no-untyped-def]
            if "facts" in user and len(json.loads(user)["facts"]) > 1:
                raise ContextExceeded("Too long.", 0)
            return super().complete(system, user, schema)

    said = {"candidates": [proposal(FACT), proposal(JUNK)]}
    model = Small(said, judge=lambda text: LASTING if text == FACT else MOMENT)
    done = read(memory, model)
    assert len(model.looked) == 2
    assert (len(done.added), len(done.pending)) == (1, 0)


def test_what_waits_is_stored_when_it_is_said_again_in_another_session(
    memory: Memory, git: Callable[..., str]
) -> None:
    unsure = {"judge": lambda _: "unclear"}
    assert len(read(memory, proposing(FACT, **unsure)).pending) == 1
    again = proposing(FACT, **unsure)
    assert len(read(memory, again, "ses_2").added) == 1
    assert memory.pending() == []
    memory.undo()
    assert memory.notes() == []


def test_what_a_model_calls_momentary_again_goes_on_waiting(memory: Memory) -> None:
    for session in ("ses_1", "ses_2"):
        assert read(memory, proposing(FACT, judge=lambda _: MOMENT), session).added == []
    assert len(memory.pending()) == 1


def test_a_model_that_affirms_what_is_plainly_of_the_moment_is_remembered(memory: Memory) -> None:
    assert read(memory, proposing(JUNK)).pending
    with State(memory.project.state_file) as state:
        assert state.rows("SELECT * FROM second_look") == [("scripted", 1, 1, 0)]
    done = read(memory, proposing(FACT), "ses_2")
    assert done.second is not None
    assert not done.second.is_believed
    assert (done.added, len(done.pending)) == ([], 1)


def test_what_a_person_asked_for_needs_no_second_question(memory: Memory) -> None:
    model = Scripted({"candidates": []})
    done = memory.extract(export([("user", f"remember: {FACT}")]), model=model)
    assert (len(done.added), model.looked) == (1, [])


# --- the inbox -----------------------------------------------------------------------------------


def test_the_inbox_shows_the_best_five_of_a_session_and_folds_the_rest(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    letters = "abcdefgh"
    texts = [f"The drawer {each * 3} holds {each * 4} and {each * 5}" for each in letters]
    best = "We always label the drawers"
    said = [("user", ". ".join([*texts, best]))]
    model = proposing(*texts, best, judge=lambda _: "unclear")
    assert len(memory.extract(export(said), model=model).pending) == 9
    found = waiting.items(Layers(Path.cwd(), person.places()))
    assert found[0].notes[0].text == best
    assert [len(each) for each in folded(found).values()] == [9 - FROM_ONE]
    assert main(["review"]) == 0
    told = capsys.readouterr().out
    assert told.count("  pending: ") == FROM_ONE
    assert "and 4 more of session ses_1: `mdmemory review --more`" in told
    assert "9 items" in told
    assert main(["review", "--more"]) == 0
    assert capsys.readouterr().out.count("  pending: ") == 9
    assert main(["review", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 9


# --- two stores ----------------------------------------------------------------------------------


def personal(text: str, type: str = "user") -> dict[str, object]:
    return BLANK | {
        "action": "add", "type": type, "description": text, "body": f"{text}.",
        "quote": text.removeprefix("The user works "),
    }  # fmt: skip


@pytest.mark.parametrize("has_person", [False, True])
def test_a_personal_fact_that_waits_keeps_no_other_from_its_store(
    memory: Memory, *, has_person: bool
) -> None:
    layers = Layers(Path.cwd(), person.places())
    if has_person:
        layers.keep("Remember that my sister is called Anna", session="before", turn="m1")
    said = "I work from Graz. My sister Anna has green tea at home. Releases go out on Tuesdays."
    facts = [
        personal("My sister Anna has green tea at home"),
        personal("Releases go out on Tuesdays", "project"),
    ]
    model = Scripted(
        {"candidates": facts}, judge=lambda text: "unclear" if "tea" in text else LASTING
    )
    found = layers.extract(export([("user", said), ("assistant", "Noted.")]), model=model)
    assert [each for each in found.added if not each.startswith("me/")] == [
        "project-releases-tuesdays.md"
    ]
    assert found.pending
    assert any("tea" in str(each) for each in waiting.items(Layers(Path.cwd(), person.places())))


def test_a_personal_fact_of_a_summary_that_waits_keeps_no_other_from_its_store(
    memory: Memory,
) -> None:
    layers = Layers(Path.cwd(), person.places())
    layers.keep("Remember that my sister is called Anna", session="before", turn="m1")
    _, shown = layers.summary_request()
    text = "Memory candidates:\n- [user] Collects stamps of the postal union\n"
    text += "- [project] Releases go out on Tuesdays\n"
    said = [Turn("m1", "user", "Releases go out on Tuesdays.")]
    found = layers.summary("ses_1", text, said, shown=shown)
    assert found.added == ["project-releases-tuesdays.md"]
    assert any("stamps" in str(each) for each in waiting.items(layers))
