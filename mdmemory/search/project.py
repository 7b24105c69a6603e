"""The search of one project: its database, kept up to date with its notes, and answers from it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from mdmemory.errors import RepositoryState, Unwritable
from mdmemory.note import Note
from mdmemory.search import notes, schema, sqlite
from mdmemory.search.answer import Weights, answer
from mdmemory.search.database import LockedError
from mdmemory.search.found import MEMORY, Found
from mdmemory.search.notes import Cutting, Report
from mdmemory.search.sqlite import SQLite
from mdmemory.store import catalog
from mdmemory.store.refresh import Refresher

if TYPE_CHECKING:
    from mdmemory.store.history import History

FILE = "search.db"
_LATER = "Another process is writing {}: the newest changes may be missing."


@dataclass(frozen=True, slots=True)
class Updated:
    """What became of the database: the files that were different, how many chunks it now has, and
    what there is to say."""

    changed: tuple[str, ...]
    chunks: int
    said: tuple[str, ...] = ()


class Search:
    """What can be asked about the notes of a project; `refresher` tells when they changed."""

    def __init__(self, refresher: Refresher) -> None:
        self._refresher = refresher
        settings = refresher.project.settings
        self._cutting = Cutting(
            settings.whole("search.chunk_tokens"), settings.whole("search.overlap_tokens")
        )
        self._weights = Weights(
            settings.number("search.keyword_weight"), settings.number("search.vector_weight"),
            settings.whole("search.recency_days"),
        )  # fmt: skip

    def find(
        self, query: str, *, k: int, today: date, report: Report = lambda *_: None
    ) -> Found:
        """The best places for a query among the notes as they are now."""

        def job(database: SQLite) -> tuple[Found, tuple[str, ...]]:
            late: tuple[str, ...] = ()
            try:
                self._update(database, report)
            except LockedError:
                late = (_LATER.format(FILE),)
            return self._answer(database, query, k, today), late

        (found, late), said = self._use(job)
        return replace(found, said=(*said, *late, *found.said))

    def find_at(
        self, query: str, history: History, revision: str, *, k: int, today: date
    ) -> Found:
        """The same among the notes as they stood at a commit. Raises NotFound."""
        from mdmemory.search import past  # git is loaded for nothing else here

        def job(database: SQLite) -> Found:
            past.fill(
                database, history, revision, is_held=self._is_held, cutting=self._cutting
            )
            return self._answer(database, query, k, today)

        return sqlite.use(None, self._stamp, job)[0]

    def update(self, report: Report = lambda *_: None, *, anew: bool = False) -> Updated:
        """Bring the database up to date, or make it anew. Raises Busy and Unwritable."""

        def job(database: SQLite) -> Updated:
            return Updated(tuple(self._update(database, report)), database.count(MEMORY))

        path = self._refresher.project.prepare_private() / FILE
        updated, said = sqlite.use(path, self._stamp, job, must=True, anew=anew)
        return replace(updated, said=tuple(said))

    def _answer(self, database: SQLite, query: str, k: int, today: date) -> Found:
        return answer(database, query, source=MEMORY, k=k, today=today, weights=self._weights)

    def _use(self, job: Callable[[SQLite], sqlite.T]) -> tuple[sqlite.T, list[str]]:
        path = self._path()
        result, said = sqlite.use(path, self._stamp, job)
        if path is None:
            place = self._refresher.project.private
            said.append(f"{place} cannot be written: everything is read anew for this search.")
        return result, said

    def _update(self, database: SQLite, report: Report) -> list[str]:
        path = self._path()
        cache = path.with_name("catalog") if path else None
        return notes.update(
            database, self._refresher.store, is_held=self._is_held, cutting=self._cutting,
            clock=_now(path), seen=notes.state(self._refresher.catalog(), cache), report=report,
        )  # fmt: skip

    def _is_held(self, note: Note) -> bool:
        return catalog.row(note, self._refresher.is_secret).held

    @property
    def _stamp(self) -> str:
        return schema.stamp(self._cutting.stamp)

    def _path(self) -> Path | None:
        try:
            return self._refresher.project.prepare_private() / FILE
        except (Unwritable, RepositoryState):
            return None  # a read-only project still has readers


def _now(path: Path | None) -> int:
    """The file system's own idea of now (ns), or 0: its clock, not ours, stamps the notes."""
    try:
        if path is None:
            return 0
        os.utime(path)
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0
