"""The notes of a large store, of which one fact meets a few: only these are read.

The search database tells which, once it is up to date with the folder. Where it cannot be used,
all are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from mdmemory.errors import MdmemoryError, NotFound
from mdmemory.note.note import SUPERSEDED
from mdmemory.search import near
from mdmemory.store.refresh import Refresher
from mdmemory.store.store import StoredNote


class UnreadNotes(Mapping[str, StoredNote]):
    """The notes of a store by their files, each read when it is first asked for."""

    def __init__(self, refresher: Refresher) -> None:
        from mdmemory.search.project import Search  # with it comes the database

        self._catalog, self._store = refresher.catalog(), refresher.store
        self._search = Search(refresher)
        self._files = dict.fromkeys(self._catalog.files)
        self._notes: dict[str, StoredNote] = {}

    def __getitem__(self, file: str) -> StoredNote:
        if file not in self._notes:
            if file not in self._files:
                raise KeyError(file)
            try:
                self._notes[file] = self._store.read(file)
            except NotFound as problem:  # removed since the folder was looked at
                del self._files[file]
                raise KeyError(file) from problem
        return self._notes[file]

    def __contains__(self, file: object) -> bool:
        return file in self._files

    def __iter__(self) -> Iterator[str]:
        return iter([*self._files])

    def __len__(self) -> int:
        return len(self._files)

    @property
    def names(self) -> set[str]:
        """The names and files of all."""
        return {*self._files, *self._catalog.names}

    def all(self) -> list[StoredNote]:
        """All notes, sorted by file."""
        return self._notes_there(self._files)

    def holding(self, may: Callable[[str], bool]) -> list[StoredNote]:
        """The notes, sorted by file, of which `may` says yes to the description with the body, and
        those that no database tells of."""
        from mdmemory.search.database import UnusableError

        try:
            verdicts = self._search.texts(may)
        except (MdmemoryError, UnusableError, OSError):
            return self.all()
        return self._notes_there(file for file in self._files if verdicts.get(file, True))

    def quoting(self, quote: str) -> list[StoredNote]:
        """The notes whose heads hold a text."""
        return self._notes_there(self._catalog.holding(quote))

    def _notes_there(self, files: Iterable[str]) -> list[StoredNote]:
        notes_found = (self.get(file) for file in [*files])
        return [note for note in notes_found if note is not None]


def unread_notes(refresher: Refresher) -> UnreadNotes | None:
    """The notes of a large store; None for one that is read whole sooner."""
    known = refresher.catalog()
    replaced = len(known.holding(SUPERSEDED))
    # whichever of them are free, there are so many that the database is asked for what is near
    if len(known.files) - len(known.held) - replaced <= 2 * near.SCANNED:
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
