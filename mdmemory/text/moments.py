"""Dates and times of day in one form each, wherever they stand in a text. Pure.

A date becomes `@2026-05-09` (`@05-09` without its year), a time of day `@3:30`.
"""

from __future__ import annotations

import re
from functools import partial

from mdmemory.text.any_case import AnyCase, folded
from mdmemory.text.dates import DAYS, MONTHS

_MONTHS = {
    name[:length]: at
    for at, names in enumerate(
        (
            "january januar janvier enero janeiro gennaio",
            "february februar février febrero fevereiro febbraio",
            "march märz mars marzo março",
            "april avril abril aprile",
            "may mai mayo maio maggio",
            "june juni juin junio junho giugno",
            "july juli juillet julio julho luglio",
            "august août agosto",
            "september septembre septiembre setembro settembre",
            "october oktober octobre octubre outubro ottobre",
            "november novembre noviembre novembro",
            "december dezember décembre diciembre dezembro dicembre",
        ),
        1,
    )
    for name in names.split()
    for length in {3, len(name)}
    if length == len(name) or name[:3] not in ("mar", "jui")
}  # fmt: skip
_NAME = "|".join(sorted(_MONTHS, key=len, reverse=True))
_ISO = re.compile(r"(?<![\w.-])(\d{4})-(\d\d)-(\d\d)(?![\w-])")
_DAY_FIRST = AnyCase(
    rf"(?<![\w.])(\d{{1,2}})(?:\.|st|nd|rd|th|er|º)?\s+(?:of\s+|de\s+)?({_NAME})\b\.?"
    r"(?:,?\s+(?:de\s+|del\s+)?(\d{4})\b)?"
)
_MONTH_FIRST = AnyCase(
    rf"\b({_NAME})\b\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d*[:.]\d)(?:,?\s+(\d{{4}})\b)?"
)
_SLASHED = re.compile(r"(?<![\w/.])(\d{1,2})[/.](\d{1,2})[/.](\d{4})(?![\w/])")
_EASTERN = re.compile(
    r"(?:(\d{4})\s?年\s?)?(\d{1,2})\s?月\s?(\d{1,2})\s?[日号]|(?<![\w/.])(\d{1,2})/(\d{1,2})(?![\w/])"
)
_CLOCK = re.compile(
    r"(?i)(?<![\w.:/@-])(\d{1,2})(?:[:h](\d\d)(?:\s?uhr)?|\s?(?:uhr|h|o'clock|時|点|點)(?:\s?(\d\d)\s?分?|(半))?)"
    r"(?![\d:a-z間间])(\s?[ap]\.?m\b\.?)?|(?<![\w.:/-])(\d{1,2})\s?([ap])\.?m\b\.?"
)
_HOUR = re.compile(
    r"(?i)(?<=\s)(\d{1,2})(?=\s+(?:de la|da|del|di|du)\s+(?:mañana|tarde|noche|manhã|noite|mattina|"
    r"pomeriggio|sera|matin|soir)\b)"
)
_HALF = re.compile(
    r"(?i)\bhalb\s+(eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|\d{1,2})\b"
)
_HOURS = "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split()
_NAMED = AnyCase(
    r"\b(?:noon|mittags?|midi|mediodía|meio-dia|mezzogiorno|midnight|mitternacht|minuit|medianoche|meia-noite|mezzanotte)\b|正午|零点|深夜0時"
)
_NOON = ("noon", "mittag", "mittags", "midi", "mediodía", "meio-dia", "mezzogiorno", "正午")
# Said in front of an hour up to twelve, or behind it: of the second half of the day.
_LATE = AnyCase(
    r"\b(?:evening|afternoon|abends?|nachmittags?|soir|après-midi|tarde|noche|noite|sera|pomeriggio)\b|晚上|下午|傍晚|毎晩|夜|午後|夕方"
)

