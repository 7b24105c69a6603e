"""A fact that is stored already and was said again: what of its note changes. Pure."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from mdmemory import note_writing
from mdmemory.errors import BadNote
from mdmemory.note import Note
from mdmemory.privacy.redaction import has_secret

if TYPE_CHECKING:  # only a shape here: the store's own imports are not needed to plan
    from mdmemory.store.store import StoredNote

REINFORCE_EVERY = 7  # days, rolling
REINFORCE_MAX = 6


def reinforced(stored: StoredNote, source: tuple[str, str], today: str) -> Note | str:
    """The note, counted once more: once in 7 days and at most 6 times, then only the date.

    `source` is the session and the turn. A note that came from this very turn, and one that is
    held back, stay as they are: then the answer is why, as a word.
    """
    head = stored.note.head
    if head.secrets != "allowed" and has_secret(stored.note.text):
        return "held"
    changes: dict[str, str | None] = {}
    if head.status == "unconfirmed":
        changes["metadata.status"] = None  # now the user has said it
    if (head.session, head.turn) != source and _is_due(head.last_reinforced, today):
        count = min(head.reinforced + 1, max(head.reinforced, REINFORCE_MAX))
        changes |= {"metadata.reinforced": str(count), "metadata.last_reinforced": today}
    if not changes:
        return "known"
    try:
        return note_writing.edit(stored.note, set=changes)
    except BadNote:
        return "not_editable"


def _is_due(last: str, today: str) -> bool:
    """Whether 7 days have passed; a date that is none, or lies ahead, counts as long ago."""
    try:
        days = (date.fromisoformat(today) - date.fromisoformat(last)).days
    except ValueError:
        return True
    return days < 0 or days >= REINFORCE_EVERY
