"""Times of day in one form, HH:MM, in eight languages. Pure."""

from __future__ import annotations

import re
from collections.abc import Set
from functools import partial

from mdmemory.text import units

_HALF_DAY = r"(?P<half>[ap])\.?\s?m\b\.?"
_TWELVE = rf"(?i)(?<![\w.:,-])(?P<hour>\d{{1,2}})(?:[:.](?P<minute>\d\d))?\s?{_HALF_DAY}"
# "9 to 5 pm": what follows says it of both.
_SPAN = re.compile(
    r"(?i)(?<![\w.:,/-])(?P<from>\d{1,2}(?:[:.]\d\d)?)\s?(?P<am>[ap]\.?m\.?)?\s?"
    r"(?:-|–|to|until|till|bis|à|a|al|alle|às|至|到|から|〜|~)\s?"
    r"(?P<to>\d{1,2}(?:[:.]\d\d)?)\s?(?P<pm>[ap]\.?m\b\.?|uhr\b|h\b|時|点)"
)
_UNTIL = r"\s?(?:-|–|to|until|till|bis|à|a|al|alle|às|至|到|から|〜|~)\s?"
_TIMES = re.compile(rf"(?i)(\d\d:\d\d){_UNTIL}(\d\d:\d\d)")
# "open from 9 to 17": a range of small numbers that count nothing.
_BARE_SPAN = re.compile(
    rf"(?i)(?<![\w.:,/-])([1-9]\d?){_UNTIL}([1-9]\d?)(?=\s*(?:[.,;)!\n](?!\d)|$|on\b|and\b|every\b))"
)
_O_CLOCK = re.compile(
    r"(?i)(?<![\w.:,-])(?P<hour>\d{1,2})(?:[.:](?P<minute>\d\d))?\s?"
    r"(?:uhr\b(?:\s(?P<after>\d\d)\b)?|o['’]clock\b)"
)
_H = re.compile(r"(?i)(?<![\w.:,])(?P<hour>\d{1,2})\s?h\s?(?P<minute>[0-5]\d)(?!\d)")
_BARE_H = re.compile(
    r"(?i)(?P<at>\b(?:à|dès|avant|après|jusqu['’]à|vers|las|a\slas|às|as|alle|até\sas|antes\sdas|"
    r"lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|hasta\slas|desde\slas|das|de)\s)"
    r"(?P<hour>\d{1,2})\s?h(?:eures|oras?)?\b(?!\s?(?:/|par|por|d['’]))"
)
_TWO_DIGITS = re.compile(r"(?<![\d:./-])(?P<hour>\d):(?P<minute>[0-5]\d)(?![\d:])")
_EASTERN = re.compile(
    r"(?P<half>凌晨|清晨|早上|早晨|上午|午前|朝|下午|午後|晚上|夜里|傍晚|夜|夕方|中午)?(?:の)?\s?"
    r"(?P<hour>\d{1,2}|[一二三四五六七八九十两]{1,3})\s?[点點時时](?!間|间)\s?"
    r"(?:(?P<minute>\d{1,2}|[一二三四五六七八九十]{1,3})\s?分|(?P<thirty>半)|(?P<quarter>一刻)|整)?"
)
_EASTERN_COLON = re.compile(
    r"(?P<half>下午|午後|晚上|夜|夕方|傍晚)(?:の)?\s?(?P<hour>\d{1,2}):(?P<minute>\d\d)"
)
_NIGHT = frozenset(("下午", "午後", "晚上", "傍晚", "夜", "夕方", "中午", "夜里"))
_NAMED = {
    name: time
    for time, names in (
        ("12:00", "noon|midday|mittag|mittags|12 uhr mittags|midi|mediodía|meio-dia|mezzogiorno"),
        ("12:00", "正午"),
        ("00:00", "midnight|mitternacht|minuit|medianoche|meia-noite|mezzanotte|午夜|零点"),
    )
    for name in names.split("|")
}
_HOUR_WORD = r"(?P<hour>\d{1,2}(?::00)?|[^\W\d_]{2,12})"
# Quarters and halves around a full hour: minutes, and how the hour follows or precedes.
_PARTS = (
    (15, rf"(?:quarter\spast|viertel\snach)\s{_HOUR_WORD}"),
    (30, rf"half\spast\s{_HOUR_WORD}"),
    (-15, rf"(?:quarter\sto|viertel\svor)\s{_HOUR_WORD}"),
    (-30, rf"halb\s{_HOUR_WORD}"),
    (15, rf"{_HOUR_WORD}\s(?:heures?\s)?(?:et\squart|y\scuarto|e\sun\squarto|e\squarto)"),
    (30, rf"{_HOUR_WORD}\s(?:heures?\s)?(?:et\sdemie?|y\smedia|e\smezzo|e\smezza|e\smeia)"),
    (-15, rf"{_HOUR_WORD}\s(?:heures?\s)?(?:moins\sle\squart|menos\scuarto|meno\sun\squarto)"),
)
_IN_PARTS = [
    (minutes, rf"(?i)(?<![\w:]){form}(?:\s(?P<when>in\sthe\s(?:morning|afternoon|evening)"
     r"|at\snight|du\smatin|de\sl['’]après-midi|du\ssoir|de\sla\smañana|de\sla\starde"
     r"|da\smanhã|da\starde|del\smattino|di\spomeriggio|morgens|nachmittags|abends|"
     r"[ap]\.?m\b\.?))?")
    for minutes, form in _PARTS
]  # fmt: skip
_LATER = re.compile(r"(?i)afternoon|evening|après-midi|soir|tarde|pomeriggio|nachmittag|abend|^p")
_SAYS_PART = frozenset(
    "quart quarter viertel half halb cuarto quarto demi demie media mezzo mezza meia".split()
)
_SAYS_NAME = frozenset(part for name in _NAMED for part in re.split(r"\W", name) if part)
_NAMED_TIME = (
    r"(?i)(?<![\w-])(?:"
    + "|".join(name for name in sorted(_NAMED, key=len, reverse=True) if name < "\u2e80")
    + r")(?![\w-])|"
    + "|".join(name for name in _NAMED if name > "\u2e80")
)


