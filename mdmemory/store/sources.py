"""The stores that a name is looked for in, each with what stands before its files in answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mdmemory.errors import Ambiguous, NotFound
from mdmemory.store.store import StoredNote
from mdmemory.store.writer import Writer


class NoteSource(NamedTuple):
    """A store that is looked in; `prefix` stands before its files in what is told."""

    prefix: str
    writer: Writer


class StoredIn(NamedTuple):
    """A note, and the store that it lies in."""

    source: NoteSource
    stored: StoredNote

    @property
    def file(self) -> str:
        """Its file as it is told."""
        return f"{self.source.prefix}{self.stored.file}"


def find_note(sources: Sequence[NoteSource], name: str) -> StoredIn:
    """The note of this name, stem or file: with the prefix of a source in that one, else in the
    first that has it. A note on hold is none. Raises NotFound, Ambiguous."""
    name = name.strip()
    meant = [each for each in sources if each.prefix and name.startswith(each.prefix)]
    for source in meant or sources:
        try:
            stored = source.writer.refresher.store.find(
                name.removeprefix(source.prefix), former=False
            )
        except Ambiguous:
            raise
        except NotFound:
            continue
        held_files = source.writer.refresher.catalog().held
        if stored.file not in held_files and stored.note.text:
            return StoredIn(source, stored)
    raise NotFound(f"There is no note {name[:80]!r}.", "Name its file, as memory_search gives it.")
