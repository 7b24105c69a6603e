"""What each session's prompt holds: the same bytes until its next epoch, so that a provider's cache
of the prompt holds. An epoch begins with a session's start, its compaction, or our own start.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

MOST = 200  # sessions that are remembered


class Epochs:
    """The texts of the epochs under way; those of the sessions that were asked for longest ago are
    forgotten first. For one thread."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, str] = OrderedDict()

    def text(self, session: str, make: Callable[[], str]) -> str:
        """The text of a session's epoch; `make` is asked for it once, at the first call."""
        if session not in self._kept:
            self._kept[session] = make()
        self._kept.move_to_end(session)
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)
        return self._kept[session]

    def end(self, session: str) -> None:
        """The next call of `text` begins another epoch."""
        self._kept.pop(session, None)
