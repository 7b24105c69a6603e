"""What a bridge remembers of sessions while it runs: bounded, and nothing that may not be lost."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

MOST = 200  # sessions, of each kind


class Sessions:
    """What is remembered of sessions, the longest unused forgotten first."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Any] = OrderedDict()

    def put(self, session: str, value: Any) -> None:
        """Remember a value."""
        self._kept[session] = value
        self._kept.move_to_end(session)
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)

    def get(self, session: str) -> Any:
        """The value, or None."""
        if session in self._kept:
            self._kept.move_to_end(session)
        return self._kept.get(session)

    def drop(self, session: str) -> Any:
        """Forget it; the value, or None."""
        return self._kept.pop(session, None)
