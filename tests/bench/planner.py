"""Notes of random words to plan a compaction of, in which few or many contradict each other."""

import random
from collections.abc import Callable
from typing import Any

from mdmemory.compact.planner import Offline
from mdmemory.files import digest
from mdmemory.note import editing, limits
from mdmemory.note import note as notes_format
from mdmemory.store.store import StoredNote


def parsed(file: str, text: str) -> StoredNote:
    """A note as a store holds it, by the text of its file."""
    return StoredNote(file, digest(text.encode()), notes_format.parse(text, file))


def stored(name: str, description: str, body: str, type: str = "user", **more: Any) -> StoredNote:
    """The same of its parts, as mdmemory writes them."""
    text = editing.compose(name=name, type=type, description=description, body=body, **more)
    return parsed(limits.file_name(type, name), text)


def planted(total: int) -> list[StoredNote]:
    """Notes of random words, a tenth of them a twin with the same or another number."""
    chance = random.Random(7)
    letters = "etaoinshrdlucmfw"
    words = ["".join(chance.choices(letters, k=chance.randint(3, 9))) for _ in range(6_000)]
    notes: list[StoredNote] = []
    for at in range(total):
        say = f"{' '.join(chance.choices(words, k=11))} takes {chance.randint(1, 99)} minutes"
        if at % 10 == 9:
            say = notes[-1].note.head.description
        if at % 20 == 19:
            say = say.replace("takes ", "takes 1")
        more = " ".join(chance.choices(words, k=25))
        notes.append(stored(f"n{at:05}", say, f"{say}. {more}."))
    return notes


def contradicting(total: int) -> list[StoredNote]:
    """Notes of random words in fours, which say four different numbers of the same thing."""
    notes = planted(total)
    for at, note in enumerate(notes):
        if at % 4:
            say = notes[at - at % 4].note.head.description
            say = f"{say.rpartition('takes ')[0]}takes {at % 4 * 10 + 1} minutes"
            notes[at] = stored(note.note.head.name, say, note.note.body)
    return notes


def offline(notes: list[StoredNote]) -> Callable[[], object]:
    return lambda: Offline().propose(notes, conflicts=[])
