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
        ("Sept 2025", ["202509"]),
        ("Sept 12, 2025", ["20250912"]),
        ("am 3. Juni", ["20260603"]),
        ("3. März 2026", ["202603", "20260303"]),
        ("3 de junio de 2025", ["202506", "20250603"]),
        ("le 3 août", ["20250803"]),
        ("3.6.2026", ["20260603"]),
        ("2026/06/03", ["20260603"]),
        ("Juni 2026", ["202606"]),
        ("set 12 and out 3", []),  # Italian and Portuguese months, and English words
        ("version 3.6.2 and 10.4.0.12", []),
        ("gestern", ["20260611"]),
        ("vor drei Tagen", ["20260609"]),
        ("vor dem Release", []),
        ("letzten Dienstag", ["20260609"]),
        ("diesen Freitag", ["20260612"]),
        ("am Freitag", ["freitag", "20260605"]),
        ("letzten Monat", ["202605"]),
        ("la semana pasada", ["20260601", "20260602", "20260603", "20260604", "20260605",
                              "20260606", "20260607"]),
        ("一昨日", ["20260610"]),
        ("三天前", ["20260609"]),
        ("3日前", ["20260609"]),
        ("지난달", ["202605"]),
        ("3일 전", ["20260609"]),
        ("two years ago", ["2024"]),
        ("the past 2 days", ["20260612", "20260611", "20260610"]),
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
