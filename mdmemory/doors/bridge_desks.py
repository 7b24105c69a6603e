"""The desks of a bridge's sessions, on a database that stays open: to open it takes longer than a
tool call of the host may.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING

from mdmemory.doors.facade.opened import state
from mdmemory.doors.memory import Memory

if TYPE_CHECKING:  # loaded with the first desk
    from mdmemory.config import Settings
    from mdmemory.session.desk import Desk
    from mdmemory.store.state import State

MOST = 200
AGAIN = 60.0  # seconds between two looks for a file that could not be used


class Desks:
    """One desk for each session, for one thread."""

    def __init__(self) -> None:
        self._state: State | None = None
        self._mark: tuple[Path, int] | None = None
        self._looked = 0.0
        self._desks: OrderedDict[str, tuple[Settings, Desk]] = OrderedDict()

    def of(self, memory: Memory, session: str) -> Desk:
        """The desk of a session, under the settings of now."""
        from mdmemory.session.desk import Desk

        state, settings = self.state(memory), memory.project.settings
        known = self._desks.get(session)
        if known is None or known[0] != settings:
            known = settings, Desk(state, session, settings)
            self._desks[session] = known
            while len(self._desks) > MOST:
                self._desks.popitem(last=False)
        return known[1]

    def state(self, memory: Memory) -> State:
        """The database of the project, opened; anew where its file was removed or replaced."""
        path = memory.project.state_file
        if self._state is not None and self._mark == (path, _inode(path)) and not self._is_late():
            return self._state
        fresh = state(memory)
        if self._state is not None and fresh.trouble and self._state.trouble:
            fresh.__exit__()  # what is kept in memory meanwhile is worth more than nothing
        else:
            self.close()
            self._state = fresh
        self._mark, self._looked = (path, _inode(path)), time.monotonic()
        return self._state

    def _is_late(self) -> bool:
        """Whether a file that was not to be had is worth another look: a disk may have room."""
        assert self._state is not None
        return self._state.trouble is not None and time.monotonic() - self._looked > AGAIN

    def drop(self, session: str) -> None:
        """Forget a session's desk."""
        self._desks.pop(session, None)

    def close(self) -> None:
        """Let go of the database."""
        self._desks.clear()
        if self._state is not None:
            self._state.__exit__()
        self._state, self._mark = None, None


def _inode(path: Path) -> int:
    """Which file lies at a path; 0 for none."""
    try:
        return path.lstat().st_ino
    except OSError:
        return 0
