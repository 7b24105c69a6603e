"""Why the index lists a note or does not, and when a note left it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from mdmemory.note.note import Head
from mdmemory.store.index import CAPS, CAPS_MADE_FOR, note_line, pool_of
from mdmemory.store.store import INDEX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmemory.git.commits_of_store import History
    from mdmemory.git.log import Logged
    from mdmemory.store.refresh import Refreshed, Refresher

_LOOKED_AT = 500  # of the newest commits that changed the index


class IndexPlace(NamedTuple):
    """A note's place in the index.

    `why` is "" for a listed note, else held, its status, or budget: then its `rank` among the `of`
    notes that may be listed, and its `pool_rank` among those of its `pool` (a type, or decision),
    which has `pool_places` places before all share the rest, tell how far it is from being listed.
    `strength` is 0.0 to 7.5; ranks count from 1, and are 0 for a note that may not be listed.
    `left` is the commit that took its line out; None where none did.
    """

    listed: bool
    why: str
    strength: float
    rank: int = 0
    of: int = 0
    pool: str = ""
    pool_rank: int = 0
    pool_places: int = 0
    left: Logged | None = None

    def told(self) -> str:
        """A sentence for people; "" for a note that is listed."""
        if self.listed:
            return ""
        why = f"it is {self.why}"
        if self.why == "held":
            why = "it is on hold (`mdmemory doctor`)"
        elif self.why == "budget":
            why = (
                f"place {self.rank} of {self.of} by strength ({self.strength:.2f}), place "
                f"{self.pool_rank} of the type {self.pool}, which has {self.pool_places} places of "
                "its own"
            )
        left = self.left
        since = f" It left it on {left.time[:10]}, with {left.commit[:10]}." if left else ""
        return f"Not in the index: {why}.{since}"


def index_place(refresher: Refresher, history: History | None, file: str) -> IndexPlace | None:
    """The place of the note in `file`; None where there is no such note. Refreshes the index."""
    state = refresher.current()
    for head in state.catalog.heads_of([file]):
        place = _find_places(refresher, state, [head])[file]
        return place if place.listed else place._replace(left=_unlisting_commit(history, head))
    return None


def all_places(refresher: Refresher) -> dict[str, IndexPlace]:
    """The place of every note by its file, without the commit that took it out. Refreshes the
    index."""
    state = refresher.current()
    return _find_places(refresher, state, state.catalog.heads())


def _find_places(
    refresher: Refresher, state: Refreshed, heads: Sequence[Head]
) -> dict[str, IndexPlace]:
    """The places of some notes."""
    listed, strengths = {*state.index.listed}, state.index.strengths
    places: dict[str, IndexPlace] = {}
    for head in heads:
        is_listed, strength = head.file in listed, strengths[head.file]
        why = "held" if head.file in state.catalog.held else head.status
        places[head.file] = IndexPlace(is_listed, "" if is_listed else why, strength)
    if all(place.listed for place in places.values()):
        return places
    most = int(refresher.project.settings.whole("index.max_entries"))
    traces, counts = state.catalog.listable(), Counter[str]()
    # stable, also backwards: equals stay in the order of their files
    best = sorted(traces, key=strengths.__getitem__, reverse=True)
    for rank, file in enumerate(best, 1):
        pool = pool_of(traces[file])
        counts[pool] += 1
        if file in places and not places[file].listed:
            room = CAPS[pool] * most // CAPS_MADE_FOR
            places[file] = IndexPlace(
                False, "budget", strengths[file], rank, len(traces), pool, counts[pool], room
            )
    return places


def _unlisting_commit(history: History | None, head: Head) -> Logged | None:
    """The last commit that took the note's line out of the committed index."""
    if history is None or (at := history.head()) is None:
        return None
    target = f"]({note_line(head).partition('](')[2].partition(')')[0]})"
    if target.encode() in (history.read(at, INDEX) or b""):
        return None  # it is still there, and its exit waits for a commit
    path = ("--", f"{history.prefix}{INDEX}")
    newest = history.repository.run("rev-list", f"-{_LOOKED_AT}", at, *path)
    how = ("diff-tree", "--stdin", f"-S{target}", "-s", "--format=%H")
    changed = history.repository.run(*how, *path, data=newest).decode().split()
    return history.load_commits(changed[:1])[0] if changed else None
