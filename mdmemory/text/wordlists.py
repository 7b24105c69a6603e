"""The words that rules go by, read from `languages/`: one TOML file for each language.

A file holds sections, and a section holds rows: a word or the text of an expression, and a sentence
whose verdict depends on it. An expression names a section as `{room.name}`, and means any of its
rows, longest first. `’` in a row stands for both apostrophes, a blank in it for a blank alone.
"""

from __future__ import annotations

import re
from functools import cache, partial
from itertools import product
from pathlib import Path

from mdmemory.text.any_case import in_small_letters

FOLDER = Path(__file__).parent / "languages"
LATIN = ("de", "en", "es", "fr", "it", "pt")
CJK = ("ja", "ko", "zh")
EVERY = LATIN + CJK

_NAMED = re.compile(r"\{(?P<section>[a-z]+\.[a-z_]+)\}")
_PLAIN = re.compile(r"(?P<begin>\^?(?:\\b)?)(?P<word>[\w -]*)")
# Alternatives that are a few words, written out: letters, some that may lack, one of several.
_FEW = re.compile(r"(?:(?:[^\W_]|[ %°€£-]|\[[^\W_]+\]|\['’\])\??)+")
_LETTER = re.compile(r"(?:\[(?P<any>[^\]]+)\]|(?P<one>.))(?P<may>\??)")
_GROUPED = frozenset("()[]\\")  # what may hold a line between two alternatives
_PART = re.compile(r"[^\\()\[\]|]+|\\.|\[[^\]]*\]|(?P<sign>[()|])")
_EAST_ASIAN = (("\u1100", "\u11ff"), ("\u2e80", "\ufaff"), ("\uff00", "\uffef"))


def pattern(expression: str, text: str) -> re.Pattern[str]:
    """The compiled expression for a text; case-insensitive. The rows of Chinese, Japanese and
    Korean are left out where the text holds none of these.

    KeyError for a section that no file has.
    """
    return in_languages(expression, EVERY if _is_east_asian(text) else LATIN)


def _is_east_asian(text: str) -> bool:
    if text.isascii() or max(text) < _EAST_ASIAN[0][0]:  # most text ends this soon
        return False
    # an expression of such long ranges takes longer to compile than any other here
    return any(first <= each <= last for each in {*text} for first, last in _EAST_ASIAN)


@cache
def _with_case(expression: str, languages: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(filled(expression, languages))


@cache
def in_languages(expression: str, languages: tuple[str, ...]) -> re.Pattern[str]:
    """The compiled expression with the rows of these languages alone; case-insensitive."""
    return re.compile(filled(expression, languages), re.IGNORECASE)


def spans(expression: str, text: str) -> list[tuple[int, int]]:
    """Begin and end of each place where the expression matches, from left to right. In small
    letters, in which its rows are written: that takes half of the time."""
    small = in_small_letters(text)
    if small is None:
        return [match.span() for match in pattern(expression, text).finditer(text)]
    languages = EVERY if _is_east_asian(small) else LATIN
    return [match.span() for match in _with_case(expression, languages).finditer(small)]


def without(expression: str, text: str) -> str:
    """The text with a blank in place of each match."""
    begins, ends = [0], []
    for begin, end in spans(expression, text):
        ends.append(begin)
        begins.append(end)
    pairs = zip(begins, [*ends, len(text)], strict=True)
    return " ".join(text[begin:end] for begin, end in pairs)


def search(expression: str, text: str) -> re.Match[str] | None:
    """The first place where the expression matches."""
    return pattern(expression, text).search(text)


def match(expression: str, text: str, at: int = 0) -> re.Match[str] | None:
    """The match that begins at a place of the text."""
    return pattern(expression, text).match(text, at)


def fullmatch(expression: str, text: str) -> re.Match[str] | None:
    """The match of the whole text."""
    return pattern(expression, text).fullmatch(text)


def is_one_of(section: str, word: str) -> bool:
    """Whether a folded word is as a whole what a section names: `fullmatch`, but that most rows are
    looked up as words, which takes neither compiling nor matching."""
    few, expression = _written_out(section, EVERY if _is_east_asian(word) else LATIN)
    # as in an expression that minds no capitals, where these two letters are one
    if word.replace("ı", "i") in few:
        return True
    return bool(expression) and _compiled(expression).fullmatch(word) is not None


@cache
def _written_out(section: str, languages: tuple[str, ...]) -> tuple[frozenset[str], str]:
    """The words of a section's rows, and an expression for those that are not so few."""
    few, others = set[str](), []
    for each in (each for name in languages for row in rows(section, name) for each in _split(row)):
        if each.replace(" ", "").isalnum():
            few.add(each.lower())
            continue
        text = each.replace("’", "['’]")
        if _FEW.fullmatch(text):
            letters = (
                [*(letter["any"] or letter["one"]), *([""] if letter["may"] else [])]
                for letter in _LETTER.finditer(text.lower())
            )
            few.update(map("".join, product(*letters)))
        else:
            others.append(filled(text, languages))
    return frozenset(few), "|".join(others)


def _split(row: str) -> list[str]:
    """The alternatives of a row."""
    if _GROUPED.isdisjoint(row):
        return row.split("|")
    found, depth = [""], 0
    for part in _PART.finditer(row):
        depth += {"(": 1, ")": -1}.get(part["sign"], 0)
        if part["sign"] == "|" and not depth:
            found.append("")
        else:
            found[-1] += part.group()
    return found


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE)


