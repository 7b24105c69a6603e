"""The words that rules go by, read from `languages/`: one TOML file for each language.

A file holds sections, and a section holds rows: a word or the text of an expression, and a sentence
whose verdict depends on it. An expression names a section as `{room.name}`, and means any of its
rows, longest first. `’` in a row stands for both apostrophes, a blank in it for a blank alone.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "languages"
LATIN = ("de", "en", "es", "fr", "it", "pt")
CJK = ("ja", "ko", "zh")

_NAMED = re.compile(r"\{(?P<section>[a-z]+\.[a-z_]+)\}")
_WHOLE_WORD = re.compile(r"\\b(?P<word>.*)\\b", re.DOTALL)
_EAST_ASIAN = re.compile("[\u1100-\u11ff\u2e80-\ufaff\uff00-\uffef]")


def pattern(expression: str, text: str) -> re.Pattern[str]:
    """The compiled expression for a text; case-insensitive. The rows of Chinese, Japanese and
    Korean are left out where the text holds none of these.

    KeyError for a section that no file has.
    """
    is_latin = text.isascii() or _EAST_ASIAN.search(text) is None
    return _compiled(filled(expression, LATIN if is_latin else LATIN + CJK))


def search(expression: str, text: str) -> re.Match[str] | None:
    """The first place where the expression matches."""
    return pattern(expression, text).search(text)


def match(expression: str, text: str, at: int = 0) -> re.Match[str] | None:
    """The match that begins at a place of the text."""
    return pattern(expression, text).match(text, at)


def fullmatch(expression: str, text: str) -> re.Match[str] | None:
    """The match of the whole text."""
    return pattern(expression, text).fullmatch(text)


@cache
def words(section: str) -> frozenset[str]:
    """The rows of a section in all languages, where each is a plain word."""
    return frozenset(row for language in LATIN + CJK for row in rows(section, language))


@cache
def filled(expression: str, languages: tuple[str, ...] = LATIN + CJK) -> str:
    """The expression with the rows of each section that it names."""
    return _NAMED.sub(lambda found: _alternatives(found["section"], languages), expression)


@cache
def rows(section: str, language: str) -> dict[str, str]:
    """The rows of a section, each with its sentence; none where the language lacks the section."""
    import tomllib  # a command that judges no text need not load it

    return tomllib.loads(sections(language).get(section, ""))


@cache
def sections(language: str) -> dict[str, str]:
    """The text of each section of a language, in the order of its file; TOML is slow to read."""
    text = (FOLDER / f"{language}.toml").read_text(encoding="utf-8")
    found: dict[str, str] = {}
    for piece in text.split("\n[")[1:]:
        name, _, body = piece.partition("]\n")
        found[name] = body
    return found


def _alternatives(section: str, languages: tuple[str, ...]) -> str:
    """The rows of a section as one group; one that matches nothing where there is no row."""
    found = [row for language in languages for row in rows(section, language)]
    if not found and not any(section in sections(language) for language in LATIN + CJK):
        raise KeyError(section)
    words: list[str] = []  # what stands between two ends of a word is tried at such ends alone
    others: list[str] = []
    for row in sorted(found, key=lambda row: (-len(row), row)):
        row = filled(row.replace("’", "['’]"), languages)
        whole = _WHOLE_WORD.fullmatch(row)
        (words if whole else others).append(whole["word"] if whole else row)
    if words:
        others.append(rf"\b(?:{'|'.join(words)})\b")
    return f"(?:{'|'.join(others)})" if others else "(?!)"


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE)
