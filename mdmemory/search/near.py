"""The few notes of a large store that one fact meets: those near a text, and those that may state
it. The search database tells which, and only these are read; where it cannot be used, all are.

The note that a new fact repeats or contradicts is nearly always one of the three nearest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache

from mdmemory.errors import MdmemoryError, NotFound
from mdmemory.note.note import SUPERSEDED
from mdmemory.store.refresh import Refresher
from mdmemory.store.store import StoredNote
from mdmemory.text.similarity import Ranking

NEAR, NEAREST = 6, 3  # notes that are looked at, and of these shown
SCANNED = 200  # notes; so few are compared sooner than a database is opened
Near = Callable[[str, Sequence[StoredNote]], list[StoredNote]]


def scan_notes(text: str, notes: Sequence[StoredNote]) -> list[StoredNote]:
    """The notes that share a word with a text, found by reading all of them."""
    notes = sorted(notes, key=lambda note: note.file)
    heads = (note.note.head for note in notes)
    names = [f"{head.name.replace('-', ' ')}\n{head.description}" for head in heads]
    texts = [f"{name}\n{note.note.body}" for name, note in zip(names, notes, strict=True)]
    return [notes[at] for at in Ranking(texts).near(text)]


def near_in(refresher: Refresher) -> Near:
    """What finds the notes of a store that are near a text.

    A small store is scanned, and so is one whose database cannot be used.
    """

    def find_near(text: str, notes: Sequence[StoredNote]) -> list[StoredNote]:
        files = _ask_database(refresher, text, len(notes))
        if files is None:
            return scan_notes(text, notes)
        known = {note.file: note for note in notes}
        return [known[file] for file in files if file in known]

    return find_near


def _ask_database(refresher: Refresher, text: str, count: int) -> list[str] | None:
    """The files near a text among so many, as the database tells; None where it cannot be used, or
    where a few are scanned, unless they can be compared by meaning."""
    goes_by_meaning = refresher.project.settings.text("search.embeddings") == "local"
    if count <= SCANNED and not goes_by_meaning:
        return None
    from mdmemory.search import sources  # with it comes the database
    from mdmemory.search.database import UnusableError

    if count <= SCANNED and sources.warm_encoder(refresher.project) is None:
        return None

    try:
        return sources.near_search(refresher).near(text)
    except (MdmemoryError, UnusableError, OSError):
        return None


def near_notes(refresher: Refresher) -> Callable[[str], list[StoredNote]]:
    """What gives the NEAR notes of a store nearest to a text, reading no more of a large one than
    these."""

    def find_near(text: str) -> list[StoredNote]:
        catalog, read = refresher.catalog(), refresher.store.read
        held_files = catalog.held
        free = [file for file in catalog.files if file not in held_files]
        files = _ask_database(refresher, text, len(free))
        if files is None:
            return scan_notes(text, [read(file) for file in free])[:NEAR]
        known = frozenset(free)
        return [read(file) for file in files if file in known][:NEAR]

    return find_near


class UnreadNotes:
    """The notes of a store, each read when it is first needed."""

    def __init__(self, refresher: Refresher) -> None:
        from mdmemory.search.project import Search  # with it comes the database

        self._catalog, self._search = refresher.catalog(), Search(refresher)
        self._read = cache(lambda file: refresher.store.read(file))

    def of_files(self, files: Iterable[str]) -> list[StoredNote]:
        """The notes of these files, in their order."""
        notes = []
        for file in files:
            with suppress(NotFound):  # removed since the folder was looked at
                notes.append(self._read(file))
        return notes

    def all(self) -> list[StoredNote]:
        """All notes, sorted by file."""
        return self.of_files(self._catalog.files)

    def holding(self, may: Callable[[str], bool]) -> list[StoredNote]:
        """The notes, sorted by file, of which `may` says yes to the description with the body, and
        those that no database tells of."""
        from mdmemory.search.database import UnusableError

        try:
            verdicts = self._search.texts(may)
        except (MdmemoryError, UnusableError, OSError):
            return self.all()
        return self.of_files(file for file in self._catalog.files if verdicts.get(file, True))

    def quoting(self, quote: str) -> list[StoredNote]:
        """The notes whose heads hold a text."""
        return self.of_files(self._catalog.holding(quote))


def unread_notes(refresher: Refresher) -> UnreadNotes | None:
    """The notes of a large store; None for one that is read whole sooner."""
    known = refresher.catalog()
    replaced = len(known.holding(SUPERSEDED))
    # whichever of them are free, there are so many that the database is asked for what is near
    if len(known.files) - len(known.held) - replaced <= 2 * SCANNED:
        return None
    return UnreadNotes(refresher)


def those_that(may_say: Callable[[str], bool], refresher: Refresher) -> list[StoredNote]:
    """The notes of a store, small or large, whose description or text may say something."""
    if notes := unread_notes(refresher):
        return notes.holding(may_say)
    hooks = {head.file: head.description for head in refresher.catalog().heads()}
    return refresher.store.those_whose_text(
        hooks, lambda file, text: may_say(hooks[file]) or may_say(text)
    )
