"""Locks on refs that a killed `git update-ref` of ours left, so that nobody's git waits for them.

Only what is provably ours: while our journal is open and git's index lock is ours, no commit of a
person's can be under way, and the lock is younger than the journal and holds nothing foreign.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from stat import S_ISREG

from mdmemory.git.repositories import Repository

OURS = "refs/mdmemory"
PATIENCE = 1.0  # seconds for a git that is alive after all; it holds such a lock for milliseconds
_PAUSE = 0.05


def on(repository: Repository, branch: str) -> list[Path]:
    """The lock files that stand in the way of moving `branch`, which HEAD is on."""
    locks = (repository.git_dir / "HEAD.lock", repository.common_dir / f"{branch}.lock")
    return [lock for lock in locks if os.path.lexists(lock)]


def clear_dead(repository: Repository, branch: str, commit: str | None, since_ns: int) -> None:
    """Remove the locks on HEAD and `branch` that our update to `commit` left.

    `since_ns` is when the journal was written (mtime, ns). A lock with other contents, or an older
    one, is somebody's and stays: the update that follows then fails and names it.
    """
    ours = [lock for lock in on(repository, branch) if _is_ours(lock, commit, since_ns)]
    deadline = time.monotonic() + PATIENCE
    while ours and time.monotonic() < deadline:
        time.sleep(_PAUSE)
        ours = [lock for lock in ours if _is_ours(lock, commit, since_ns)]
    for lock in ours:
        lock.unlink(missing_ok=True)


def clear_ours(repository: Repository) -> None:
    """Remove the locks on refs of our own, which only the holder of the store's lock writes."""
    for lock in (repository.common_dir / OURS).rglob("*.lock"):
        lock.unlink(missing_ok=True)


def _is_ours(lock: Path, commit: str | None, since_ns: int) -> bool:
    """Whether it holds as much of our commit's line as git, or the disk, had time to write."""
    line = f"{commit or ''}\n".encode()
    try:
        status = lock.lstat()
        if not S_ISREG(status.st_mode) or status.st_size > len(line):
            return False
        content = lock.read_bytes()
    except OSError:
        return False
    # NULs: space that was given to the file, and not yet its bytes, when the power went
    return status.st_mtime_ns >= since_ns and line.startswith(content.rstrip(b"\0"))
