"""Dates as words: a note of 2026-06-01 is found by "June", "2026" and "last Monday". Pure.

Each date is three words in the full-text table: `20260601`, `202606` and the month's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_MONTH = "|".join(f"{name}|{name[:3]}" for name in MONTHS)
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
# Left to be compiled where they are used (`re` keeps them): that takes 10 ms, for few queries.
_ISO = r"\b(\d{4})-(\d\d)(?:-(\d\d))?(?!\d)"
_MONTH_FIRST = rf"(?i)\b({_MONTH})\b\.?\s{{1,3}}(?:{_DAY}\b(?!\d*:),?\s{{0,3}})?(\d{{4}})?\b"
_DAY_FIRST = rf"(?i)\b{_DAY}\s{{1,3}}(?:of\s{{1,3}})?({_MONTH})\b\.?,?\s{{0,3}}(\d{{4}})?\b"
_CHINESE = r"(?:(\d{4})\s{0,3}年\s{0,3})?(\d{1,2})\s{0,3}月(?:\s{0,3}(\d{1,2})\s{0,3}[日号])?"
_AGO = r"(?i)\b(\d{1,3}|an?|one|two|three)\s{1,3}(day|week|month)s?\s{1,3}ago\b"
_LAST_DAY = rf"(?i)\b(last|this|past|on)\s{{1,3}}({'|'.join(DAYS)})\b"
_SPAN = r"(?i)\b(last|this|past|previous)\s{1,3}(week|month|year)\b"
_NEAR = {
    "today": 0, "yesterday": 1, "the day before yesterday": 2, "今天": 0, "昨天": 1, "前天": 2,
}  # fmt: skip
_CHINESE_SPAN = {
    "上周": ("last", "week"), "上个月": ("last", "month"), "去年": ("last", "year"),
    "本周": ("this", "week"), "这周": ("this", "week"), "本月": ("this", "month"),
    "这个月": ("this", "month"), "今年": ("this", "year"),
}  # fmt: skip
_NEAR_WORDS = f"(?i){'|'.join(sorted(_NEAR, key=len, reverse=True))}"
_CHINESE_SPANS = "|".join(_CHINESE_SPAN)
_HINTS = re.compile(r"(?i)\b(?:ago|last|this|past|previous|on|today|yesterday)\b|[今昨前上去本这]")
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3}


def words(text: str, known: tuple[str, ...] = ()) -> str:
    """The date words of a text and of the dates (`YYYY-MM-DD`) that are `known` of it."""
    found: dict[str, None] = {}
    for year, month, day in (*_written(" ".join(known)), *_written(text)):
        if year:
            # the year is a word of the text already, but not of what is known beside it
            found |= dict.fromkeys((f"{year}", f"{year}{month:02}", MONTHS[month - 1]))
            if day:
                found[f"{year}{month:02}{day:02}"] = None
    return " ".join(found)


def asked(text: str, today: date) -> tuple[list[tuple[str, ...]], str]:
    """The dates that a query asks for, each as the words any of which will do; and the rest.

    A year that is not said is that of the newest such date up to `today`.
    """
    found: list[tuple[str, ...]] = []
    for year, month, day in _written(text):
        if day:
            found.append((_day(_newest(month, day, today) if not year else (year, month, day)),))
        elif year:
            found.append((f"{year}{month:02}",))

    def take(match: re.Match[str]) -> str:
        found.append(tuple(_relative(match, today)))
        return " "

    if _HINTS.search(text):
        for pattern in (_AGO, _LAST_DAY, _SPAN, _NEAR_WORDS, _CHINESE_SPANS):
            text = re.sub(pattern, take, text)
    return found, re.sub(_ISO, " ", text)


def _written(text: str) -> Iterator[tuple[int, int, int]]:
    """Year, month and day as they stand in a text; 0 for what is left out."""
    if not any(character.isdigit() for character in text):
        return
    for match in re.finditer(_ISO, text):
        yield from _valid(match[1], match[2], match[3])
    for match in re.finditer(_MONTH_FIRST, text):
        if match[2] or match[3]:
            yield from _valid(match[3], _number(match[1]), match[2])
    for match in re.finditer(_DAY_FIRST, text):
        yield from _valid(match[3], _number(match[2]), match[1])
    if "月" in text:
        for match in re.finditer(_CHINESE, text):
            yield from _valid(match[1], match[2], match[3])


def _valid(year: str | None, month: str | int, day: str | None) -> Iterator[tuple[int, int, int]]:
    parts = int(year or 0), int(month), int(day or 0)
    if 1 <= parts[1] <= 12 and parts[2] <= 31 and (not parts[0] or 1900 <= parts[0] <= 2199):
        yield parts


def _number(month: str) -> int:
    return next(at for at, name in enumerate(MONTHS, 1) if name.startswith(month.lower()))


def _newest(month: int, day: int, today: date) -> tuple[int, int, int]:
    return (today.year - ((month, day) > (today.month, today.day)), month, day)


def _day(parts: tuple[int, int, int]) -> str:
    return f"{parts[0]}{parts[1]:02}{parts[2]:02}"


def _relative(match: re.Match[str], today: date) -> Iterator[str]:
    said = match[0].lower()
    if said in _NEAR:
        yield f"{today - timedelta(_NEAR[said]):%Y%m%d}"
    elif match.re.pattern == _AGO:
        count = _COUNTS.get(match[1].lower()) or int(match[1])
        yield from _ago(count, match[2].lower(), today)
    elif match.re.pattern == _LAST_DAY:
        if match[1].lower() == "on":  # that day, or each
            yield match[2].lower()
        back = (today.weekday() - DAYS.index(match[2].lower())) % 7
        yield f"{today - timedelta(back or (7 if match[1].lower() != 'this' else 0)):%Y%m%d}"
    else:
        which, what = _CHINESE_SPAN.get(said) or (match[1].lower(), match[2].lower())
        yield from _span(which, what, today)


def _ago(count: int, unit: str, today: date) -> Iterator[str]:
    if unit == "month":
        at = today.year * 12 + today.month - 1 - count
        yield f"{at // 12}{at % 12 + 1:02}"
        return
    middle = today - timedelta(count * (7 if unit == "week" else 1))
    around = 3 if unit == "week" else 0
    yield from (f"{middle + timedelta(at):%Y%m%d}" for at in range(-around, around + 1))


def _span(which: str, what: str, today: date) -> Iterator[str]:
    back = 0 if which == "this" else 1
    if what == "year":
        yield f"{today.year - back}"
    elif what == "month":
        yield from _ago(back, "month", today)
    else:
        monday = today - timedelta(today.weekday() + 7 * back)
        yield from (f"{monday + timedelta(at):%Y%m%d}" for at in range(7))