def hours(text: str, language: str, words: Set[str]) -> str:
    """The text with its times of day as HH:MM: 6 pm, 18 Uhr, 18h00 and 午後6時 as 18:00."""
    if language == "cjk" or words & _SAYS_NAME:
        text = re.sub(_NAMED_TIME, lambda match: _NAMED[match[0].lower()], text)
    if words & _SAYS_PART:
        for minutes, form in _IN_PARTS:
            text = re.sub(form, partial(_part, minutes=minutes), text)
    if language == "cjk":
        text = _EASTERN_COLON.sub(_eastern, _EASTERN.sub(_eastern, text))
    if not any(character.isdigit() for character in text):
        return text
    text = re.sub(_TWELVE, _twelve, _SPAN.sub(_span, text))
    text = _O_CLOCK.sub(lambda match: _time(match, match["minute"] or match["after"]), text)
    text = _H.sub(lambda match: _time(match, match["minute"]), text)
    text = _BARE_H.sub(lambda match: match["at"] + _time(match, "0"), text)
    text = _TWO_DIGITS.sub(lambda match: _time(match, match["minute"]), text)
    return _TIMES.sub(r"\1 – \2", _BARE_SPAN.sub(_bare_span, text))


def _written(hour: int, minute: int) -> str:
    return f"{hour % 24:02}:{minute:02}"


def _time(match: re.Match[str], minute: str | None) -> str:
    hour = int(match["hour"])
    return _written(hour, int(minute or 0)) if hour <= 24 else match[0]


def _twelve(match: re.Match[str]) -> str:
    hour = int(match["hour"])
    if not 1 <= hour <= 12:
        return match[0]
    later = 12 if match["half"].lower() == "p" else 0
    return _written(hour % 12 + later, int(match["minute"] or 0))


def _bare_span(match: re.Match[str]) -> str:
    begin, end = int(match[1]), int(match[2])
    is_day = 5 <= begin < end <= 24
    return f"{_written(begin, 0)} – {_written(end, 0)}" if is_day else match[0]


def _span(match: re.Match[str]) -> str:
    unit = match["pm"].lower()
    if unit[0] not in "ap":
        suffix = "" if ":" in match["from"] else ":00"
        begin = match["from"].replace(".", ":") + suffix
        return (
            f"{begin.zfill(5)} – {match['to']} {match['pm']}"
            if int(begin[:2].strip(":")) <= 24
            else match[0]
        )
    begin, end = (int(match[at].split(":")[0].split(".")[0]) for at in ("from", "to"))
    early = match["am"] or (unit if begin % 12 < end % 12 else "am" if unit[0] == "p" else "pm")
    return f"{match['from']} {early} – {match['to']} {match['pm']}"


def _part(match: re.Match[str], minutes: int) -> str:
    word = match["hour"].lower()
    hour = word[:2].strip(":") if word[0].isdigit() else units.number(word)
    if not hour:
        return match[0]
    when = match["when"] or ""
    later = 12 if _LATER.search(when) and int(hour) < 12 else 0
    total = (int(hour) + later) * 60 + minutes
    return _written(total // 60, total % 60)


def _eastern(match: re.Match[str]) -> str:
    parts = match.groupdict()
    hour = units.eastern(match["hour"])
    minute = units.eastern(match["minute"]) if match["minute"] else 0
    if hour is None or minute is None or hour > 24:
        return match[0]
    minute = 30 if parts.get("thirty") else 15 if parts.get("quarter") else minute
    if match["half"] in _NIGHT and hour < 12:
        hour += 12
    return f" {_written(hour, minute)} "
