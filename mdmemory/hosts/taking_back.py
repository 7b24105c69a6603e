"""What a person asks in the client: `/memory-undo`, `/memory-review`, and its own `/undo`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mdmemory.errors import MdmemoryError
from mdmemory.hosts.following import BySession
from mdmemory.hosts.opencode.messages import Params, named
from mdmemory.hosts.telling import Telling
from mdmemory.layers import Layers
from mdmemory.note.note import headline
from mdmemory.prompt import lines
from mdmemory.prompt.lines import TakenBack

if TYPE_CHECKING:
    from mdmemory.actions.undo import Undone
    from mdmemory.memory import Memory

COMMAND, REVIEW = "memory-undo", "memory-review"  # the names of the client's commands


class TakingBack:
    """The methods of the bridge for it. `open_typed` opens the layers for a command that a person
    typed; `telling` shows the person what came of it."""

    def __init__(
        self, open_layers: Callable[[], Layers], open_typed: Callable[[], Layers], telling: Telling
    ) -> None:
        self._open, self._open_typed, self._telling = open_layers, open_typed, telling
        self._reverted: BySession[str] = BySession()  # the message that the client went back to

    def command(self, params: Params) -> dict[str, Any]:
        """Do what a command of the person's is for: take a change back, or go through the inbox;
        `parts` are for the assistant."""
        named(params, "session")
        given = params.get("arguments")
        words = given if isinstance(given, str) else ""
        if params.get("command") == COMMAND:
            done = take_back(self._open_typed(), words)
        elif params.get("command") == REVIEW:
            from mdmemory.hosts import reviewing  # few messages need it

            done = reviewing.review(self._open_typed(), words)
        else:
            return {}
        self._telling.toast(done.toast)
        return {"parts": [done.text]}

    def reverted(self, params: Params) -> dict[str, Any]:
        """Tell the person which notes stay, although the client took back `message` and all that
        came after it."""
        session, message = named(params, "session"), named(params, "message")
        if self._reverted.get(session) != message:
            self._reverted.put(session, message)
            self._telling.toast(still_there(self._open(), session, message))
        return {}


def take_back(layers: Layers, id: str) -> TakenBack:
    """Take back the change that `id` names, or the newest one for "", and say so."""
    try:
        done = layers.undo(id.strip() or None)[1]
    except MdmemoryError as problem:
        return lines.not_taken_back(problem)
    return lines.taken_back(_facts(done), [why for _, why in done.kept], done.written.id)


def _facts(done: Undone) -> list[str]:
    return [*done.facts] if done.restored else []


def still_there(layers: Layers, session: str, message: str) -> dict[str, str] | None:
    """The line on notes that rest on messages which the client took back, from `message` on; None
    where there are none. The client's ids grow with time."""
    for memory in layers.there():
        notes = [
            each for each in memory.notes() if (head := each.note.head).session == session
            and head.turn >= message and head.status != "superseded"
        ]  # fmt: skip
        if notes:
            facts = [headline(each.note.head) for each in notes]
            return lines.still_there(facts, _change_of(memory, session, notes[-1].file))
    return None


def _change_of(memory: Memory, session: str, file: str) -> str:
    """The Memory-Id of the newest change of a session to a file, or ""."""
    from mdmemory.git.log import ID_TRAILER

    for entry, undone in memory.log():
        is_meant = any(file in group for group in entry.groups())
        if is_meant and not undone and entry.get("Memory-Session") == session:
            return entry.get(ID_TRAILER) or ""
    return ""
