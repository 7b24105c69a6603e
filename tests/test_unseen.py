"""Characters that show nothing: which they are, where they stay, and that capture keeps none."""

import unicodedata

import pytest

from mdmemory import unseen
from mdmemory.capture.fact import fact_of
from mdmemory.transcripts.turns import clean

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


@pytest.mark.parametrize("text", NEEDED)
def test_what_a_script_needs_stays(text: str) -> None:
    assert unseen.without_unseen(text) == text
    assert unseen.unseen_added([], text) == []


@pytest.mark.parametrize("char", HIDDEN, ids=[f"{ord(char):04X}" for char in HIDDEN])
def test_what_shows_nothing_is_seen_and_taken_out(char: str) -> None:
    hidden = f"the to{char}ken"
    assert unseen.without_unseen(hidden) == "the token"
    assert unseen.unseen_added(["the token"], hidden) == [f"U+{ord(char):04X}"]
    assert unseen.unseen_added([hidden], f"now {hidden}") == []


def test_two_in_a_row_are_one_too_many() -> None:
    for text in ("❤\ufe0f\ufe0f", "می\u200c\u200cخ", "a\u200b\u200cb", "x\ufe0f\u200d💻"):
        once = unseen.without_unseen(text)
        assert once != text
        assert unseen.without_unseen(once) == once


def test_capture_keeps_no_character_that_nobody_sees() -> None:
    words = "Remember that the to\u200bken of the \u2060queue ro\u00adtates weekly."
    assert clean(words) == "Remember that the token of the queue rotates weekly."
    fact = fact_of("The release\u200b of the app goes out on the last Fri\u00adday of a month.")
    assert fact.body == "The release of the app goes out on the last Friday of a month."
    assert "\u200b" not in fact.description
