"""What the words of a fact mean: one name for all words that say the same, in eight languages.

Pure, by the table `words/meanings.txt`. A text is read in one language, the one whose small words
it holds most of; dates, times and phrases become one word each.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path

from mdmemory.text.any_case import AnyCase, folded
from mdmemory.text.moments import with_moments
from mdmemory.text.wordlists import LATIN, in_languages
from mdmemory.text.words import CJK, key, normal, spellings, stem_in

LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "zh", "ja")
NAMED = "="  # begins the name of a meaning, which no word begins with
ENDED, NEVER, DENIED, LIGHT = "=ended", "=never", "=denied", "=light"
NAME = "=n_"  # begins what has several spellings: postgres, PostgreSQL
UNIT = "=u_"  # begins the names of units
KIND = "=kind"  # begins the names of the words for a kind of thing
_AS_WRITTEN = (ENDED, NEVER, DENIED)

_TABLE = Path(__file__).parent / "words" / "meanings.txt"
_KANA = re.compile("[\u3040-\u30ff]")
_IS_CJK = re.compile(f"[{CJK}]")
_WORD = re.compile(rf"[^\W\d_{CJK}]+")
# What a negation further on in a clause speaks of alone: "via Anna and not via Bob".
_ASIDE = AnyCase(
    r"\s(?=(?:and|but) not\b|instead of\b|rather than\b|(?:und|aber) nicht\b|statt\b|anstelle\b"
    r"|et non\b|mais pas\b|au lieu d|y no\b|sino\b|en vez de\b|e não\b|em vez de\b|e non\b"
    r"|invece d)|(?=而不是|而非|ではなく|不是)"
)


@dataclass(frozen=True)
class Meanings:
    """The words of one language: single ones by their stem, and what is found as it stands."""

    stems: dict[str, str]
    phrases: dict[str, str]
    pattern: AnyCase | None


def language_of(*texts: str) -> str:
    """The language that texts are most likely written in, of those that the table has."""
    if any(_IS_CJK.search(text) for text in texts):
        return "ja" if any(_KANA.search(text) for text in texts) else "zh"
    counts = Counter[str]()
    for text in texts:
        for each, count in _spoken(text):
            counts[each] += count
    return max(LATIN, key=lambda each: (counts[each], each == "en"))


@lru_cache(maxsize=4_096)
def _spoken(text: str) -> tuple[tuple[str, int], ...]:
    """How much the words of a text speak for each language; a text meets many others."""
    counts = Counter[str]()
    for word in _WORD.findall(text.casefold()):
        speakers = _speakers(word)
        for each in speakers:
            counts[each] += 12 // len(speakers)
    return tuple(counts.items())


@lru_cache(maxsize=20_000)
def _speakers(word: str) -> tuple[str, ...]:
    """The languages that have this small word, or a word of the table."""
    small = tuple(
        each
        for each in LATIN
        if in_languages("{change.small}|{change.verb}|{type.speaks}", (each,)).fullmatch(word)
    )
    if small:
        return small
    found = tuple(each for each in LATIN if word in _written()[each])
    return found if len(found) < 3 else ()


@cache
def _written() -> dict[str, frozenset[str]]:
    """The single words of each language as they stand in the table."""
    return {
        language: frozenset(word for word, _ in _words(language) if " " not in word)
        for language in LANGUAGES
    }


_MINUS = re.compile(
    r"(?i)(?:(?<!\w)(?<!au )(?<!al )(?<!lo )(?:minus|moins|menos|meno)\s|零下|氷点下|マイナス)"
    r"\s?(?=\d)"
    r"|(?<![\w.)\]])[\u2212\u2013](?=\d)"
)


def plain(text: str, language: str) -> str:
    """A text with one word for each date, time of day and phrase, and for each word that the
    language writes without a space."""
    text = _MINUS.sub(" -", normal(text))
    text = _ASIDE.sub(", ", with_moments(text, language))
    known = meanings(language)
    if known.pattern is None:
        return text
    return known.pattern.sub(partial(_named, known), text)


def _named(known: Meanings, found: re.Match[str]) -> str:
    name = known.phrases[folded(found[0])]
    return " " if name == LIGHT else f" {name} "


@lru_cache(maxsize=100_000)
def meaning(word: str, language: str) -> str:
    """What a folded word means: the name of its meaning, or its stem where it has none."""
    if word.startswith((NAMED, "@")):
        return word
    if language not in LATIN and word.isascii():
        language = "en"
    found = stem_in(language, word)
    if name := meanings(language).stems.get(found):
        return name
    return f"{NAME}{key(word)}" if word in spellings() else found


def are_opposite(one: str, other: str) -> bool:
    """Whether two meanings cannot both hold of one subject."""
    return frozenset((one, other)) in _opposites()


def written(name: str, text: str, language: str) -> str:
    """How a text writes a meaning; its name where it does not."""
    known = meanings(language)
    for found in known.pattern.finditer(normal(text)) if known.pattern else ():
        if known.phrases[folded(found[0])] == name:
            return found[0]
    words = (word for word in _WORD.findall(text) if meaning(word.casefold(), language) == name)
    return next(words, name.strip(NAMED) or name)


def tells_of_once(text: str, language: str) -> bool:
    """Whether a text tells what happened once, and not how things are."""
    once, lasting = _past(language)
    return once.search(text) is not None and lasting.search(text) is None


def goes_on(text: str, language: str) -> bool:
    """Whether a text says since when something is so, or that it still is."""
    return _past(language)[1].search(text) is not None


@cache
def _past(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    at = LANGUAGES.index(language)
    edge = r"\b" if language in LATIN else ""
    cells = (re.split(r" [|] ", line)[at].split(",") for line in _lines()["past"])
    once, lasting = ("|".join(word.strip() for word in words) for words in cells)
    return (
        re.compile(f"{edge}(?:{once}){edge}", re.IGNORECASE),
        re.compile(f"{edge}(?:{lasting}){edge}", re.IGNORECASE),
    )


@cache
def small_words(section: str, language: str) -> tuple[str, ...]:
    """The small words of a section: `by`, `from` or `to`."""
    [line] = _lines()[section]
    return tuple(word.strip() for word in line.split("|")[LANGUAGES.index(language)].split(","))


@cache
def soft() -> frozenset[str]:
    """The meanings that a fact may name or leave out."""
    return frozenset(NAMED + name for line in _lines()["soft"] for name in line.split(", "))


@cache
def meanings(language: str) -> Meanings:
    """The words of a language."""
    stems: dict[str, str] = {}
    phrases: dict[str, str] = {}
    is_latin = language in LATIN
    for word, name in _words(language):
        if name == KIND and not is_latin:
            phrases.setdefault(word, KIND + "".join(f"{ord(char):x}" for char in word))
        elif is_latin and word.isalpha() and name not in _AS_WRITTEN:
            found = stem_in(language, word)
            stems.setdefault(found, f"{KIND}_{found}" if name == KIND else name)
        else:
            phrases.setdefault(word, name)
    rows = "|".join(map(re.escape, sorted(phrases, key=lambda word: (-len(word), word))))
    edge = rf"(?<!\w)(?:{rows})(?!\w)" if is_latin else f"(?:{rows})"
    return Meanings(stems, phrases, AnyCase(edge) if rows else None)


# --- the table


@cache
def _lines() -> dict[str, tuple[str, ...]]:
    """The lines of the table by section."""
    found: dict[str, list[str]] = {}
    section = ""
    for line in _TABLE.read_text("utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            found.setdefault(section, []).append(line)
    return {section: tuple(lines) for section, lines in found.items()}


def _words(language: str) -> Iterator[tuple[str, str]]:
    """The words of a language, each with the name of what it means."""
    at = LANGUAGES.index(language)
    for section in ("ended", "never", "denied", "unit", "same", "kind", "light"):
        for line in _lines()[section]:
            is_named = section in ("unit", "same")
            name, _, rest = line.partition(": ") if is_named else (section, "", line)
            for word in rest.split("|")[at].split(","):
                if word.strip():
                    yield normal(word.strip()), NAMED + name


@cache
def _opposites() -> frozenset[frozenset[str]]:
    return frozenset(
        frozenset(NAMED + name for name in line.split(" / ")) for line in _lines()["opposite"]
    )
