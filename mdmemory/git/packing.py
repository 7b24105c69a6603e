"""Objects that lie one by one become packs, as behind a person's own `git commit` now and then.

Each commit holds the tree of its folder anew: 2.5 MB at 100,000 notes while it lies by itself, some
hundred bytes in a pack (`tests/bench/tree_layout.py`). Only for a repository that is the memory's:
a project's git packs by itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from mdmemory import debugging
from mdmemory.errors import Busy, GitFailed
from mdmemory.git import repositories
from mdmemory.git.lock import hold_turn
from mdmemory.git.repositories import Repository

MANY = 512  # objects that lie one by one; a commit makes about four
_PATIENCE = 60.0  # seconds that an erasure waits for a packing that began before
_LONGEST = 1_800.0  # seconds; 100,000 notes take one minute
_FOLDERS = 256  # among which git spreads its objects evenly


@contextmanager
def hold_packing(repository: Repository, patience: float = _PATIENCE) -> Iterator[None]:
    """Keep others from packing for the block. Raises Busy where one goes on for longer."""
    path = repository.common_dir / "mdmemory-packing.lock"
    with hold_turn(path, patience, "The history of the memory is being packed."):
        yield


def count_loose(repository: Repository) -> int:
    """About how many objects lie one by one, as `git gc --auto` counts: by one folder of them."""
    try:
        return len(os.listdir(repository.common_dir / "objects/17")) * _FOLDERS
    except OSError:
        return 0


def pack_if_due(repository: Repository) -> bool:
    """Pack what lies one by one if it is much; whether that was done. Writers go on meanwhile.

    Nothing is removed but what a pack holds by then, and what no ref names is packed as well.
    """
    if count_loose(repository) < MANY:
        return False
    words = ("repack", "--geometric=2", "-d", "-q")
    try:
        with hold_packing(repository, 0.0):
            done = repositories.run(repository.top, words, seconds=_LONGEST)
    except (Busy, GitFailed) as problem:  # nothing is lost by it, and the next pass tries again
        debugging.log_line("git repack: %s", problem)
        return False
    return done.returncode == 0
