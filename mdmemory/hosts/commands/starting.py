"""What a session's prompt is given once: the protocol, the indexes, and what the session keeps.

A session that has had it, and still has it, is not given it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from mdmemory import protocol
from mdmemory.config import person
from mdmemory.files import read_if_there
from mdmemory.hosts import recall
from mdmemory.hosts.bridge_log import Log
from mdmemory.hosts.commands import context, events
from mdmemory.hosts.commands.context import LayerIndex
from mdmemory.hosts.commands.events import HookEvent
from mdmemory.hosts.conversation import refresh_index
from mdmemory.hosts.following import BySession, Following
from mdmemory.hosts.notifications import Notifications
from mdmemory.layers import Layers
from mdmemory.store.store import INDEX

_KEPT = ("compact", "clear")  # the client goes on, with the settings that it read at its start


class Starting:
    """The texts for all sessions of a store."""

    def __init__(self, log: Log, following: Following, notifications: Notifications) -> None:
        self._log, self._following, self._notifications = log, following, notifications
        # what the prompt of a session holds: our own text, and the indexes as they were then
        self.frozen: BySession[str] = BySession()
        self.indexes: BySession[str] = BySession()
        self._carried: BySession[Path] = BySession()  # by folder: what Claude itself puts there
        self._given: BySession[bool] = BySession()

    def text(self, layers: Layers, event: HookEvent) -> str:
        """The text for an event, "" where the session needs none."""
        carried = self._log.try_work("start", partial(self._carried_by, event))
        if not layers.there() or not self._is_time(event):
            return ""
        for memory in layers.there():
            self._log.try_work("start", partial(refresh_index, memory))
        session = event.session
        indexes = [*_layer_indexes(layers)]
        rest = [*filter(None, (self._log.try_work("start", each) for each in (
            partial(self._following.at_hand, layers.main, session),
            lambda: context.harmless_text(self._notifications.line(layers, session)),
            lambda: context.harmless_text(recall.by_hand(layers, session)),
        )))]  # fmt: skip
        given = [each for store, each in indexes if not context.is_same(store, carried)]
        text, part = context.at_start(protocol.for_tools(), given, rest)
        self._given.put(session, True)
        if event.source not in ("startup", *_KEPT) and events.has_had(event, part):
            return ""
        self.frozen.put(session, "\n".join(rest))
        self.indexes.put(session, "".join(f"\n{each.text}\n" for _, each in indexes))
        return text

    def lost(self, session: str) -> None:
        """Note that the answer to a message did not arrive: in Gemini CLI it may have had the text,
        which the next one brings."""
        self._given.drop(session)

    def _is_time(self, event: HookEvent) -> bool:
        """Whether the event is the one that carries the text: the start; of Gemini CLI the first
        message, for what its start gives gets into the person's words, and is lost with them."""
        if event.host != "gemini":
            return event.kind == events.START
        return event.kind == events.PROMPT and not self._given.get(event.session)

    def _carried_by(self, event: HookEvent) -> Path | None:
        """The store whose index the client itself puts into the prompt; it looked at its start."""
        if event.host != "claude" or event.kind != events.START:
            return None
        folder = str(event.folder)
        if event.source in _KEPT and (known := self._carried.get(folder)):
            return known if known != Path() else None
        from mdmemory.hosts.claude import own_memory_settings

        carried = own_memory_settings.carried_folder(
            event.folder, person.person_places().environment
        )
        self._carried.put(folder, carried or Path())
        return carried


def _layer_indexes(layers: Layers) -> Iterator[tuple[Path, LayerIndex]]:
    """The store and the index of each layer, as it is now."""
    for memory in layers.there():
        data = read_if_there(memory.project.store / INDEX) or b""
        layer = "project" if memory is layers.project else "user"
        yield memory.project.store, LayerIndex(layer, data.decode("utf-8", "replace"))
