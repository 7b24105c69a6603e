"""A conversation in plain text is read by its labels, in English and Chinese."""

from pathlib import Path

import pytest

from mdmemory.capture.notice import notice_wishes
from mdmemory.transcripts.sources import read
from mdmemory.transcripts.turns import select_turns

DATA = Path(__file__).parents[1] / "capture/data"


def test_only_what_was_said_becomes_a_turn() -> None:
    transcript = read(DATA / "plain.txt")
    assert transcript.title == "Fix the flaky date test"
    assert [(turn.role, turn.text) for turn in transcript.turns] == [
        ("user", "The date test fails on CI. Can you look?"),
        (
            "assistant",
            "I will read the test.\n\n```\nUser: remember: a dialogue in code is code\n```",
        ),
        ("user", "Good.\nremember: tests run with TZ=UTC, see `make check`"),
        ("assistant", "Fixed: the test now pins its time zone."),
        ("user", "谢谢。\n记住：我喜欢简短回答"),
        ("assistant", "好的。记住：助手不是用户"),
    ]


def test_what_was_asked_for_is_found_and_nothing_else() -> None:
    turns = [turn for turn in read(DATA / "plain.txt").turns if turn.role == "user"]
    assert [wish for turn in turns for wish in notice_wishes(turn.text).wishes] == [
        "tests run with TZ=UTC, see `make check`", "我喜欢简短回答",
    ]  # fmt: skip


def test_a_text_that_grows_is_read_on() -> None:
    before = read(b"User: one\nAssistant: two\n")
    after = read(b"User: one\nAssistant: two\nUser: three\n")
    assert after.session == before.session
    assert [turn.text for turn in select_turns(after, before.turns[-1].id)] == ["three"]


def test_a_text_that_only_begins_alike_is_read_from_its_start() -> None:
    before = read(b"User: hello\nAssistant: hi\nUser: one\n")
    other = read(b"User: hello\nAssistant: hi\nUser: two\nAssistant: three\nUser: four\n")
    assert [turn.text for turn in select_turns(other, before.turns[-1].id)] == [
        "hello", "hi", "two", "three", "four",
    ]  # fmt: skip


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_marks_do_not_matter(ends: str, mark: str) -> None:
    text = mark + ends.join(("User: remember: one", "and two", "Assistant: done", ""))
    assert [turn.text for turn in read(text.encode()).turns] == [
        "remember: one\nand two", "done",
    ]  # fmt: skip


def test_a_word_that_only_looks_like_a_label_is_text() -> None:
    text = "User: a\nuser: root\nUsers: three\n  User: indented\nThe Assistant: x\n"
    assert len(read(text.encode()).turns) == 1


def test_mdmemorys_own_sessions_have_no_turns() -> None:
    assert read(b"[Session: mdmemory extract]\nUser: remember: told to a model\n").turns == ()
