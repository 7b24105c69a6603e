"""Which notes are near a text: BM25 over words, the measure that finds the note that a new fact
repeats or contradicts among its first three in nearly every case. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from mdmemory.note.note import Note
from mdmemory.store.store import StoredNote
from mdmemory.text.words import keys

NEAREST = 3
_K1, _B = 1.2, 0.75  # the usual ones


def ranked(text: str, notes: Sequence[StoredNote]) -> list[tuple[StoredNote, float]]:
    """All notes that share a word with the text, the nearest first; ties by file."""
    texts = [Counter(keys(_said(note))) for note in notes]
    sizes = [sum(counts.values()) for counts in texts]
    mean = sum(sizes) / len(sizes) if sizes else 1.0
    rarity = _rarity(texts)
    asked = set(keys(text))
    scored = [
        (note, sum(_weight(counts[word], size / (mean or 1.0)) * rarity[word]
                   for word in asked & counts.keys()))
        for note, counts, size in zip(notes, texts, sizes, strict=True)
    ]  # fmt: skip
    found = [pair for pair in scored if pair[1] > 0]
    return sorted(found, key=lambda pair: (-pair[1], pair[0].file))


def nearest(text: str, notes: Sequence[StoredNote]) -> tuple[str, ...]:
    """The files of the three nearest notes, fewer when fewer share a word."""
    return tuple(note.file for note, _ in ranked(text, notes)[:NEAREST])


def contradicted(new: Note, notes: Sequence[StoredNote]) -> list[tuple[StoredNote, str]]:
    """Which of the three nearest notes say otherwise, each with what the two differ in."""
    from mdmemory.text.contradiction import contradiction, profile  # only where notes meet

    mine = profile(new)
    found: list[tuple[StoredNote, str]] = []
    for note, _ in ranked(f"{new.head.description}\n{new.body}", notes)[:NEAREST]:
        pair = [mine, profile(note.note)]
        if note.file < new.head.file:  # as the ledger names the two
            pair.reverse()
        if why := contradiction(*pair):
            found.append((note, why))
    return found


def _said(note: StoredNote) -> str:
    head = note.note.head
    return f"{head.name.replace('-', ' ')}\n{head.description}\n{note.note.body}"


def _rarity(texts: Sequence[Mapping[str, int]]) -> dict[str, float]:
    held = Counter(word for counts in texts for word in counts)
    return {
        word: math.log(1 + (len(texts) - count + 0.5) / (count + 0.5))
        for word, count in held.items()
    }


def _weight(count: int, relative_size: float) -> float:
    return count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * relative_size))
