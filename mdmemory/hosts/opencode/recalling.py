"""Which messages of OpenCode get notes along with them, and what is known of their sessions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from mdmemory.hosts.by_message import ByMessage, Heard, Near
from mdmemory.hosts.following import BySession, Following
from mdmemory.hosts.opencode.messages import Children
from mdmemory.layers import Layers
from mdmemory.store.refresh import Refresher

if TYPE_CHECKING:
    from mdmemory.transcripts.turns import Turn


class Recalling:
    """Recall by message for all sessions of the bridge."""

    def __init__(self, following: Following, children: Children) -> None:
        self._following, self._children = following, children
        self._commands: BySession[bool] = BySession()  # whose next message is a command's text
        self._by_message = ByMessage()

    def commanded(self, session: str) -> None:
        """Note that the next message of a session is the text of a command."""
        self._commands.put(session, True)

    def is_command(self, session: str) -> bool:
        """Whether the next message of a session is the text of a command."""
        return bool(self._commands.get(session))

    def idle(self, session: str) -> None:
        """Note that a session waits for its person: what comes next is theirs."""
        self._commands.drop(session)

    def notes(
        self, layers: Layers, session: str, turn: Turn | None, frozen: BySession[str],
        fresh: Sequence[Refresher | None], with_shown: bool,
    ) -> Near:  # fmt: skip
        """The notes that go with a message; `with_shown` also those that the prompt has.

        `frozen` are the sessions' own parts of their prompts.
        """
        is_command, prompt = self._commands.drop(session), frozen.get(session)
        if turn is None or is_command or not layers.there():
            return Near()
        if self._children.is_one(session):
            return Near()
        heard = Heard(session, turn.id, turn.text, prompt or "")
        stores = [each for each in fresh if each is not None]
        seen = stores if len(stores) == len(layers.there()) else ()
        state = partial(self._following.state, layers.main)
        return self._by_message.near(layers, state, heard, seen, with_shown=with_shown)
