"""What comes from outside is cut, or refused, before it is read: at a line, and it is said. And
what nobody sees in it, which is taken out."""

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmemory import Memory, bounds, unseen
from mdmemory.capture import fact, notice
from mdmemory.capture.run import explain_message
from mdmemory.errors import BadNote
from mdmemory.hosts.opencode.watching import Children, message_of
from mdmemory.hosts.texts import notices_of_length
from mdmemory.session import failures
from mdmemory.transcripts import turns

lines = st.text(st.sampled_from("ab\n"), max_size=60)


@given(lines, st.integers(1, 60))
def test_of_a_long_text_whole_first_lines_are_read(text: str, most: int) -> None:
    read = bounds.beginning_of(text, most)
    assert text.startswith(read)
    assert len(read) <= most
    if "\n" in text[max(1, most // 2) : most] and read != text:
        assert text[len(read)] == "\n"


@given(lines, st.integers(3, 60))
def test_of_a_long_output_both_ends_are_read(text: str, most: int) -> None:
    read = bounds.ends_of(text, most)
    assert len(read) <= most
    if read != text:
        first, last = bounds.beginning_of(text, (most - 1) // 2), read[-1:]
        assert read.startswith(first)
        assert text.endswith(last)


LONG = "word " * 60_000  # 300,000 characters


def message(text: str) -> dict[str, object]:
    return {"message": "m1", "parts": [{"type": "text", "text": text}]}


def test_a_message_is_read_up_to_its_limit_and_the_assistant_is_told() -> None:
    wish = "Remember: release notes are written in British English\n\n"
    said = message(f"{wish}{LONG}\n{wish.replace('British', 'American')}")
    heard = message_of("ses_1", said, Children())
    turn = heard.turn
    assert turn is not None
    assert len(turn.text) <= bounds.MESSAGE
    assert [*notice.notice_wishes(turn.text).wishes] == [wish.strip().partition(": ")[2]]
    (told,) = notices_of_length(heard.length)
    assert "read the first 200,000 of 300,114 characters" in told
    assert notices_of_length(message_of("ses_1", message(wish), Children()).length) == []


def test_a_turn_of_a_transcript_is_read_up_to_its_limit(tmp_path: Path) -> None:
    assert len(turns.clean(LONG)) <= bounds.MESSAGE
    assert len(str(explain_message(LONG, Memory.around(tmp_path))["text"])) <= bounds.MESSAGE


def test_of_a_long_output_the_beginning_and_the_end_tell_what_failed() -> None:
    for output in (f"TypeError: first\n{LONG}", f"{LONG}\nTypeError: last"):
        found = failures.find_failure("bash", {"command": "pytest"}, output, 1)
        assert found is not None
        assert found.summary.startswith("TypeError: ")


def test_a_fact_that_is_far_too_long_is_refused_unread() -> None:
    with pytest.raises(BadNote, match="300,000 characters"):
        fact.fact_of(LONG)


def test_an_import_leaves_out_what_is_far_too_long(repository: Path, tmp_path: Path) -> None:
    Memory.init(repository)
    path = tmp_path / "facts.json"
    path.write_text(json.dumps([{"memory": LONG}, {"memory": "The proxy listens on port 8443."}]))
    done = Memory.around(repository).import_from(path)
    assert (len(done.added), [each["reasons"] for each in done.dropped]) == (1, [["unfit"]])


# --- characters that show nothing -----------------------------------------------------------------

# Signs that stand before a number or a word and show themselves (Prepended_Concatenation_Mark).
SHOWN = {0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD,
         0x110CD}  # fmt: skip
NEEDED = [
    "می\u200cخواهم",  # Persian, with a non-joiner
    "क्\u200dष",  # Devanagari, with a joiner
    "ᠠ\u180b",  # Mongolian, with a selector
    "👩🏽\u200d💻 ❤\ufe0f ❤\ufe0f\u200d🔥 1\ufe0f⃣ ✈\ufe0e",
]
HIDDEN = [
    *"\u200b\u2060\u00ad\u034f\ufeff\u3164\u115f\u1160\u17b4\u180b\u200c\u200d\u2061\u206a",
    *"\ufe00\ufe0f\u202e\U000e0041\U000e0100",
]


def test_every_format_character_of_unicode_has_its_place() -> None:
    runs = (*unseen.IGNORABLE, *unseen.BY_CATEGORY)
    table = {code for first, last in runs for code in range(first, last + 1)}
    assert len(table) == sum(last - first + 1 for first, last in runs)
    by_category = {
        code for code in range(0x110000) if unicodedata.category(chr(code)) in ("Cf", "Zl", "Zp")
    }
    assert by_category - table == SHOWN & by_category
    assert not table & SHOWN


def test_what_a_script_needs_stays() -> None:
    for text in NEEDED:
        assert unseen.without_unseen(text) == text
        assert unseen.unseen_added([], text) == []


def test_what_shows_nothing_is_seen_and_taken_out() -> None:
    for char in HIDDEN:
        hidden, name = f"the to{char}ken", f"U+{ord(char):04X}"
        assert unseen.without_unseen(hidden) == "the token", name
        assert unseen.unseen_added(["the token"], hidden) == [name]
        assert unseen.unseen_added([hidden], f"now {hidden}") == []


def test_two_in_a_row_are_one_too_many() -> None:
    for text in ("❤\ufe0f\ufe0f", "می\u200c\u200cخ", "a\u200b\u200cb", "x\ufe0f\u200d💻"):
        once = unseen.without_unseen(text)
        assert once != text
        assert unseen.without_unseen(once) == once


def test_capture_keeps_no_character_that_nobody_sees() -> None:
    words = "Remember that the to\u200bken of the \u2060queue ro\u00adtates weekly."
    assert turns.clean(words) == "Remember that the token of the queue rotates weekly."
    kept = fact.fact_of(
        "The release\u200b of the app goes out on the last Fri\u00adday of a month."
    )
    assert kept.body == "The release of the app goes out on the last Friday of a month."
    assert "\u200b" not in kept.description
