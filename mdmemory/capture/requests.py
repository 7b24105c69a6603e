"""What one message of the user asks to remember, stored while it is said: no model, no transcript.

The turn is noted as answered, so that the later reading of its session stores nothing of it again:
not even a note that a person removed in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from mdmemory.capture.extract import Asked, Proposal, asked_in, propose
from mdmemory.capture.outcome import Extracted, Findings
from mdmemory.capture.run import ANSWERED, write
from mdmemory.capture.transcript import Turn
from mdmemory.capture.triggers import find
from mdmemory.store import evidence
from mdmemory.store.writer import Writer

_REMEMBERED = 200  # answered turns of a session; by then a reading has long gone past them


def asks(text: str) -> bool:
    """Whether a message asks for anything, be it in words that store nothing."""
    return bool(find(text))


def keep(writer: Writer, session: str, turn: Turn, *, now: datetime) -> Extracted:
    """Store what `turn` asks for, in at most one commit; `now` is UTC.

    A turn that was answered before does nothing. Raises Busy and whatever a write raises.
    """
    today = now.date().isoformat()
    asked = asked_in([turn])
    with writer.locked(), writer.state() as state:
        answered = (state.watermark(session, ANSWERED) or "").split()
        if turn.id in answered:
            return Extracted(session)
        found = Findings(session, _proposal(writer, session, turn, asked, today))
        done = found.told()
        write(writer, found, "", done, today)
        evidence.record(state, list(found.evidence()), now)
        kept = [*answered, turn.id][-_REMEMBERED:]
        state.set_watermark(session, " ".join(kept), ANSWERED)
    return done


def _proposal(
    writer: Writer, session: str, turn: Turn, asked: Sequence[Asked], today: str
) -> Proposal:
    store, held = writer.refresher.store, writer.refresher.catalog().held
    reserved = [path.name for path in writer.project.store.iterdir()]
    found = propose(
        [turn], store.notes(), session=session, today=today, reserved=reserved, held=held,
        asked=asked,
    )  # fmt: skip
    found.reinforced[:] = [pair for pair in found.reinforced if pair[0].file not in held]
    return found
