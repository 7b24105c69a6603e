"""A capture run, with a model and without: asked without a lock, judged, one commit a store, one
watermark. Turns of which no answer can be read wait, and are passed over at last, which is said."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from bench import extraction
from bench.loop import LoopCase, asked, judge, play
from scripted import Said, Scripted
from stores import BeginStore

from mdmemory import Memory
from mdmemory.capture.wishes import ANSWERED, words_id
from mdmemory.cli import main
from mdmemory.errors import BadSetting, Busy
from mdmemory.llm.answer import Answer, ModelFailed, Schema
from mdmemory.review import waiting
from mdmemory.store.evidence import KEPT_ROWS, Evidence, record_evidence, recorded_evidence
from mdmemory.store.state import State

NOW = datetime(2026, 6, 20, 12, tzinfo=UTC)
Git = Callable[..., str]
At = Callable[[float], Memory]  # hours after noon
Patch = pytest.MonkeyPatch
Capture = pytest.CaptureFixture[str]
DATA = Path(__file__).parent / "data"
TABS = "remember: use tabs, not spaces"
SECRET = "ghp_" + "a1B2" * 9
SAID = [
    ("user", "remember: release notes are written in British English"),
    ("assistant", "Stored."),
    ("user", "We always deploy on Tuesdays, the on-call team is complete then."),
    ("assistant", "Fine. The proxy listens on port 8080."),
    ("user", "The port of the proxy is 8443 now, not 8080."),
]
DEPLOY = {
    "action": "add", "type": "project", "kind": "", "title": "Deploys",
    "fact": "Deploys are always on Tuesdays", "why": "the on-call team is complete then",
    "quote": "We always deploy on Tuesdays", "replaces": [],
}  # fmt: skip
MOVED = {
    **DEPLOY, "action": "update", "title": "", "fact": "The proxy listens on port 8443",
    "why": "", "quote": "The port of the proxy is 8443 now, not 8080.",
    "replaces": ["project-proxy.md"],
}  # fmt: skip
VERDICT = {"reason": "", "verdict": "lasting", "untrue": "yes"}
UNTRUE = {"verdicts": [{"number": str(at), **VERDICT} for at in range(9)]}


def export(said: list[tuple[str, str]] = SAID, session: str = "ses_1") -> bytes:
    parts = [(role, [{"type": "text", "text": text}]) for role, text in said]
    rows = enumerate(parts, 1)
    messages = [{"info": {"id": f"m{n:03}", "role": who}, "parts": p} for n, (who, p) in rows]
    return json.dumps({"info": {"id": session, "title": "t"}, "messages": messages}).encode()


def answers(*candidates: dict[str, Any]) -> Scripted:
    return Scripted({"candidates": list(candidates)}, judge=UNTRUE)


@pytest.fixture
def memory(begin_store: BeginStore, repository: Path, monkeypatch: Patch) -> Memory:
    monkeypatch.chdir(repository)
    memory = begin_store(clock=lambda: NOW)
    memory.add("proxy", type="project", description="The proxy listens on port 8080")
    return memory


def asked_for(memory: Memory) -> str:
    """The file of the note that the user asks for in so many words."""
    (file,) = (each.file for each in memory.notes() if "British" in each.note.head.description)
    return file


def test_requests_and_findings_are_one_commit_that_says_all(memory: Memory, git: Git) -> None:
    before = git(memory.project.root, "rev-parse", "HEAD").strip()
    old = memory.note("proxy").digest
    request = SAID[0][1].removeprefix("remember: ").capitalize()
    said_too = {**DEPLOY, "title": "", "fact": request, "why": "", "quote": request.lower()}
    other_type = {**said_too, "type": "feedback"}
    done = memory.extract(export(), model=answers(DEPLOY, MOVED, said_too, other_type))
    asked, deploys, moved = done.added
    assert (asked, deploys) == (asked_for(memory), "project-deploys.md")
    assert [(each["file"], each["by"]) for each in done.superseded] == [("project-proxy.md", moved)]
    assert (done.failure, done.unread, done.watermark) == (None, 0, "m005")
    assert git(memory.project.root, "rev-parse", "HEAD^").strip() == before
    message = git(memory.project.root, "log", "-1", "--format=%an%n%B")
    assert message.startswith("mdmemory\n")
    for said in (f"store {deploys}: Deploys are always on Tuesdays", "supersede project-proxy.md"):
        assert said in message
    assert "\nMemory-Session: ses_1\nMemory-Model: scripted\n" in message
    assert git(memory.project.root, "status", "--porcelain") == ""
    assert memory.note(asked).note.head.source == "explicit"
    head = (note := memory.note("deploys").note).head
    assert (head.source, head.session, head.turn) == ("extraction", "ses_1", "m003")
    assert (head.created, head.status, head.problems) == ("2026-06-20", "", ())
    assert "Why: the on-call team is complete then" in note.body
    assert main(["undo", done.id, "--session", "ses_1"]) == 2
    assert memory.undo(done.id).kept == ()
    assert [(each.file, each.digest) for each in memory.notes()] == [("project-proxy.md", old)]


def test_the_model_sees_the_turns_and_the_notes_there_are(memory: Memory) -> None:
    body = "It listens on port 8080, behind the other proxy."
    file = memory.add("p", type="project", description="About the proxy", body=body).file
    model = answers({**MOVED, "replaces": [file]})
    memory.extract(export(), model=model)
    asked = json.loads(model.asked[0].user)
    assert asked["today"] == "2026-06-20"
    assert [turn["text"] for turn in asked["turns"]] == [text for _, text in SAID]
    heads = {each["description"] for each in asked["notes"]}
    assert heads == {"The proxy listens on port 8080", "About the proxy"}
    assert "{{" not in model.asked[0].system
    assert "candidates" in model.asked[0].system
    # the second question shows the whole text of what would be replaced
    (fact,) = json.loads(model.looked[0].user)["facts"]
    (shown,) = fact["replaces"]
    assert "About the proxy" in shown
    assert body in shown


def test_what_a_note_says_already_is_counted_and_not_stored_again(memory: Memory) -> None:
    file = memory.add("d", type="project", description="Deploys are always on Tuesdays").file
    again = {**DEPLOY, "action": "reinforce", "fact": "", "replaces": [file]}
    same = {**DEPLOY, "why": ""}
    unclear = Scripted({"candidates": [same]}, judge=lambda _: "unclear")
    for model, session, expected in (
        (answers(again), "ses_1", [file]),
        (answers(same), "ses_2", []),
        (unclear, "ses_3", []),
    ):
        done = memory.extract(export(SAID[2:], session), model=model)
        assert (done.added, done.pending, done.reinforced) == ([], [], expected)
    assert memory.note("d").note.head.reinforced == 1
    assert memory.pending() == []


def test_held_notes_are_never_shown_nor_replaced(memory: Memory) -> None:
    path = memory.project.store / "user-token.md"
    path.write_text(f"My token is {SECRET}\n", encoding="utf-8")
    model = answers({**MOVED, "replaces": ["user-token.md"]})
    done = memory.extract(export(), model=model)
    assert SECRET not in model.asked[0].user
    assert "user-token.md" not in model.asked[0].user
    assert done.dropped[-1]["reasons"] == ["unknown_file"]
    assert path.read_text("utf-8") == f"My token is {SECRET}\n"


@pytest.mark.parametrize("question", [1, 2])
def test_a_hand_edit_while_the_model_thinks_wins(memory: Memory, question: int) -> None:
    path = memory.project.store / "project-proxy.md"
    theirs = "The proxy is gone.\n"

    class Slow(Scripted):
        def complete(self, system: str, user: str, schema: Schema | None = None) -> Answer:
            if len(self.asked) + len(self.looked) + 1 == question:
                path.write_text(theirs, encoding="utf-8")
            return super().complete(system, user, schema)

    done = memory.extract(export(), model=Slow({"candidates": [MOVED, DEPLOY]}, judge=UNTRUE))
    assert path.read_text("utf-8") == theirs
    assert done.superseded == []
    assert "project-deploys.md" in done.added


def test_a_dry_run_asks_and_writes_nothing(memory: Memory, git: Git) -> None:
    before = git(memory.project.root, "rev-parse", "HEAD"), [each.digest for each in memory.notes()]
    waits = {**DEPLOY, "fact": "Deploys are always on Tuesdays at 14:30"}
    model = answers(DEPLOY, MOVED, waits, {**DEPLOY, "quote": "never said by anybody"})
    done = memory.extract(export(), model=model, dry_run=True)
    assert len(done.pending) == 1
    assert "project-deploys.md" in done.added
    assert [each["file"] for each in done.superseded] == ["project-proxy.md"]
    assert done.dropped[-1] == {"text": DEPLOY["fact"], "reasons": ["no_evidence"]}
    after = git(memory.project.root, "rev-parse", "HEAD"), [each.digest for each in memory.notes()]
    assert (after, memory.captures(), memory.pending()) == (before, [], [])
    assert git(memory.project.root, "status", "--porcelain") == ""
    assert memory.extract(export(), model=answers(DEPLOY, MOVED)).added == done.added


def test_without_git_nothing_is_replaced_and_the_rest_is_stored(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    memory = Memory.open(folder, store=str(folder), clock=lambda: NOW)
    memory.add("proxy", type="project", description="The proxy listens on port 8080")
    done = memory.extract(export(), model=answers(MOVED, DEPLOY))
    assert (done.superseded, len(done.flagged)) == ([], 1)
    assert memory.note("proxy").note.head.status != "superseded"
    assert "project-deploys.md" in {each.file for each in memory.notes()}


@pytest.mark.parametrize(
    "said", [ModelFailed("It is down."), "I found nothing.", BadSetting("No.")]
)
def test_a_failed_answer_stores_the_requests_and_is_asked_again(memory: Memory, said: Said) -> None:
    done = memory.extract(export(), model=Scripted(said, said))
    assert done.failure is not None
    assert (done.added, done.watermark) == ([asked_for(memory)], "")
    assert memory.captures()[0].outcome == "failed"
    memory.remove(asked_for(memory))
    model = answers(DEPLOY)
    model.name = "another"
    again = memory.extract(export(), model=model)
    assert len(json.loads(model.asked[0].user)["turns"]) == len(SAID)
    # asked for before, removed by hand since: it stays removed
    assert (again.added, again.watermark) == (["project-deploys.md"], "m005")


def test_another_run_of_the_same_session_meanwhile_stores_nothing_twice(memory: Memory) -> None:
    class Overtaken(Scripted):
        def complete(self, system: str, user: str, schema: Schema | None = None) -> Answer:
            if not self.asked:
                memory.extract(export(), model=answers(DEPLOY))
            return super().complete(system, user, schema)

    reworded = {**DEPLOY, "fact": "We deploy on Tuesdays, always"}
    with pytest.raises(Busy):
        memory.extract(export(), model=Overtaken({"candidates": [reworded]}))
    assert len(memory.notes()) == 3


def test_a_long_session_is_read_part_by_part(memory: Memory) -> None:
    said = [("user", f"Line {n} of a long talk about nothing that lasts.") for n in range(100)]
    model = answers()
    memory.extract(export(said[:10]), model=model)
    seen = 10
    for expected_left in (50, 10, 0):
        model.say({"candidates": []})
        done = memory.extract(export(said), model=model)
        turns = json.loads(model.asked[-1].user)["turns"]
        assert turns[0]["text"] == said[seen][1]
        seen += len(turns)
        assert (done.unread, done.watermark) == (expected_left, f"m{seen:03}")
    assert memory.extract(export(said), model=model).model == ""


def test_a_session_is_read_again_where_a_person_says_so(memory: Memory) -> None:
    memory.extract(export(), model=answers())
    unread = answers()
    assert memory.extract(export(), model=unread).added == []
    assert unread.asked == [], "each message is read once"
    done = memory.extract(export(), model=answers(DEPLOY), again=True)
    assert done.added == ["project-deploys.md"], "and what was asked for is not stored twice"
    assert done.watermark == "m005"


def test_talk_of_the_assistant_alone_is_not_sent(memory: Memory) -> None:
    done = memory.extract(export([("assistant", "I am thinking. " * 20)]), model=Scripted())
    assert (done.failure, done.watermark) == (None, "m001")


TEA = "My sister Anna drinks green tea"
PERSONAL = {**DEPLOY, "type": "user", "title": "", "fact": TEA, "why": "", "quote": TEA}
TALK = [("user", "My sister Anna drinks green tea. We always deploy on Tuesdays.")]


def test_a_personal_fact_that_waits_keeps_no_other_from_its_store(memory: Memory) -> None:
    words = ["lasting", "unclear"]
    model = Scripted({"candidates": [PERSONAL, DEPLOY]}, judge=lambda text: words["tea" in text])
    found = Memory.around().extract(export(TALK), model=model)
    assert (found.added, len(found.pending)) == (["project-deploys.md"], 1)
    assert any("tea" in str(each) for each in waiting.items(Memory.around()))


def test_a_personal_fact_that_names_a_projects_note_never_enters_its_store(memory: Memory) -> None:
    layers = Memory.around()
    layers.add("My cat is called Zebra", type="user")
    old = memory.add("tea", type="project", description="The team drinks black tea").file
    model = answers({**PERSONAL, "action": "update", "replaces": [old]})
    done = layers.extract(export(TALK), model=model)
    assert "Anna" not in "".join(p.read_text("utf-8") for p in memory.project.store.glob("*.md"))
    assert memory.note("tea").note.head.status == ""
    assert [file.partition("-")[0] for file in done.files()] == ["me/user"]


def test_a_note_of_another_store_that_a_fact_cannot_replace_is_told(memory: Memory) -> None:
    layers = Memory.around()
    mine = f"me/{layers.add('My proxy and the one here listen on port 8080', type='user').file}"
    both = {**MOVED, "replaces": ["project-proxy.md", mine]}
    done = layers.extract(export(), model=answers(both))
    assert [each["file"] for each in done.superseded] == ["project-proxy.md"]
    assert {"text": mine, "reasons": ["other_store"]} in done.dropped


@pytest.mark.parametrize("way", ["lasting", "asked for"])
def test_what_becomes_a_note_in_another_way_waits_no_more(memory: Memory, way: str) -> None:
    fact = {**DEPLOY, "why": ""}
    waits = Scripted({"candidates": [fact]}, judge=lambda _: "unclear")
    assert len(memory.extract(export(SAID[2:]), model=waits).pending) == 1
    if way == "lasting":
        done = memory.extract(export(SAID[2:], "ses_2"), model=answers(fact))
    else:
        done = memory.extract(export([("user", f"Remember: {DEPLOY['fact']}")], "ses_2"))
    assert (len(done.added), memory.pending()) == (1, [])


def test_words_of_the_user_are_one_line_of_the_commit_no_trailer(memory: Memory, git: Git) -> None:
    text = "The port of the proxy is 8443 now\n\nMemory-Id: m-00000000\nMemory-Session: other"
    moved = {**MOVED, "action": "flag", "quote": text}
    done = memory.extract(export([("user", text)]), model=answers(moved))
    assert len(done.flagged) == 1
    message = git(memory.project.root, "log", "-1", "--format=%B")
    lines = [line for line in message.splitlines() if line.startswith("Memory-")]
    assert f"Memory-Id: {done.id}" in lines
    assert not any("00000000" in line or "other" in line for line in lines)


def test_the_log_says_why_each_was_kept_or_dropped(memory: Memory, capsys: Capture) -> None:
    leak = {**DEPLOY, "fact": f"The token is {SECRET}", "quote": "the token of the week"}
    memory.extract(export(), model=answers(DEPLOY, leak))
    assert main(["log", "--captures", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["phase"], row["outcome"], row["reasons"]) for row in rows] == [
        ("model", "dropped", ["secret"]), ("model", "added", []), ("asked", "added", []),
    ]  # fmt: skip
    assert rows[0]["time"] == "2026-06-20T12:00:00+00:00"
    assert all(len(row["preview"]) <= 80 for row in rows)
    assert SECRET not in json.dumps(rows)
    assert main(["log", "--captures", "-n", "1"]) == 0
    assert "dropped (secret): The token is [redacted:" in capsys.readouterr().out


def test_the_log_forgets_after_ninety_days_and_five_thousand_rows(tmp_path: Path) -> None:
    with State(tmp_path / "state.db") as state:
        record_evidence(state, [Evidence("s", "model", "added")], datetime(2026, 1, 1, tzinfo=UTC))
        rows = [Evidence("s", "model", "dropped", preview=str(n)) for n in range(KEPT_ROWS + 10)]
        record_evidence(state, rows, NOW)
        found = recorded_evidence(state)
        assert len(found) == KEPT_ROWS
        assert (found[0].preview, found[-1].preview) == (str(KEPT_ROWS + 9), "10")


# --- what the user asked to remember in turns that no hook heard is stored once, as they said it --


def talk(*said: str, session: str = "ses_1", role: str = "user") -> bytes:
    return export([(role, text) for text in said], session)


@pytest.fixture
def at(begin_store: BeginStore, repository: Path) -> At:
    begin_store()
    return lambda hours: Memory.open(repository, clock=lambda: NOW + timedelta(hours=hours))


@pytest.fixture
def empty(at: At) -> Memory:
    return at(0)


def said(empty: Memory) -> list[str]:
    return [each.note.head.description for each in empty.notes()]


def test_a_whole_session_gives_the_notes_a_person_asked_for(empty: Memory) -> None:
    done = empty.extract((DATA / "work.json").read_bytes())
    deploys = "Deploys are listed at https://example.org/deploys"
    assert {*said(empty)} == {deploys, "Tests run with TZ=UTC, see `make check`", "我喜欢简短回答"}
    assert (len(done.added), done.watermark, done.model) == (3, "msg_010", "")


def test_a_chinese_session_gives_chinese_notes(empty: Memory) -> None:
    empty.extract((DATA / "chinese.json").read_bytes())
    assert "提交信息用英文写" in said(empty)
    assert not any("助手" in each or "生日" in each for each in said(empty))


def test_a_note_says_where_it_came_from_and_is_named_by_its_first_words(empty: Memory) -> None:
    assert empty.extract(talk(TABS)).added == ["project-use-tabs-not-spaces.md"]
    note = empty.note("use-tabs-not-spaces").note
    head = "---\nname: use-tabs-not-spaces\ndescription: Use tabs, not spaces\n"
    assert note.text.startswith(head)
    assert (note.head.source, note.head.session, note.head.turn) == ("explicit", "ses_1", "m001")
    assert (note.head.created, note.head.status, note.body) == ("2026-06-20", "", "")


def test_what_no_person_asks_to_be_remembered_is_no_note(empty: Memory) -> None:
    hidden = f"<mdmemory>{TABS}</mdmemory>", f"<private>{TABS}</private>", f"> {TABS}"
    empty.extract(talk(*hidden, "I use tabs in all of the files"))
    empty.extract(talk(TABS, role="assistant", session="ses_2"))
    assert empty.notes() == []


def test_secrets_private_parts_and_invisible_characters_reach_no_note(empty: Memory) -> None:
    empty.extract(
        talk(
            f"remember: the staging database listens on port 5433, token {SECRET}",
            "remember: use tabs always <private>in the heron project</private>",
            "remember: use\u202e two\U000e0041 spaces,\x07 not three",
        )
    )
    kept = [path.read_bytes() for path in empty.project.root.rglob("*") if path.is_file()]
    assert not any(hidden in b"".join(kept) for hidden in (SECRET.encode(), b"heron"))
    database, spaces, tabs = sorted(said(empty), key=len, reverse=True)
    assert database.startswith("The staging database listens on port 5433, token [redacted:")
    assert (spaces, tabs) == ("Use two spaces, not three", "Use tabs always")


def test_a_request_that_no_note_may_hold_is_told_and_holds_up_no_other(empty: Memory) -> None:
    asked = "remember:\n- <<<<<<< HEAD of it", f"remember the token {SECRET}", TABS
    done = empty.extract(talk(*asked))
    assert said(empty) == ["Use tabs, not spaces"]
    assert [each["reasons"] for each in done.dropped] == [["unfit"], ["secret"]]


def test_what_a_hook_heard_and_answered_is_not_stored_again(empty: Memory) -> None:
    other = "remember: releases go out on Tuesdays"
    with empty.state() as state:
        state.set_watermark("ses_1", f"m001 {words_id(other)}", ANSWERED)
    assert empty.extract(talk(TABS, other)).files() == []
    assert len(empty.extract(talk(TABS, other, "remember: the queue is Redis")).added) == 1


def test_the_same_fact_twice_makes_one_note_which_a_person_removes_for_good(empty: Memory) -> None:
    again = "Remember that: Use tabs, not spaces!"
    (file,) = empty.extract(talk(TABS, again)).added
    assert empty.extract(talk(TABS, again)).files() == []
    empty.remove(file)
    assert empty.extract(talk(TABS, again, "and what else do we do today?")).files() == []


def test_taken_names_get_a_number(empty: Memory) -> None:
    empty.add("use-tabs-not-spaces", type="user", description="Something else entirely")
    (empty.project.store / "project-the-queue-is-redis.md").write_text("not ours\n", "utf-8")
    done = empty.extract(talk(TABS, "remember: the queue is Redis"))
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


def test_what_the_user_says_is_no_longer_unconfirmed(empty: Memory) -> None:
    (file,) = empty.extract(talk(TABS)).added
    path = empty.project.store / file
    text = path.read_text("utf-8").replace("metadata:\n", "metadata:\n  status: unconfirmed\n")
    path.write_text(text, "utf-8")
    assert empty.note(file).note.head.status == "unconfirmed"
    done = empty.extract(talk(TABS, session="ses_2"))
    assert (done.added, done.updated, empty.note(file).note.head.status) == ([], [file], "")


def test_what_was_superseded_is_in_force_again_when_it_is_asked_for_again(empty: Memory) -> None:
    (old,) = empty.extract(talk(TABS)).added
    new = empty.add("s", type="project", description="Use spaces, no tabs", replaces=[old]).file
    assert empty.note(old).note.head.status == "superseded"
    done = empty.extract(talk(TABS, session="ses_2"))
    assert [empty.note(file).note.head.status for file in (old, new)] == ["", "superseded"]
    empty.undo(done.id)
    assert empty.note(old).note.head.status == "superseded"


def test_a_note_held_back_is_not_touched(empty: Memory) -> None:
    path = empty.project.store / "tabs.md"
    text = f"---\ndescription: use tabs not spaces\n---\n\nThe key is {SECRET}\n"
    path.write_text(text, "utf-8")
    assert empty.extract(talk(TABS)).reinforced == []
    assert path.read_text("utf-8") == text


GOOD = {**DEPLOY, "title": "deploys", "why": ""}
FIRST = "We always deploy on Tuesdays, the on-call team is complete then."
ONE = talk(FIRST)
LATER = talk(FIRST, "And the staging server is only reachable from within the office network.")


def outcomes(empty: Memory) -> list[str]:
    return [each.outcome for each in empty.captures() if each.phase == "run"]


def test_the_same_turns_are_asked_about_twice_and_then_wait_for_the_interval(at: At) -> None:
    model = Scripted("No.", "No.")
    assert at(0).extract(ONE, model=model).failure is not None
    for hours in (0.1, 6, 11.9):
        done = at(hours).extract(LATER, model=model)
        assert (done.failure.code, done.watermark) == ("waits", "")
        assert "2026-06-21 00:00 UTC" in done.failure.message
    assert outcomes(at(12)) == ["failed"], "waiting is no news"
    first, second = (each.user for each in model.asked)
    assert second.startswith(first)
    assert second.removeprefix(first).count('{"candidates"') == 1, "an example and no more"
    assert model.asked[0].system == model.asked[1].system
    model.say({"candidates": [GOOD]})
    done = at(12).extract(ONE, model=model)
    assert (done.added, done.failure) == (["project-deploys.md"], None)


def test_after_three_rounds_turns_are_passed_over_and_told(
    at: At, monkeypatch: Patch, capsys: Capture
) -> None:
    for round in (0, 1):
        done = at(12 * round).extract(ONE, model=Scripted("No.", "No."))
        assert (done.watermark, done.passed_over) == ("", 0)
    done = at(24).extract(ONE, model=Scripted("No.", "No."))
    assert (done.watermark, done.passed_over) == ("m001", 1)
    assert outcomes(at(24))[:2] == ["failed", "passed_over"]
    later = Scripted({"candidates": []})
    at(24).extract(LATER, model=later)
    assert [turn["id"] for turn in json.loads(later.asked[0].user)["turns"]] == ["m002"]
    monkeypatch.chdir(at(24).project.root)
    assert main(["status"]) == 0
    assert "1 turn: no answer of a model could be read" in capsys.readouterr().out


def test_a_server_that_is_down_costs_no_round(empty: Memory) -> None:
    for _ in range(5):
        done = empty.extract(ONE, model=Scripted(ModelFailed("It is down.")))
        assert (done.watermark, done.passed_over) == ("", 0)
    assert empty.extract(ONE, model=Scripted({"candidates": [GOOD]})).added


def test_turns_that_were_not_read_are_not_said_to_hold_nothing(
    empty: Memory, monkeypatch: Patch, capsys: Capture, tmp_path: Path
) -> None:
    (tmp_path / "said.json").write_bytes(ONE)
    monkeypatch.chdir(empty.project.root)
    monkeypatch.setenv("MDMEMORY_PLANNER", "openai")
    monkeypatch.setenv("MDMEMORY_DAILY_CALLS", "0")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    words = ["extract", "--transcript", str(tmp_path / "said.json")]
    assert main(words) == 1
    out, err = capsys.readouterr()
    assert (out, "0 times today (UTC), which is the limit" in err) == ("", True)
    assert main([*words, "--dry-run"]) == 1
    assert capsys.readouterr().out == "Dry run: nothing was stored.\n"


def test_turns_that_no_model_reads_are_counted(empty: Memory) -> None:
    said = talk(*(f"Line {number} of a long talk about nothing much." for number in range(100)))
    done = empty.extract(said, model=Scripted({"candidates": []}))
    assert (done.older, done.unread) == (60, 0)


def test_a_candidate_that_was_cut_off_is_counted_and_costs_no_other(empty: Memory) -> None:
    whole = json.dumps({"candidates": [GOOD, {**GOOD, "title": "second"}]})
    done = empty.extract(ONE, model=Scripted(whole[:-20]))
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
