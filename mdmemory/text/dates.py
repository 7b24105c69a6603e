"""Dates as words: a note of 2026-06-01 is found by "June", "2026" and "last Monday". Pure.

Each date is three words in the full-text table: `20260601`, `202606` and the month's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from datetime import date, timedelta
from itertools import islice
from typing import NamedTuple

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_MONTH_NAMES = tuple(
    names.split()
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
MONTHS = tuple(names[0] for names in _MONTH_NAMES)
# 1 to 12 by each name of a month, in lower case; and an expression for any of them
_NAMED_MONTH = {name: at for at, names in enumerate(_MONTH_NAMES, 1) for name in names}
_ANY_MONTH = "|".join(sorted(_NAMED_MONTH, key=len, reverse=True))
MANY = 20  # dates of one frontmatter
_LETTERS = re.compile(r"[^\W\d_]+")
# Short ones of other languages are words of English, too, as "set" and "out".
_SURE_MONTHS = frozenset(
    name for name in _NAMED_MONTH if len(name) > 3 or name in ("mai", "mär", "okt", "dez")
) | {name[:3] for name in MONTHS}
# Left to be compiled where they are used (`re` keeps them): that takes 10 ms, for few texts.
_OF = r"(?:of\s|de\s|del\s|di\s|d['’])?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
# `\b` in front would be slow
_ISO = r"(?P<year>\d(?<!\w\d)\d{3})-(?P<month>\d\d)(?:-(?P<day>\d\d))?(?!\d|-\d)"
_IN_FIGURES = (
    r"(?<![\d.:/-])(?P<day>\d{1,2})(?P<sign>[./-])\s?(?P<month>\d{1,2})(?P=sign)"
    rf"(?:\s?{_YEAR})?(?<!-)(?!\d|[./-]\d)"
)
_YEAR_FIRST = rf"(?<![\d./-]){_YEAR}[./](?P<month>\d{{1,2}})[./](?P<day>\d{{1,2}})(?![\d/])"
_EASTERN = (
    rf"(?:{_YEAR}\s?[年년]\s?)?(?P<month>\d{{1,2}})\s?[月월]"
    r"(?:\s?(?P<day>\d{1,2})\s?[日号號일])?"
)
_WORDED_DAY = (
    rf"(?i)(?<![\w.])(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|º|°|\.)?\s{{1,2}}{_OF}"
    rf"(?P<month>{_ANY_MONTH})\b\.?(?:,?\s{{1,2}}{_OF}{_YEAR}(?!\d))?"
)
_MONTH_THEN_DAY = (
    rf"(?i)\b(?P<month>{_ANY_MONTH})\b\.?\s{{1,2}}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?"
    rf"(?![\d:.]\d|\d|\s?%)(?:,?\s{{1,2}}{_YEAR}(?!\d))?"
)
_MONTH_OF_YEAR = rf"(?i)\b(?P<month>{_ANY_MONTH})\b\.?(?:,?\s{{1,2}}{_OF}{_YEAR}(?![\d-]))?(?!\d)"
_AGO = (
    r"(?i)\b(\w{1,9})\s{1,3}(day|week|month|year)s?\s{1,3}ago\b"
    r"|\bvor\s{1,3}(\w{1,9})\s{1,3}(tag|woche|monat|jahr)(?:en|n)?\b"
    r"|(\d{1,3}|[一二两三四五六七八九十]{1,2})\s?(天|日|周|週間|个月|か月|ヶ月|年|일|주|달|개월|년)\s?(?:以?前|전)"
)
_UNITS = {
    form: unit
    for unit, forms in {
        "day": "day tag 天 日 일", "week": "week woche 周 週間 주",
        "month": "month monat 个月 か月 ヶ月 달 개월", "year": "year jahr 年 년",
    }.items()
    for form in forms.split()
}  # fmt: skip
_IN_LAST = r"(?i)\b(?:in\s{1,3}the\s{1,3})?(?:last|past)\s{1,3}(\w{1,9})\s{1,3}(day|week)s\b"
_GERMAN_DAYS = "montag dienstag mittwoch donnerstag freitag samstag sonntag".split()
_WEEKDAYS = {name: at for names in (DAYS, _GERMAN_DAYS) for at, name in enumerate(names)}
_LAST_DAY = rf"(?i)\b(last|this|past|on|letzten|diesen|am)\s{{1,3}}({'|'.join(_WEEKDAYS)})\b"
_SPAN = r"(?i)\b(last|this|past|previous)\s{1,3}(week|month|year)\b"
_NEAR = {
    "today": 0, "yesterday": 1, "the day before yesterday": 2, "今天": 0, "昨天": 1, "前天": 2,
    "heute": 0, "gestern": 1, "vorgestern": 2, "ayer": 1, "ontem": 1, "今日": 0, "昨日": 1,
    "一昨日": 2, "오늘": 0, "어제": 1, "그저께": 2,
}  # fmt: skip
_CHINESE_SPAN = {
    "上周": ("last", "week"), "上个月": ("last", "month"), "去年": ("last", "year"),
    "本周": ("this", "week"), "这周": ("this", "week"), "本月": ("this", "month"),
    "这个月": ("this", "month"), "今年": ("this", "year"),
    "先週": ("last", "week"), "先月": ("last", "month"), "昨年": ("last", "year"),
    "今週": ("this", "week"), "今月": ("this", "month"), "지난주": ("last", "week"),
    "지난달": ("last", "month"), "작년": ("last", "year"), "이번 주": ("this", "week"),
    "이번 달": ("this", "month"), "올해": ("this", "year"), "letzte woche": ("last", "week"),
    "letzten monat": ("last", "month"), "letztes jahr": ("last", "year"),
    "diese woche": ("this", "week"), "diesen monat": ("this", "month"),
    "la semana pasada": ("last", "week"), "la semaine dernière": ("last", "week"),
}  # fmt: skip
_NEAR_WORDS = f"(?i){'|'.join(sorted(_NEAR, key=len, reverse=True))}"
_CHINESE_SPANS = f"(?i){'|'.join(_CHINESE_SPAN)}"
_HINTS = re.compile(
    r"(?i)\b(?:ago|last|this|past|previous|on|today|yesterday|heute|(?:vor)?gestern|vor|am|letzt\w+"
    r"|diesen?|ayer|ontem|semana|semaine)\b|[今昨前上去本这先전난작올번오어그]"
)


class Named(NamedTuple):
    """A date as a text names it, 0 for what it leaves out, and the place of its words. `is_sure`:
    it can be nothing else in any language."""

    year: int
    month: int
    day: int
    start: int = 0
    end: int = 0
    is_sure: bool = True

    @property
    def iso(self) -> str:
        """YYYY-MM-DD, YYYY-MM or MM-DD."""
        parts = (f"{self.year}" if self.year else "", f"{self.month:02}",
                 f"{self.day:02}" if self.day else "")  # fmt: skip
        return "-".join(filter(None, parts))


def named_dates(text: str) -> list[Named]:
    """The dates that a text names in figures or by the name of a month, in their order."""
    forms: list[str] = []
    if re.search(r"\d", text):
        forms += (_ISO, _YEAR_FIRST, _IN_FIGURES)
        forms += (_EASTERN,) if re.search("[月월]", text) else ()
    if not _NAMED_MONTH.keys().isdisjoint(_LETTERS.findall(text.casefold())):
        forms += (_WORDED_DAY, _MONTH_THEN_DAY, _MONTH_OF_YEAR)
    dates: list[Named] = []
    covered: set[int] = set()  # places in the text; a date has few
    for form in forms:
        for match in re.finditer(form, text):
            parts, words = match.groupdict(), range(*match.span())
            month = parts["month"].lower()
            at = int(month) if month.isdigit() else _NAMED_MONTH[month]
            year, day = (int(parts.get(name) or 0) for name in ("year", "day"))
            is_valid = 1 <= at <= 12 and day <= 31 and (day or not parts.get("day"))
            if is_valid and covered.isdisjoint(words):
                is_sure = month.isdigit() or month in _SURE_MONTHS
                if sign := parts.get("sign"):  # the 3rd of April, or March 4
                    is_sure = bool(year) and (sign == "." or day > 12 or day == at)
                dates.append(Named(year, at, day, words.start, words.stop, is_sure))
                covered.update(words)
    return sorted(dates, key=lambda each: each.start)


def date_words(text: str, known: tuple[str, ...] = ()) -> str:
    """The date words of a text and of the dates (`YYYY-MM-DD`) that are `known` of it."""
    words_found: dict[str, None] = {}
    for year, month, day in (*_sure_dates(" ".join(known)), *_sure_dates(text)):
        if year:
            # the year is a word of the text already, but not of what is known beside it
            words_found |= dict.fromkeys((f"{year}", f"{year}{month:02}", MONTHS[month - 1]))
            if day:
                words_found[f"{year}{month:02}{day:02}"] = None
    return " ".join(words_found)


def iso_days(text: str) -> list[str]:
    """The first dates of a text that are written `YYYY-MM-DD`, each once."""
    matches = (match[0] for match in re.finditer(_ISO, text) if match["day"])
    return list(dict.fromkeys(islice(matches, MANY)))


def asked_dates(text: str, today: date) -> tuple[list[tuple[str, ...]], str]:
    """The dates that a query asks for, each as the words any of which will do; and the rest.

    A year that is not said is that of the newest such date up to `today`.
    """
    dates_found: list[tuple[str, ...]] = []
    for year, month, day in _sure_dates(text):
        if day:
            year = year or today.year - ((month, day) > (today.month, today.day))
            dates_found.append((f"{year}{month:02}{day:02}",))
        elif year:
            dates_found.append((f"{year}{month:02}",))

    def take_relative(match: re.Match[str]) -> str:
        days = tuple(_relative_days(match, today))
        dates_found.extend([days] if days else [])
        return " " if days else match[0]

    if _HINTS.search(text):
        for pattern in (_AGO, _IN_LAST, _LAST_DAY, _SPAN, _NEAR_WORDS, _CHINESE_SPANS):
            text = re.sub(pattern, take_relative, text)
    return dates_found, re.sub(_ISO, " ", text)


def _sure_dates(text: str) -> Iterator[tuple[int, int, int]]:
    """Year, month and day as they stand in a text; 0 for what is left out."""
    for each in named_dates(text) if re.search(r"\d", text) else ():
        if each.is_sure and (each.year or each.day):
            yield each.year, each.month, each.day


def _relative_days(match: re.Match[str], today: date) -> Iterator[str]:
    phrase = match[0].lower()
    if phrase in _NEAR:
        yield f"{today - timedelta(_NEAR[phrase]):%Y%m%d}"
    elif match.re.pattern == _AGO:
        word, unit = (each.lower() for each in match.groups() if each)
        yield from _days_ago(_read_count(word), _UNITS[unit], today)
    elif match.re.pattern == _IN_LAST:
        days = _read_count(match[1].lower()) * (7 if match[2].lower() == "week" else 1)
        yield from (
            f"{today - timedelta(back):%Y%m%d}" for back in range(min(days, 31) + bool(days))
        )
    elif match.re.pattern == _LAST_DAY:
        if match[1].lower() in ("on", "am"):  # that day, or each
            yield match[2].lower()
        back = (today.weekday() - _WEEKDAYS[match[2].lower()]) % 7
        is_this = match[1].lower() in ("this", "diesen")
        yield f"{today - timedelta(back or (0 if is_this else 7)):%Y%m%d}"
    else:
        which, what = _CHINESE_SPAN.get(phrase) or (match[1].lower(), match[2].lower())
        yield from _span_days(which, what, today)


def _read_count(word: str) -> int:
    """The number that a word says, 0 for another word."""
    from mdmemory.text.numbers import NUMBERS, eastern_number  # few queries need them

    if word in ("a", "an") or word.startswith("ein"):
        return 1
    count = word if word.isdecimal() else NUMBERS.get(word) or eastern_number(word) or 0
    return min(int(count), 999)


def _days_ago(count: int, unit: str, today: date) -> Iterator[str]:
    if not count:
        return
    if unit == "year":
        yield f"{today.year - count}"
        return
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

_SHORT_GERMAN = re.compile(r"(?i)(?<=\b(?:am|ab|en|er|it|is|om|um)\s)\d{1,2}\.\d{1,2}\.")
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
    parts, at = [], 0
    for each in named_dates(text):
        may = each.is_sure or (language != "en" and _is_local(each, text))
        if may and (each.year or each.day):
            parts += [text[at : each.start], each.iso]
            at = each.end
    return "".join([*parts, text[at:]])


def _is_local(each: Named, text: str) -> bool:
    """Whether a date that is none in every language is one in a language of Europe or Asia."""
    has_name = any(map(str.isalpha, text[each.start : each.end]))
    return bool(each.year) or has_name or _SHORT_GERMAN.match(text, each.start) is not None


def _as_quarter(match: re.Match[str]) -> str:
    year = f" {match['year']}" if match["year"] else ""
    return f"Q{_QUARTERS[match['which'].lower()]}{year}"
