"""Why each candidate for the store was kept or dropped: a log in `state.db`, for people.

Callers hand in previews that are clean of secrets; they are cut here, and old rows go.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from mdmemory.store.state import State, Statement


class TakenText(NamedTuple):
    """A text of a file, by its digest. `note` is the file of the note that was made of it (`me/` in
    the person's store), with the digest that it had then, `was`; "" for none. `told`: that the
    note is no more was said."""

    file: str
    digest: str
    note: str = ""
    was: str = ""
    told: bool = False


def of_place(state: State, place: str) -> list[TakenText]:
    """What was taken from a folder, the oldest first."""
    query = "SELECT file, digest, note, was, told FROM taken WHERE place = ? ORDER BY id"
    rows = state.rows(query, (place,))
    return [TakenText(file, digest, note, was, bool(t)) for file, digest, note, was, t in rows]


def put_texts(state: State, place: str, *texts: TakenText) -> None:
    """Note texts; the same one again takes the place of the first."""
    remove = "DELETE FROM taken WHERE place = ? AND file = ? AND digest = ?"
    insert = "INSERT INTO taken (place, file, digest, note, was, told) VALUES (?, ?, ?, ?, ?, ?)"
    rows: list[Statement] = []
    for each in texts:
        key = (place, each.file, each.digest)
        rows += [(remove, key), (insert, (*key, each.note, each.was, each.told))]
    state.change(*rows)


KEPT_DAYS = 90
KEPT_ROWS = 5_000
PREVIEW = 80  # characters


class Evidence(NamedTuple):
    """What became of one candidate.

    `phase` is asked (a person's explicit request), model (found by one), summary (found in a
    host's summary), assistant (stored by one) or run (the reading as a whole); `outcome` such as
    added, dropped, pending, failed; `near` are the nearest notes' files.
    """

    session: str
    phase: str
    outcome: str
    reasons: tuple[str, ...] = ()
    preview: str = ""
    near: tuple[str, ...] = ()
    time: str = ""  # ISO 8601, UTC; set when it is recorded


def record_evidence(state: State, evidence: Sequence[Evidence], now: datetime) -> None:
    """Add rows, and forget those past the limits."""
    if not evidence:
        return
    at = now.isoformat(timespec="seconds")
    columns = "at, session, phase, outcome, reasons, preview, near"
    insert = f"INSERT INTO evidence ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)"
    rows = [
        (insert, (at, each.session, each.phase, each.outcome, json.dumps(each.reasons),
                  each.preview[:PREVIEW], json.dumps(each.near)))
        for each in evidence
    ]  # fmt: skip
    oldest = (now - timedelta(days=KEPT_DAYS)).isoformat(timespec="seconds")
    state.change(
        *rows,
        ("DELETE FROM evidence WHERE at < ?", (oldest,)),
        ("DELETE FROM evidence WHERE id <= (SELECT max(id) FROM evidence) - ?", (KEPT_ROWS,)),
    )


def recorded_evidence(state: State, limit: int | None = None) -> list[Evidence]:
    """The newest rows first."""
    query = "SELECT session, phase, outcome, reasons, preview, near, at FROM evidence"
    query += " ORDER BY id DESC LIMIT ?"
    recorded = []
    for row in state.rows(query, (-1 if limit is None else limit,)):
        session, phase, outcome, reasons, preview, near, at = row
        words, files = tuple(json.loads(reasons)), tuple(json.loads(near))
        recorded.append(Evidence(session, phase, outcome, words, preview, files, at))
    return recorded
