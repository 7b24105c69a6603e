"""What a Memory finds, in notes and in sessions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mdmemory.doors.facade.opened import Opened, is_secret
from mdmemory.errors import UsageError
from mdmemory.store.refresh import Refreshed, Refresher

if TYPE_CHECKING:  # each is loaded by the method that needs it, so that reading stays quick
    from mdmemory.doors.observations import Observations
    from mdmemory.search.found import Found, Passage
    from mdmemory.search.project import Search, Updated


class Searching(Opened):
    """What a Memory finds, in notes and in sessions."""

    def search(
        self, query: str, *, k: int = 6, source: str = "memory", at: str | None = None,
        report: Callable[[int, int, str], None] = lambda *_: None, meaning: bool = True,
    ) -> Found:  # fmt: skip
        """The `k` best places for a question, best first; none where nothing fits.

        `at` names a commit: the notes as they stood there. `report` is told how far the reading of
        changed notes is; without `meaning` nobody is asked for vectors. `source` is memory (the
        notes), sessions, files, observations, or all of the first three. Raises UsageError for a
        source that there is not, NotFound for such a commit.
        """
        from mdmemory.search.found import ALL, MEMORY, SOURCES

        if source not in (*SOURCES, "observations", ALL):
            raise UsageError(
                f"There is no source {source} to search.",
                "Name memory, sessions, files, observations, or all.",
            )
        if k < 1:
            raise UsageError(f"{k} hits cannot be shown.", "Ask for at least 1.")
        if source == "observations":
            if at is not None:
                raise UsageError("Observations stand in no commit.", "Search them without --at.")
            return self.observations().search(query, k=k)
        if at is not None and source not in (MEMORY, ALL):
            raise UsageError(f"A commit holds no {source}.", "Search them without --at.")
        history = self._history() if at is not None else None
        refresher = self._refresher()
        refresher.keep_fresh()
        asked = self._search(refresher, source, meaning)
        today = self._clock().date()
        if history is not None and at is not None:
            return asked.find_at(query, history, at, k=k, today=today)
        return asked.find(query, k=k, today=today, source=source, report=report)

    def get(self, file: str, lines: tuple[int, int] | None = None) -> Passage:
        """A note, or (lines) from its first to its last of these, counted from 1.

        Raises NotFound for what is no note of the store, or held back; UsageError for lines that
        cannot be.
        """
        from mdmemory.search.passage import passage

        return passage(self._store(), is_secret, file, lines)

    def rebuild(
        self, *, search_only: bool = False,
        report: Callable[[int, int, str], None] = lambda *_: None,
    ) -> Updated:  # fmt: skip
        """Make the search database anew from the notes; without `search_only` also all else that
        is derived: MEMORY.md, _MORE.md and what is remembered of the notes' heads."""
        if not search_only:
            (self.project.prepare_private() / "catalog").unlink(missing_ok=True)
            self.index()
        refresher = self._refresher()
        refresher.keep_fresh()
        return self._search(refresher).update(report, anew=True)

    def freshen(self) -> Updated:
        """Bring MEMORY.md and the search database up to date with the notes, as any search does."""
        from mdmemory.search.project import Search

        refresher = self._refresher()
        refresher.keep_fresh()
        return Search(refresher).update()

    def _search(
        self, refresher: Refresher, source: str = "memory", meaning: bool = True
    ) -> Search:
        from mdmemory.doors import outside
        from mdmemory.search.project import Search

        others = outside.sources(self.project, source)
        if not meaning:
            return Search(refresher, others)
        return Search(refresher, others, lambda: outside.embedder(self.project, self._today()))

    def observations(self) -> Observations:
        """What the assistant's tools showed in earlier work, in short form."""
        from mdmemory.doors.observations import Observations

        return Observations(self.project, self._state, self._writer, self._clock)

    def index(self, *, check: bool = False) -> Refreshed:
        """Bring MEMORY.md up to date, or (check) only tell whether it is."""
        if check:
            return self._refresher().refresh(write=False)
        writer = self._writer()
        with writer.locked():
            return writer.refresher.refresh()
