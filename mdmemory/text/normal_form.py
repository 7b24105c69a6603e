"""Dates, times, numbers and units of a text in one form, whichever way they are written.

31 December 2026 and 31.12.2026 become 2026-12-31, quarter past four becomes 04:15, 12.000 and 12k
become 12000, two weeks and 14 Tage become 14days. Pure. Code, addresses and links stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from mdmemory.text import clock, dates, quantities
from mdmemory.text.words import CJK

# What is no prose: it is compared letter by letter.
_LITERAL = re.compile(
    r"```[\s\S]{0,20000}?```|`[^`\n]{1,300}`|\[\[[^\[\]\n]{1,300}\]\]"
    r"|(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,20}+://[^\s<>\"'`)\]，。；：！？、）」』】》]+"
    r"|(?<![\w.@/-])(?![\w-]{1,20}/(?:h|s|d|min|m(?:inute|onth)|hour|day|week|year|jour|heure|"
    r"Tag)\b)"
    r"[\w.@~-]{0,80}/[\w./@~-]*[A-Za-z_~][\w./@~-]*"
    r"|(?<!\w)--?[A-Za-z][\w-]*(?:=\S+)?|\b\w*_\w+\b|\b[A-Za-z]+-?\d+(?:[.-]\d+)*\b"
    r"|\b\d+(?:\.\d+){2,}(?:[:/]\d+)?\b(?<!\d\.\d\d\d\d)(?<!\d\.\d\d\.\d\d)",
    re.ASCII,
)
_PORT = re.compile(
    r"(?<![\w./@-])((?:\d{1,3}\.){3}\d{1,3}|[a-z][\w-]*(?:\.[\w-]+)+):(\d{2,5})(?![\w:/.]*[\w/])"
)
_WIDE = {0xFF10 + digit: str(digit) for digit in range(10)} | {0xFF1A: ":", 0xA0: " ", 0x202F: " "}
_WIDE |= dict.fromkeys((0xAD, *range(0x200B, 0x2010), 0x2060, 0xFEFF), "")  # nobody sees these
# The commonest words of the languages that write decimals with a comma, and of English.
_COMMA = frozenset(
    "der die das und ist nicht mit auf für von nach wird sind bei im am ab bis um in le les la "
    "un une "
    "des du est pas pour avec dans sur el los las con para por se del y os não com em às il lo "
    "gli "
    "della di che per non alle al su".split()
)
_ENGLISH = frozenset("the and is are of to for with not on at by after before we it".split())
_PORTUGUESE = frozenset("os não com em às da das do dos na nas no nos uma são".split())
_SPANISH = frozenset("el los las con una y del die der das und le les il di che".split())
_LETTERS = re.compile(r"[^\W\d_]+")
_EAST = re.compile(f"[{CJK}]")


@lru_cache(maxsize=512)
def normal_form(text: str) -> str:
    """The text with each date as YYYY-MM-DD, each time as HH:MM, each number in digits without
    separators of thousands, and each known unit as its symbol right behind its number."""
    plain = _PORT.sub(r"\1 \2", text.translate(_WIDE))
    kept: list[str] = []

    def hide(match: re.Match[str]) -> str:
        kept.append(match[0])
        return f"\ue000{chr(0xE100 + len(kept) - 1)}\ue001"

    if len(_LITERAL.findall(plain)) > 4_000:
        return text  # a table of data; each place needs a sign of its own
    plain = _LITERAL.sub(hide, plain)
    words = _LETTERS.findall(plain.lower())
    language, known = _language(plain, words), frozenset(words)
    for change in (dates.iso, clock.hours, quantities.digits, quantities.symbols):
        plain = change(plain, language, known)
    return re.sub("\ue000(.)\ue001", lambda match: kept[ord(match[1]) - 0xE100], plain)


def is_portuguese(text: str) -> bool:
    """Whether a text is Portuguese, where "no" denies nothing."""
    return _language(text, _LETTERS.findall(text.lower())) == "pt"


def _language(text: str, words: Sequence[str]) -> str:
    """How a text writes numbers: "en", "pt", "comma" (other languages of Europe) or "cjk"."""
    if _EAST.search(text):
        return "cjk"
    comma, english, portuguese, spanish = (
        sum(word in common for word in words)
        for common in (_COMMA, _ENGLISH, _PORTUGUESE, _SPANISH)
    )
    if comma <= english:
        return "en"
    nasal = sum(word.endswith(("ção", "ções", "ão")) for word in words)
    return "pt" if portuguese + nasal > spanish else "comma"
