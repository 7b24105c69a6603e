"""OpenCode's plugin, for tests: what it asks of its bridge, in the same process."""

from functools import partial
from pathlib import Path
from typing import Any

from commands_host import Started

from mdmemory.hosts.background import Log
from mdmemory.hosts.opencode.hooks import PROTOCOL, Hooks
from mdmemory.memory import Memory


class PluginHost:
    """The other end of the bridge, started in a folder; where `greets` is False, without a hello.

    A person looks, unless `mode` is run.
    """

    def __init__(self, folder: Path, *, greets: bool = True, mode: str | None = None) -> None:
        self.started, self.log = Started(), Log()
        opened = partial(Memory.around, folder, tell=self.log.say)
        self.hooks = Hooks(
            partial(opened, automatic=True), self.started, self.log, open_typed=opened
        )
        self._methods = self.hooks.methods()
        self.hello: dict[str, Any] = {}
        if greets:
            self.hello = self.ask("hello", protocol=PROTOCOL, shows=True, mode=mode)

    def ask(self, method: str, session: str = "ses_1", **params: Any) -> dict[str, Any]:
        """What a request for a session is answered."""
        return self._methods[method]({"session": session, **params})

    def say(
        self, text: str, message: str = "msg_1", session: str = "ses_1", **part: Any
    ) -> dict[str, Any]:
        """What the user's message is answered."""
        parts = [{"type": "text", "text": text, **part}]
        return self.ask("message", session, message=message, parts=parts)
