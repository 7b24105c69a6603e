"""The stores that a session teaches: the project's and the person's, or one that was named."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from mdmemory.capture.routes import ALL, Route
from mdmemory.store.sources import NoteSource
from mdmemory.store.writer import Writer


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
