"""Takes a session's decisions and candidates to notes, through capture and no other way.

They enter a journal first, so that a failed write is tried again, at most three times. A candidate
without proof in the user's turns waits for a person, as in any summary.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from mdmemory.capture.candidates import MAX_CANDIDATES
from mdmemory.capture.notice import type_of
from mdmemory.errors import MdmemoryError
from mdmemory.files import digest
from mdmemory.session.sections import CANDIDATES, Sections
from mdmemory.session.storage import PROMOTION_DAYS

if TYPE_CHECKING:  # loaded where something is promoted
    from mdmemory.capture.extracted import Extracted
    from mdmemory.store.state import State

MAX_ENTRIES = 50
MAX_ATTEMPTS = 3
TO_DO = ""  # the outcome of an entry that is still to be promoted

_SELECT = "SELECT id, session, type, text, since, attempts, outcome FROM promotion"


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A row of the journal. `outcome` is "" (to do), stored, absorbed, waiting (for a person) or
    rejected; `since` is a day."""

    id: str
    session: str
    type: str
    text: str
    since: str
    attempts: int
    outcome: str


@dataclass
class Accounting:
    """The outcome of a session's candidates: `promoted` are files of notes, the others texts.

    `absorbed` are candidates that a note says already (the file, if it was reinforced), `waiting`
    those for a person to accept; `failure` is why nothing could be written this time.
    """

    promoted: list[str] = field(default_factory=list)
    absorbed: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    failure: MdmemoryError | None = None


def enter(state: State, session: str, memory: Sections, today: str) -> None:
    """Put a session's decisions and candidates into the journal; known ones stay as they are, but
    for decisions that were taken again after others."""
    candidates = [("decision", text) for text in memory.said("decisions")]
    candidates += [(type_of(text), text) for text in memory.said(CANDIDATES)]
    oldest = (date.fromisoformat(today) - timedelta(days=PROMOTION_DAYS)).isoformat()
    insert = "INSERT OR IGNORE INTO promotion VALUES (?, ?, ?, ?, ?, 0, '')"
    state.change(
        ("DELETE FROM promotion WHERE since < ?", (oldest,)),
        *(("DELETE FROM promotion WHERE id = ?", (id,)) for id in _again(state, session, memory)),
        *((insert, (_id(session, *each), session, *each, today)) for each in candidates),
        # entries with an outcome go first
        ("DELETE FROM promotion WHERE id IN (SELECT id FROM promotion ORDER BY outcome = '' DESC,"
         " since DESC, rowid DESC LIMIT -1 OFFSET ?)", (MAX_ENTRIES,)),
    )  # fmt: skip


def _again(state: State, session: str, memory: Sections) -> list[str]:
    """The ids of known decisions that were taken again after a decision that came later."""
    places = {each.id: at for at, each in enumerate(read_journal(state, session))}
    ids = [
        id for text in memory.said("decisions") if (id := _id(session, "decision", text)) in places
    ]
    return [id for at, id in enumerate(ids) if any(places[each] > places[id] for each in ids[:at])]


def read_journal(state: State, session: str | None = None) -> list[JournalEntry]:
    """The entries of a session, or of all sessions, the oldest first."""
    query = f"{_SELECT} WHERE session = coalesce(?, session) ORDER BY since, rowid"
    return [JournalEntry(*row) for row in state.rows(query, (session,))]


def promote(
    state: State, session: str, memory: Sections, take: Callable[[str], Extracted], *, now: datetime
) -> Accounting:
    """Take a session's decisions and candidates (of `memory`), and its older open entries, through
    capture, in at most one commit for each store.

    `take` stores what a text lists, as far as the user's turns prove it. A failed write is
    reported, not raised: the entries are tried again at the next compaction.
    """
    enter(state, session, memory, now.date().isoformat())
    account = Accounting()
    entries = [each for each in read_journal(state, session) if each.outcome == TO_DO]
    left = entries[:MAX_CANDIDATES]  # the others follow at the next compaction
    outcomes: dict[str, str] = {}
    try:
        outcomes = _capture(take, left, account) if left else {}
    except MdmemoryError as problem:
        account.failure = problem
        for each in left:  # after the last attempt an entry is rejected
            is_over = each.attempts + 1 >= MAX_ATTEMPTS
            account.rejected += [each.text] if is_over else []
            outcomes[each.id] = "rejected" if is_over else TO_DO
    attempts = 1 if account.failure else 0
    update = "UPDATE promotion SET attempts = attempts + ?, outcome = ? WHERE id = ?"
    state.change(*((update, (attempts, outcome, id)) for id, outcome in outcomes.items()))
    return account


def _capture(
    take: Callable[[str], Extracted], left: list[JournalEntry], account: Accounting
) -> dict[str, str]:
    """Outcomes by id, counted in `account`. Raises what a failed write raises."""
    from mdmemory.capture.note_text import description_of

    lines = [f"- [{each.type}] {each.text}" for each in left]
    extracted = take("\n".join(["Memory candidates:", *lines]))
    account.promoted = [*extracted.added, *extracted.flagged, *extracted.updated]
    account.absorbed = [*extracted.reinforced]
    is_taken = bool(account.promoted or account.absorbed)
    # by the first line, as capture reports a candidate that it did not store
    reasons: dict[str, Any] = {str(drop["text"]): drop["reasons"] for drop in extracted.dropped}
    outcomes = {}
    for each in left:
        why = reasons.get(description_of(each.text))
        if why is None and is_taken:
            outcomes[each.id] = "stored"
            continue
        # without a reason, capture did not take it for a candidate at all
        why = why or []
        outcome = "waiting" if "pending" in why else "absorbed" if "known" in why else "rejected"
        outcomes[each.id] = outcome
        getattr(account, outcome).append(each.text)
    return outcomes


def _id(session: str, type: str, text: str) -> str:
    key = f"{session}\n{type}\n{text}"
    return digest(key)[:16]
