"""Candidates without enough proof: they wait in `state.db` for a person, who accepts or drops them.

At most 50 for at most 30 days. What is accepted becomes a note like one that was written by hand.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from mdmemory.actions import editing
from mdmemory.actions.editing import Edited
from mdmemory.capture.duplicates import canonical
from mdmemory.errors import NotFound
from mdmemory.note import limits
from mdmemory.store.state import State
from mdmemory.store.writer import Writer

KEPT = 50
KEPT_DAYS = 30


@dataclass(frozen=True, slots=True)
class PendingFact:
    """A fact that waits; `since` is `YYYY-MM-DD`, `reasons` say what proof it lacks."""

    type: str
    kind: str
    name: str
    description: str
    body: str
    session: str
    since: str
    reasons: tuple[str, ...]

    @property
    def id(self) -> str:
        """The same for the same fact, so that one that is found again waits once."""
        key = f"{self.type}\n{canonical(self.body)}"
        return "p-" + hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()[:8]


def put(state: State, found: Sequence[PendingFact], today: str) -> None:
    """Let these wait. One that waits already, or that a person dropped, stays as it is."""
    insert = "INSERT OR IGNORE INTO pending VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)"
    rows = [
        (insert, (each.id, each.type, each.kind, each.name, each.description, each.body,
                  each.session, each.since, json.dumps(each.reasons)))
        for each in found
    ]  # fmt: skip
    oldest_first = "SELECT id FROM pending WHERE dropped = 0 ORDER BY since DESC, rowid DESC"
    state.change(
        _expiry(today),
        *rows,
        (f"DELETE FROM pending WHERE id IN ({oldest_first} LIMIT -1 OFFSET ?)", (KEPT,)),
    )


def waiting(state: State, today: str) -> list[PendingFact]:
    """Those that wait, the newest first."""
    state.change(_expiry(today))
    query = (
        "SELECT type, kind, name, description, body, session, since, reasons FROM pending"
        " WHERE dropped = 0 ORDER BY since DESC, rowid DESC"
    )
    return [
        replace(PendingFact(*row), reasons=tuple(json.loads(row[-1]))) for row in state.rows(query)
    ]


def accept(writer: Writer, id: str, *, today: str) -> Edited:
    """Store one, on a person's word (`source: manual`), in one commit. Raises NotFound, BadNote."""
    with writer.state() as state:
        chosen = _find(state, id, today)
    done = editing.add(
        writer, name=limits.slug(chosen.name) or "fact", type=chosen.type,
        description=chosen.description, body=chosen.body, kind=chosen.kind, today=today,
    )  # fmt: skip
    with writer.state() as state:  # only now: an add that fails loses nothing
        state.change(("DELETE FROM pending WHERE id = ?", (id,)))
    return done


def drop(writer: Writer, id: str, *, today: str) -> PendingFact:
    """Take one off the list; for 30 days it is not proposed again. Raises NotFound."""
    with writer.state() as state:
        chosen = _find(state, id, today)
        # of a fact that a person does not want, only the id is kept
        state.change((
            "UPDATE pending SET dropped = 1, since = ?, name = '', description = '', body = ''"
            " WHERE id = ?",
            (today, id),
        ))  # fmt: skip
    return chosen


def _find(state: State, id: str, today: str) -> PendingFact:
    for each in waiting(state, today):
        if each.id == id:
            return each
    raise NotFound(f"Nothing waits under the id {id}.", "`mdmemory pending` lists what waits.")


def _expiry(today: str) -> tuple[str, tuple[str]]:
    oldest = date.fromisoformat(today) - timedelta(days=KEPT_DAYS)
    return "DELETE FROM pending WHERE since < ?", (oldest.isoformat(),)
