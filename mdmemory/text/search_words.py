"""The words of search: as an index keeps them, and as a question asks for them.

Pure. Each text is kept by the rule of its own language, and a question asks for a word as each rule
would have kept it: a few words do not tell a language, and need not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Set
from functools import cache, lru_cache
from typing import NamedTuple

from mdmemory.text import stop_words
from mdmemory.text.korean import cut_word, is_korean
from mdmemory.text.stop_words import listed_words, table_lines
from mdmemory.text.words import (
    CJK,
    LONGEST,
    char_grams,
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
# One word, and the signs that make it a name: `C++`, `C#`, `.NET`.
SIGNED = re.compile(r"(?<![^\W_])(?:\.[^\W_]{1,64}|[^\W_]{1,64}(?:\+\+|#))(?![^\W_])")
_HUMP = re.compile("[A-Z](?<=[a-z0-9].)")  # in few texts, and quicker to look for than such a name
_CAPITAL = re.compile("(?=[A-Z])")
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
    return _rule_of(stop_words.likely_languages(word_parts(head.casefold())[:_TELLING], head)[0])


def index_text(text: str, rule: str = "en") -> str:
    """Text for a full-text index: stems by a rule, `camelCase` also in its parts, CJK in pairs.
    The parts of German compounds stand at the end, so that all other words stay side by side."""
    text = normal_text(text)
    if _HUMP.search(text):
        text = _HUMPS.sub(lambda name: f"{name[0]} {_CAPITAL.sub(' ', name[0])}", text)
    stems: list[str] = []
    for run in word_runs(text):
        if not is_cjk(run[0]):
            stems.append(stem_by(rule, run))
            continue
        stems += char_grams(run)
        if len(run) > 1:
            stems.append(run[-1])  # each character begins some token: one is looked for as a prefix
            if is_korean(run) and len(alone := cut_word(run)) == 1:
                stems.append(alone)
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
    likely = stop_words.likely_languages(words_there, text)
    stop, light = (
        frozenset[str]().union(*(stop_words.small_words_of(language, use) for language in likely))
        for use in ("stop", "light")
    )
    # `IT` is no pronoun, and the letter of `C#` no article
    named = {name.casefold().strip(".+#") for name in written_names(text)}
    # the one word that is small elsewhere, where nothing else speaks for those languages, counts a
    # little: the `font` of a worksheet is no French
    english = stop_words.small_words_of("en", "stop")
    foreign = {word for word in words_there if word in stop and word not in english}
    others = [word for word in words_there if word not in foreign]
    if len(foreign) == 1 and others and "en" in stop_words.likely_languages(others, text):
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
    for language, line in table_lines("exchanged"):
        rule = _rule_of(language)
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
        return any(
            _stem_beginning(rule, word) in self._begun and stem_by(rule, word) in self._stems
            for rule in RULES
        )


@lru_cache(maxsize=100_000)
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
        stem = stem_in(rule, _plain_word(base))
        if len(stem) < _DOER or not stem.endswith("er"):
            return stem
        # what somebody or something does, for the word of the doer: `formatt`, `scann`
        return stem[:-3] if stem[-3] == stem[-4] and stem[-3] not in "lsz" else stem[:-2]
    # Few words of a question tell which of four sister languages it is in: one stemmer finds a note
    # in each, and of these four the French finds most (`make bench-search`).
    language = "fr" if rule == "romance" else rule
    # German tells ä from a until it is cut
    return _plain_word(stem_in(language, base)) + RULES[rule]


def _plain_word(word: str) -> str:
    """A word without accents, its joined letters apart: chœur, choeur."""
    if word.isascii():
        return word
    word = word.replace("œ", "oe").replace("æ", "ae").replace("ø", "o").replace("ł", "l")
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


def _rule_of(language: str) -> str:
    return language if language in RULES else "romance"


@cache
def _irregular_bases(rule: str) -> dict[str, str]:
    """The base of each irregular form, without accents, of the languages of a rule."""
    bases: dict[str, str] = {}
    for _, line in table_lines("irregular"):
        language, _, words = line.partition(": ")
        if _rule_of(language) == rule:
            for group in words.split(", "):
                base, *forms = group.split()
                bases |= {_plain_word(form): base for form in forms if len(form) > 2}
    return bases


# --- German compounds in their two parts, where one of them is a word that many are made of


_SHORTEST = 8  # letters of a compound
_PART = 3  # letters of a part that the table has not
_JOINTS = ("s", "n", "en", "es", "e", "er")  # between the parts

# A verb's, which make no noun of their own.
_PREFIXES = tuple("ver zer ent abg ang aufg ausg beig eing umg vorg zug".split())


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
    lines = table_lines("compounds")
    return frozenset(stem_in("de", word) for _, line in lines for word in line.split())


# --- what a question in Chinese, Japanese or Korean asks for: the pairs of characters that tell. It
# has words of grammar between those, and Japanese shows by its scripts, Korean by its spaces where
# words end

LIGHT = 0.3  # of a word counts that may be one by chance
_RUNS = re.compile(f"[\uac00-\ud7a3]+|(?:(?![\uac00-\ud7a3])[{CJK}])+")
_KANA = re.compile("[\u3040-\u30ff]")


class Piece(NamedTuple):
    """A pair of characters to look for, or one alone: whatever begins with it, if `is_prefix`.
    `weight` is what its absence says, from 0 to 1."""

    text: str
    weight: float = 1.0
    is_prefix: bool = False


def asked_pieces(text: str) -> list[Piece]:
    """The pieces of a question, each once, those that tell the most first; all pairs where none
    of them tells."""
    runs: list[str] = _RUNS.findall(text)
    language = "ja" if _KANA.search(text) else "zh"
    pieces_found: dict[str, Piece] = {}
    for run in runs:
        read = _korean_pieces(run) if is_korean(run) else _telling_pieces(run, language)
        for piece in read:
            known = pieces_found.get(piece.text)
            if known is None or known.weight < piece.weight:
                pieces_found[piece.text] = piece
    if not any(piece.weight for piece in pieces_found.values()):
        pieces_found = {each.text: each for run in runs for each in _all_pieces(run)}
    return sorted(pieces_found.values(), key=lambda piece: -piece.weight)


def _telling_pieces(run: str, language: str) -> Iterator[Piece]:
    """The pairs outside words of grammar. One with a sign that is only mostly grammar makes a text
    better, and says nothing where it is missing."""
    marks = bytearray(len(run))  # 1: may be grammar, 2: is
    at = 0
    kept_pairs, stop = (stop_words.east_asian(language, use) for use in ("kept", "stop"))
    single = listed_words(language, "single")
    while at < len(run):
        if word := kept_pairs.match(run, at):
            at = word.end()
        elif word := stop.match(run, at):
            marks[at : word.end()] = b"\2" * len(word[0])
            at = word.end()
        else:
            marks[at] = run[at] in single
            at += 1
    for at, gram in enumerate(char_grams(run)):
        around = marks[at : at + len(gram)]
        if len(gram) > 1 and 2 not in around and not all(around):
            yield Piece(gram, 0.0 if any(around) else 1.0)
    # each sign alone, too: most have a sense of their own, and two words often share just one; that
    # a text lacks one says nothing
    yield from (Piece(run[at], LIGHT, is_prefix=True) for at, mark in enumerate(marks) if not mark)


def _all_pieces(run: str) -> Iterator[Piece]:
    """Every pair of a run; of one sign what begins with it."""
    return (
        Piece(gram) if len(gram) > 1 else Piece(gram, LIGHT, is_prefix=True)
        for gram in char_grams(run)
    )


def _korean_pieces(word: str) -> Iterator[Piece]:
    """The word without particles and endings."""
    stem = cut_word(word)
    stop = listed_words("ko", "stop")
    if word not in stop and stem not in stop:
        yield from (Piece(gram, 1.0 if len(gram) > 1 else LIGHT) for gram in char_grams(stem))


# --- words of everyday work, which any message to an assistant may have


@cache
def everyday_words() -> frozenset[str]:
    """These words in lower case and in the forms that they stand in, of English ones also the
    regular others, and some that there are not; of Chinese, Japanese and Korean ones their pairs of
    characters. Stems of all of them would take a tenth of a second."""
    forms: set[str] = set()
    for section, line in table_lines("everyday"):
        for word in line.split():
            forms.update(char_grams(word))
            if section == "en":
                forms.update(word + end for end in ("s", "es", "d", "ed", "ing"))
                forms |= {f"{word[:-1]}ing", f"{word[:-1]}ies"}
    return frozenset(forms)
