"""Korean words without the particles and endings that stand behind them.

Pure. Particles that depend on how the syllable before them ends are cut behind such a syllable
alone; a particle of one syllable leaves two, for many a noun of two ends like it.
"""

from __future__ import annotations

from functools import lru_cache

from mdmemory.text.stop_words import listed

_FIRST, _LAST = "\uac00", "\ud7a3"  # the syllables
_FINALS = 28  # a syllable's place among as many tells its last consonant; 0: none
# Particles behind a consonant and behind a vowel.
_CLOSED = ("은", "이", "을", "과", "으로", "이랑", "이나", "이라도", "이야", "이에요", "이고")
_OPEN = ("는", "가", "를", "와", "랑", "나", "라도", "야", "예요")
_SHORT = ("은", "는", "을", "를", "에")  # they stand behind nouns of one syllable, too
_LONGEST = 6  # syllables of an ending


def is_korean(word: str) -> bool:
    """Whether a word is written in Korean letters."""
    return _FIRST <= word[:1] <= _LAST


@lru_cache(maxsize=20_000)
def cut(word: str) -> str:
    """A word without its ending, and without the particle in front of that."""
    once = _cut(word, listed("ko", "endings"))
    return _cut(once, listed("ko", "particles"))


def _cut(word: str, endings: frozenset[str]) -> str:
    for length in range(min(_LONGEST, len(word) - 1), 0, -1):
        ending, rest = word[-length:], word[:-length]
        if ending not in endings:
            continue
        if length == 1 and len(rest) == 1 and ending not in _SHORT:
            continue
        if ending in (_CLOSED if _is_open(rest) else _OPEN):
            continue
        return rest
    return word


def _is_open(word: str) -> bool:
    """Whether the last syllable ends in a vowel."""
    return (ord(word[-1]) - ord(_FIRST)) % _FINALS == 0
