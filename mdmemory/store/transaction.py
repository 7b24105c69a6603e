"""The only writer of commits. Files change only after the commit that can restore them exists.

Order of a write: git's lock on the index, the commit, the journal, the branch by compare-and-swap,
the files one by one, the index, the journal dropped, the lock. A crash before the journal means
that nothing happened; after it, the next start finishes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from mdmemory.errors import GitFailed, MdmemoryError, RepositoryState
from mdmemory.files import digest, read_regular, writing
from mdmemory.store import commits, moves
from mdmemory.store.commits import Entries
from mdmemory.store.history import Blob, History, Message, Staged
from mdmemory.store.journal import Journal, Journals, new_id
from mdmemory.store.moves import MARK, Change
from mdmemory.store.staging import Staging

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


@dataclass(frozen=True, slots=True)
class _Write:
    """What is to be committed on top of `base`, and what the files are there and in the index."""

    id: str
    base: str | None
    entries: Entries
    held: Mapping[str, Blob]
    staged: Mapping[str, Staged]

    def changes(self) -> bool:
        """Whether `base` says anything else."""
        return any(self.held.get(file) != blob for file, blob in self.entries.items())


class Transactions:
    """Writes commits for one folder. The caller holds the store's lock throughout."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.folder = history.folder
        self.staging = Staging(history)
        self.journals = Journals(history.repository.room, history.repository.top)

    # the checkpoint

    def checkpoint(
        self, files: Iterable[str], message: Message, *, gone: Iterable[str] = ()
    ) -> Checkpoint:
        """Make sure that HEAD holds the bytes that these files have now, committing what it lacks.

        `gone` are files that HEAD has and a person removed by hand: the commit records that.
        Raises RepositoryState for a file that git is told not to see, NotFound for a missing one.
        """
        head, removed = self.history.head(), sorted(gone)
        seen = {file: read_regular(self.folder / file) for file in sorted(files)}
        held = self.history.tree(head, [*seen, *removed])
        digests = {file: digest(data) for file, data in seen.items()}
        ids = {file: self.history.blob_id(data) for file, data in seen.items()}
        lacking = [file for file in seen if file not in held or held[file].id != ids[file]]
        if not lacking and not removed:
            return Checkpoint(head, digests, made=False)
        with self._locked() as id:
            staged = self.history.staged([*lacking, *removed])
            self._refuse(self._closed(lacking, staged))
            self._write_blobs({file: seen[file] for file in lacking}, ids, id)
            entries: dict[str, Blob | None] = dict.fromkeys(removed)
            entries |= {file: Blob(self._mode(file, held), ids[file]) for file in lacking}
            write = _Write(id, head, entries, held, staged)
            commit, _ = self._publish(write, message, proof=ids)
        return Checkpoint(commit, digests, made=commit != head)

    def _write_blobs(self, data: Mapping[str, bytes], ids: Mapping[str, str], id: str) -> None:
        # copies of what was read: the files themselves may be something else by now
        copies = []
        for number, content in enumerate(data.values()):
            copies.append(self.journals.room / f"{id}-{number}.copy")
            copies[-1].write_bytes(content)
        if commits.write_blobs(self.history, copies) != [ids[file] for file in data]:
            raise GitFailed("git stored other bytes than it was given; nothing was changed.")

    def _prove(self, commit: str | None, ids: Mapping[str, str]) -> None:
        # read back from the commit itself: `git status` would call an assume-unchanged file clean
        held = self.history.tree(commit, ids)
        for file, blob in ids.items():
            if file not in held or held[file].id != blob:
                raise GitFailed(f"The checkpoint does not hold {file}; nothing was changed.")

    # what git was told not to look at

    def unseen(self, files: Sequence[str]) -> dict[str, str]:
        """Which of these files we cannot commit as they are, and why: a promise we cannot keep."""
        return self._closed(files, self.history.staged(files))

    def _closed(self, files: Sequence[str], staged: Mapping[str, Staged]) -> dict[str, str]:
        ignored = self.history.ignored(file for file in files if file not in staged)
        found = dict.fromkeys(ignored, "is ignored by git")
        return found | {file: staged[file].closed for file in files if _is_closed(file, staged)}

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
        with self._locked() as id:
            staged = self.history.staged(change.file for change in changes)
            self._refuse(self._closed([c.file for c in changes if not c.derived], staged))
            # a derived file that git is told not to look at is no affair of the commit's
            changes = [c for c in changes if not c.derived or not _is_closed(c.file, staged)]
            steps = moves.planned(changes, id)
            try:
                return self._apply(changes, steps, checkpoint, message, staged, id)
            except BaseException:
                if not self.journals.is_open():
                    moves.forget_fresh(self.folder, steps)
                raise

    def _apply(
        self, changes: Sequence[Change], steps: list[moves.Move], checkpoint: Checkpoint,
        message: Message, staged: Mapping[str, Staged], id: str,
    ) -> Applied:  # fmt: skip
        held = self.history.tree(checkpoint.commit, [change.file for change in changes])
        modes = {change.file: self._mode(change.file, held) for change in changes}
        executable = {file for file, mode in modes.items() if mode == "100755"}
        moves.write_fresh(self.folder, changes, steps, executable)
        new = [step for step in steps if step.new is not None]
        paths = [moves.beside(self.folder, step.file, step.fresh) for step in new]
        entries: dict[str, Blob | None] = {change.file: None for change in changes}
        for step, blob in zip(new, commits.write_blobs(self.history, paths), strict=True):
            entries[step.file] = Blob(modes[step.file], blob)
        write = _Write(id, checkpoint.commit, entries, held, staged)
        commit, kept = self._publish(write, message, steps)
        return Applied(None if commit == checkpoint.commit else commit, tuple(kept.items()))

    def _verify(self, change: Change, checkpoint: Checkpoint) -> None:
        moves.verify(self.folder, change)
        held = checkpoint.digests.get(change.file)
        if change.old is not None and change.old != held:
            raise MdmemoryError(f"No checkpoint holds {change.file}; nothing was changed.")

    def _mode(self, file: str, held: Mapping[str, Blob]) -> str:
        """The executable bit as git has it (the disk may have none); a new file's as on disk."""
        if file in held:
            return "100755" if held[file].mode == "100755" else "100644"
        path = self.folder / file
        return "100755" if path.exists() and path.stat().st_mode & 0o100 else "100644"

    # the protocol

    @contextmanager
    def _locked(self) -> Iterator[str]:
        """Hold git's lock on the index for the block; it stays while a journal is open."""
        id = new_id()
        with writing(self.journals.room):
            self.journals.prepare()
            self.staging.take(id)
            try:
                yield id
            finally:
                if not self.journals.is_open():
                    self.staging.release()

    def _publish(
        self,
        write: _Write,
        message: Message,
        steps: Sequence[moves.Move] = (),
        proof: Mapping[str, str] = MappingProxyType({}),
    ) -> tuple[str | None, moves.Kept]:
        """Make it happen. Whatever fails before the branch has moved leaves all as it was.

        `proof` are object ids that the commit must hold, or nothing happens.
        """
        self.staging.keep(write.id, write.staged, write.held, write.entries)
        index = self.staging.prepare(write.id, write.entries)
        commit = write.base
        if write.changes():
            private = self.journals.room / f"{write.id}-private.index"
            args = (self.history, write.base, write.entries, message, private, index)
            commit = commits.build(*args)
        self._prove(commit, proof)
        branch, folder = self.history.branch(), str(self.folder)
        journal = Journal(write.id, folder, [*steps], branch, write.base, commit, write.entries)
        self.journals.write(journal)
        try:
            self._swap(journal)
        except BaseException:
            if self.history.commit(branch) != commit:
                self.journals.drop()
            raise
        return commit, self._finish(journal)

    def _swap(self, journal: Journal) -> None:
        """Move the branch from where the journal saw it, or fail."""
        if journal.commit is not None and journal.commit != journal.base:
            nothing = "0" * len(journal.commit)
            words = ("update-ref", "-m", "mdmemory", journal.branch, journal.commit)
            try:
                self.history.repository.run(*words, journal.base or nothing)
            except GitFailed:
                if self.history.commit(journal.branch) != journal.commit:
                    raise
        self.journals.mark_moved()

    def _finish(self, journal: Journal) -> moves.Kept:
        with moves.finishing():
            kept = moves.install_all(self.folder, journal.moves)
            self.staging.put(journal.id)
            # only now: an editor that was about to save has had its time
            kept = {**kept, **moves.settle_all(self.folder, journal.moves)}
            self.journals.drop()
        return kept

    # after a crash

    def is_open(self) -> bool:
        """Whether a killed process left a journal that the next write will finish."""
        return self.journals.is_open()

    def recover(self) -> bool:
        """Finish what a killed process began; whether there was anything. Safe to repeat."""
        journal = self.journals.read()
        if journal is not None:
            # the folder of the journal may be another than ours: `init` writes above the store
            Transactions(History(self.history.repository, Path(journal.folder)))._resume(journal)
        if self.journals.room.is_dir() and not self.journals.room.is_symlink():
            self.staging.release()
        return journal is not None

    def _resume(self, journal: Journal) -> None:
        was_ours = self.staging.is_ours()
        self.staging.take(journal.id)
        if not self.journals.has_moved() and self._can_swap(journal):
            self._swap(journal)
        tip = self.history.head()
        if not self._is_part_of(journal.commit, tip):
            self._give_up(journal)
            return
        # HEAD may have gone on, to other texts of our files: then those are a person's word
        there = self.history.tree(tip, journal.entries)
        ours = {file: blob for file, blob in journal.entries.items() if there.get(file) == blob}
        for step in journal.moves:
            if step.file not in ours:
                moves.retract(self.folder, step)
        if not was_ours:
            ours = self._still_old(ours, journal.base)
        self.staging.prepare(journal.id, ours)
        steps = [step for step in journal.moves if step.file in ours]
        self._finish(replace(journal, moves=steps))

    def _can_swap(self, journal: Journal) -> bool:
        """Whether nothing happened since the crash, so that the branch can still be moved."""
        git = self.history.repository
        branch = (git.ask("symbolic-ref", "-q", "HEAD") or b"").decode("utf-8", "replace").strip()
        if branch != journal.branch or self.history.head() != journal.base:
            return False
        # gc removes what nothing refers to, after two weeks
        return journal.commit is None or self.history.commit(journal.commit) is not None

    def _is_part_of(self, commit: str | None, tip: str | None) -> bool:
        if commit is None or commit == tip:
            return True
        return tip is not None and self.history.is_part_of(commit, tip)

    def _give_up(self, journal: Journal) -> None:
        """The branch went elsewhere, without the commit: the files stay what they are."""
        for step in journal.moves:
            moves.retract(self.folder, step)
        self.journals.drop()

    def _still_old(self, entries: Entries, base: str | None) -> dict[str, Blob | None]:
        """Without what a person staged: they removed our lock, so their index may have gone on."""
        staged, old = self.history.staged(entries), self.history.tree(base, entries)
        return {
            file: blob
            for file, blob in entries.items()
            if not _is_closed(file, staged)
            and (staged[file].blob if file in staged else None) == old.get(file)
        }


def _is_closed(file: str, staged: Mapping[str, Staged]) -> bool:
    return file in staged and bool(staged[file].closed)
