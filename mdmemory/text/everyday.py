"""Words of everyday work, which any message to an assistant may have. Pure.

By the table `words/everyday.txt`, which has a section for each language.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from mdmemory.text.words import char_grams

_TABLE = Path(__file__).parent / "words" / "everyday.txt"


@cache
def everyday_words() -> frozenset[str]:
    """These words in lower case and in the forms that they stand in, of English ones also the
    regular others; of Chinese, Japanese and Korean ones their pairs of characters. Stems of all of
    them would take a tenth of a second."""
    words_found: set[str] = set()
    section = ""
    for line in _TABLE.read_text("utf-8").splitlines():
        if line.startswith("["):
            section = line
        elif not line.startswith("#"):
            words_found.update(part for word in line.split() for part in char_grams(word))
            if section == "[en]":
                words_found.update(form for word in line.split() for form in _word_forms(word))
    return frozenset(words_found)


def _word_forms(word: str) -> Iterator[str]:
    """The regular forms of an English word, and some that there are not."""
    for end in ("s", "es", "d", "ed", "ing"):
        yield word + end
    yield f"{word[:-1]}ing"
    yield f"{word[:-1]}ies"
