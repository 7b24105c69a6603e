"""The Python interface to observations: `Memory.observations()`. Operational state, never notes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from mdmemory.config import person
from mdmemory.errors import MdmemoryError
from mdmemory.store.project import Project

if TYPE_CHECKING:  # each is loaded by the method that needs it
    from mdmemory.llm.answer import Model
    from mdmemory.observe.observation import Observation
    from mdmemory.observe.queue import Worked
    from mdmemory.observe.summaries import Summed
    from mdmemory.observe.timeline import Timeline
    from mdmemory.search.results import Found
    from mdmemory.store.state import State

BATCHES = 8  # of five, in one go; the next idle takes the rest


@dataclass(frozen=True)
class Observations:
    """The observations of a project. `clock` gives the present moment in UTC."""

    project: Project
    state: Callable[[], State]
    clock: Callable[[], datetime]

    @property
    def is_on(self) -> bool:
        """Whether the person's settings switch observations on."""
        return self.project.settings.switch("observe.enabled")

    # reading

    def newest(self, limit: int = 20, *, session: str = "") -> list[Observation]:
        """The newest observations, the newest first; of one session, if it is given."""
        from mdmemory.observe import observation

        with self.state() as state:
            return observation.newest(state, limit, session)

    def timeline(
        self, around: str = "", *, before: int = 5, after: int = 5, session: str = ""
    ) -> Timeline:
        """The observations around a number or a day, in order of time; without one the newest."""
        from mdmemory.observe.timeline import list_around

        with self.state() as state:
            return list_around(state, around, before=before, after=after, session=session)

    def recall(self, ids: str) -> list[Observation]:
        """The observations with these numbers, such as `12, 14`. Raises NotFound, UsageError."""
        from mdmemory.observe.timeline import recall

        with self.state() as state:
            return recall(state, ids)

    def search(self, query: str, *, k: int = 6) -> Found:
        """The `k` best observations for a question, best first."""
        from mdmemory.observe.timeline import find

        with self.state() as state:
            return find(state, query, k=k, today=self.clock().date())

    def block(self, *, session: str = "", budget: int = 4_000) -> str:
        """A block for the prompt, the newest observations in full: of all sessions, or of one with
        its summary. It changes only with a new observation."""
        from mdmemory.observe import observation, summaries, timeline

        with self.state() as state:
            some = observation.newest(state, timeline.FULL + timeline.LINES, session)
            total = observation.count(state, session)
            summary = summaries.get(state, session) if session else None
        return timeline.block(some, total=total, summary=summary, budget=budget)

    # writing

    def forget(self, ids: str) -> list[Observation]:
        """Remove the observations with these numbers and the summaries of their sessions.
        Raises NotFound, UsageError."""
        from mdmemory.observe import observation, summaries, timeline

        gone = self.recall(ids)
        with self.state() as state:
            observation.forget(state, [each.id for each in gone])
            summaries.forget(state, {each.session for each in gone})
            timeline.forget(state)
        return gone

    def work(self, *, model: Model | None = None) -> Worked:
        """Turn waiting calls into observations, by `model` (default: that of the settings, if any).

        A failed model is reported as `failure`; its calls are tried again later.
        """
        from mdmemory.observe import queue

        model = model or self._model()
        stored = 0
        with self.state() as state:
            for _ in range(BATCHES):
                # the clock anew: a model takes its time, and the queue goes by the time
                done = queue.work(state, model, self.clock())
                stored += done.kept
                if done.failure or not queue.waiting(state)["pending"]:
                    break
        return replace(done, kept=stored)

    def summarize(self, session: str, *, model: Model | None = None) -> Summed:
        """Update the summary of a session. What its user wanted is their first message, if a host
        on this machine has it."""
        from mdmemory.observe.summaries import summarize
        from mdmemory.transcripts.sources import copy, read

        request = ""
        with suppress(MdmemoryError, OSError):
            turns = read(copy(person.host_places(), session)).turns
            request = next((turn.text for turn in turns if turn.role == "user"), "")
        model = model or self._model()
        with self.state() as state:
            return summarize(state, session, model, self.clock(), request=request)

    def brought_up(self, session: str) -> bool:
        """Update the queue and the summary of a session now; False if that takes a model, which is
        slower than a compaction waits."""
        if self._model():
            return False
        self.work()
        self.summarize(session)
        return True

    def _model(self) -> Model | None:
        from mdmemory.llm import choose

        return choose.model("observe", self.project, self.clock().date().isoformat())
