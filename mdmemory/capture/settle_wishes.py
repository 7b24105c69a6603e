"""What of the user's wishes no call answered is stored as it was said, once their turn is over."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from mdmemory.capture.store_fact import Stored, store_as_said
from mdmemory.capture.stores import Stores
from mdmemory.capture.wishes import UNATTENDED, Inbox, Wish, mark_answered
from mdmemory.errors import MdmemoryError


def settle(
    stores: Stores, boxes: Sequence[Inbox], *, now: datetime, session: str = "", turn: str = ""
) -> list[Stored]:
    """Store the wishes whose turn has ended, in the order in which they were said; `session` is at
    this `turn` now ("": at none). A wish that cannot be written yet stays where it is."""
    done = []
    for path, wish in _due(boxes, now, session, turn):
        with suppress(MdmemoryError, OSError):
            done.append(_stored(stores, wish, now))
            path.unlink(missing_ok=True)
    return done


def _due(boxes: Sequence[Inbox], now: datetime, session: str, turn: str) -> list[tuple[Path, Wish]]:
    found = [
        (path, wish) for box in boxes for path, wish in box.wishes()
        if wish.is_over(now, session, turn) and wish.why != UNATTENDED
    ]  # fmt: skip
    return sorted(found, key=lambda each: (each[1].at or each[1].since, each[0].name))


def _stored(stores: Stores, wish: Wish, now: datetime) -> Stored:
    source, route = stores.open_for(wish.is_personal)
    done = store_as_said(
        source, route, wish.text, type=wish.fact_type, kind=wish.kind, session=wish.session,
        turn=wish.turn, wish=wish.key, now=now,
    )  # fmt: skip
    mark(stores, [wish])
    return done


def mark(stores: Stores, gone: Sequence[Wish]) -> None:
    """Have a later reading of their sessions pass over the messages of these wishes."""
    for source in stores.sources()[:1] if gone else ():
        with source.writer.state() as state:
            for wish in gone:
                mark_answered(state, wish.session, (wish.turn, wish.said))


def answer(
    stores: Stores, boxes: Sequence[Inbox], text: str, *, session: str = "", ends: bool = False
) -> list[Wish]:
    """Note that a call of an assistant answers a part of the wishes that it speaks of, in this
    session or (with "") in any; those that are answered whole now, or that the call `ends`, are
    gone: they are returned."""
    gone = []
    for box in boxes:
        for path, wish in box.wishes():
            if (session and wish.session != session) or not wish.touches(text):
                continue
            with suppress(MdmemoryError, OSError):
                if ends:
                    path.unlink(missing_ok=True)
                    gone.append(wish)
                    continue
                now = wish.answered(text)
                box.answer(path, now)
                if now.is_answered():
                    gone.append(wish)
    mark(stores, gone)
    return gone