_DAYS = {
    name: at
    for at, names in enumerate(
        (
            "monday montag lundi lunes segunda-feira lunedì 周一 星期一 礼拜一 月曜",
            "tuesday dienstag mardi martes terça-feira terça martedì 周二 星期二 礼拜二 火曜",
            "wednesday mittwoch mercredi miércoles quarta-feira mercoledì 周三 星期三 礼拜三 水曜",
            "thursday donnerstag jeudi jueves quinta-feira giovedì 周四 星期四 礼拜四 木曜",
            "friday freitag vendredi viernes sexta-feira sexta venerdì 周五 星期五 礼拜五 金曜",
            "saturday samstag sonnabend samedi sábado sabato 周六 星期六 礼拜六 土曜",
            "sunday sonntag dimanche domingo domenica 周日 星期日 星期天 周天 日曜",
        ),
        1,
    )
    for name in names.split()
}
_WEEKDAY = AnyCase(
    rf"(?<!\w)({'|'.join(sorted(filter(str.isalpha, _DAYS), key=len, reverse=True))}"
    r"|(?:segunda|terça|quarta|quinta|sexta)(?:s?-feiras?))s?(?!\w)"
)
_WEEKDAY_CJK = re.compile("((?:周|星期|礼拜)[一二三四五六日天]|[月火水木金土日]曜)日?")
_LONG_NAME = "|".join(sorted((name for name in _MONTHS if len(name) > 3), key=len, reverse=True))
_MONTH = AnyCase(
    rf"(?<![\w@])({_LONG_NAME}"
    r"|(?-i:Mai|May))(?!\w)(?:\s+(?:de\s+|del\s+)?(\d{4})\b)?",
    first=rf"(?<![\w@])(?:{_LONG_NAME}|mai|may)(?!\w)",
)
_MONTH_CJK = re.compile(r"(?<![\d@:-])(?:(\d{4})\s?年\s?)?(\d{1,2})\s?月(?!\w?曜)")
_YEAR = re.compile(r"(?<![\w.,:/@-])((?:19|20)\d\d)(?![\w:/-]|[.,]\d)(?:\s?年)?")


def with_moments(text: str, language: str) -> str:
    """The text with each date and time of day as one word."""
    text = _ISO.sub(lambda found: _date(found[1], found[2], found[3]), text)
    text = _SLASHED.sub(lambda found: _date(found[3], found[2], found[1]), text)
    if language in ("zh", "ja"):
        text = _EASTERN.sub(_eastern, text)
    else:
        text = _DAY_FIRST.sub(lambda found: _named(found[3], found[2], found[1]), text)
        text = _MONTH_FIRST.sub(lambda found: _named(found[3], found[1], found[2]), text)
        text = _HALF.sub(_half, text)
        text = _HOUR.sub(r"\1:00", text)
    text = _NAMED.sub(lambda found: " @12:00 " if folded(found[0]) in _NOON else " @0:00 ", text)
    text = _CLOCK.sub(partial(_clock, _LATE.search(text) is not None), text)
    return _spans(text, language)


def _spans(text: str, language: str) -> str:
    """The text with each weekday, month and year that stands alone as one word."""
    if language in ("zh", "ja"):
        text = _WEEKDAY_CJK.sub(lambda found: f" @day{_DAYS[found[1]]} ", text)
        text = _MONTH_CJK.sub(lambda found: _month(found[1], int(found[2])), text)
    else:
        text = _WEEKDAY.sub(_weekday, text)
        if language != "it":  # "mai" is never
            text = text.replace(" mai ", " Mai ")
        text = _MONTH.sub(lambda found: _month(found[2], _MONTHS[folded(found[1])]), text)
    return _YEAR.sub(r" @\1 ", text)


def _weekday(found: re.Match[str]) -> str:
    word = folded(found[1])
    name = word if word in _DAYS else f"{word.split('-')[0].removesuffix('s')}-feira"
    return f" @day{_DAYS[name]} "


def _month(year: str | None, month: int) -> str:
    return f" @{year + '-' if year else 'month'}{month:02} "


def shown(moment: str) -> str:
    """A date or time as a person is shown it: of `@day5` friday, of `@month05` may."""
    word = moment.removeprefix("@")
    if word.startswith("day"):
        return DAYS[int(word[3:]) - 1]
    return MONTHS[int(word[5:]) - 1] if word.startswith("month") else word


def _date(year: str | None, month: str, day: str) -> str:
    if not 1 <= int(month) <= 12 or not 1 <= int(day) <= 31:
        return f"{day}/{month}/{year or ''}"
    return f" @{year + '-' if year else ''}{int(month):02}-{int(day):02} "


def _named(year: str | None, month: str, day: str) -> str:
    return _date(year, str(_MONTHS[folded(month)]), day)


def _eastern(found: re.Match[str]) -> str:
    if found[2]:
        return _date(found[1], found[2], found[3])
    is_date = 1 <= int(found[4]) <= 12 and 1 <= int(found[5]) <= 31
    return _date(None, found[4], found[5]) if is_date else found[0]


def _half(found: re.Match[str]) -> str:
    word = folded(found[1])
    hour = int(word) if word.isdigit() else _HOURS.index(word) + 1
    return f" @{(hour - 1) or 12}:30 "


def _clock(is_late: bool, found: re.Match[str]) -> str:
    hour = int(found[1] or found[6])
    minute = found[2] or found[3] or ("30" if found[4] else "00")
    half = (found[5] or found[7] or "").strip().casefold()[:1]
    if hour > 24 or int(minute) > 59:
        return found[0]
    if half == "p" or (is_late and not half):
        hour += 12 if hour < 12 else 0
    elif half == "a" and hour == 12:
        hour = 0
    return f" @{hour}:{minute} "
