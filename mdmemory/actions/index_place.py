"""Why the index lists a note or does not, and when a note left it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mdmemory.git import log
from mdmemory.note.note import UNREADABLE, Head
from mdmemory.store.index import CAPS, CAPS_MADE_FOR, Index, line, pool, section, trace
from mdmemory.store.store import INDEX

if TYPE_CHECKING:
    from mdmemory.git.commits_of_store import History
    from mdmemory.git.log import Logged
    from mdmemory.store.refresh import Refresher

_LOOKED_AT = 500  # of the newest commits that changed the index


@dataclass(frozen=True, slots=True)
class IndexPlace:
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
        said = f"Not in the index: {self._reason()}."
        if self.left is not None:
            said += f" It left it on {self.left.time[:10]}, with {self.left.commit[:10]}."
        return said

    def _reason(self) -> str:
        if self.why == "held":
            return "it is on hold (`mdmemory doctor`)"
        if self.why != "budget":
            return f"it is {self.why}"
        return (
            f"place {self.rank} of {self.of} by strength ({self.strength:.2f}), place "
            f"{self.pool_rank} of the type {self.pool}, which has {self.pool_places} places of its "
            "own"
        )


def index_place(refresher: Refresher, history: History | None, file: str) -> IndexPlace | None:
    """The place of the note in `file`; None where there is no such note. Refreshes the index."""
    state = refresher.current()
    heads, held, index = state.catalog.heads(), state.catalog.held, state.index
    head = next((each for each in heads if each.file == file), None)
    if head is None:
        return None
    strength = index.strengths[file]
    if file in index.listed:
        return IndexPlace(True, "", strength)
    left = _left(history, head)
    if file in held or not _may_be_listed(head):
        return IndexPlace(False, "held" if file in held else head.status, strength, left=left)
    others = [each for each in heads if each.file not in held and _may_be_listed(each)]
    most = int(refresher.project.settings.whole("index.max_entries"))
    return _by_strength(head, others, index, most, left)


def _may_be_listed(head: Head) -> bool:
    return bool(section(head)) and head.status != UNREADABLE


def _by_strength(
    head: Head, others: list[Head], index: Index, most: int, left: Logged | None
) -> IndexPlace:
    best = sorted(others, key=lambda each: (-index.strengths[each.file], each.file))
    mine = pool(trace(head))
    alike = [each for each in best if pool(trace(each)) == mine]
    return IndexPlace(
        False, "budget", index.strengths[head.file],
        best.index(head) + 1, len(best), mine, alike.index(head) + 1,
        CAPS[mine] * most // CAPS_MADE_FOR, left,
    )  # fmt: skip


def _left(history: History | None, head: Head) -> Logged | None:
    """The last commit that took the note's line out of the committed index."""
    if history is None or (at := history.head()) is None:
        return None
    path = f"{history.prefix}{INDEX}"
    target = line(head).partition("](")[2].partition(")")[0]
    commits = log.read_with_files(history.repository, f"-{_LOOKED_AT}", at, "--", path)
    changes = [
        (commit, each.blob)
        for commit in commits
        for each in commit.files
        if each.path == path and each.blob
    ]
    texts = history.objects.read([blob for _, blob in changes])
    later = None
    for (commit, _), text in zip(changes, texts, strict=True):
        if text is None or f"]({target})".encode() in text.data:
            return later  # None: it is still there, and its exit waits for a commit
        later = commit
    return None
