"""The words of a question that do not tell what it asks for, by language.

Pure, by the table `words/stop_words.txt`. For search alone, but for Korean: capture and compaction
compare texts in which such a word may be the one that differs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from functools import cache, lru_cache
from pathlib import Path

_TABLE = Path(__file__).parent / "words" / "stop_words.txt"
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
def stop_words(language: str) -> frozenset[str]:
    """The words that say nothing in a language, with and without their accents."""
    return _with_plain(listed_words(language, "stop"))


@cache
def light_words(language: str) -> frozenset[str]:
    """The words of asking and doing of a language, with and without their accents."""
    return _with_plain(listed_words(language, "light"))


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
    return re.compile("|".join(map(re.escape, words)))


@lru_cache(maxsize=100_000)
def _spoken_languages(word: str) -> tuple[tuple[str, float], ...]:
    """The languages that a word speaks for, each with how much."""
    languages_found = _word_speakers().get(word) or _by_ending(word)
    is_small = word in _word_speakers() and len(word) > 1  # `s` is in it's and in s'occupe
    return tuple(
        (each, (1.0 if is_small else _ENDING) / len(languages_found)) for each in languages_found
    )


def _by_ending(word: str) -> Sequence[str]:
    """The languages whose words mostly end like this one."""
    if len(word) < _SHORTEST:
        return ()
    languages_found = (each for each, endings in _ENDINGS.items() if word.endswith(endings))
    return next(languages_found, "").split()


@cache
def _word_speakers() -> dict[str, tuple[str, ...]]:
    """The languages that have each small word."""
    speakers_found: dict[str, tuple[str, ...]] = {}
    for language in _LATIN:
        for word in stop_words(language):
            speakers_found[word] = (*speakers_found.get(word, ()), language)
    return speakers_found


def _with_plain(words: Collection[str]) -> frozenset[str]:
    return frozenset(words).union(
        "".join(sign for sign in unicodedata.normalize("NFD", word) if sign < "\u0300")
        for word in words
        if not word.isascii()
    )


@cache
def _word_lists() -> dict[tuple[str, str], frozenset[str]]:
    """The lines of the table, by language and use; a section is named after either."""
    lists_found: dict[tuple[str, str], frozenset[str]] = {}
    section = ""
    for line in _TABLE.read_text("utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            name, _, words = line.partition(":")
            place = (name, section) if name in _LATIN else (section, name)
            lists_found[place] = frozenset(words.split())
    return lists_found
