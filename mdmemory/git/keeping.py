"""What stands behind a ref of ours: texts that a write replaced, and writes that no branch has yet.

Such a write changes the files alone. Before it does, two commits go behind the ref: the files as
they were, and as they are to be. Later one commit in the branch names such writes; what the ref has
stays, so that an undo takes back each of them by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mdmemory.files import digest, to_bytes
from mdmemory.git import log, repositories
from mdmemory.git.log import ID_TRAILER, Logged
from mdmemory.git.objects import Blob, Objects
from mdmemory.git.repositories import Repository

KEEP = "refs/mdmemory/keep/"  # what stands here no branch may hold, and nobody may lose
PARTS = "Memory-Parts"  # the ids of the writes that one commit brought into a branch
WAITS = "It is kept in git, and the next mdmemory command that you type commits it."


class Keeping:
    """The ref of one folder in one work tree. Whoever moves it holds the store's lock."""

    def __init__(self, repository: Repository, prefix: str, objects: Objects) -> None:
        self._repository, self._prefix, self._objects = repository, prefix, objects
        is_linked = repository.git_dir != repository.common_dir
        worktree = repository.git_dir.name if is_linked else ""
        about = to_bytes(f"{worktree}\0{prefix}")
        self._written, self._settled = (
            f"{KEEP}{what}/{digest(about)[:12]}" for what in ("written", "settled")
        )

    def tip(self) -> str | None:
        """The newest commit behind the ref; None where there was never anything."""
        return repositories.read_tip(self._repository, self._written)

    def move(self, commit: str, before: str | None) -> None:
        """Put `commit`, which stands on `before`, behind the ref."""
        self._move(self._written, commit, before)

    def list_entries(self) -> list[Logged]:
        """The writes that no branch has yet, newest first."""
        tip, settled = self.tip(), repositories.read_tip(self._repository, self._settled)
        if tip is None or tip == settled:
            return []
        entries = self._read(tip, *([f"^{settled}"] if settled else []))
        return [entry._replace(waits=True) for entry in entries]

    def read_left(self) -> dict[str, Blob | None]:
        """What these writes left of each file."""
        files = {file for entry in self.list_entries() for ops in entry.groups() for file in ops}
        tip = self.tip()
        if tip is None or not files:
            return {}
        there = self._objects.find_files(tip, (self._prefix + file for file in files))
        return {file: there.get(self._prefix + file) for file in files}

    def settle(self) -> None:
        """Nothing waits any more: all of it is in a branch, or others than these by now."""
        if (tip := self.tip()) is not None:
            self._move(self._settled, tip, repositories.read_tip(self._repository, self._settled))

    def find_by_trailer(self, trailer: str, value: str | None = None) -> list[Logged]:
        """All writes behind the ref that have this trailer (of this value), newest first."""
        return [
            entry
            for entry in self._read_all()
            if (there := entry.get(trailer)) is not None and value in (None, there)
        ]

    def list_parts(self, entry: Logged) -> list[Logged]:
        """The writes that a commit brought into a branch, newest first; itself where it is another
        commit, or they stand in another clone."""
        ids = (entry.get(PARTS) or "").split()
        parts = [each for each in self._read_all() if each.get(ID_TRAILER) in ids] if ids else []
        return parts if parts and len(parts) == len(ids) else [entry]

    def _read_all(self) -> list[Logged]:
        tip = self.tip()
        return [] if tip is None else self._read(tip)

    def _read(self, *words: str) -> list[Logged]:
        return [*log.read(self._repository, *log.OURS, *words, "--")]

    def _move(self, ref: str, commit: str, before: str | None) -> None:
        words = ("update-ref", "-m", "mdmemory", ref, commit, before or "0" * len(commit))
        self._repository.run(*words)


def group_ops(ops: Iterable[Sequence[str]]) -> list[list[str]]:
    """The files of all ops; those of ops that have one in common stand and fall together."""
    groups: list[list[str]] = []
    for op in ops:
        overlapping = [group for group in groups if not set(group).isdisjoint(op)]
        groups = [group for group in groups if group not in overlapping]
        groups.append([*dict.fromkeys([file for group in overlapping for file in group] + [*op])])
    return groups
