"""What a session found durable, on its way to notes: through the capture pipeline and no other way.

Decisions and candidates enter a journal first, so that a write that fails is tried again, at most
three times; what a user's turn does not bear out waits for a person, as in any summary.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from mdmemory.capture.candidates import MAX_CANDIDATES
from mdmemory.errors import MdmemoryError
from mdmemory.note.limits import TYPES
from mdmemory.session.hot import Hot
from mdmemory.session.kept import Statement

if TYPE_CHECKING:  # loaded where something is promoted
    from mdmemory.capture.outcome import Extracted
    from mdmemory.store.state import State
    from mdmemory.store.writer import Writer
    from mdmemory.transcripts.turns import Turn

KEPT = 50
KEPT_DAYS = 30
MAX_ATTEMPTS = 3
WAITS = ""  # the outcome of an entry that is still to be promoted

_SELECT = "SELECT id, session, type, text, since, attempts, outcome FROM promotion"


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the journal. `outcome` is "" (still to do), stored (in a note, new or
    reinforced), absorbed, superseded, waiting (for a person) or rejected; `since` is a day."""

    id: str
    session: str
    type: str
    text: str
    since: str
    attempts: int
    outcome: str


@dataclass
class Accounting:
    """What became of a session's candidates: `promoted` are files of notes, the others texts.

    `absorbed` says a note already (of one that was reinforced by it, the file is told), `waiting`
    are for a person to accept; `failure` is why nothing could be written this time.
    """

    promoted: list[str] = field(default_factory=list)
    absorbed: list[str] = field(default_factory=list)
    superseded: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    failure: MdmemoryError | None = None


def enter(state: State, session: str, hot: Hot, today: str) -> None:
    """Put a session's decisions and candidates into the journal; what it knows stays as it is."""
    found = [("decision", text) for text in hot.decisions]
    known = (*TYPES, "decision")
    found += [(each.type, each.text) for each in hot.pending if each.type in known]
    oldest = (date.fromisoformat(today) - timedelta(days=KEPT_DAYS)).isoformat()
    insert = "INSERT OR IGNORE INTO promotion VALUES (?, ?, ?, ?, ?, 0, '')"
    state.change(
        ("DELETE FROM promotion WHERE since < ?", (oldest,)),
        *((insert, (_id(session, *each), session, *each, today)) for each in found),
        # what is done goes before what still waits
        ("DELETE FROM promotion WHERE id IN (SELECT id FROM promotion ORDER BY outcome = '' DESC,"
         " since DESC, rowid DESC LIMIT -1 OFFSET ?)", (KEPT,)),
    )  # fmt: skip


def journal(state: State, session: str | None = None) -> list[Entry]:
    """The entries of a session, or all, the oldest first."""
    if session is None:
        rows = state.rows(f"{_SELECT} ORDER BY since, rowid")
    else:
        rows = state.rows(f"{_SELECT} WHERE session = ? ORDER BY since, rowid", (session,))
    return [Entry(*row) for row in rows]


def promote(
    writer: Writer, state: State, session: str, hot: Hot, said: Sequence[Turn], *, now: datetime
) -> Accounting:
    """Take a session's decisions and candidates (`hot`), and those that its journal still holds,
    through capture, in at most one commit.

    `said` are the session's turns, of which only the user's prove anything. A failure to write is
    told, not raised: the entries are tried again at the next compaction.
    """
    enter(state, session, hot, now.date().isoformat())
    done = Accounting()
    entries = [each for each in journal(state, session) if each.outcome == WAITS]
    replaced = _superseded(entries)
    done.superseded = [each.text for each in replaced]
    # the others come at the next compaction
    left = [each for each in entries if each not in replaced][:MAX_CANDIDATES]
    outcomes = dict.fromkeys((each.id for each in replaced), "superseded")
    if left:
        outcomes |= _taken(writer, session, left, said, now, done)
    changes: list[Statement] = [
        ("UPDATE promotion SET outcome = ? WHERE id = ?", (outcome, id))
        for id, outcome in outcomes.items()
    ]
    if done.failure:
        changes += _another_try(left, done)
    state.change(*changes)
    return done


def _taken(
    writer: Writer, session: str, left: list[Entry], said: Sequence[Turn], now: datetime,
    done: Accounting,
) -> dict[str, str]:  # fmt: skip
    """Outcomes by id; none of them when the write failed, which `done` tells."""
    from mdmemory.capture.summary import take

    lines = [f"- [{each.type}] {each.text}" for each in left]
    try:
        text = "\n".join(["Memory candidates:", *lines])
        found = take(writer, session, text, said, now=now, shown={})
    except MdmemoryError as problem:
        done.failure = problem
        return {}
    done.promoted = [*found.added, *found.flagged, *found.updated]
    done.absorbed = [*found.reinforced]
    reasons = _reasons(found)
    outcomes = {}
    for each in left:
        outcome = _outcome(reasons.get(_hook(each.text)))
        if outcome == "stored" and not (done.promoted or found.reinforced):
            outcome = "rejected"  # capture did not take it for a candidate at all
        outcomes[each.id] = outcome
        if outcome != "stored":
            getattr(done, outcome).append(each.text)
    return outcomes


def _outcome(reasons: Sequence[str] | None) -> str:
    if reasons is None:
        return "stored"
    if "pending" in reasons:
        return "waiting"
    return "absorbed" if "known" in reasons else "rejected"


def _reasons(found: Extracted) -> dict[str, list[str]]:
    """Why each text was not stored, by its first line as capture tells it."""
    reasons: dict[str, list[str]] = {}
    for drop in found.dropped:
        why = drop["reasons"]
        reasons[str(drop["text"])] = [str(each) for each in why] if isinstance(why, list) else []
    return reasons


def _hook(text: str) -> str:
    from mdmemory.capture.extract import description_of

    return description_of(text)


def _another_try(left: list[Entry], done: Accounting) -> list[Statement]:
    """Count an attempt; what had its last one is rejected."""
    given_up = [each for each in left if each.attempts + 1 >= MAX_ATTEMPTS]
    done.rejected += [each.text for each in given_up]
    ids = {each.id for each in given_up}
    change = "UPDATE promotion SET attempts = attempts + 1, outcome = ? WHERE id = ?"
    return [(change, ("rejected" if each.id in ids else WAITS, each.id)) for each in left]


def _superseded(entries: Sequence[Entry]) -> list[Entry]:
    """Decisions that a later one of the same session contradicts."""
    from mdmemory.text.contradiction import Profile, contradiction

    decisions = [each for each in entries if each.type == "decision"]
    profiles = {each.id: Profile("project", each.text, each.text) for each in decisions}
    return [
        old
        for at, old in enumerate(decisions)
        if any(contradiction(profiles[old.id], profiles[new.id]) for new in decisions[at + 1 :])
    ]


def _id(session: str, type: str, text: str) -> str:
    key = f"{session}\n{type}\n{text}"
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()[:16]
