"""What the user asked to remember in turns that no hook heard is stored as they said it, once.

Turns of which no answer of a model can be read wait, are never asked about more than twice before
they have waited, and are passed over at last, which is said."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from bench import extraction
from bench.loop import LoopCase, asked, judge, play
from scripted import Scripted
from stores import BeginStore

from mdmemory import Memory
from mdmemory.capture.wishes import ANSWERED, words_id
from mdmemory.cli import main
from mdmemory.llm.answer import ModelFailed

DATA = Path(__file__).parent / "data"
NOON = datetime(2026, 6, 20, 12, tzinfo=UTC)
TABS = "remember: use tabs, not spaces"
SECRET = "ghp_" + "a1B2" * 9
At = Callable[[float], Memory]  # hours after noon
Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


def talk(*said: str, session: str = "ses_1", role: str = "user") -> bytes:
    messages = [
        {"info": {"id": f"m{number}", "role": role}, "parts": [{"type": "text", "text": text}]}
        for number, text in enumerate(said, 1)
    ]
    return json.dumps({"info": {"id": session, "title": "t"}, "messages": messages}).encode()


@pytest.fixture
def at(begin_store: BeginStore, repository: Path) -> At:
    begin_store()
    return lambda hours: Memory.open(repository, clock=lambda: NOON + timedelta(hours=hours))


@pytest.fixture
def memory(at: At) -> Memory:
    return at(0)


def said(memory: Memory) -> list[str]:
    return [each.note.head.description for each in memory.notes()]


def test_a_whole_session_gives_the_notes_a_person_asked_for(memory: Memory) -> None:
    done = memory.extract((DATA / "work.json").read_bytes())
    deploys = "Deploys are listed at https://example.org/deploys"
    assert {*said(memory)} == {deploys, "Tests run with TZ=UTC, see `make check`", "我喜欢简短回答"}
    assert (len(done.added), done.watermark, done.model) == (3, "msg_010", "")


def test_a_chinese_session_gives_chinese_notes(memory: Memory) -> None:
    memory.extract((DATA / "chinese.json").read_bytes())
    assert "提交信息用英文写" in said(memory)
    assert not any("助手" in each or "生日" in each for each in said(memory))


def test_a_note_says_where_it_came_from_and_is_named_by_its_first_words(memory: Memory) -> None:
    assert memory.extract(talk(TABS)).added == ["project-use-tabs-not-spaces.md"]
    note = memory.note("use-tabs-not-spaces").note
    head = "---\nname: use-tabs-not-spaces\ndescription: Use tabs, not spaces\n"
    assert note.text.startswith(head)
    assert (note.head.source, note.head.session, note.head.turn) == ("explicit", "ses_1", "m1")
    assert (note.head.created, note.head.status, note.body) == ("2026-06-20", "", "")


def test_what_no_person_asks_to_be_remembered_is_no_note(memory: Memory) -> None:
    hidden = f"<mdmemory>{TABS}</mdmemory>", f"<private>{TABS}</private>", f"> {TABS}"
    memory.extract(talk(*hidden, "I use tabs in all of the files"))
    memory.extract(talk(TABS, role="assistant", session="ses_2"))
    assert memory.notes() == []


def test_secrets_private_parts_and_invisible_characters_reach_no_note(memory: Memory) -> None:
    memory.extract(
        talk(
            f"remember: the staging database listens on port 5433, token {SECRET}",
            "remember: use tabs always <private>in the heron project</private>",
            "remember: use\u202e two\U000e0041 spaces,\x07 not three",
        )
    )
    kept = [path.read_bytes() for path in memory.project.root.rglob("*") if path.is_file()]
    assert not any(hidden in b"".join(kept) for hidden in (SECRET.encode(), b"heron"))
    database, spaces, tabs = sorted(said(memory), key=len, reverse=True)
    assert database.startswith("The staging database listens on port 5433, token [redacted:")
    assert (spaces, tabs) == ("Use two spaces, not three", "Use tabs always")


def test_a_request_that_no_note_may_hold_is_told_and_holds_up_no_other(memory: Memory) -> None:
    asked = "remember:\n- <<<<<<< HEAD of it", f"remember the token {SECRET}", TABS
    done = memory.extract(talk(*asked))
    assert said(memory) == ["Use tabs, not spaces"]
    assert [each["reasons"] for each in done.dropped] == [["unfit"], ["secret"]]


def test_what_a_hook_heard_and_answered_is_not_stored_again(memory: Memory) -> None:
    other = "remember: releases go out on Tuesdays"
    with memory.state() as state:
        state.set_watermark("ses_1", f"m1 {words_id(other)}", ANSWERED)
    assert memory.extract(talk(TABS, other)).files() == []
    assert len(memory.extract(talk(TABS, other, "remember: the queue is Redis")).added) == 1


def test_the_same_fact_twice_makes_one_note_which_a_person_removes_for_good(memory: Memory) -> None:
    again = "Remember that: Use tabs, not spaces!"
    (file,) = memory.extract(talk(TABS, again)).added
    assert memory.extract(talk(TABS, again)).files() == []
    memory.remove(file)
    assert memory.extract(talk(TABS, again, "and what else do we do today?")).files() == []


def test_taken_names_get_a_number(memory: Memory) -> None:
    memory.add("use-tabs-not-spaces", type="user", description="Something else entirely")
    (memory.project.store / "project-the-queue-is-redis.md").write_text("not ours\n", "utf-8")
    done = memory.extract(talk(TABS, "remember: the queue is Redis"))
    assert done.added == ["project-use-tabs-not-spaces-2.md", "project-the-queue-is-redis-2.md"]


def test_said_again_counts_at_most_once_in_seven_days_and_up_to_six(at: At) -> None:
    (file,) = at(0).extract(talk(TABS)).added
    for day, expected in ((1, 1), (7, 1), (8, 2), (16, 3), (24, 4), (32, 5), (40, 6), (48, 6)):
        before, then = at(24 * day).note(file).note, at(24 * day)
        then.extract(talk("remember: use tabs (not spaces)", TABS, session=f"day_{day}"))
        after = then.note(file).note
        assert after.head.reinforced == expected, day
        counted = ("reinforced:", "last_reinforced:")
        kept = [line for line in after.text.split("\n") if not line.strip().startswith(counted)]
        assert all(line in before.text for line in kept)
    assert len(at(0).notes()) == 1


def test_what_the_user_says_is_no_longer_unconfirmed(memory: Memory) -> None:
    (file,) = memory.extract(talk(TABS)).added
    path = memory.project.store / file
    text = path.read_text("utf-8").replace("metadata:\n", "metadata:\n  status: unconfirmed\n")
    path.write_text(text, "utf-8")
    assert memory.note(file).note.head.status == "unconfirmed"
    done = memory.extract(talk(TABS, session="ses_2"))
    assert (done.added, done.updated, memory.note(file).note.head.status) == ([], [file], "")


def test_what_was_superseded_is_in_force_again_when_it_is_asked_for_again(memory: Memory) -> None:
    (old,) = memory.extract(talk(TABS)).added
    new = memory.add("s", type="project", description="Use spaces, no tabs", replaces=[old]).file
    assert memory.note(old).note.head.status == "superseded"
    done = memory.extract(talk(TABS, session="ses_2"))
    assert [memory.note(file).note.head.status for file in (old, new)] == ["", "superseded"]
    memory.undo(done.id)
    assert memory.note(old).note.head.status == "superseded"


def test_a_note_held_back_is_not_touched(memory: Memory) -> None:
    path = memory.project.store / "tabs.md"
    text = f"---\ndescription: use tabs not spaces\n---\n\nThe key is {SECRET}\n"
    path.write_text(text, "utf-8")
    assert memory.extract(talk(TABS)).reinforced == []
    assert path.read_text("utf-8") == text


GOOD = {
    "action": "add", "type": "project", "kind": "", "title": "deploys", "why": "",
    "fact": "Deploys are always on Tuesdays", "quote": "We always deploy on Tuesdays",
    "replaces": [],
}  # fmt: skip
FIRST = "We always deploy on Tuesdays, the on-call team is complete then."
SAID = talk(FIRST)
LATER = talk(FIRST, "And the staging server is only reachable from within the office network.")


def outcomes(memory: Memory) -> list[str]:
    return [each.outcome for each in memory.captures() if each.phase == "run"]


def test_the_same_turns_are_asked_about_twice_and_then_wait_for_the_interval(at: At) -> None:
    model = Scripted("No.", "No.")
    assert at(0).extract(SAID, model=model).failure is not None
    for hours in (0.1, 6, 11.9):
        done = at(hours).extract(LATER, model=model)
        assert done.failure is not None
        assert (done.failure.code, done.watermark) == ("waits", "")
        assert "2026-06-21 00:00 UTC" in done.failure.message
    assert outcomes(at(12)) == ["failed"], "waiting is no news"
    first, second = (each.user for each in model.asked)
    assert second.startswith(first)
    assert second.removeprefix(first).count('{"candidates"') == 1, "an example and no more"
    assert model.asked[0].system == model.asked[1].system
    model.say({"candidates": [GOOD]})
    done = at(12).extract(SAID, model=model)
    assert (done.added, done.failure) == (["project-deploys.md"], None)


def test_after_three_rounds_turns_are_passed_over_and_told(
    at: At, monkeypatch: Patch, capsys: Capture
) -> None:
    for round in (0, 1):
        done = at(12 * round).extract(SAID, model=Scripted("No.", "No."))
        assert (done.watermark, done.passed_over) == ("", 0)
    done = at(24).extract(SAID, model=Scripted("No.", "No."))
    assert (done.watermark, done.passed_over) == ("m1", 1)
    assert outcomes(at(24))[:2] == ["failed", "passed_over"]
    later = Scripted({"candidates": []})
    at(24).extract(LATER, model=later)
    assert [turn["id"] for turn in json.loads(later.asked[0].user)["turns"]] == ["m2"]
    monkeypatch.chdir(at(24).project.root)
    assert main(["status"]) == 0
    assert "1 turn: no answer of a model could be read" in capsys.readouterr().out


def test_a_server_that_is_down_costs_no_round(memory: Memory) -> None:
    for _ in range(5):
        done = memory.extract(SAID, model=Scripted(ModelFailed("It is down.")))
        assert (done.watermark, done.passed_over) == ("", 0)
    assert memory.extract(SAID, model=Scripted({"candidates": [GOOD]})).added


def test_turns_that_were_not_read_are_not_said_to_hold_nothing(
    memory: Memory, monkeypatch: Patch, capsys: Capture, tmp_path: Path
) -> None:
    (tmp_path / "said.json").write_bytes(SAID)
    monkeypatch.chdir(memory.project.root)
    monkeypatch.setenv("MDMEMORY_PLANNER", "openai")
    monkeypatch.setenv("MDMEMORY_DAILY_CALLS", "0")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    words = ["extract", "--transcript", str(tmp_path / "said.json")]
    assert main(words) == 1
    out, err = capsys.readouterr()
    assert (out, "0 times today (UTC), which is the limit" in err) == ("", True)
    assert main([*words, "--dry-run"]) == 1
    assert capsys.readouterr().out == "Dry run: nothing was stored.\n"


def test_turns_that_no_model_reads_are_counted(memory: Memory) -> None:
    said = talk(*(f"Line {number} of a long talk about nothing much." for number in range(100)))
    done = memory.extract(said, model=Scripted({"candidates": []}))
    assert (done.older, done.unread) == (60, 0)


def test_a_candidate_that_was_cut_off_is_counted_and_costs_no_other(memory: Memory) -> None:
    whole = json.dumps({"candidates": [GOOD, {**GOOD, "title": "second"}]})
    done = memory.extract(SAID, model=Scripted(whole[:-20]))
    assert (done.added, done.unreadable, done.failure) == (["project-deploys.md"], 1, None)


PORT = ("proxy-port", "project", "The proxy listens on 8080")
QUOTE = "the proxy is on 8443 now"
CASE = LoopCase("1", "plain", "en", (PORT,), f"{QUOTE}, fix the test",
                replaces=frozenset({PORT[0]}), facts=(("8443",),))  # fmt: skip
WISH = LoopCase("2", "new", "en", (PORT,), "remember that Lena reviews it", facts=(("lena",),),
                asks=True)  # fmt: skip


@pytest.mark.parametrize(
    ("case", "args", "counts"),
    [
        (CASE, {"quote": QUOTE, "replaces": ["project-proxy-port.md"]}, (1, 0, 1, 1, 1)),
        (WISH, None, (0, 1, 1, 1, 1)),
        (WISH, {"declined": "joke", "quote": "remember that Lena reviews it"}, (0, 1, 0, 0, 0)),
    ],
)
def test_what_the_calls_of_an_assistant_leave_is_counted(
    case: LoopCase, args: dict[str, Any] | None, counts: tuple[int, ...]
) -> None:
    fact = {"fact": "The proxy listens on 8443", "type": "project"}
    calls = [{"tool": "memory_store", "args": fact | args}] if args else []
    found = judge(case, play(case, calls))
    names = ("settled", "wishes", "stored", "kept", "proven")
    assert tuple(found.get(name, 0) for name in names) == counts
    assert not any(found.get(name) for name in ("wrong", "touched", "lost", "junk"))


def test_the_assistant_is_shown_the_index_and_what_the_hook_adds() -> None:
    told = asked(WISH)
    assert "The proxy listens on 8080" in told["system"]
    assert "The user asks to remember" in told["added"]


@pytest.mark.slow
def test_what_a_blind_reader_finds_in_sessions_is_stored_or_waits(capsys: Capture) -> None:
    half = Path(extraction.__file__).parent / "extraction"
    answers = str(half / "answers2.jsonl")
    assert extraction.main([str(half / "half2.jsonl"), "--answers", answers]) == 0
    *rows, totals = capsys.readouterr().out.splitlines()
    assert totals.startswith("sessions 12, facts 67, stored 64, changes 16, replaced 16, waiting 3")
    assert "lost" not in totals
    assert not [row for row in rows if "stored beside" in row]
