"""A person's own git index: locked as git locks it, changed in our files alone, put back whole.

If the branch moved and their index did not, their next plain `git commit` would silently revert
what we committed. Also the locks on refs that a killed git of ours left.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from stat import S_ISREG

from mdmemory.errors import Unwritable
from mdmemory.files import link_file, to_bytes
from mdmemory.git.commits_of_store import History, Message, Staged
from mdmemory.git.objects import Blob, Entries
from mdmemory.git.repositories import PATIENCE, PAUSE, Repository, is_same_file, lock_refusal

# what a write, or a dead one, leaves in the room besides the journal
LEFTOVERS = ("*.held", "*.index", "*.index.lock", ".mdmemory-*.tmp")
OURS = "refs/mdmemory"
ALIVE = 1.0  # seconds for a git that is alive after all; it holds such a lock for milliseconds
_LOOK = 0.05
KEPT = "refs/mdmemory/staged"  # keeps reachable what was staged and nowhere else


class Staging:
    """The index of one work tree. `room` is our own folder beside it, in the git directory."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.room = history.repository.room
        self.live = history.repository.git_dir / "index"
        self.lock = history.repository.git_dir / "index.lock"

    def take(self, id: str) -> None:
        """Take git's lock on the index. Raises RepositoryState when another keeps it too long."""
        if self.is_ours():
            return
        mark = self.write_mark(id)
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                # a hard link takes the lock in one step, and after a crash proves it to be ours
                link_file(mark, self.lock)
                return
            except Unwritable:
                mark.unlink()
                raise
            except FileExistsError as problem:
                if time.monotonic() >= deadline:
                    mark.unlink()
                    raise lock_refusal(self.lock) from problem
            time.sleep(PAUSE)

    def write_mark(self, id: str) -> Path:
        """Note that a write begins, without a lock; the file that says so."""
        mark = self.room / f"{id}.held"
        os.close(os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        return mark

    def is_ours(self) -> bool:
        """Whether the lock is there and is ours."""
        return any(is_same_file(mark, self.lock) for mark in self.room.glob("*.held"))

    def release(self) -> None:
        """Give the lock back, if it is ours, and remove what a write or a dead one left here."""
        if self.is_ours():
            self.lock.unlink()
        for empty in self.room.glob("*.nowhere"):
            empty.rmdir()
        for pattern in LEFTOVERS:
            for leftover in self.room.glob(pattern):
                leftover.unlink(missing_ok=True)

    def prepare(self, id: str, entries: Entries) -> None:
        """Make a copy of the index with these files set (None: removed), all else as it is.

        Whoever writes an index has git compare the files that changed a moment ago, through
        whatever filter the repository names. In an empty folder there is nothing to compare.
        """
        fresh = self.room / f"{id}.index"
        for old in (fresh, fresh.with_name(f"{fresh.name}.lock")):
            old.unlink(missing_ok=True)  # of a recovery that was killed in its turn
        if self.live.exists():
            fresh.write_bytes(self.live.read_bytes())
        nothing = "0" * len(self.history.blob_id(b""))
        rows = []
        for file, blob in entries.items():
            about = f"{blob.mode} {blob.id}" if blob else f"0 {nothing}"
            rows.append(f"{about}\t{self.history.prefix}{file}\0")
        data = to_bytes("".join(rows))
        nowhere = fresh.with_name(f"{os.urandom(6).hex()}.nowhere")
        nowhere.mkdir()
        git = self.history.repository
        places = {"GIT_DIR": str(git.git_dir), "GIT_WORK_TREE": str(nowhere)}
        places["GIT_INDEX_FILE"] = str(fresh)
        words = ("update-index", "-z", "--index-info")
        try:
            git.run(*words, data=data, folder=nowhere, extra=places)
        finally:
            nowhere.rmdir()

    def put(self, id: str) -> None:
        """Let the prepared copy take the index's place; the lock is held since it was made."""
        fresh = self.room / f"{id}.index"
        if self.live.exists():
            # as old as it was: by this time git knows which files it must not trust by their own
            before = self.live.stat()
            os.utime(fresh, ns=(before.st_atime_ns, before.st_mtime_ns))
        with open(fresh, "rb") as file:
            os.fsync(file.fileno())
        os.replace(fresh, self.live)

    def keep(self, staged: Mapping[str, Staged], *safe: Entries) -> None:
        """Put bytes that only the index holds behind the ref KEPT, as a commit of their own.

        `safe` are trees of the branch, which hold what it was and what it will be.
        """
        empty = self.history.blob_id(b"")  # stands in the index for `git add --intent-to-add`
        lone: dict[str, Blob | None] = {
            file: there.blob
            for file, there in staged.items()
            if there.blob.id != empty and there.blob not in [tree.get(file) for tree in safe]
        }
        if not lone:
            return
        before = self.history.find_commit(KEPT)
        if self.history.read_tree(before, lone) != lone:
            message = Message("memory: text that was staged and in no commit")
            commit = self.history.build(before, lone, message)
            self.history.repository.run("update-ref", KEPT, commit)


# Locks on refs that a killed `git update-ref` of ours left, so that nobody's git waits for them.
# Only what is provably ours: while our journal is open and git's index lock is ours, no commit of a
# person's can be under way, and the lock is younger than the journal and holds nothing foreign.


def locks_on(repository: Repository, branch: str) -> list[Path]:
    """The lock files that stand in the way of moving `branch`, which HEAD is on."""
    locks = (repository.git_dir / "HEAD.lock", repository.common_dir / f"{branch}.lock")
    return [lock for lock in locks if os.path.lexists(lock)]


def clear_dead_locks(
    repository: Repository, branch: str, commit: str | None, since_ns: int
) -> None:
    """Remove the locks on HEAD and `branch` that our update to `commit` left.

    `since_ns` is when the journal was written (mtime, ns). A lock with other contents, or an older
    one, is somebody's and stays: the update that follows then fails and names it.
    """
    ours = [lock for lock in locks_on(repository, branch) if _is_our_lock(lock, commit, since_ns)]
    deadline = time.monotonic() + ALIVE
    while ours and time.monotonic() < deadline:
        time.sleep(_LOOK)
        ours = [lock for lock in ours if _is_our_lock(lock, commit, since_ns)]
    for lock in ours:
        lock.unlink(missing_ok=True)


def _is_our_lock(lock: Path, commit: str | None, since_ns: int) -> bool:
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
