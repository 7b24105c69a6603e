"""Dates as words: a note of 2026-06-01 is found by "June", "2026" and "last Monday". Pure.

Each date is three words in the full-text table: `20260601`, `202606` and the month's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from datetime import date, timedelta
from itertools import islice

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

MANY = 20  # dates of one frontmatter
_LETTERS = re.compile("[a-z]+")
_MONTHS = frozenset(form for name in MONTHS for form in (name, name[:3]))
_MONTH = "|".join(f"{name}|{name[:3]}" for name in MONTHS)
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
# Left to be compiled where they are used (`re` keeps them): that takes 10 ms, for few queries.
_ISO = r"(\d(?<!\w\d)\d{3})-(\d\d)(?:-(\d\d))?(?!\d)"  # `\b` in front would be slow
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


def date_words(text: str, known: tuple[str, ...] = ()) -> str:
    """The date words of a text and of the dates (`YYYY-MM-DD`) that are `known` of it."""
    words_found: dict[str, None] = {}
    for year, month, day in (*_written_dates(" ".join(known)), *_written_dates(text)):
        if year:
            # the year is a word of the text already, but not of what is known beside it
            words_found |= dict.fromkeys((f"{year}", f"{year}{month:02}", MONTHS[month - 1]))
            if day:
                words_found[f"{year}{month:02}{day:02}"] = None
    return " ".join(words_found)


def iso_days(text: str) -> list[str]:
    """The first dates of a text that are written `YYYY-MM-DD`, each once."""
    matches = (match[0] for match in re.finditer(_ISO, text) if match[3])
    return list(dict.fromkeys(islice(matches, MANY)))


def asked_dates(text: str, today: date) -> tuple[list[tuple[str, ...]], str]:
    """The dates that a query asks for, each as the words any of which will do; and the rest.

    A year that is not said is that of the newest such date up to `today`.
    """
    dates_found: list[tuple[str, ...]] = []
    for year, month, day in _written_dates(text):
        if day:
            dates_found.append(
                (_day_word(_newest_date(month, day, today) if not year else (year, month, day)),)
            )
        elif year:
            dates_found.append((f"{year}{month:02}",))

    def take_relative(match: re.Match[str]) -> str:
        dates_found.append(tuple(_relative_days(match, today)))
        return " "

    if _HINTS.search(text):
        for pattern in (_AGO, _LAST_DAY, _SPAN, _NEAR_WORDS, _CHINESE_SPANS):
            text = re.sub(pattern, take_relative, text)
    return dates_found, re.sub(_ISO, " ", text)


def _written_dates(text: str) -> Iterator[tuple[int, int, int]]:
    """Year, month and day as they stand in a text; 0 for what is left out."""
    if not re.search(r"\d", text):
        return
    for match in re.finditer(_ISO, text):
        yield from _valid_parts(match[1], match[2], match[3])
    if not _MONTHS.isdisjoint(_LETTERS.findall(text.casefold())):
        for match in re.finditer(_MONTH_FIRST, text):
            if match[2] or match[3]:
                yield from _valid_parts(match[3], _month_number(match[1]), match[2])
        for match in re.finditer(_DAY_FIRST, text):
            yield from _valid_parts(match[3], _month_number(match[2]), match[1])
    if "月" in text:
        for match in re.finditer(_CHINESE, text):
            yield from _valid_parts(match[1], match[2], match[3])


def _valid_parts(
    year: str | None, month: str | int, day: str | None
) -> Iterator[tuple[int, int, int]]:
    parts = int(year or 0), int(month), int(day or 0)
    if 1 <= parts[1] <= 12 and parts[2] <= 31 and (not parts[0] or 1900 <= parts[0] <= 2199):
        yield parts


def _month_number(month: str) -> int:
    return next(at for at, name in enumerate(MONTHS, 1) if name.startswith(month.lower()))


def _newest_date(month: int, day: int, today: date) -> tuple[int, int, int]:
    return (today.year - ((month, day) > (today.month, today.day)), month, day)


def _day_word(parts: tuple[int, int, int]) -> str:
    return f"{parts[0]}{parts[1]:02}{parts[2]:02}"


def _relative_days(match: re.Match[str], today: date) -> Iterator[str]:
    phrase = match[0].lower()
    if phrase in _NEAR:
        yield f"{today - timedelta(_NEAR[phrase]):%Y%m%d}"
    elif match.re.pattern == _AGO:
        count = _COUNTS.get(match[1].lower()) or int(match[1])
        yield from _days_ago(count, match[2].lower(), today)
    elif match.re.pattern == _LAST_DAY:
        if match[1].lower() == "on":  # that day, or each
            yield match[2].lower()
        back = (today.weekday() - DAYS.index(match[2].lower())) % 7
        yield f"{today - timedelta(back or (7 if match[1].lower() != 'this' else 0)):%Y%m%d}"
    else:
        which, what = _CHINESE_SPAN.get(phrase) or (match[1].lower(), match[2].lower())
        yield from _span_days(which, what, today)


def _days_ago(count: int, unit: str, today: date) -> Iterator[str]:
    if unit == "month":
        at = today.year * 12 + today.month - 1 - count
        yield f"{at // 12}{at % 12 + 1:02}"
        return
    middle = today - timedelta(count * (7 if unit == "week" else 1))
    around = 3 if unit == "week" else 0
    yield from (f"{middle + timedelta(at):%Y%m%d}" for at in range(-around, around + 1))


def _span_days(which: str, what: str, today: date) -> Iterator[str]:
    back = 0 if which == "this" else 1
    if what == "year":
        yield f"{today.year - back}"
    elif what == "month":
        yield from _days_ago(back, "month", today)
    else:
        monday = today - timedelta(today.weekday() + 7 * back)
        yield from (f"{monday + timedelta(at):%Y%m%d}" for at in range(7))


# --- dates in one form, in eight languages

_MONTH_NAMES = tuple(
    frozenset(names.split())
    for names in (
        "january jan januar jänner janvier janv enero ene janeiro gennaio gen",
        "february feb februar février fevrier févr febrero fevereiro fev febbraio",
        "march mar märz maerz mär mars marzo março marco",
        "april apr avril avr abril abr aprile",
        "may mai mayo maio maggio mag",
        "june jun juni juin junio junho giugno giu",
        "july jul juli juillet juil julio julho luglio lug",
        "august aug août aout agosto ago",
        "september sep sept septembre septiembre setembro set settembre",
        "october oct oktober okt octobre octubre outubro out ottobre ott",
        "november nov novembre noviembre novembro",
        "december dec dezember dez décembre déc diciembre dic dezembro dicembre",
    )
)
# 1 to 12 by each name of a month, in lower case; and an expression for any of them
NAMED_MONTH = {name: at for at, names in enumerate(_MONTH_NAMES, 1) for name in names}
ANY_MONTH = "|".join(sorted(NAMED_MONTH, key=len, reverse=True))
_ANY_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|º|°|\.)?"
_OF = r"(?:of\s|de\s|del\s|di\s|d['’])?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
WORDED_DAY = (
    rf"(?i)(?<![\w.]){_ANY_DAY}\s{{1,2}}{_OF}(?P<month>{ANY_MONTH})\b\.?"
    rf"(?:,?\s{{1,2}}{_OF}{_YEAR}(?!\d))?"
)
MONTH_THEN_DAY = (
    rf"(?i)\b(?P<month>{ANY_MONTH})\b\.?\s{{1,2}}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?"
    rf"(?![\d:.]\d|\d|\s?%)(?:,?\s{{1,2}}{_YEAR}(?!\d))?"
)
_MONTH_OF_YEAR = rf"(?i)\b(?P<month>{ANY_MONTH})\b\.?,?\s{{1,2}}{_OF}{_YEAR}(?![\d-])"
_IN_FIGURES = (
    r"(?<![\d./-])(?P<day>\d{1,2})(?P<sign>[./-])\s?(?P<month>\d{1,2})(?P=sign)\s?"
    r"(?P<year>(?:19|20)\d\d)(?!\d|[./-]\d)"
)
_YEAR_FIRST = r"(?<![\d./-])(?P<year>(?:19|20)\d\d)[./](?P<month>\d{1,2})[./](?P<day>\d{1,2})(?!\d)"
_SHORT_GERMAN = (
    r"(?i)(?<=\b(?:am|ab|en|er|it|is|om|um)\s)(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?!\d)"
)
_EASTERN = (
    r"(?:(?P<year>(?:19|20)\d\d)\s?年\s?)?(?P<month>\d{1,2})\s?月"
    r"(?:\s?(?P<day>\d{1,2})\s?[日号號])?"
)
_QUARTERS = {
    word: at
    for at, words in enumerate(
        (
            "first 1st erstes erste ersten premier 1er primer primeiro primo 一 1",
            "second 2nd zweites zweite zweiten deuxième segundo secondo 二 2",
            "third 3rd drittes dritte dritten troisième tercer terceiro terzo 三 3",
            "fourth 4th viertes vierte vierten quatrième cuarto quarto 四 4",
        ),
        1,
    )
    for word in words.split()
}
_QUARTER = (
    r"(?i)(?<![\w第])(?:第)?(?P<which>"
    + "|".join(sorted(_QUARTERS, key=len, reverse=True))
    + r")\.?[\sº°]{0,2}(?:quarter|quartals?|trimestre|季度|四半期)"
    rf"(?:\s{{1,2}}{_OF}{_YEAR})?"
)


_SAYS_QUARTER = frozenset("quarter quartal quartals trimestre".split())


def dates_to_iso(text: str, language: str, words: Set[str]) -> str:
    """The text with its dates as YYYY-MM-DD, YYYY-MM and MM-DD, and its quarters as Q1.

    `language` is that of `normal_form`: 3/4/2026 is the 3rd of April but in English, where it may
    be either and stays. `words` are those of the text in lower case.
    """
    if words & _SAYS_QUARTER or (language == "cjk" and re.search("季度|四半期", text)):
        text = re.sub(_QUARTER, _as_quarter, text)
    if not any(character.isdigit() for character in text):
        return text
    if words & NAMED_MONTH.keys():
        for form in (WORDED_DAY, MONTH_THEN_DAY, _MONTH_OF_YEAR):
            text = re.sub(form, _as_iso, text)
    text = re.sub(_YEAR_FIRST, _as_iso, text)
    text = re.sub(_IN_FIGURES, _as_surely_iso if language == "en" else _as_iso, text)
    if language != "en":
        text = re.sub(_SHORT_GERMAN, _as_iso, text)
    return re.sub(_EASTERN, _as_iso, text) if "月" in text else text


def _as_quarter(match: re.Match[str]) -> str:
    year = f" {match['year']}" if match["year"] else ""
    return f"Q{_QUARTERS[match['which'].lower()]}{year}"


def _as_surely_iso(match: re.Match[str]) -> str:
    is_sure = match["sign"] == "." or int(match["day"]) > 12 or match["day"] == match["month"]
    return _as_iso(match) if is_sure else match[0]


def _as_iso(match: re.Match[str]) -> str:
    parts = match.groupdict()
    month = parts["month"]
    at = int(month) if month.isdigit() else NAMED_MONTH[month.lower()]
    day = int(parts.get("day") or 0)
    if not 1 <= at <= 12 or day > 31 or (parts.get("day") and not day):
        return match[0]
    if not parts.get("year"):
        return f"{at:02}-{day:02}" if day else match[0]
    return f"{parts['year']}-{at:02}" + (f"-{day:02}" if day else "")
