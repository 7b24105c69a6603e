"""Notes in batches, as a model is shown them: near ones together. Pure.

Every note stands in exactly one batch, except one that alone is over the limit: it is in none.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence

from mdmemory.compact.near import Neighbours
from mdmemory.store.store import StoredNote

Size = Callable[[StoredNote], int]


def batches(notes: Sequence[StoredNote], size: Size, limit: int) -> list[list[StoredNote]]:
    """The notes in batches of at most `limit` by `size`, each sorted by file."""
    ordered = sorted(notes, key=lambda note: (note.note.head.type, note.file))
    notes = [note for note in ordered if size(note) <= limit]
    if sum(map(size, notes)) <= limit:
        found = [notes] if notes else []
    else:
        found = _packed((p for group in _near(notes) for p in _cut(group, size, limit)),
                        size, limit)  # fmt: skip
    return [sorted(batch, key=lambda note: note.file) for batch in found]


def _near(notes: Sequence[StoredNote]) -> Iterator[list[StoredNote]]:
    """Groups that hang together, neighbours one after the other; never of two types."""
    near: dict[int, list[int]] = defaultdict(list)
    for one, other in Neighbours([note.note for note in notes]).pairs():
        near[one].append(other)
        near[other].append(one)
    seen: set[int] = set()
    for start in range(len(notes)):
        group, waiting = [], deque([start])
        while waiting:
            at = waiting.popleft()
            if at not in seen:
                seen.add(at)
                group.append(notes[at])
                waiting.extend(near[at])
        if group:
            yield group


def _cut(group: Sequence[StoredNote], size: Size, limit: int) -> Iterator[list[StoredNote]]:
    piece: list[StoredNote] = []
    room = limit
    for note in group:
        if size(note) > room:
            yield piece
            piece, room = [], limit
        piece.append(note)
        room -= size(note)
    yield piece


def _packed(
    pieces: Iterator[list[StoredNote]], size: Size, limit: int
) -> list[list[StoredNote]]:
    """Each piece in the first batch that has room for it."""
    found: list[list[StoredNote]] = []
    rooms: list[int] = []
    for piece in pieces:
        total = sum(map(size, piece))
        at = next((at for at, room in enumerate(rooms) if total <= room), len(rooms))
        if at == len(rooms):
            found.append([])
            rooms.append(limit)
        found[at] += piece
        rooms[at] -= total
    return found
