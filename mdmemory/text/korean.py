"""Korean words without the particles and endings that stand behind them.

Pure. Particles that depend on how the syllable before them ends are cut behind such a syllable
alone; a particle of one syllable leaves two, for many a noun of two ends like it.
"""

from __future__ import annotations

from functools import lru_cache

from mdmemory.text.stop_words import listed_words

_FIRST, _LAST = "\uac00", "\ud7a3"  # the syllables
_FINALS = 28  # a syllable's place among as many tells its last consonant; 0: none
# Particles behind a consonant and behind a vowel.
_CLOSED = tuple("은 이 을 과 으로 이랑 이나 이라도 이야 이에요 이고".split())
_OPEN = ("는", "가", "를", "와", "랑", "나", "라도", "야", "예요")
_SHORT = ("은", "는", "을", "를", "에")  # they stand behind nouns of one syllable, too
_LONGEST = 6  # syllables of an ending
# Last consonants, as their place among the finals: those that are an ending, ㄴ of 쓴다 and ㅂ of
# 씁니다; and those behind which 다 is mostly the end of a noun, as none, ㄹ, ㅁ (람다) and ㅇ.
_N, _B, _IN_NOUNS = 4, 17, (0, 8, 16, 21)
_WHOLE_ENDINGS = ("습니다", "는다")  # behind a verb that ends in a consonant
# Such words stand in the lists as well, and must tell two texts apart.
_DENYING = ("없", "않", "못", "안", "아니", "아닌")


def is_korean(word: str) -> bool:
    """Whether a word is written in Korean letters."""
    return _FIRST <= word[:1] <= _LAST


@lru_cache(maxsize=20_000)
def cut_word(word: str) -> str:
    """A word without its ending, and without the particle in front of that."""
    once = _cut_endings(word, listed_words("ko", "endings"))
    return _cut_endings(once, listed_words("ko", "particles"))


@lru_cache(maxsize=20_000)
def core_of(word: str) -> str:
    """What a word says: without its ending and particle, and a verb in one form for plain and
    polite sentences; "" for a word that is grammar alone. What denies is never grammar alone."""
    is_grammar = _is_grammar(word)
    stem = word if is_grammar else _verb_core(cut_word(word))
    return "" if is_grammar or _is_grammar(stem) else stem


def _is_grammar(word: str) -> bool:
    uses = ("stop", "endings", "particles")
    return not word.startswith(_DENYING) and any(word in listed_words("ko", use) for use in uses)


def _verb_core(word: str) -> str:
    """A verb at the end of a sentence as far as plain and polite forms share it: 쓴다 and 씁니다
    are 쓰, 썼다 and 썼습니다 are 썼."""
    for ending in _WHOLE_ENDINGS:
        if word.endswith(ending) and len(word) > len(ending):
            return word[: -len(ending)]
    for ending, final in (("니다", _B), ("다", _N)):
        rest = word.removesuffix(ending)
        if rest not in ("", word) and _final_place(rest) == final:
            return rest[:-1] + chr(ord(rest[-1]) - final)
    rest = word.removesuffix("다")
    return rest if rest not in ("", word) and _final_place(rest) not in _IN_NOUNS else word


def _cut_endings(word: str, endings: frozenset[str]) -> str:
    for length in range(min(_LONGEST, len(word) - 1), 0, -1):
        ending, rest = word[-length:], word[:-length]
        is_noun = length == 1 and len(rest) == 1 and ending not in _SHORT
        if ending not in endings or is_noun:
            continue
        if ending not in (_OPEN if _final_place(rest) else _CLOSED):
            return rest
    return word


def _final_place(word: str) -> int:
    """The place of the last consonant of a word among the finals; 0: it ends in a vowel."""
    return (ord(word[-1]) - ord(_FIRST)) % _FINALS
