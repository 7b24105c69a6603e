"""When the next compaction is due. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from mdmemory.config import Settings
from mdmemory.store.state import Pass

PARTIAL = "partial"  # recorded of a pass that a limit kept from doing all there is to do


def due(
    last: Pass | None, digests: Mapping[str, str], now: datetime, settings: Settings
) -> str | None:
    """Why a pass is due, in words, or None. Pure.

    A pass is due when nothing recorded one, when the last one left work, when `compact.churn`
    notes were added, changed or removed since, or when any was and `compact.interval_ms` has gone
    by. One that failed or was refused has settled nothing: the interval alone makes it due again.
    """
    if not settings.switch("compact.enabled"):
        return None
    if len(digests) < settings.whole("compact.min_entries"):
        return None
    if last is None:
        return "no pass is recorded"
    if last.outcome == PARTIAL:
        return "the last pass left work for another"
    changed = {file for file, _ in last.digests.items() ^ digests.items()}
    if len(changed) >= settings.whole("compact.churn"):
        return f"{len(changed)} notes changed since the last pass"
    interval = timedelta(milliseconds=settings.whole("compact.interval_ms"))
    waited = now - datetime.fromisoformat(last.at) >= interval
    if waited and (changed or last.outcome in ("failed", "refused")):
        return f"the last pass was at {last.at[:16]}"
    return None
