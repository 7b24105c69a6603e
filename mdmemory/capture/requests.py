"""What one message of the user asks to remember, stored while it is said: no model, no transcript.

The turn is noted as answered, so that the later reading of its session stores nothing of it again:
not even a note that a person removed in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from pathlib import Path

from mdmemory.capture import foreign, pending
from mdmemory.capture.extract import Asked, Proposal, asked_in, propose
from mdmemory.capture.outcome import Extracted, Findings
from mdmemory.capture.run import ANSWERED, write
from mdmemory.capture.triggers import find
from mdmemory.capture.wishes import Inbox, Wish
from mdmemory.store import evidence
from mdmemory.store.state import State
from mdmemory.store.writer import Writer
from mdmemory.transcripts.turns import Turn

_REMEMBERED = 200  # answered turns of a session; by then a reading has long gone past them


# A wish that no later command could write as it is: it waits for a person.
FOR_A_PERSON = ("unfit",)


def asks(text: str) -> bool:
    """Whether a message asks for anything, be it in words that store nothing, or holds an order of
    somebody else's to the assistant."""
    return bool(find(text)) or foreign.gives_orders(text)


def wishes_in(text: str, turn: str) -> list[Asked]:
    """The facts of a message that a note could hold."""
    return [each for each in asked_in([Turn(turn, "user", text)]) if not each.reason]


def keep(writer: Writer, session: str, turn: Turn, *, now: datetime) -> Extracted:
    """Store what `turn` asks for, in at most one commit; `now` is UTC.

    A turn that was answered before does nothing. Raises Busy and whatever a write raises.
    """
    today = now.date().isoformat()
    asked = asked_in([turn])
    with writer.locked(), writer.state() as state:
        if turn.id in (state.watermark(session, ANSWERED) or "").split():
            return Extracted(session)
        found = Findings(session, _proposal(writer, session, turn, asked, today))
        done = found.told()
        write(writer, found, "", done, today)
        evidence.record(state, list(found.evidence()), now)
        _answered(state, session, turn)
        if orders := foreign.orders(turn.text, session, today):
            pending.put(state, orders, today)
            done.pending += [each.id for each in orders]
    return done


def keep_what_waits(
    writer: Writer, inbox: Inbox, *, now: datetime
) -> list[tuple[Extracted, list[Path]]]:
    """Write the wishes of an inbox, a commit for each turn that they were said in, and remove their
    files; what became of each turn. Raises Busy and whatever a write raises: its file stays."""
    found = [pair for pair in inbox.wishes() if pair[1].why not in FOR_A_PERSON]
    told = []
    for (session, turn), group in groupby(found, lambda pair: (pair[1].session, pair[1].turn)):
        pairs = list(group)
        done = _keep_wishes(writer, session, turn, [wish for _, wish in pairs], now)
        for path, _ in pairs:
            path.unlink(missing_ok=True)
        told.append((done, [path for path, _ in pairs]))
    return told


def _keep_wishes(
    writer: Writer, session: str, turn: str, wishes: Sequence[Wish], now: datetime
) -> Extracted:
    today = now.date().isoformat()
    said = Turn(turn, "user", "")
    with writer.locked(), writer.state() as state:
        asked = [wish.asked() for wish in wishes]
        found = Findings(session, _proposal(writer, session, said, asked, today))
        done = found.told()
        write(writer, found, "", done, today)
        evidence.record(state, list(found.evidence()), now)
        _answered(state, session, said)
    return done


def _answered(state: State, session: str, turn: Turn) -> None:
    answered = (state.watermark(session, ANSWERED) or "").split()
    kept = [*(id for id in answered if id != turn.id), turn.id][-_REMEMBERED:]
    state.set_watermark(session, " ".join(kept), ANSWERED)


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
