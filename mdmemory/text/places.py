"""Values that changed their places: two addresses, each of which now stands with the other's name.

Pure. A value belongs to the words of its clause; nothing is said of values that share all of them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from mdmemory.text import literals
from mdmemory.text.words import keys

_CLAUSE = re.compile(
    r"[,;:!?](?=\s)|\.(?=\s|$)|[()\n|，。；：！？、]|(?<=\s)(?:and|or|but|while|und|oder|aber|während)(?=\s)"
)
_MOST = 200  # values; a text with more is a table of data

_Words = dict[str, frozenset[str]]


def moved(sources: Sequence[str], result: str) -> list[str]:
    """The values that the result puts where the sources have another one; sorted."""
    if len(literals.tokens(result)) < 2:
        return []  # nothing to change places with, and cutting up clauses is dear
    before, after = _contexts(sources), _contexts([result])
    if not 1 < len(before) <= _MOST:
        return []
    counts = Counter(word for words in before.values() for word in words)
    own = {
        value: frozenset(word for word in words if counts[word] == 1)
        for value, words in before.items()
    }
    owner = {word: value for value, words in own.items() for word in words}
    found = []
    for value in before.keys() & after.keys():
        strange = {owner[word] for word in after[value] & owner.keys()}
        if not own[value] or value in strange or not strange:
            continue
        # what it belonged to has another value now
        if any(own[value] & words for other, words in after.items() if other != value):
            found.append(value)
    return sorted(found)


def _contexts(texts: Sequence[str]) -> _Words:
    """The words of the clauses that each value stands in."""
    found: dict[str, set[str]] = defaultdict(set)
    for text in texts:
        before: set[str] = set()
        for clause in _CLAUSE.split(text):
            values = _values(clause)
            words = _words(clause, values)
            for value in values:
                found[value] |= words or before
            before = words or before
    return {value: frozenset(words) for value, words in found.items()}


def _values(clause: str) -> set[str]:
    """The literals of a clause that are no part of another one."""
    found = literals.tokens(clause)
    if len(found) > _MOST:
        return set()
    return {each for each in found if not any(each != other and each in other for other in found)}


def _words(clause: str, values: set[str]) -> set[str]:
    for value in sorted(values, key=len, reverse=True):
        clause = clause.replace(value, " ")
    return {key for key in keys(clause) if key[0].isalpha()}
