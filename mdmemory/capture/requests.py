"""What one message of the user asks to remember, stored while it is said: no model, no transcript.

The turn is noted as answered, so that the later reading of its session stores nothing of it again:
not even a note that a person removed in between.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import groupby
from pathlib import Path

from mdmemory.actions.replacing import anothers
from mdmemory.capture import foreign, pending
from mdmemory.capture.asked import Asked, asked_in
from mdmemory.capture.extract import Proposal, propose
from mdmemory.capture.extracted import Extracted
from mdmemory.capture.outcome import ANSWERED, Findings, words_id, write
from mdmemory.capture.routes import ALL, ONE_STORE, Route, Routes
from mdmemory.capture.triggers import find
from mdmemory.capture.wishes import Inbox, Wish, inboxes, put_by
from mdmemory.citing.cite import cites_of
from mdmemory.errors import MdmemoryError
from mdmemory.note.limits import MAX_BODY
from mdmemory.search.near import near_in
from mdmemory.search.unread import unread
from mdmemory.store import evidence
from mdmemory.store.project import Project
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


def keep(
    writer: Writer, session: str, turn: Turn, *, now: datetime, route: Route = ALL
) -> Extracted:
    """Store what `turn` asks for, as far as `route` brings it here, in at most one commit; `now` is
    UTC.

    A turn that was answered before does nothing. Raises Busy and whatever a write raises.
    """
    today = now.date().isoformat()
    asked = asked_in([turn])
    with writer.locked(), writer.state() as state:
        if turn.id in (state.watermark(session, ANSWERED) or "").split():
            return Extracted(session)
        found = Findings(session, _proposal(writer, session, turn, asked, today, route))
        done = found.told()
        write(writer, found, "", done, today)
        evidence.record(state, list(found.evidence()), now)
        _answered(state, session, turn)
        if route.is_main and (orders := foreign.orders(turn.text, session, today)):
            pending.put(writer.project, state, orders, today)
            done.pending += [each.id for each in orders]
    return done


def keep_what_waits(
    writer: Writer, inbox: Inbox, *, now: datetime, routes: Routes = ONE_STORE
) -> list[tuple[Extracted, list[Path]]]:
    """Write the wishes of an inbox, each to the store that `routes` say, in a commit for each turn
    that they were said in, and remove their files; what became of each turn. Raises Busy and
    whatever a write raises: its file stays."""
    found = [pair for pair in inbox.wishes() if pair[1].why not in FOR_A_PERSON]
    told = []
    for (session, turn), group in groupby(found, lambda pair: (pair[1].session, pair[1].turn)):
        pairs = list(group)
        wishes = [wish for _, wish in pairs]
        done = _keep_wishes(writer, session, turn, wishes, now, routes.here)
        if (split := routes.other) is not None and any(
            split.route.hears(wish.asked().trigger, "") for wish in wishes
        ):
            other = split.there or split.open()
            more = _keep_wishes(other, session, turn, wishes, now, split.route)
            done.join(more, split.prefix)
        for path, _ in pairs:
            path.unlink(missing_ok=True)
        told.append((done, [path for path, _ in pairs]))
    return told


def _keep_wishes(
    writer: Writer, session: str, turn: str, wishes: Sequence[Wish], now: datetime, route: Route
) -> Extracted:
    today = now.date().isoformat()
    said = Turn(turn, "user", "")
    with writer.locked(), writer.state() as state:
        is_answered = turn in (state.watermark(session, ANSWERED) or "").split()
        asked = [wish.asked() for wish in wishes]
        found = Findings(session, _proposal(writer, session, said, asked, today, route))
        done = found.told()
        write(writer, found, "", done, today)
        evidence.record(state, list(found.evidence()), now)
        _answered(state, session, said)
    # a hook that did not wait for its bridge puts by what the bridge goes on to store
    return Extracted(session) if is_answered and done.id is None else done


def keep_or_put_by(
    open_writer: Callable[[], Writer], project: Project, text: str, session: str, turn: str, *,
    now: datetime, route: Route = ALL,
) -> Extracted:  # fmt: skip
    """Store what a message asks for, or put it into an inbox of the project where that is not
    possible now; a message that asks for nothing opens nothing. `now` is UTC."""
    if not asks(text):
        return Extracted(session)
    today = now.date().isoformat()
    try:
        done = keep(open_writer(), session, Turn(turn, "user", text), now=now, route=route)
    except MdmemoryError as problem:
        return put_by(inboxes(project), text, session, turn, today, problem, route=route)
    except OSError as problem:
        failure = MdmemoryError(f"The file system refused ({problem.strerror or problem}).")
        return put_by(inboxes(project), text, session, turn, today, failure, route=route)
    if any(drop["reasons"] == ["unfit"] for drop in done.dropped):
        failure = MdmemoryError(
            f"It does not fit into one note, which has at most {MAX_BODY:,} characters.",
            "Say it in parts, or move it from there into notes.", code="unfit",
        )  # fmt: skip
        places = inboxes(project)
        late = put_by(places, text, session, turn, today, failure, only_long=True, route=route)
        done.kept, done.failure = late.kept, late.failure
    return done


def write_wishes(
    open_writer: Callable[[], Writer], project: Project, *, now: datetime,
    routes: Routes = ONE_STORE,
) -> list[Extracted]:  # fmt: skip
    """Write the wishes in a project's inboxes; the outcome of each turn. A wish that cannot be
    written yet stays where it is."""
    written: list[Extracted] = []
    for inbox in filter(Inbox.files, inboxes(project)):
        with suppress(MdmemoryError, OSError):
            found = keep_what_waits(open_writer(), inbox, now=now, routes=routes)
            written += [done for done, _ in found]
    return written


def _answered(state: State, session: str, turn: Turn) -> None:
    answered = (state.watermark(session, ANSWERED) or "").split()
    kept = [*(id for id in answered if id != turn.id), turn.id][-_REMEMBERED:]
    state.set_watermark(session, " ".join(kept), ANSWERED)


def mark_answered(state: State, session: str, texts: Sequence[str]) -> None:
    """Note that these messages were answered, for a host whose sessions name their turns otherwise
    than its hooks do."""
    for each in dict.fromkeys(map(words_id, texts)):
        _answered(state, session, Turn(each, "user", ""))


def _proposal(
    writer: Writer, session: str, turn: Turn, asked: Sequence[Asked], today: str, route: Route
) -> Proposal:
    held = writer.refresher.catalog().held
    notes = unread(writer.refresher) or writer.refresher.store.notes()
    found = propose(
        [turn], notes, session=session, today=today, reserved=os.listdir(writer.project.store),
        held=held, asked=asked, near=near_in(writer.refresher), route=route,
        is_anothers=anothers(writer), cite=partial(cites_of, writer.project),
    )  # fmt: skip
    found.reinforced[:] = [pair for pair in found.reinforced if pair[0].file not in held]
    return found
