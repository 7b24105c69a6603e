"""What an update would lose of a note, and what a fact holds that nobody said: literals, compared
as whole tokens. A small check: compaction, which has no session to look at, has a stricter one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from mdmemory.capture.near import words

KEPT_WORDS = 0.5  # of the old words, an update must keep at least this share

_END = ".,;:!?…'\")]}，。；：！？、"
_URL = re.compile(r"https?://[^\s<>\"'`)\]，。；：！？、）」』】》]+", re.IGNORECASE)
_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_LINK = re.compile(r"\[\[([^\[\]|#\n]+)(?:[|#][^\[\]\n]*)?\]\]")
_PATH = re.compile(
    r"(?<![\w/:.@-])(?:(?:~|\.{1,2})?/[\w.@+~-]+(?:/[\w.@+~-]+)*|[\w.@+-]+(?:/[\w.@+-]+)*/[\w@+-]+\.[A-Za-z]\w*)"
)
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
# with what hangs on it: 10ms, 3.9, 550e8400-e29b
_NUMBER = re.compile(r"(?<![A-Za-z0-9_.-])\d[A-Za-z0-9_]*(?:[.,:/-][A-Za-z0-9_]+)*")
_WHY = re.compile(r"(?mi)^[ \t>*_-]*why[*_]*\s*[:：][*_ \t]*(\S.*)$")
_DATE = re.compile(r"\d{4}(?:-\d\d){1,2}")


def literals(text: str) -> set[str]:
    """Numbers, addresses, paths, code spans, `[[links]]` and `Why:` lines, each as folded."""
    found = {each.rstrip(_END) for each in _URL.findall(text)}
    rest = _URL.sub(" ", text)
    for pattern in (_CODE, _PATH, _MAIL, _NUMBER):
        found |= {each.rstrip(_END) for each in pattern.findall(rest)}
    found |= {f"[[{each}]]" for each in _LINK.findall(text)}
    found |= {each.rstrip(_END) for each in _WHY.findall(text)}
    return {folded for each in found if (folded := fold(each))}


def fold(text: str) -> str:
    """A text as it is compared: composed, one case, each run of space one space."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(plain.translate({0x2019: "'", 0x2018: "'", 0x201C: '"', 0x201D: '"'}).split())


def stands(literal: str, text: str) -> bool:
    """Whether a folded literal stands in a folded text as a whole token."""
    if not literal.isascii():
        return literal in text  # scripts without spaces between words
    left = "(?<![A-Za-z0-9_])" if literal[:1].isalnum() else ""
    right = "(?![A-Za-z0-9_])" if literal[-1:].isalnum() else ""
    return re.search(f"{left}{re.escape(literal)}{right}", text) is not None


def lost(old: str, new: str, superseded: Sequence[str]) -> list[str]:
    """The literals of the old text that the new one lacks and that nobody said are superseded."""
    folded, replaced = fold(new), [fold(each) for each in superseded]
    return sorted(
        literal
        for literal in literals(old)
        if not stands(literal, folded) and not any(stands(literal, each) for each in replaced)
    )


def loses_words(old: str, new: str, superseded: Iterable[str]) -> bool:
    """Whether more of the old words go than a correction takes."""
    before = set(words(old)) - {word for each in superseded for word in words(each)}
    return bool(before) and len(before & set(words(new))) < KEPT_WORDS * len(before)


def invented(text: str, sources: Iterable[str]) -> list[str]:
    """The literals of a fact that stand in none of the sources.

    A date is none (what was said as "next Friday" is written out), nor is a single digit, nor
    words: only what cannot be a paraphrase.
    """
    known = fold("\n".join(sources))
    bare = _WHY.sub(r"\1", text)
    return sorted(
        literal
        for literal in literals(bare)
        if not _DATE.fullmatch(literal)
        and len(literal) > 1
        and not literal.startswith("[[")
        and not stands(literal, known)
    )
