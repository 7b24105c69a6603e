"""Which notes lie near each other, without comparing all pairs.

`same_key` names exact duplicates; `candidates` finds pairs that share rare words, by an inverted
index. What a pair means is decided elsewhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise

from mdmemory.compact import literals
from mdmemory.compact.statement import STOP, words
from mdmemory.note import Note

MAX_SHARED = 50  # a word in more notes than this says nothing about any of them
MIN_SHARED = 20  # unless the store is so small that 5 % of it is fewer
MAX_KEYS = 12  # rarest words of a note that are looked up
MAX_NEAR = 10  # candidates per note
_MAX_WORDS = 60  # words of one note that are indexed, the description's first

_CLOSING = re.compile(r"[.,;:!…。，；：！、]+(?=\s|$)")


def plain(text: str) -> str:
    """A text without what does not matter: case, width, runs of space, closing punctuation.

    A question mark matters, and so does punctuation inside words: C is not C++.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_CLOSING.sub(" ", folded).split())


def same_key(note: Note) -> Hashable:
    """Equal for two notes that say exactly the same: type, kind, wording and literals."""
    head = note.head
    wording = (plain(head.description), plain(note.body))
    return (head.type, head.kind, *wording, frozenset(literals.tokens(_text(note))))


def candidates(notes: Sequence[Note]) -> Iterator[tuple[int, int]]:
    """Pairs of positions, each once, of notes of one type that share rare words; sorted."""
    pairs: set[tuple[int, int]] = set()
    for positions in _by_type(notes):
        for mine, near in enumerate(_index([_indexed(notes[at]) for at in positions])):
            # positions of one type rise, so the smaller stands for the earlier note
            pairs.update((positions[min(mine, at)], positions[max(mine, at)]) for at in near)
    yield from sorted(pairs)


def _text(note: Note) -> str:
    return f"{note.head.description}\n{note.body}"


def _by_type(notes: Sequence[Note]) -> list[list[int]]:
    types: dict[str, list[int]] = defaultdict(list)
    for at, note in enumerate(notes):
        types[note.head.type].append(at)
    return list(types.values())


def _indexed(note: Note) -> list[str]:
    """The words a note is found by, and the neighbour pairs of its description."""
    hook = [word for word in words(note.head.description) if word not in STOP][:_MAX_WORDS]
    body = [word for word in words(note.body[:1_000]) if word not in STOP]
    pairs = [f"{left} {right}" for left, right in pairwise(hook)]
    return list(dict.fromkeys([*hook, *pairs, *body[: _MAX_WORDS - len(hook)]]))


def _index(keys: list[list[str]]) -> Iterator[list[int]]:
    """For each note the positions of its nearest, best first."""
    holders: dict[str, list[int]] = defaultdict(list)
    for at, mine in enumerate(keys):
        for key in mine:
            holders[key].append(at)
    limit = max(MIN_SHARED, min(MAX_SHARED, len(keys) // 20))
    for at, mine in enumerate(keys):
        shared = [key for key in mine if 1 < len(holders[key]) <= limit]
        shared.sort(key=lambda key: len(holders[key]))
        yield _nearest(at, [holders[key] for key in shared[:MAX_KEYS]])


def _nearest(at: int, holders: list[list[int]]) -> list[int]:
    scores: dict[int, float] = defaultdict(float)
    for others in holders:
        for other in others:
            scores[other] += 1 / len(others)
    scores.pop(at, None)
    ranked = sorted(scores, key=lambda other: (-scores[other], other))
    return ranked[:MAX_NEAR]
