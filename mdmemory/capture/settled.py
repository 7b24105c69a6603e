"""Judging first and locking afterwards: no other writer waits while text is read.

What was judged counts only if the notes are still those that it was judged against.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from mdmemory.errors import Busy
from mdmemory.store.writer import Writer

TRIES = 5  # each needs another process to write in the moment before
_Judged = TypeVar("_Judged")
_Done = TypeVar("_Done")


def judged_first(
    writer: Writer, judge: Callable[[], _Judged], write: Callable[[_Judged], _Done]
) -> _Done:
    """What `write` makes, under the lock, of what `judge` found without it.

    Raises Busy where the notes changed under each judgement; nothing is written then.
    """
    for _ in range(TRIES):
        writer.refresher.forget()  # an earlier look at the catalog may be of yesterday
        seen = _seen(writer)
        judged = judge()
        with writer.locked():
            if _seen(writer) == seen:
                return write(judged)
    raise Busy("Other processes changed the notes again and again.", "Run the command again.")


def _seen(writer: Writer) -> tuple[object, ...]:
    """What a judgement leans on: every name in the store, the text of the notes and of the ledger,
    and which notes are held."""
    store = writer.refresher.store
    notes = [(note.file, note.digest, note.note.text) for note in store.notes()]
    names = sorted(path.name for path in writer.project.store.iterdir())
    return notes, names, store.ledger(), sorted(writer.refresher.catalog().held)