@cache
def words(section: str) -> frozenset[str]:
    """The rows of a section in all languages, where each is a plain word."""
    return frozenset(row for language in EVERY for row in rows(section, language))


@cache
def filled(expression: str, languages: tuple[str, ...] = EVERY) -> str:
    """The expression with the rows of each section that it names."""
    return _NAMED.sub(partial(_alternatives, languages), expression)


@cache
def rows(section: str, language: str) -> tuple[str, ...]:
    """The rows of a section, without their sentences; none where the language lacks the section."""
    found: list[str] = []
    for line in _sections(language).get(section, "").splitlines():
        key = line[: line.rindex(' = "')] if line and not line.startswith("#") else ""
        if key.startswith("'"):  # most rows are written so that they need no parser
            found.append(key[1:-1])
        elif key:
            import tomllib  # few commands need it

            found += tomllib.loads(f'{key} = ""')
    return tuple(found)


@cache
def _sections(language: str) -> dict[str, str]:
    """The text of each section; a command reads few of them, and TOML is slow to read."""
    text = (FOLDER / f"{language}.toml").read_text(encoding="utf-8")
    found: dict[str, str] = {}
    for piece in text.split("\n[")[1:]:
        name, _, body = piece.partition("]\n")
        found[name] = body
    return found


def _alternatives(languages: tuple[str, ...], named: re.Match[str]) -> str:
    """The rows of a section as one group; one that matches nothing where there is no row.

    Rows that differ in their plain letters alone become one: it compiles and matches faster.
    """
    section = named["section"]
    found = [row for language in languages for row in rows(section, language)]
    if not found and not any(section in _sections(language) for language in EVERY):
        raise KeyError(section)
    groups: dict[tuple[str, str], list[str]] = {}
    for row in sorted(found, key=lambda row: (-len(row), row)):
        row = filled(row.replace("’", "['’]"), languages)
        plain = _PLAIN.match(row)
        assert plain is not None
        begin, word, end = plain["begin"], plain["word"], row[plain.end() :]
        if word and end[:1] in ("?", "*", "+", "{"):  # it repeats the last letter
            word, end = word[:-1], word[-1] + end
        groups.setdefault((begin, end), []).append(word)
    texts = [f"{begin}(?:{'|'.join(words)}){end}" for (begin, end), words in groups.items()]
    return f"(?:{'|'.join(texts)})" if texts else "(?!)"
