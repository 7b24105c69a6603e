"""Dates said and dates written, as the words that stand for them."""

from __future__ import annotations

from datetime import date

import pytest

from mdmemory.text import dates

TODAY = date(2026, 6, 12)  # a Friday


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("2026-06-01", ["20260601"]),
        ("in 2026-05", ["202605"]),
        ("on June 3, 2025", ["20250603"]),
        ("3 June", ["20260603"]),
        ("July 4", ["20250704"]),  # that of this year is still to come
        ("June 2026", ["202606"]),
        ("Sept 2025", []),
        ("sep 2025", ["202509"]),
        ("2026年5月3日", ["20260503"]),
        ("last Tuesday", ["20260609"]),
        ("last friday", ["20260605"]),
        ("this Friday", ["20260612"]),
        ("on Friday", ["friday", "20260605"]),  # or any
        ("yesterday", ["20260611"]),
        ("前天", ["20260610"]),
        ("three days ago", ["20260609"]),
        ("2 months ago", ["202604"]),
        ("last month", ["202605"]),
        ("last year", ["2025"]),
        ("去年", ["2025"]),
        ("last week", ["20260601", "20260602", "20260603", "20260604", "20260605", "20260606",
                       "20260607"]),
        ("a week ago", ["20260602", "20260603", "20260604", "20260605", "20260606", "20260607",
                        "20260608"]),
        ("may I ask about version 3.11 and 2026-13-45 and 99 bottles", []),
    ],
)  # fmt: skip
def test_what_is_asked_for(said: str, words: list[str]) -> None:
    found, _ = dates.asked_dates(f"what about {said} then", TODAY)
    assert [word for ways in found for word in ways] == words


def test_words_of_time_are_taken_out_of_the_query() -> None:
    assert dates.asked_dates("decisions of last week on tea", TODAY)[1].split() == [
        "decisions", "of", "on", "tea"
    ]  # fmt: skip


def test_a_text_has_the_words_of_its_own_dates_and_of_those_known() -> None:
    words = dates.date_words("Changed on 2026-05-12, decided 20 Nov 2025.", ("2026-06-01",)).split()
    assert {"20260601", "june", "20260512", "may", "20251120", "202511", "november"} <= set(words)
    assert dates.date_words("no date at all, 1234-99-99") == ""
