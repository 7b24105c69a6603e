"""The words of a question that do not tell what it asks for, by language.

Pure, by the table `words/stop_words.txt`. For search alone, but for Korean: capture and compaction
compare texts in which such a word may be the one that differs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path

_LATIN = ("en", "de", "fr", "es", "pt", "it")
_NEAR = 0.9  # of the words that speak for the likeliest language, from which another may be it, too
_LETTERS = {"de": "äöüß", "es": "ñ¿¡", "fr": "êèœëïùûç", "fr es pt it": "áàâéíóôú", "pt": "ãõç"}
_ENDING = 0.3  # of a small word counts how another word ends
_ENDINGS = {
    "de": ("ung", "gen", "ben", "chen", "nen", "sen", "eit", "cht", "tz", "isch"),
    "en": ("ing", "ed", "ty", "th", "ly", "ck", "y"),
    "es pt it": ("o", "a", "os", "as", "i"),
    "es": ("ción", "dad"),
    "pt": ("em", "ão", "ões", "dade"),
    "fr": ("eur", "eux", "que", "ée", "ez", "ette"),
}
_USUAL = 0.25  # small words that speak for English without one: it is the language of most names
_SHORTEST = 4  # letters of a word with such an ending
_LETTER = 1.0  # small words that a letter counts for which few languages have


def listed_words(language: str, use: str) -> frozenset[str]:
    """The words of a language for a use, as they stand in the table; none where it has no such
    line."""
    return _word_lists().get((language, use), frozenset())


@cache
def small_words_of(language: str, use: str) -> frozenset[str]:
    """The words of a language that say nothing (`stop`), or those of asking and doing (`light`),
    with and without their accents."""
    words = listed_words(language, use)
    return words.union(
        "".join(sign for sign in unicodedata.normalize("NFD", word) if sign < "\u0300")
        for word in words
        if not word.isascii()
    )


def likely_languages(words: Iterable[str], text: str = "") -> tuple[str, ...]:
    """The languages that a text may be in, the likeliest first, by its small words in lower case
    and the letters of `text`; all that the table has where nothing speaks for one."""
    counts = dict.fromkeys(_LATIN, 0.0)
    counts[_LATIN[0]] = _USUAL
    for shares in filter(None, map(_spoken_languages, words)):
        for each, share in shares:
            counts[each] += share
    if not text.isascii():
        for speakers, letters in _LETTERS.items():
            if any(letter in text for letter in letters):
                for each in (speaking := speakers.split()):
                    counts[each] += _LETTER / len(speaking)
    best = max(counts.values())
    if best == _USUAL:
        return _LATIN
    likely = [each for each in _LATIN if counts[each] >= _NEAR * best]
    return tuple(sorted(likely, key=lambda each: -counts[each]))


@cache
def east_asian(language: str, use: str) -> re.Pattern[str]:
    """Any of the words of a language that has no spaces, the longest first."""
    words = sorted(listed_words(language, use), key=lambda word: (-len(word), word))
    return re.compile("|".join(map(re.escape, words)) or "(?!)")


@lru_cache(maxsize=100_000)
def _spoken_languages(word: str) -> tuple[tuple[str, float], ...]:
    """The languages that a word speaks for, each with how much."""
    speakers = _word_speakers().get(word, ())
    share = 1.0 if speakers and len(word) > 1 else _ENDING  # `s` is in it's and in s'occupe
    if not speakers and len(word) >= _SHORTEST:
        alike = (each for each, endings in _ENDINGS.items() if word.endswith(endings))
        speakers = tuple(next(alike, "").split())
    return tuple((each, share / len(speakers)) for each in speakers)


@cache
def _word_speakers() -> dict[str, tuple[str, ...]]:
    """The languages that have each small word."""
    speakers_found: dict[str, tuple[str, ...]] = {}
    for language in _LATIN:
        for word in small_words_of(language, "stop"):
            speakers_found[word] = (*speakers_found.get(word, ()), language)
    return speakers_found


@cache
def _word_lists() -> dict[tuple[str, str], frozenset[str]]:
    """The lines of the table, by language and use; a section is named after either."""
    lists_found: dict[tuple[str, str], frozenset[str]] = {}
    for section, line in table_lines("stop_words"):
        name, _, words = line.partition(":")
        place = (name, section) if name in _LATIN else (section, name)
        lists_found[place] = frozenset(words.split())
    return lists_found


def table_lines(name: str) -> Iterator[tuple[str, str]]:
    """The lines of a table of `words/`, each with the section that it stands in."""
    section = ""
    table = Path(__file__).parent / "words" / f"{name}.txt"
    for line in table.read_text("utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            yield section, line
