"""What a Memory keeps of sessions, none of it notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mdmemory.doors.facade.opened import Opened

if TYPE_CHECKING:  # each is loaded by the method that needs it, so that reading stays quick
    from mdmemory.capture.transcript import Turn
    from mdmemory.session.desk import Desk
    from mdmemory.session.promotion import Accounting
    from mdmemory.session.sweep import Swept


class Sessions(Opened):
    """What a Memory keeps of sessions, none of it notes."""

    @contextmanager
    def desk(self, session: str) -> Iterator[Desk]:
        """What one session keeps at hand: core blocks, working memory, hot state. Never notes."""
        from mdmemory.session.desk import Desk

        with self._state() as state:
            yield Desk(state, session, self.project.settings)

    def promote(self, session: str, said: Sequence[Turn]) -> Accounting:
        """Take a session's decisions and candidates through capture, at its compaction. What the
        user's turns in `said` do not bear out waits in `pending`. Asks no model."""
        from mdmemory.session import promotion

        with self._state() as state, self.desk(session) as desk:
            promotion.enter(state, session, desk.hot(), self._today())
            return promotion.promote(self._writer(), state, session, said, now=self._clock())

    def sweep(self) -> Swept:
        """Remove what is old or too much of what sessions keep. Notes are never touched."""
        from mdmemory.session import sweep

        with self._state() as state:
            return sweep.sweep(state, self._clock())
