"""How many notes automatic passes removed lately: many small passes may not do what one may not.

Each such pass says in its commit how many notes it removed; what was taken back counts for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from mdmemory.compact.plan import Op
from mdmemory.compact.removals import removed
from mdmemory.git.commits_of_store import History

TRAILER = "Memory-Removed"
LATELY = timedelta(days=7)


def trailers(ops: Iterable[Op]) -> tuple[tuple[str, str], ...]:
    """The line by which the commit of an automatic pass remembers how many notes it removed."""
    count = sum(map(removed, ops))
    return ((TRAILER, str(count)),) if count else ()


def gone_lately(history: History | None, now: datetime) -> int:
    """How many notes automatic passes of the last 7 days removed, and nobody took back."""
    if history is None:
        return 0
    since = now - LATELY
    told = [
        (entry.commit, value)
        for entry in history.log()
        if (value := entry.get(TRAILER)) and datetime.fromisoformat(entry.time) >= since
    ]
    undone = history.undone() if told else set()
    return sum(int(value) for commit, value in told if commit not in undone and value.isdigit())
