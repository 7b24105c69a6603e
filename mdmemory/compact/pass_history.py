"""What earlier passes did, and whether another is due.

A commit names each of its ops by kind and source bytes: an op whose commit was undone is not done
again until one of its notes changes. The commit of an automatic pass also counts removed notes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from mdmemory.compact.plan import Op, Plan, as_json, named
from mdmemory.config.settings import Settings
from mdmemory.files import digest
from mdmemory.git.commits_of_store import History
from mdmemory.git.log import ID_TRAILER
from mdmemory.store.state import Pass
from mdmemory.store.store import StoredNote
from mdmemory.store.writer import Writer

REMOVED = "Memory-Removed"
LATELY = timedelta(days=7)


def removal_trailers(ops: Iterable[Op]) -> tuple[tuple[str, str], ...]:
    """The trailer that says how many notes an automatic pass removed; none for 0."""
    from mdmemory.compact.removals import removed  # whoever asks what is due judges no text

    count = sum(map(removed, ops))
    return ((REMOVED, str(count)),) if count else ()


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


def basis_trailers(
    ops: Iterable[Op], notes: Mapping[str, StoredNote]
) -> tuple[tuple[str, str], ...]:
    """The trailers that name the ops of a commit."""
    return tuple((BASIS, basis(op, notes)) for op in ops)


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
    if not settings.switch("compact.enabled"):
        return None
    if count < settings.whole("compact.min_entries"):
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
        return f"the last pass was at {last.at[:16]}"
    return None
