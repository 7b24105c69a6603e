"""Dates, times and numbers of a text in one form, whichever way they are written.

31 December 2026 and 31.12.2026 become 2026-12-31, 6 pm and 18 Uhr become 18:00, 12.000 and 12k
become 12000, 90 min and 1.5 Stunden become 5400s, 8GB and 5-fold become 8 GB and 5 fold. Pure.
Code, addresses and links stay as they are, and so do numbers that are words: who reads can tell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import count

from mdmemory.text import dates
from mdmemory.text.numbers import NUMBERS, eastern_number
from mdmemory.text.stop_words import likely_languages
from mdmemory.text.words import CJK, compiled

_LITERAL = re.compile(
    r"```[\s\S]{0,20000}?```|`[^`\n]{1,300}`|\[\[[^\[\]\n]{1,300}\]\]"
    r"|(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,20}+://[^\s<>\"'`)\]，。；：！？、）」』】》]+"
    r"|(?<![\w.@/-])(?![\w-]{1,20}/(?:h|s|d|min|m(?:inute|onth)|hour|day|week|year|jour|heure|"
    r"Tag)\b)"
    r"[\w.@~-]{0,80}/[\w./@~-]*[A-Za-z_~][\w./@~-]*"
    r"|(?<!\w)--?[A-Za-z][\w-]*(?:=\S+)?|\b\w*_\w+\b|\b[A-Za-z]+-?\d+(?:[.-]\d+)*\b"
    r"|\b\d+(?:\.\d+){2,30}(?:[:/]\d+)?\b(?<!\d\.\d\d\d\d)(?<!\d\.\d\d\.\d\d)",
    re.ASCII,
)
_PORT = re.compile(
    r"(?<![\w./@-])((?:\d{1,3}\.){3}\d{1,3}|[a-z][\w-]*(?:\.[\w-]+)+):(\d{2,5})(?![:.]*+[\w/])"
)
_WIDE = {0xFF10 + digit: str(digit) for digit in range(10)} | {0xFF1A: ":", 0xA0: " ", 0x202F: " "}
# nobody sees these
_WIDE |= dict.fromkeys((0xAD, *range(0x200B, 0x2010), 0x2060, 0xE000, 0xE001, 0xFEFF), "")
_TWELVE = re.compile(
    r"(?i)(?<![\w.:,-])(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))?\s?(?P<half>[ap])\.?\s?m\b\.?"
)
_O_CLOCK = re.compile(
    r"(?i)(?<![\w.:,-])(?P<hour>\d{1,2})(?:[.:](?P<minute>\d\d))?\s?"
    r"(?:uhr\b(?:\s(?P<after>\d\d)\b)?|o['’]clock\b)"
)
_H = re.compile(r"(?i)(?<![\w.:,])(?P<hour>\d{1,2})\s?h\s?(?P<minute>[0-5]\d)(?!\d)")
_TWO_DIGITS = re.compile(r"(?<![\d:./-])(?P<hour>\d):(?P<minute>[0-5]\d)(?![\d:])")
_EASTERN = re.compile(
    r"(?P<half>凌晨|清晨|早上|早晨|上午|午前|朝|下午|午後|晚上|夜里|傍晚|夜|夕方|中午|오전|오후|저녁|밤)?"
    r"(?:の)?\s?(?P<hour>\d{1,2}|[一二三四五六七八九十两]{1,3})\s?(?P<sign>[点點時时시])(?![間间간])\s?"
    r"(?P<rest>(?P<minute>\d{1,2}|[一二三四五六七八九十]{1,3})\s?[分분]|(?P<thirty>[半반])"
    r"|(?P<quarter>一刻)|整)?"
)
_EASTERN_COLON = re.compile(
    r"(?P<half>下午|午後|晚上|夜|夕方|傍晚|오후|저녁|밤)(?:の)?\s?(?P<hour>\d{1,2}):(?P<minute>\d\d)"
)
_NIGHT = frozenset(
    ("下午", "午後", "晚上", "傍晚", "夜", "夕方", "中午", "夜里", "오후", "저녁", "밤")
)
_THOUSANDS = {
    "en": r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?!,?\d)",
    "comma": r"(?<![\d.,])[1-9]\d{0,2}(?:[.'’ ]\d{3})+(?!\.?\d)",
}
_DECIMAL = r"(?<![\d.,])(?:0,\d+|\d+,\d{1,2})(?![\d,.]\d|\d)"
_K = r"(?<![\w.])(\d+(?:\.\d+)?)\s?k\b(?!\s?[Ωg])"
_ORDINAL = r"(?<![\w.])(\d{1,3})(?:st|nd|rd|th|er|ère|ème|º|ª)\b"
_APART = rf"(?<![^\W{CJK}])(?<![.,])"  # no letter or digit before it; a sign of Chinese may be
_GLUED = rf"{_APART}(?<!-)(\d+(?:\.\d+)?)-?([^\W\d_{CJK}]+)(?![^\W{CJK}]|-)"
_RANGE = r"(?<![\w.,:/–-])(\d{1,4})\s?[-–]\s?(\d{1,4})(?![\d:/–-]|[.,]\d)"
_SECONDS = {
    word: seconds
    for seconds, words in (
        (0.001, "ms msec millisecond milliseconds millisekunde millisekunden milliseconde "
         "millisecondes milisegundo milisegundos millisecondo millisecondi 毫秒 ミリ秒"),
        (1, "s sec secs sek second seconds sekunde sekunden seconde secondes segundo segundos seg "
         "secondo secondi 秒 秒钟 秒間"),
        (60, "min mins minute minutes minuten minuto minutos minuti 分 分钟 分間 分鐘"),
        (3_600, "h hr hrs std hour hours stunde stunden heure heures hora horas ora ore 小时 小時 "
         "個小時 个小时 時間"),
        (86_400, "d day days tag tage tagen jour jours día días dia dias giorno giorni 天 日間"),
        (604_800, "week weeks woche wochen semaine semaines semana semanas settimana settimane 周 "
         "週間 个星期 星期"),
    )
    for word in words.split()
}  # fmt: skip
_MEASURED = (
    rf"(?i){_APART}(\d+(?:\.\d+)?|(?:{'|'.join(NUMBERS)})(?=[\s-]))[\s-]?("
    + "|".join(sorted(_SECONDS, key=lambda word: (-len(word), word)))
    + rf")(?![^\W{CJK}])"
)
_LETTERS = re.compile(r"[^\W\d_]+")
_EAST = re.compile(f"[{CJK}]")


@lru_cache(maxsize=512)
def normal_form(text: str) -> str:
    """The text with each date as YYYY-MM-DD, each time as HH:MM, each number without separators of
    thousands and apart from its unit, and each length of time in seconds."""
    plain = _PORT.sub(r"\1 \2", text.translate(_WIDE))
    hidden = [match[0] for match in _LITERAL.finditer(plain)]
    if len(hidden) > 4_000:
        return text  # a table of data; each place needs a sign of its own
    places = count(0xE100)
    plain = _LITERAL.sub(lambda _: f"\ue000{chr(next(places))}\ue001", plain)
    words = _LETTERS.findall(plain.lower())
    language, known = _number_language(plain, words), frozenset(words)
    plain = dates.dates_to_iso(plain, language, known)
    plain = _plain_numbers(_hours_to_time(plain, language), language)
    return re.sub("\ue000(.)\ue001", lambda match: hidden[ord(match[1]) - 0xE100], plain)


def is_portuguese(text: str) -> bool:
    """Whether a text is Portuguese, where "no" denies nothing."""
    return _number_language(text, _LETTERS.findall(text.lower())) == "pt"


def _number_language(text: str, words: Sequence[str]) -> str:
    """How a text writes numbers: "en", "pt", "comma" (other languages of Europe) or "cjk"."""
    if _EAST.search(text):
        return "cjk"
    likely = likely_languages(words, text)[0]
    return likely if likely in ("en", "pt") else "comma"


# --- times of day, in eight languages


def _hours_to_time(text: str, language: str) -> str:
    """The text with its times of day as HH:MM: 6 pm, 18 Uhr, 18h00 and 午後6時 as 18:00."""
    if language == "cjk":
        text = _EASTERN_COLON.sub(_eastern_time, _EASTERN.sub(_eastern_time, text))
    if not any(character.isdigit() for character in text):
        return text
    for form in (_TWELVE, _O_CLOCK, _H, _TWO_DIGITS):
        text = form.sub(_time_of, text)
    return text


def _time_of(match: re.Match[str]) -> str:
    parts = match.groupdict()
    hour, half = int(parts["hour"]), parts.get("half")
    if hour > 24 or (half and not 1 <= hour <= 12):
        return match[0]
    hour = hour % 12 + (12 if half in ("p", "P") else 0) if half else hour
    return f"{hour % 24:02}:{int(parts['minute'] or parts.get('after') or 0):02}"


def _eastern_time(match: re.Match[str]) -> str:
    parts = match.groupdict()
    hour = eastern_number(match["hour"])
    is_bare = not (match["hour"].isdecimal() or match["half"] or parts.get("rest"))
    if is_bare and parts["sign"] in "点點":
        return match[0]  # 这一点: a point, not one o'clock
    minute = eastern_number(match["minute"]) if match["minute"] else 0
    if hour is None or minute is None or hour > 24:
        return match[0]
    minute = 30 if parts.get("thirty") else 15 if parts.get("quarter") else minute
    if match["half"] in _NIGHT and hour < 12:
        hour += 12
    return f" {hour % 24:02}:{minute:02} "


# --- numbers


def _plain_numbers(text: str, language: str) -> str:
    """The text with 12,000 and 12k as 12000, and 8GB as 8 GB; lengths of time are in seconds."""
    if language in ("en", "cjk"):
        text = compiled(_THOUSANDS["en"]).sub(lambda match: match[0].replace(",", ""), text)
    else:
        text = compiled(_THOUSANDS["comma"]).sub(lambda match: re.sub(r"\D", "", match[0]), text)
        text = compiled(_DECIMAL).sub(lambda match: match[0].replace(",", "."), text)
    text = compiled(_K).sub(lambda match: _write_number(float(match[1]) * 1_000), text)
    text = compiled(_RANGE).sub(_write_range, compiled(_ORDINAL).sub(r"\1", text))
    text = compiled(_GLUED).sub(r"\1 \2", text)
    return compiled(_MEASURED).sub(_in_seconds, text)


def _write_range(match: re.Match[str]) -> str:
    """2021-2023 and 3-5 as their two numbers; 2026-03 and 12-24 are a month and a day."""
    first, last = match.groups()
    is_day = len(first) == len(last) == 2 and int(first) <= 12 and int(last) <= 31
    return f"{first}-{last}" if is_day or len(last) == 2 < len(first) else f"{first} {last}"


def _in_seconds(match: re.Match[str]) -> str:
    count, unit = map(str.lower, match.groups())
    count = NUMBERS.get(count, count)
    if unit not in _SECONDS or not count[0].isdecimal():
        return match[0]  # a letter such as the Turkish capital I has another small form
    space = " " * match.string[match.end() : match.end() + 1].isalpha()
    return f"{_write_number(float(count) * _SECONDS[unit])}s{space}"


def _write_number(value: float) -> str:
    return f"{value:.9f}".rstrip("0").rstrip(".")
