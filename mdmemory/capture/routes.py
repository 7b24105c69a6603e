"""How a fact came to its store: the person's own gets what is about them, and what is said to hold
in all projects; the project's gets the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mdmemory.store.store import StoredNote
    from mdmemory.store.writer import Writer

USER, PROJECT = "user", "project"


def is_personal(type: str, everywhere: bool) -> bool:
    """Whether a fact goes to the person's store, whichever project it was said in."""
    return type == USER or everywhere


@dataclass(frozen=True, slots=True)
class Route:
    """`folder` is where a fact was said that only the person's store could take: its note names it.
    `said` are the facts that the person's store holds for the project, by their keys, with the
    files: they are not stored twice."""

    folder: str = ""
    said: Mapping[str, str] = field(default_factory=dict)

    def metadata(self, type: str, everywhere: bool) -> dict[str, str]:
        """What a note says of the folder that it was said in; {} for what is personal."""
        is_of_folder = self.folder and not is_personal(type, everywhere)
        return {"project": self.folder} if is_of_folder else {}


ALL = Route()


def visible(writer: Writer) -> list[StoredNote]:
    """The notes of a store that are neither on hold nor unreadable."""
    held = writer.refresher.catalog().held
    notes = writer.refresher.store.notes()
    return [note for note in notes if note.file not in held and note.note.text]
