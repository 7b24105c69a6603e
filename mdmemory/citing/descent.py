"""Which commits of a history took something out of a file, along every branch and merge. Pure.

Law: a commit counts only if no later one of its line has the thing again. A merge counts for each
of its parents: what one of them still had, the merge took.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple


class Removal(NamedTuple):
    """A commit without the thing, and its parent that still had it."""

    commit: str
    parent: str


class Descent:
    """The commits of a history and their parents. `rows`: a commit and its parents each, every
    commit before its parents, as git lists them."""

    def __init__(self, rows: Sequence[Sequence[str]]) -> None:
        self._commits = [row[0] for row in reversed(rows)]  # parents first
        self._places = {commit: place for place, commit in enumerate(self._commits)}
        self._parents = [
            [self._places[parent] for parent in row[1:] if parent in self._places]
            for row in reversed(rows)
        ]

    def blobs(
        self, left: Mapping[str, str], since: Iterable[str], look: Callable[[str], str]
    ) -> dict[int, str]:
        """The blob at a path ("": none) in each commit from the first of `since` on; all if there
        is none. `left` has it for the commits that changed it against all their parents, and
        `look` finds it in one commit."""
        begin = min((self._places.get(commit, 0) for commit in since), default=0)
        found: dict[int, str] = {}
        for place in range(begin, len(self._commits)):
            commit = self._commits[place]
            blob = left.get(commit)
            if blob is None:
                above = {found.get(parent) for parent in self._parents[place]}
                only = above.pop() if len(above) == 1 else None
                blob = only if only is not None else look(commit)
            found[place] = blob
        return found

    def removals(self, blobs: dict[int, str], has: Callable[[str], bool]) -> list[Removal]:
        """The commits that took away what `has` finds in a blob, newest first, merges last."""
        is_later: set[int] = set()  # commits of which a later one has it
        found: list[Removal] = []
        merges: list[Removal] = []
        for place in reversed(blobs):
            parents = self._parents[place]
            if place in is_later or has(blobs[place]):
                is_later.update(parents)
                continue
            for parent in parents:
                if parent in blobs and has(blobs[parent]):
                    removal = Removal(self._commits[place], self._commits[parent])
                    (found if len(parents) == 1 else merges).append(removal)
        return found + merges
