"""What earlier passes did and showed a model, and whether another is due.

A commit names each of its ops by kind and source bytes: an op whose commit was undone is not done
again until one of its notes changes. Which notes a model was shown stands in `.mdmemory/state.db`:
so a pass asks about what is new, and a record that is lost costs tokens, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from mdmemory.compact.plan import Op, Plan, as_json, named
from mdmemory.config.settings import Settings
from mdmemory.files import digest
from mdmemory.git import log
from mdmemory.git.commits_of_store import History
from mdmemory.git.log import ID_TRAILER
from mdmemory.store.store import StoredNote

if TYPE_CHECKING:
    from mdmemory.store.state import Pass, State  # with it comes the database
    from mdmemory.store.writer import Writer

NEW_DAYS = 30  # days; without a record, what changed in them is new
AGAIN = timedelta(days=7)  # between two looks that only a change of the model or guards asks for
TRIES = 2  # questions about one note whose answers were of no use


class LastLook(NamedTuple):
    """How one note was last shown: its `face`, the day ("" if never), the number of the pass, by
    whom it was judged, and how many answers about it were of no use since. As a row has it."""

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
        since = (date.fromisoformat(self.today) - AGAIN).isoformat()
        new = []
        for note in notes:
            look = self.looks.get(note.file)
            if (
                look is None
                or look.face != face(note)
                or 0 < look.tries < TRIES
                or (by and look.by != by and "" < look.day <= since)
            ):
                new.append(note)
        return new

    def oldest(self, notes: Iterable[StoredNote]) -> list[StoredNote]:
        """The notes, those first that were not looked at for longest."""
        never = LastLook("")
        return sorted(notes, key=lambda note: (self.looks.get(note.file, never).turn, note.file))


def _looks(state: State) -> dict[str, LastLook]:
    rows = state.rows("SELECT file, face, day, turn, judge, tries FROM look")
    return {file: LastLook(*look) for file, *look in rows}


def read_looks(
    state: State, history: History | None, notes: Sequence[StoredNote], today: str
) -> LookRecord:
    """The record of a store; `today` is YYYY-MM-DD."""
    if looks := _looks(state):
        return LookRecord(today, looks)
    return LookRecord(today, lately=changed_lately(history, notes, today))


def changed_lately(history: History | None, notes: Sequence[StoredNote], today: str) -> set[str]:
    """The files of the notes that changed in the last 30 days, by their own dates or by git."""
    since = (date.fromisoformat(today) - timedelta(days=NEW_DAYS)).isoformat()
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


def remember_looks(
    state: State, looks: Looks, now: Iterable[StoredNote], today: str, applied: Iterable[Op],
    waiting: Iterable[Op],
) -> None:  # fmt: skip
    """Put the looks of one pass into the record. `now` are the notes after it. What its model wrote
    by the `applied` ops counts as shown, and what its `waiting` ones name is to be shown again."""
    before = _looks(state)
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
            ("INSERT INTO look VALUES (?, ?, ?, ?, ?, ?)", (file, *look))
            for file, look in record.items()
        ),
    )


REMOVED = "Memory-Removed"
LATELY = timedelta(days=7)


def gone_lately(history: History | None, now: datetime) -> int:
    """The number of notes removed by automatic passes of the last 7 days that were not undone."""
    if history is None:
        return 0
    since = now - LATELY
    commits = [
        (entry.commit, value)
        for entry in history.log_of(REMOVED)
        if (value := entry.get(REMOVED)) and datetime.fromisoformat(entry.time) >= since
    ]
    undone = history.list_undone() if commits else set()
    return sum(int(value) for commit, value in commits if commit not in undone and value.isdigit())


BASIS = "Memory-Basis"  # one an op, of the commit that did it


def basis(op: Op, notes: Mapping[str, StoredNote]) -> str:
    """12 hex digits of an op's kind and the bytes of its notes; wording and reason do not count."""
    files = sorted((file, notes[file].digest) for file in named(op) if file in notes)
    text = json.dumps([as_json(op)["op"], files])
    return digest(text)[:12]


def drop_undone(
    plan: Plan, notes: Mapping[str, StoredNote], history: History | None
) -> tuple[Plan, list[tuple[Op, str]]]:
    """The plan without undone ops, and these with the reason."""
    gone = read_undone(history) if history and plan.ops else {}
    if not gone:
        return plan, []
    skipped = {op: gone[key] for op in plan.ops if (key := basis(op, notes)) in gone}
    rest = tuple(op for op in plan.ops if op not in skipped)
    return replace(plan, ops=rest), [
        (op, f"It was done in {id} and taken back since.") for op, id in skipped.items()
    ]


def read_undone(history: History) -> dict[str, str]:
    """The `basis` of each undone op, and the Memory-Id of the commit that did it."""
    if not (undone := history.list_undone()):
        return {}
    return {
        value: entry.get(ID_TRAILER) or entry.commit
        for entry in history.log_of(BASIS)
        if entry.commit in undone
        for name, value in entry.trailers
        if name == BASIS
    }


PARTIAL = "partial"  # recorded of a pass that a limit kept from doing all there is to do


def end_of(
    outcome: str, more: bool, at_limit: bool, last: Pass | None, before: Mapping[str, str]
) -> str:
    """How a pass is recorded that left `more` to do, `at_limit` or because a model failed; `before`
    are the digests that it found. Pure.

    What the pass before it left over on the same notes, and this one has no answer about either,
    waits as after a failed pass: it would be due at once for ever.
    """
    if not more:
        return outcome
    is_again = last is not None and last.outcome == PARTIAL and last.digests == before
    return "failed" if is_again and not at_limit else PARTIAL


def why_due(writer: Writer, now: datetime) -> str | None:
    """Why a pass is due now, in words, or None."""
    store = writer.refresher.store
    with writer.state() as state:
        last = state.last_pass()
    return due(last, len(store.files()), store.digests, now, writer.project.settings)


def due(
    last: Pass | None, count: int, digests: Callable[[], Mapping[str, str]], now: datetime,
    settings: Settings,
) -> str | None:  # fmt: skip
    """The reason why a pass is due, or None. `count` is that of the notes, and `digests` gives
    those of their files; it is called only where they matter.

    A pass is due if none is recorded, if the last one left work, if `compact.churn` notes were
    added, changed or removed since, or if any was and `compact.interval_ms` is over. After a pass
    that failed or was refused the interval alone is enough.
    """
    if not settings.switch("compact.enabled") or count < settings.whole("compact.min_entries"):
        return None
    if last is None:
        return "no pass is recorded"
    if last.outcome == PARTIAL:
        return "the last pass left work for another"
    changed = {file for file, _ in last.digests.items() ^ digests().items()}
    if len(changed) >= settings.whole("compact.churn"):
        return f"{len(changed)} notes changed since the last pass"
    interval = timedelta(milliseconds=settings.whole("compact.interval_ms"))
    waited = now - datetime.fromisoformat(last.at) >= interval
    if waited and (changed or last.outcome in ("failed", "refused")):
        return f"the last pass was at {last.at[:16].replace('T', ' ')}"
    return None
