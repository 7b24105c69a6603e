"""The only writer of commits. Files change only after the commit that can restore them exists.

A write takes a checkpoint, which is proof that git holds the bytes it replaces. How it is made to
happen whole or not at all is in `publishing`, what follows a crash in `recovery`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from mdmemory.errors import MdmemoryError, RepositoryState
from mdmemory.files import digest, read_regular, require_utf8
from mdmemory.git import recovery, replacement
from mdmemory.git.commits_of_store import History, Message, Staged
from mdmemory.git.publishing import Publisher, Write
from mdmemory.git.replacement import MARK, Change
from mdmemory.git.trees import Blob
from mdmemory.git.waiting import Waiting

__all__ = ["MARK", "Applied", "Change", "Checkpoint", "Transactions"]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Proof that a commit's tree holds these bytes: `digests` are the sha256 of what was seen.

    Made by `Transactions.checkpoint` alone, from hashes read back from the commit. `commit` is
    None only on a branch without commits where nothing had to be kept. `made`: it is a new commit.
    """

    commit: str | None
    digests: Mapping[str, str]
    made: bool


@dataclass(frozen=True, slots=True)
class Applied:
    """What a transaction did. `kept`: files that somebody changed meanwhile, left as they are."""

    commit: str | None
    kept: tuple[tuple[str, str], ...] = ()


class Transactions:
    """Writes commits for one folder. The caller holds the store's lock throughout.

    With `waiting` they are commits to be, and no branch moves.
    """

    def __init__(self, history: History, waiting: Waiting | None = None) -> None:
        self.history = history
        self.folder = history.folder
        self.publisher = Publisher(history, waiting)

    def is_open(self) -> bool:
        """Whether a killed process left a journal that the next write will finish."""
        return self.publisher.journals.is_open()

    def recover(self) -> tuple[str, ...]:
        """Finish what a killed process began; sentences on that, () when there was nothing.

        Safe to repeat.
        """
        return recovery.recover(self.publisher)

    # the checkpoint

    def checkpoint(
        self, files: Iterable[str], message: Message, *, gone: Iterable[str] = (),
        others: Iterable[str] = (),
    ) -> Checkpoint:  # fmt: skip
        """Make sure that HEAD (or what waits) holds the bytes that these files have now, committing
        what it lacks.

        `gone` are files that HEAD has and a person removed by hand: the commit records that.
        `others` are left out where they cannot be read, such as a file of a gigabyte. Raises
        RepositoryState for a file that git is told not to see, NotFound for a missing one.
        """
        head, removed, needed, others = self.publisher.base(), *map(sorted, (gone, files, others))
        require_utf8([*removed, *needed, *others])
        seen = {file: read_regular(f"{self.folder}/{file}") for file in needed}
        for file in others:
            with suppress(MdmemoryError):
                seen[file] = read_regular(f"{self.folder}/{file}")
        digests = {file: digest(data) for file, data in seen.items()}
        ids = {file: self.history.blob_id(data) for file, data in seen.items()}
        lacking = self.history.differing(head, ids)
        if not lacking and not removed:
            return Checkpoint(head, digests, made=False)
        with self.publisher.locked() as id:
            staged = self.history.staged([*lacking, *removed])
            self._refuse(self._closed(lacking, _why(staged)))
            held = self.history.tree(head, [*lacking, *removed])
            entries: dict[str, Blob | None] = dict.fromkeys(removed)
            entries |= {file: Blob(self._mode(file, held), ids[file]) for file in lacking}
            # what was read: the files themselves may be something else by now
            write = Write(id, head, entries, held, staged, [seen[file] for file in lacking])
            commit, _ = self.publisher.publish(write, message, proof=ids)
        return Checkpoint(commit, digests, made=commit != head)

    # what git was told not to look at

    def unseen(self, files: Sequence[str]) -> dict[str, str]:
        """Which of these files we cannot commit as they are, and why: a promise we cannot keep."""
        return self._closed(files, self.history.closed(files))

    def _closed(self, files: Sequence[str], staged: Mapping[str, str]) -> dict[str, str]:
        """`staged`: of the files in the index, why git does not look at them ("": it does)."""
        ignored = self.history.ignored(file for file in files if file not in staged)
        found = dict.fromkeys(ignored, "is ignored by git")
        return found | {file: why for file in files if (why := staged.get(file))}

    def _refuse(self, closed: Mapping[str, str]) -> None:
        for file, why in closed.items():
            raise RepositoryState(
                f"{file} {why}, so its bytes cannot be put where an undo would find them.",
                f"Undo that first; `git check-ignore -v {file}` or `git ls-files -v` shows it.",
            )

    # the write

    def apply(self, changes: Sequence[Change], checkpoint: Checkpoint, message: Message) -> Applied:
        """Commit the changes on top of the checkpoint, then bring the files up to the commit.

        Every file that is replaced or removed must be in the checkpoint with the digest that its
        change names (derived files excepted). Raises NoteChanged when a file is not what the
        change says, before anything happened. A file that changes later is kept and reported.
        """
        for change in changes:
            self._verify(change, checkpoint)
        if not changes:
            return Applied(None)
        with self.publisher.locked() as id:
            staged = self.history.staged(change.file for change in changes)
            why = _why(staged)
            self._refuse(self._closed([c.file for c in changes if not c.derived], why))
            # a derived file that git is told not to look at is no affair of the commit's
            changes = [c for c in changes if not c.derived or not why.get(c.file)]
            steps = replacement.planned(changes, id)
            try:
                return self._apply(changes, steps, checkpoint, message, staged, id)
            except BaseException:
                if not self.is_open():
                    replacement.forget_fresh(self.folder, steps)
                raise

    def _apply(
        self, changes: Sequence[Change], steps: list[replacement.Move], checkpoint: Checkpoint,
        message: Message, staged: Mapping[str, Staged], id: str,
    ) -> Applied:  # fmt: skip
        held = self.history.tree(checkpoint.commit, [change.file for change in changes])
        modes = {change.file: self._mode(change.file, held) for change in changes}
        executable = {file for file, mode in modes.items() if mode == "100755"}
        replacement.write_fresh(self.folder, changes, steps, executable)
        entries: dict[str, Blob | None] = {
            c.file: Blob(modes[c.file], self.history.blob_id(c.new)) if c.new is not None else None
            for c in changes
        }
        texts = [change.new for change in changes if change.new is not None]
        write = Write(id, checkpoint.commit, entries, held, staged, texts)
        commit, kept = self.publisher.publish(write, message, steps)
        return Applied(None if commit == checkpoint.commit else commit, tuple(kept.items()))

    def _verify(self, change: Change, checkpoint: Checkpoint) -> None:
        replacement.verify(self.folder, change)
        held = checkpoint.digests.get(change.file)
        if change.old is not None and change.old != held:
            raise MdmemoryError(f"No checkpoint holds {change.file}; nothing was changed.")

    def _mode(self, file: str, held: Mapping[str, Blob]) -> str:
        """The executable bit as git has it (the disk may have none); a new file's as on disk."""
        if file in held:
            return "100755" if held[file].mode == "100755" else "100644"
        path = self.folder / file
        return "100755" if path.exists() and path.stat().st_mode & 0o100 else "100644"


def _why(staged: Mapping[str, Staged]) -> dict[str, str]:
    return {file: there.closed for file, there in staged.items()}
