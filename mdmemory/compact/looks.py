"""Which notes a model was shown, and as what: so that a pass asks about what is new.

Kept in `.mdmemory/state.db`. A record that is lost costs tokens, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING

from mdmemory.compact.plan import Op, named
from mdmemory.files import digest
from mdmemory.git import log
from mdmemory.git.commits_of_store import History
from mdmemory.store.store import StoredNote

if TYPE_CHECKING:
    from mdmemory.store.state import State  # with it comes the database

LATELY = 30  # days; without a record, what changed in them is new
AGAIN = timedelta(days=7)  # between two looks that only a change of the model or guards asks for
TRIES = 2  # questions about one note whose answers were of no use


@dataclass(frozen=True, slots=True)
class LastLook:
    """How one note was last shown: its `face`, the day ("" if never), the number of the pass, by
    whom it was judged, and how many answers about it were of no use since."""

    face: str
    day: str = ""
    turn: int = 0
    by: str = ""
    tries: int = 0


@dataclass(frozen=True, slots=True)
class Looks:
    """What became of the notes in one pass, by file. `faces` are all that may be shown, `shown`
    those that a model answered about, `unanswered` those about which it said nothing of use, and
    `waiting` those that were not reached, or about which something is still to be done. `sure` are
    the ops of the pass that no model proposed."""

    by: str
    faces: Mapping[str, str]
    shown: frozenset[str] = frozenset()
    unanswered: frozenset[str] = frozenset()
    waiting: frozenset[str] = frozenset()
    sure: tuple[Op, ...] = ()

    def of_model(self, ops: Iterable[Op]) -> set[str]:
        """The files that those of the ops name which the model proposed."""
        return {file for op in ops if op not in self.sure for file in named(op)}


def face(note: StoredNote) -> str:
    """12 hex digits of what a note says, and as what: its dates and reinforcement do not count."""
    head = note.note.head
    parts = (head.type, head.kind, head.name, head.status, head.description, note.note.body)
    return digest(json.dumps(parts))[:12]


@dataclass(frozen=True, slots=True)
class LookRecord:
    """The looks of earlier passes by file, as of the day `today`. Where there are none, the files
    in `lately` are new; all are where it is None."""

    today: str
    looks: Mapping[str, LastLook] = field(default_factory=dict)
    lately: Collection[str] | None = None

    def new(self, notes: Iterable[StoredNote], by: str) -> list[StoredNote]:
        """The notes that a model has to be shown. `by` is who judges now; "" if nobody knows."""
        if not self.looks:
            return [note for note in notes if self.lately is None or note.file in self.lately]
        return [note for note in notes if self._is_new(note, by)]

    def _is_new(self, note: StoredNote, by: str) -> bool:
        look = self.looks.get(note.file)
        if look is None or look.face != face(note) or 0 < look.tries < TRIES:
            return True
        if not by or look.by == by or not look.day:
            return False
        return date.fromisoformat(look.day) <= date.fromisoformat(self.today) - AGAIN

    def oldest(self, notes: Iterable[StoredNote]) -> list[StoredNote]:
        """The notes, those first that were not looked at for longest."""
        never = LastLook("")
        return sorted(notes, key=lambda note: (self.looks.get(note.file, never).turn, note.file))


def read(
    state: State, history: History | None, notes: Sequence[StoredNote], today: str
) -> LookRecord:
    """The record of a store; `today` is YYYY-MM-DD."""
    rows = state.rows("SELECT file, face, day, turn, judge, tries FROM look")
    if rows:
        return LookRecord(today, {row[0]: LastLook(*row[1:]) for row in rows})
    return LookRecord(today, lately=changed_lately(history, notes, today))


def changed_lately(history: History | None, notes: Sequence[StoredNote], today: str) -> set[str]:
    """The files of the notes that changed in the last 30 days, by their own dates or by git."""
    since = (date.fromisoformat(today) - timedelta(days=LATELY)).isoformat()
    files = {
        note.file for note in notes if max(note.note.head.created, note.note.head.updated) >= since
    }
    if history is None or (tip := history.head()) is None:
        return {note.file for note in notes}
    ids = {note.file: history.blob_id(note.note.text.encode()) for note in notes}
    files.update(history.list_differing(tip, ids))
    words = (f"--since={since}T00:00:00Z", "HEAD", "--", history.prefix or ".")
    for commit in log.read_with_files(history.repository, *words):
        files.update(each.path.removeprefix(history.prefix) for each in commit.files)
    return files


def remember(
    state: State, looks: Looks, now: Iterable[StoredNote], today: str, applied: Iterable[Op],
    waiting: Iterable[Op],
) -> None:  # fmt: skip
    """Put the looks of one pass into the record. `now` are the notes after it. What its model wrote
    by the `applied` ops counts as shown, and what its `waiting` ones name is to be shown again."""
    rows = state.rows("SELECT file, face, day, turn, judge, tries FROM look")
    before = {row[0]: LastLook(*row[1:]) for row in rows}
    turn = max((look.turn for look in before.values()), default=0) + 1
    after = {note.file: note for note in now}
    record = {file: look for file, look in before.items() if file in after}
    seen_now = {file: face(after[file]) for file in looks.of_model(applied) if file in after}
    later = looks.waiting | looks.of_model(waiting)
    for file, seen in {**looks.faces, **seen_now}.items():
        look = before.get(file)
        if file not in after or file in later:
            record.pop(file, None)
            continue
        if file in looks.unanswered:
            tries = look.tries + 1 if look and look.face == seen else 1
            record[file] = LastLook(seen, today, turn, looks.by, tries)
        elif file in looks.shown or file in seen_now:
            record[file] = LastLook(seen, today, turn, looks.by)
        else:
            record[file] = look or LastLook(seen)
    state.change(
        ("DELETE FROM look", ()),
        *(
            ("INSERT INTO look VALUES (?, ?, ?, ?, ?, ?)",
             (file, look.face, look.day, look.turn, look.by, look.tries))
            for file, look in record.items()
        ),
    )  # fmt: skip
