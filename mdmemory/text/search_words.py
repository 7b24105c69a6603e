"""The words of search: as an index keeps them, and as a question asks for them.

Pure. Each text is kept by the rule of its own language, and a question asks for a word as each rule
would have kept it: a few words do not tell a language, and need not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Set
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from mdmemory.text.korean import cut_word, is_korean
from mdmemory.text.stop_words import light_words, likely_languages, stop_words
from mdmemory.text.words import (
    LONGEST,
    char_grams,
    has_cjk,
    is_cjk,
    normal_text,
    stem_in,
    word_parts,
    word_runs,
)

# The rules, and the letter behind each stem of one: by the German rule `notes` is `not`, and must
# not find every English text that has this word.
RULES = {"en": "", "de": "\u1d48", "romance": "\u02b3"}
_DOER = 6  # letters, from which on an English word in `er` may be who does something
_TELLING = 80  # words of a text that tell its language
_IRREGULAR = Path(__file__).parent / "words" / "irregular.txt"
_EXCHANGED = Path(__file__).parent / "words" / "exchanged.txt"
_HEADED = {"Deutsch": "de", "Français": "romance", "Español": "romance", "Português": "romance"}
# One word, and the signs that make it a name: `C++`, `C#`, `.NET`.
SIGNED = re.compile(r"(?<![^\W_])(?:\.[^\W_]{1,64}|[^\W_]{1,64}(?:\+\+|#))(?![^\W_])")
_HUMP = re.compile("[A-Z](?<=[a-z0-9].)")  # in few texts, and quicker to look for than such a name
_HUMPS = re.compile(r"\b[a-z][a-z0-9]+(?:[A-Z][a-z0-9]*)+")


class SmallWords(NamedTuple):
    """The words in lower case that tell nothing of what is asked for, those that tell little, and
    the languages that have them, the likeliest first."""

    stop: frozenset[str]
    light: frozenset[str]
    likely: tuple[str, ...]


def rule_of(text: str) -> str:
    """The rule for the language that a text is most likely in."""
    head = normal_text(text[: 12 * _TELLING])
    return _rule_of(likely_languages(word_parts(head.casefold())[:_TELLING], head)[0])


def index_text(text: str, rule: str = "en") -> str:
    """Text for a full-text index: stems by a rule, `camelCase` also in its parts, CJK in pairs.
    The parts of German compounds stand at the end, so that all other words stay side by side."""
    text = normal_text(text)
    if _HUMP.search(text):
        text = _HUMPS.sub(_with_parts, text)
    stems = [*_text_stems(text, rule)]
    if rule == "de":
        stems += (half for word in word_runs(text) for half in compound_halves(word))
    return " ".join(stems)


def compound_halves(word: str) -> tuple[str, ...]:
    """The stems of the parts of a German compound; none of any other word."""
    return tuple(half + RULES["de"] for half in _half_stems(word.casefold()))


def stem_ways(word: str, likely: Iterable[str] = ()) -> tuple[str, ...]:
    """The stems of a word by each rule, each once, those of the likely languages first."""
    rules = dict.fromkeys((*map(_rule_of, likely), *RULES))
    return tuple(dict.fromkeys(stem_by(rule, word) for rule in rules))


@lru_cache(maxsize=4)  # a question asks for them twice
def small_words(text: str) -> SmallWords:
    """The small words of the languages that a question may be in."""
    words_there = word_parts(normal_text(text).casefold())
    likely = likely_languages(words_there, text)
    stop = frozenset[str]().union(*map(stop_words, likely))
    light = frozenset[str]().union(*map(light_words, likely))
    # `IT` is no pronoun, and the letter of `C#` no article
    named = {name.casefold().strip(".+#") for name in written_names(text)}
    # the one word that is small elsewhere, where nothing else speaks for those languages, counts a
    # little: the `font` of a worksheet is no French
    foreign = {word for word in words_there if word in stop and word not in stop_words("en")}
    others = [word for word in words_there if word not in foreign]
    if len(foreign) == 1 and others and "en" in likely_languages(others, text):
        stop, light = stop - foreign, light | foreign
    return SmallWords(stop - named, light, likely)


def written_names(text: str) -> frozenset[str]:
    """The names in a question that signs or capitals alone tell from other words: with signs in
    lower case, `c++`, and in capitals, `IT`, where not all is in capitals."""
    words = word_parts(normal_text(text))
    shouted = [word for word in words if len(word) > 1 and word.isupper()]
    is_rare = 2 * len(shouted) < len(words) or len(words) == 1
    return frozenset(map(str.casefold, SIGNED.findall(normal_text(text)))).union(shouted * is_rare)


@lru_cache(maxsize=20_000)
def exchange_words(word: str) -> tuple[tuple[str, ...], ...]:
    """What people also call a word, in its own language: each as the stems of its words."""
    others: dict[tuple[str, ...], None] = {}
    for rule in RULES:
        stem = stem_by(rule, word)
        for each, line in _exchange_table().get((rule, _first_letters(stem)), ()):
            if _stem_words(rule, each) == (stem,):
                group = (_stem_words(rule, other) for other in line.split(", "))
                others |= dict.fromkeys(other for other in group if other != (stem,))
    return tuple(others)


def _stem_words(rule: str, words: str) -> tuple[str, ...]:
    return tuple(stem_by(rule, word) for word in word_runs(words))


@cache
def _exchange_table() -> dict[tuple[str, str], list[tuple[str, str]]]:
    """The words of the table by their rule and how they begin, each with its group. Stems of them
    all would take longer than the search itself."""
    groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
    rule = "en"
    for line in _EXCHANGED.read_text("utf-8").splitlines():
        if line.startswith("#") or not line:
            rule = _HEADED.get(line[2:], rule)
            continue
        for word in line.split(", "):
            groups.setdefault((rule, _stem_beginning(rule, word)), []).append((word, line))
    return groups


class WantedStems:
    """Stems, ready to be asked whether a word has one of them by any rule. How a word begins tells
    most others apart, and takes no stem."""

    def __init__(self, stems: Set[str]) -> None:
        self._stems = stems
        self._begun = frozenset(map(_first_letters, stems))

    def has(self, word: str) -> bool:
        if self._begun.isdisjoint(_stem_beginnings(word)):
            return False
        return any(
            _stem_beginning(rule, word) in self._begun and stem_by(rule, word) in self._stems
            for rule in RULES
        )


@lru_cache(maxsize=100_000)
def _stem_beginnings(word: str) -> frozenset[str]:
    """How the stems of a word by each rule begin: mostly all alike."""
    return frozenset(_stem_beginning(rule, word) for rule in RULES)


def _stem_beginning(rule: str, word: str) -> str:
    """How the stem of a word by a rule begins."""
    plain = _plain_word(word.casefold())
    return _first_letters(_irregular_bases(rule).get(plain, plain))


def _first_letters(word: str) -> str:
    """The first two letters; of a vowel and what follows the vowel alone, for German writes `ae`
    for `ä`."""
    plain = _plain_word(word[:2])
    return plain[:1] if plain[:1] in "aeiou" else plain[:2]


@lru_cache(maxsize=100_000)
def stem_by(rule: str, word: str) -> str:
    """A word in lower case without accents and the endings of a rule's languages, and with the
    letter of that rule; what is no word of letters alone as it is."""
    word = word.casefold()
    if is_cjk(word[:1]) or not 1 < len(word) <= LONGEST or not word.isalpha():
        return word
    plain = _plain_word(word)
    base = _irregular_bases(rule).get(plain, word)
    if rule == "en":
        return _doer_stem(stem_in(rule, _plain_word(base)))
    # Few words of a question tell which of four sister languages it is in: one stemmer finds a note
    # in each, and of these four the French finds most (`make bench-search`).
    language = "fr" if rule == "romance" else rule
    return (
        _plain_word(stem_in(language, base)) + RULES[rule]
    )  # German tells ä from a until it is cut


def _doer_stem(stem: str) -> str:
    """What somebody or something does, for the English word of the doer: `formatt`, `scann`."""
    if len(stem) < _DOER or not stem.endswith("er"):
        return stem
    stem = stem[:-2]
    return stem[:-1] if stem[-1] == stem[-2] and stem[-1] not in "lsz" else stem


def _plain_word(word: str) -> str:
    """A word without accents, its joined letters apart: chœur, choeur."""
    if word.isascii():
        return word
    word = word.replace("œ", "oe").replace("æ", "ae").replace("ø", "o").replace("ł", "l")
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


def _rule_of(language: str) -> str:
    return language if language in RULES else "romance"


def _text_stems(text: str, rule: str) -> Iterable[str]:
    if text.isascii() or not has_cjk(text):
        return map(partial(stem_by, rule), word_runs(text))
    return _stems_and_pairs(text, rule)


def _stems_and_pairs(text: str, rule: str) -> Iterator[str]:
    for run in word_runs(text):
        if not is_cjk(run[0]):
            yield stem_by(rule, run)
            continue
        yield from char_grams(run)
        if len(run) > 1:
            yield run[-1]  # each character begins some token: one is looked for as a prefix
            if is_korean(run) and len(alone := cut_word(run)) == 1:
                yield alone


def _with_parts(name: re.Match[str]) -> str:
    parts = re.sub("([A-Z])", r" \1", name[0])
    return f"{name[0]} {parts}"


@cache
def _irregular_bases(rule: str) -> dict[str, str]:
    """The base of each irregular form, without accents, of the languages of a rule."""
    bases: dict[str, str] = {}
    for line in _IRREGULAR.read_text("utf-8").splitlines():
        language, _, words = line.partition(": ")
        if not line.startswith("#") and _rule_of(language) == rule:
            for group in words.split(", "):
                base, *forms = group.split()
                bases |= {_plain_word(form): base for form in forms if len(form) > 2}
    return bases


# --- German compounds in their two parts, where one of them is a word that many are made of

_COMPOUNDS = Path(__file__).parent / "words" / "compounds.txt"
_SHORTEST = 8  # letters of a compound
_PART = 3  # letters of a part that the table has not
_JOINTS = ("s", "n", "en", "es", "e", "er")  # between the parts

# A verb's, which make no noun of their own.
_PREFIXES = (
    "ver",
    "zer",
    "ent",
    "abg",
    "ang",
    "aufg",
    "ausg",
    "beig",
    "eing",
    "umg",
    "vorg",
    "zug",
)


@lru_cache(maxsize=20_000)
def _half_stems(word: str) -> tuple[str, ...]:
    """The stems of the two parts of a word in lower case, accents and all; none where no part of it
    is known. The part behind says what the whole is, so it is looked for first."""
    if not _SHORTEST <= len(word) <= LONGEST or not word.isalpha():
        return ()
    whole, known = stem_in("de", word), _parts_known()
    if whole in known:
        return ()
    for at in range(_PART, len(whole) - _PART + 1):
        if whole[at:] in known:
            first = _front_stem(whole[:at])
            if first in known or (len(whole) - at > _PART and not first.startswith(_PREFIXES)):
                return first, whole[at:]
    for at in range(len(whole) - _PART - 1, _PART, -1):
        if (first := _front_stem(whole[:at])) in known:
            return first, whole[at:]
    return ()


def _front_stem(part: str) -> str:
    """The stem of the part in front, without what joins it to the other."""
    known = _parts_known()
    for joint in ("", *_JOINTS):
        if part.endswith(joint) and (front := stem_in("de", part.removesuffix(joint))) in known:
            return front
    return stem_in("de", part.removesuffix("s"))


@cache
def _parts_known() -> frozenset[str]:
    lines = _COMPOUNDS.read_text("utf-8").splitlines()
    words = (word for line in lines if not line.startswith("#") for word in line.split())
    return frozenset(stem_in("de", word) for word in words)
