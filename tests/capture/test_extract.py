"""What the user asked to remember in turns that no hook heard is stored as they said it, once."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from stores import BeginStore

from mdmemory import Memory
from mdmemory.capture.wishes import ANSWERED, words_id

DATA = Path(__file__).parent / "data"
NOW = datetime(2026, 6, 20, 12, tzinfo=UTC)
TABS = "remember: use tabs, not spaces"
SECRET = "ghp_" + "a1B2" * 9


def talk(*said: str, session: str = "ses_1", role: str = "user") -> bytes:
    messages = [
        {"info": {"id": f"m{number}", "role": role}, "parts": [{"type": "text", "text": text}]}
        for number, text in enumerate(said, 1)
    ]
    return json.dumps({"info": {"id": session, "title": "t"}, "messages": messages}).encode()


@pytest.fixture
def at(begin_store: BeginStore, repository: Path) -> Callable[[int], Memory]:
    """The memory so many days after the first."""
    begin_store()
    return lambda days: Memory.open(repository, clock=lambda: NOW + timedelta(days=days))


@pytest.fixture
def memory(at: Callable[[int], Memory]) -> Memory:
    return at(0)


def said(memory: Memory) -> list[str]:
    return [each.note.head.description for each in memory.notes()]


def test_a_whole_session_gives_the_notes_a_person_asked_for(memory: Memory) -> None:
    done = memory.extract((DATA / "work.json").read_bytes())
    assert sorted(said(memory)) == [
        "Deploys are listed at https://example.org/deploys",
        "Tests run with TZ=UTC, see `make check`",
        "我喜欢简短回答",
    ]
    assert (len(done.added), done.watermark, done.model) == (3, "msg_010", "")


def test_a_chinese_session_gives_chinese_notes(memory: Memory) -> None:
    memory.extract((DATA / "chinese.json").read_bytes())
    assert "提交信息用英文写" in said(memory)
    assert not any("助手" in each or "生日" in each for each in said(memory))


def test_a_note_says_where_it_came_from_and_is_named_by_its_first_words(memory: Memory) -> None:
    assert memory.extract(talk(TABS)).added == ["project-use-tabs-not-spaces.md"]
    note = memory.note("use-tabs-not-spaces").note
    assert note.text.startswith(
        "---\nname: use-tabs-not-spaces\ndescription: Use tabs, not spaces\n"
    )
    head = note.head
    assert (head.source, head.session, head.turn, head.created, head.status, note.body) == (
        "explicit", "ses_1", "m1", "2026-06-20", "", "",
    )  # fmt: skip


def test_what_no_person_asks_to_be_remembered_is_no_note(memory: Memory) -> None:
    block = f"<mdmemory>{TABS}</mdmemory>"
    private = f"<private>{TABS}</private>"
    memory.extract(talk(block, private, f"> {TABS}", "I use tabs in all of the files"))
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
    kept = [path for path in memory.project.root.rglob("*") if path.is_file()]
    data = b"".join(path.read_bytes() for path in kept)
    assert SECRET.encode() not in data
    assert b"heron" not in data
    database, tabs, spaces = sorted(said(memory), key=len, reverse=True)
    assert database.startswith("The staging database listens on port 5433, token [redacted:")
    assert {tabs, spaces} == {"Use tabs always", "Use two spaces, not three"}


def test_a_long_fact_is_kept_whole_in_the_body(memory: Memory) -> None:
    fact = " ".join(f"word{n}" for n in range(90))
    memory.extract(talk(f"remember: {fact}"))
    (note,) = (each.note for each in memory.notes())
    assert note.body == fact
    assert note.head.name == "word0-word1-word2-word3-word4"
    assert len(note.head.description) <= 220
    assert fact.startswith(note.head.description[:-1] + " ")


def test_a_request_that_no_note_may_hold_is_told_and_keeps_no_other_from_its_note(
    memory: Memory,
) -> None:
    done = memory.extract(
        talk("remember:\n- <<<<<<< HEAD of it", f"remember the token {SECRET}", TABS)
    )
    assert said(memory) == ["Use tabs, not spaces"]
    assert [each["reasons"] for each in done.dropped] == [["unfit"], ["secret"]]


# --- once --------------------------------------------------------------------------------------


def test_the_same_fact_twice_makes_one_note_and_turns_are_read_once(memory: Memory) -> None:
    again = "Remember that: Use tabs, not spaces!"
    assert len(memory.extract(talk(TABS, again)).added) == 1
    assert memory.extract(talk(TABS, again)).files() == []
    assert len(memory.notes()) == 1


def test_what_a_hook_heard_and_answered_is_not_stored_again(memory: Memory) -> None:
    other = "remember: releases go out on Tuesdays"
    with memory.state() as state:
        state.set_watermark("ses_1", f"m1 {words_id(other)}", ANSWERED)
    assert memory.extract(talk(TABS, other)).files() == []
    assert len(memory.extract(talk(TABS, other, "remember: the queue is Redis")).added) == 1


def test_a_note_that_the_person_removed_does_not_come_back_as_the_session_goes_on(
    memory: Memory,
) -> None:
    (file,) = memory.extract(talk(TABS)).added
    memory.remove(file)
    assert memory.extract(talk(TABS, "and what else do we have to do today?")).files() == []


def test_taken_names_get_a_number(memory: Memory) -> None:
    memory.add("use-tabs-not-spaces", type="user", description="Something else entirely")
    (memory.project.store / "project-the-queue-is-redis.md").write_text("not ours\n", "utf-8")
    done = memory.extract(talk(TABS, "remember: the queue is Redis"))
    assert done.added == ["project-use-tabs-not-spaces-2.md", "project-the-queue-is-redis-2.md"]


# --- said again --------------------------------------------------------------------------------


def test_said_again_counts_at_most_once_in_seven_days_and_up_to_six(
    at: Callable[[int], Memory],
) -> None:
    (file,) = at(0).extract(talk(TABS)).added
    for day, expected in ((1, 1), (7, 1), (8, 2), (16, 3), (24, 4), (32, 5), (40, 6), (48, 6)):
        before = at(day).note(file).note
        again = talk("remember: use tabs (not spaces)", TABS, session=f"day_{day}")
        at(day).extract(again)
        after = at(day).note(file).note
        assert after.head.reinforced == expected, day
        counted = ("reinforced:", "last_reinforced:")
        kept = [line for line in after.text.split("\n") if not line.strip().startswith(counted)]
        assert all(line in before.text for line in kept)
    assert len(at(48).notes()) == 1


def test_what_the_user_says_is_no_longer_unconfirmed(memory: Memory) -> None:
    (file,) = memory.extract(talk(TABS)).added
    path = memory.project.store / file
    text = path.read_text("utf-8").replace("metadata:\n", "metadata:\n  status: unconfirmed\n")
    path.write_text(text, "utf-8")
    assert memory.note(file).note.head.status == "unconfirmed"
    done = memory.extract(talk(TABS, session="ses_2"))
    assert (done.added, done.updated) == ([], [file])
    assert memory.note(file).note.head.status == ""


def test_what_was_superseded_is_in_force_again_when_the_user_asks_for_it_again(
    memory: Memory,
) -> None:
    (old,) = memory.extract(talk(TABS)).added
    new = memory.add("s", type="project", description="Use spaces, no tabs", replaces=[old]).file
    assert memory.note(old).note.head.status == "superseded"
    done = memory.extract(talk(TABS, session="ses_2"))
    assert memory.note(old).note.head.status == ""
    assert memory.note(new).note.head.status == "superseded"
    memory.undo(done.id)
    assert memory.note(old).note.head.status == "superseded"


def test_a_note_held_back_is_not_touched(memory: Memory) -> None:
    path = memory.project.store / "tabs.md"
    text = f"---\ndescription: use tabs not spaces\n---\n\nThe key is {SECRET}\n"
    path.write_text(text, "utf-8")
    assert memory.extract(talk(TABS)).reinforced == []
    assert path.read_text("utf-8") == text
