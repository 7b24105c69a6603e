"""The stores that a session teaches: the project's and the person's, or one that was named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from mdmemory.capture.notice import is_personal
from mdmemory.store.store import StoredNote
from mdmemory.store.superseding import in_force
from mdmemory.store.writer import NoteSource, Writer


class Stores(Protocol):
    """What capture asks of them."""

    def sources(self) -> list[NoteSource]:
        """Those that are there, the project's first."""

    def open_for(self, personal: bool) -> tuple[NoteSource, Route]:
        """The one that a fact goes to, made where it is missing. Raises NoStore."""


class OneStore(NamedTuple):
    """A store that gets whatever there is."""

    writer: Writer

    def sources(self) -> list[NoteSource]:
        """It alone."""
        return [NoteSource("", self.writer)]

    def open_for(self, personal: bool) -> tuple[NoteSource, Route]:
        """It, whatever the fact is."""
        return self.sources()[0], ALL


@dataclass(frozen=True, slots=True)
class Route:
    """`folder` is where a fact was said that only the person's store could take: its note names it.
    `said` are the facts that the person's store holds for the project, by their keys, with the
    files: they are not stored twice."""

    folder: str = ""
    said: Mapping[str, str] = field(default_factory=dict)

    def metadata(self, type: str, text: str) -> dict[str, str]:
        """What a note says of the folder that it was said in; {} for what is personal."""
        is_of_folder = self.folder and not is_personal(type, text)
        return {"project": self.folder} if is_of_folder else {}


ALL = Route()


def shown_notes(sources: Iterable[NoteSource]) -> list[StoredNote]:
    """The notes that a model may see, under the names that they have in answers."""
    return [
        note._replace(file=f"{source.prefix}{note.file}")
        for source in sources
        for note in in_force(visible_notes(source.writer))
    ]


def visible_notes(writer: Writer) -> list[StoredNote]:
    """The notes of a store that are neither on hold nor unreadable."""
    held_files = writer.refresher.catalog().held
    notes = writer.refresher.store.notes()
    return [note for note in notes if note.file not in held_files and note.note.text]
