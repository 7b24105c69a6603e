"""What the bridge does when the client compacts a session: before its summary, and with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from mdmemory.hosts import recall
from mdmemory.hosts.bridge_log import Log
from mdmemory.hosts.conversation import transcript_of
from mdmemory.hosts.following import BySession, Following
from mdmemory.hosts.opencode.messages import Children, Params, named
from mdmemory.hosts.telling import Telling, facts_of
from mdmemory.layers import Layers
from mdmemory.memory import Memory
from mdmemory.prompt.lines import of_summary

if TYPE_CHECKING:
    from mdmemory.transcripts.turns import Turn


class Compacting:
    """The methods of the bridge for it. `observe` starts a process that brings a session's
    observations up to date."""

    def __init__(
        self, open_layers: Callable[[], Layers], log: Log, children: Children,
        following: Following, telling: Telling, observe: Callable[[Memory, str], None],
    ) -> None:  # fmt: skip
        self._open, self._log, self._observe = open_layers, log, observe
        self._children, self._following, self._telling = children, following, telling
        self._numbered: BySession[dict[str, str]] = BySession()  # the notes of a summary request

    def before(self, params: Params) -> dict[str, Any]:
        """Texts for the prompt of the host's own summary: our request, and notes by number."""
        session = named(params, "session")
        if self._children.knows(session):
            return {"context": []}
        layers = self._open()
        if not layers.there():
            return {"context": []}
        memory, texts = layers.main, list[str]()
        if (asked := self._log.tried("compacting", layers.main.summary_request)) is not None:
            texts, notes = [asked[0]], asked[1]
            self._numbered.put(session, notes)
        self._log.tried("compacting", partial(self._observe_rest, memory, session))
        return {"context": [*texts, *recall.for_compaction(memory, session)]}

    def _observe_rest(self, memory: Memory, session: str) -> None:
        observations = memory.observations()
        if observations.is_on and not observations.brought_up(session):
            self._observe(memory, session)

    def after(self, params: Params) -> dict[str, Any]:
        """Store the facts of a summary (`summary`, or the session's newest) and the session's own
        decisions; `saved` are the written files."""
        session = named(params, "session")
        notes = self._numbered.drop(session)
        layers = self._open()
        if layers.there():
            self._log.tried("compacted", partial(self._following.compacted, layers.main, session))
        if not layers.there() or self._children.knows(session):
            return {"saved": []}
        whole = transcript_of(session)
        files: list[str] = []
        text = params.get("summary") or (whole.summaries[-1].text if whole.summaries else "")
        if isinstance(text, str) and text:
            take = partial(layers.main.summary, session, text, whole.turns, shown=notes)
            done = self._log.tried("compacted", take)
            files += done.files() if done else []
        promoted = partial(self._promoted, layers, session, whole.turns)
        files += self._log.tried("compacted", promoted) or []
        self._telling.toast(of_summary(facts_of(layers, files)))
        return {"saved": files}

    def _promoted(self, layers: Layers, session: str, turns: Sequence[Turn]) -> list[str]:
        if not layers.settings.switch("session.memory"):
            return []
        done = layers.main.promote(session, turns)
        if done.failure:  # tried again at the next compaction
            self._log.failure("compacted", done.failure)
        return done.promoted

    def deleted(self, session: str) -> None:
        """Forget a deleted session."""
        self._numbered.drop(session)
