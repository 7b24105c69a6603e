"""The notes near a text, nearest first: asked of the search database, where a store is large or the
encoder of meaning is warm; until then words answer.

The note that a new fact repeats or contradicts is nearly always one of the three nearest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mdmemory.errors import MdmemoryError
from mdmemory.store.refresh import Refresher
from mdmemory.store.store import StoredNote
from mdmemory.text.similarity import ranked

NEAR, NEAREST = 6, 3  # notes that are looked at, and of these shown
SCANNED = 200  # notes; so few are compared sooner than a database is opened
Near = Callable[[str, Sequence[StoredNote]], list[StoredNote]]


def scan(text: str, notes: Sequence[StoredNote]) -> list[StoredNote]:
    """The notes that share a word with a text, found by reading all of them."""
    notes = sorted(notes, key=lambda note: note.file)
    heads = (note.note.head for note in notes)
    names = [f"{head.name.replace('-', ' ')}\n{head.description}" for head in heads]
    texts = [f"{name}\n{note.note.body}" for name, note in zip(names, notes, strict=True)]
    return [notes[at] for at in ranked(text, texts)]


def near_in(refresher: Refresher) -> Near:
    """What finds the notes of a store that are near a text.

    A small store is scanned, and so is one whose database cannot be used.
    """

    def near(text: str, notes: Sequence[StoredNote]) -> list[StoredNote]:
        files = _asked(refresher, text) if _is_asked(refresher, len(notes)) else None
        if files is None:
            return scan(text, notes)
        known = {note.file: note for note in notes}
        return [known[file] for file in files if file in known]

    return near


def _asked(refresher: Refresher, text: str) -> list[str] | None:
    """The files near a text, as the database tells; None where it cannot be used."""
    from mdmemory.search import sources  # with it comes the database
    from mdmemory.search.database import UnusableError

    try:
        return sources.near(refresher).near(text)
    except (MdmemoryError, UnusableError, OSError):
        return None


def _is_asked(refresher: Refresher, count: int) -> bool:
    """Whether the database is asked for what is near among so many notes."""
    if count > SCANNED or refresher.project.settings.text("search.embeddings") != "local":
        return count > SCANNED
    from mdmemory.search import sources

    return sources.warm(refresher.project) is not None


def near_notes(refresher: Refresher) -> Callable[[str], list[StoredNote]]:
    """What gives the NEAR notes of a store nearest to a text, reading no more of a large one than
    these."""

    def near(text: str) -> list[StoredNote]:
        catalog, read = refresher.catalog(), refresher.store.read
        held = catalog.held
        free = [file for file in catalog.files if file not in held]
        files = _asked(refresher, text) if _is_asked(refresher, len(free)) else None
        if files is None:
            return scan(text, [read(file) for file in free])[:NEAR]
        known = frozenset(free)
        return [read(file) for file in files if file in known][:NEAR]

    return near
