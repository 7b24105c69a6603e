"""Dates, times, numbers and units of a text in one form, whichever way they are written.

31 December 2026 and 31.12.2026 become 2026-12-31, 6 pm and 18 Uhr become 18:00, 12.000 and 12k
become 12000, two weeks and 14 Tage become 1209600s. Pure. Code, addresses and links stay as they
are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from functools import lru_cache
from itertools import count

from mdmemory.text import dates
from mdmemory.text.quantities import eastern_number, numbers_to_digits, units_to_symbols
from mdmemory.text.stop_words import likely_languages
from mdmemory.text.words import CJK

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
    r"(?<![\w./@-])((?:\d{1,3}\.){3}\d{1,3}|[a-z][\w-]*(?:\.[\w-]+)+):(\d{2,5})(?![\w:/.]*[\w/])"
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
    r"(?P<half>凌晨|清晨|早上|早晨|上午|午前|朝|下午|午後|晚上|夜里|傍晚|夜|夕方|中午)?(?:の)?\s?"
    r"(?P<hour>\d{1,2}|[一二三四五六七八九十两]{1,3})\s?[点點時时](?!間|间)\s?"
    r"(?:(?P<minute>\d{1,2}|[一二三四五六七八九十]{1,3})\s?分|(?P<thirty>半)|(?P<quarter>一刻)|整)?"
)
_EASTERN_COLON = re.compile(
    r"(?P<half>下午|午後|晚上|夜|夕方|傍晚)(?:の)?\s?(?P<hour>\d{1,2}):(?P<minute>\d\d)"
)
_NIGHT = frozenset(("下午", "午後", "晚上", "傍晚", "夜", "夕方", "中午", "夜里"))
_LETTERS = re.compile(r"[^\W\d_]+")
_EAST = re.compile(f"[{CJK}]")


@lru_cache(maxsize=512)
def normal_form(text: str) -> str:
    """The text with each date as YYYY-MM-DD, each time as HH:MM, each number in digits without
    separators of thousands, and each known unit as its symbol right behind its number."""
    plain = _PORT.sub(r"\1 \2", text.translate(_WIDE))
    hidden = [match[0] for match in _LITERAL.finditer(plain)]
    if len(hidden) > 4_000:
        return text  # a table of data; each place needs a sign of its own
    places = count(0xE100)
    plain = _LITERAL.sub(lambda _: f"\ue000{chr(next(places))}\ue001", plain)
    words = _LETTERS.findall(plain.lower())
    language, known = _number_language(plain, words), frozenset(words)
    for change in (dates.dates_to_iso, _hours_to_time, numbers_to_digits, units_to_symbols):
        plain = change(plain, language, known)
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


def _hours_to_time(text: str, language: str, words: Set[str]) -> str:
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
    minute = eastern_number(match["minute"]) if match["minute"] else 0
    if hour is None or minute is None or hour > 24:
        return match[0]
    minute = 30 if parts.get("thirty") else 15 if parts.get("quarter") else minute
    if match["half"] in _NIGHT and hour < 12:
        hour += 12
    return f" {hour % 24:02}:{minute:02} "
