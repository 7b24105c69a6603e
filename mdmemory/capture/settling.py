"""What was judged becomes notes: under the lock, while the notes are those that were judged, and in
one store or in two, each with a commit of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from mdmemory.capture import pending
from mdmemory.capture.extracted import Extracted, prefixed
from mdmemory.capture.outcome import Findings, write
from mdmemory.capture.routes import Split
from mdmemory.errors import Busy
from mdmemory.store.evidence import Evidence
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


def in_other(
    writer: Writer, split: Split, judged: Callable[..., Findings], model: str, today: str, *,
    dry_run: bool = False,
) -> tuple[Extracted, list[Evidence]]:  # fmt: skip
    """Write what goes to the other store, in a commit of its own, and what is to be noted of it.

    `judged(writer, notes=...)` finds it. The store is made for a note, and for nothing less; what
    waits for a person goes to the inbox of `writer` until then.
    """
    other = split.there
    if other is None:
        found = judged(writer, notes=())
        if not found.groups("", today) or dry_run:
            if not dry_run and found.waiting(today):
                with writer.locked():
                    let_wait(writer, found, today)
            return found.told(), list(found.evidence())
        other = split.open()
    at = other

    def store(found: Findings) -> tuple[Extracted, list[Evidence]]:
        done = found.told()
        if not dry_run:
            write(at, found, model, done, today)
            let_wait(at, found, today)
        return done, list(found.evidence())

    return judged_first(at, lambda: judged(at), store)


def both(done: Extracted, other: Extracted, split: Split | None) -> Extracted:
    """What was done in the two stores, as one answer, with the files as a person names them."""
    if split is None:
        return done
    for files in (done.added, done.updated, done.reinforced, done.flagged):
        files[:] = [f"{split.own}{file}" for file in files]
    for pairs in (done.superseded, done.doubtful):
        pairs[:] = [prefixed(each, split.own) for each in pairs]
    done.join(other, split.prefix)
    return done


def let_wait(writer: Writer, found: Findings, today: str) -> None:
    """Put what waits for a person into the inbox. The caller holds the lock."""
    if waiting := found.waiting(today):
        with writer.state() as state:
            pending.put(writer.project, state, waiting, today)
