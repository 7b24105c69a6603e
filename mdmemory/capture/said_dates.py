"""The dates that a text names or means on the day on which it was said: "December 1st", "next
Friday", "in two weeks". In nine languages. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mdmemory.text.dates import ANY_MONTH, NAMED_MONTH
from mdmemory.text.quantities import number_digits
from mdmemory.text.words import is_cjk, normal_text

LONGEST = 366  # days from the day it was said to a date without its year
_CALENDAR = Path(__file__).parents[1] / "text" / "words" / "calendar.txt"
_ISO = re.compile(r"(?<!\d)(?P<year>\d{4})-(?P<month>\d\d)(?:-(?P<day>\d\d))?(?!\d|-\d)")
_FIGURES = re.compile(
    r"(?<![\d.:/-])(?P<day>\d{1,2})(?P<sign>[./])\s?(?P<month>\d{1,2})(?P=sign)"
    r"\s?(?P<year>\d{4})?(?![\d/]|\.\d)"
)
_EASTERN = re.compile(
    r"(?:(?P<year>\d{4})\s?[年년]\s?)?(?P<month>\d{1,2})\s?[月월](?:\s?(?P<day>\d{1,2})\s?[日号號일])?"
)


class Named(NamedTuple):
    """A date as a text names it, 0 for what it leaves out, and the place of its words."""

    year: int
    month: int
    day: int
    start: int = 0
    end: int = 0


def named_dates(text: str) -> list[Named]:
    """The dates that a text names in figures or by the name of a month, in their order."""
    dates: list[Named] = []
    covered: set[int] = set()  # places in the text; a date has few
    for form in (_ISO, _FIGURES, _EASTERN, _worded_dates(), _month_first(), _month_of_year()):
        for match in form.finditer(text):
            each = _read(match)
            if each and covered.isdisjoint(range(each.start, each.end)):
                dates.append(each)
                covered.update(range(each.start, each.end))
    return sorted(dates, key=lambda each: each.start)


def is_given(claimed: Named, text: str, today: date) -> bool:
    """Whether a text, said on a day, gives a date that somebody wrote out."""
    dates = named_dates(text)
    if any(_is_same(claimed, each, today) for each in dates):
        return True
    meant, span = _meant_days(text, today)
    if not claimed.day:
        return any((each.year, each.month) == (claimed.year, claimed.month) for each in meant)
    try:
        day = date(claimed.year or today.year, claimed.month, claimed.day)
    except ValueError:
        return False
    return day in meant or abs((day - today).days) <= span


def mean_weekdays(text: str, today: date) -> set[int]:
    """The days of the week (0 is Monday) of the dates that a text means or names in full."""
    days = _meant_days(text, today)[0]
    for each in named_dates(text):
        if not each.day:  # "out" is a short October
            continue
        try:
            days.add(date(each.year or today.year, each.month, each.day))
        except ValueError:
            continue
    return {each.weekday() for each in days}


def weekday_of(word: str) -> int | None:
    """The day of the week (0 is Monday) that a folded word names."""
    return _weekday_names().get(word)


def _is_same(claimed: Named, named: Named, today: date) -> bool:
    if claimed.month != named.month or (claimed.day and claimed.day != named.day):
        return False
    if named.year or not claimed.year:
        return claimed.year in (named.year, 0) or not named.year
    try:
        day = date(claimed.year, claimed.month, claimed.day or 15)
    except ValueError:
        return False
    return abs((day - today).days) <= LONGEST


def _meant_days(text: str, today: date) -> tuple[set[date], int]:
    """The days that a text means by such words as "tomorrow", and how far from today those may lie
    that it means by "next month"; 0 where it says nothing like it."""
    folded = normal_text(text).casefold().replace("’", "'")
    meant: set[date] = set()
    for days, form in _section_forms("days"):
        if form.search(folded):
            meant.add(today + timedelta(days))
    for name, at in _weekday_names().items():
        if name in folded and _word_pattern(name).search(folded):
            ahead = (at - today.weekday()) % 7
            # "next Friday" is this week's to some and next week's to others; or it is past
            meant |= {today + timedelta(ahead + 7 * weeks) for weeks in (-1, 0, 1)}
    meant |= {today + timedelta(days) for days in _count_days(folded)}
    return meant, max(
        (days for days, form in _section_forms("about") if form.search(folded)), default=0
    )


def _count_days(folded: str) -> Iterator[int]:
    """The days, ahead or ago, that are counted in a text, as in "in two weeks"; of weeks and longer
    also those around."""
    for days, form in _counted_forms():
        around = days // 10 if days > 7 else 0
        for match in form.finditer(folded):
            word = match["count"]
            count = int(word) if word.isdecimal() else int(number_digits(word) or 0)
            for off in range(-around, around + 1) if 0 < count < 1_000 else ():
                yield from (count * days + off, -count * days + off)


def _read(match: re.Match[str]) -> Named | None:
    parts = match.groupdict()
    month = parts["month"].casefold()
    at = int(month) if month.isdigit() else NAMED_MONTH[month]
    day = int(parts.get("day") or 0)
    if not 1 <= at <= 12 or day > 31:
        return None
    return Named(int(parts.get("year") or 0), at, day, *match.span())


# --- the words


@cache
def _section_lines() -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    section: list[str] = []
    for line in _CALENDAR.read_text("utf-8").splitlines():
        if line.startswith("["):
            section = sections.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            section.append(line)
    return sections


@cache
def _weekday_names() -> dict[str, int]:
    return {
        name: at for at, line in enumerate(_section_lines()["weekdays"]) for name in line.split()
    }


@cache
def _word_pattern(name: str) -> re.Pattern[str]:
    """A word of its own; in scripts without spaces wherever it stands."""
    return re.compile(re.escape(name) if is_cjk(name[0]) else rf"(?<!\w){re.escape(name)}(?!\w)")


def _any_of(names: Iterator[str]) -> str:
    ordered = sorted(names, key=len, reverse=True)
    latin = "|".join(re.escape(name) for name in ordered if not is_cjk(name[0]))
    eastern = "|".join(re.escape(name) for name in ordered if is_cjk(name[0]))
    return rf"(?:(?<!\w)(?:{latin})(?!\w)|{eastern})"


@cache
def _section_forms(section: str) -> list[tuple[int, re.Pattern[str]]]:
    """What each line of a section stands for: days, and an expression for any of its words."""
    forms = []
    for line in _section_lines()[section]:
        days, _, names = line.partition(" ")
        forms.append((int(days), re.compile(_any_of(iter(names.split("|"))))))
    return forms


@cache
def _counted_forms() -> list[tuple[int, re.Pattern[str]]]:
    """ "In two weeks": the days of a unit, and an expression with the `count` of it."""
    forms = []
    for line in _section_lines()["units"]:
        days, _, names = line.partition(" ")
        unit = _any_of(iter(names.split("|"))).replace(r"(?<!\w)", "", 1)
        forms.append(
            (int(days), re.compile(rf"(?<!\w)(?P<count>\d{{1,3}}|[^\W\d_]{{2,12}})\s?{unit}"))
        )
    return forms


@cache
def _worded_dates() -> re.Pattern[str]:
    of = r"(?:of\s|de\s|del\s|di\s|d['’])?"
    return re.compile(
        rf"(?i)(?<![\w.])(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|º|°|\.)?\s{{1,2}}{of}"
        rf"(?P<month>{ANY_MONTH})\b\.?(?:,?\s{{1,2}}{of}(?P<year>\d{{4}})(?!\d))?"
    )


@cache
def _month_first() -> re.Pattern[str]:
    return re.compile(
        rf"(?i)\b(?P<month>{ANY_MONTH})\b\.?\s{{1,2}}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?"
        r"(?![\d:.]\d|\d)(?:,?\s{1,2}(?P<year>\d{4})(?!\d))?"
    )


@cache
def _month_of_year() -> re.Pattern[str]:
    return re.compile(
        rf"(?i)\b(?P<month>{ANY_MONTH})\b\.?(?:,?\s{{1,2}}(?:of\s|de\s|del\s)?(?P<year>\d{{4}}))?(?!\d)"
    )
