"""The only writer of commits. Files change only after the commit that can restore them exists.

A write takes a checkpoint, which is proof that git holds the bytes it replaces. Then: git's lock on
the index, the commit, the journal, the branch by compare-and-swap, the files one by one, the index,
the journal dropped, the lock given back. Before the journal nothing has happened.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from mdmemory.errors import GitFailed, MdmemoryError, RepositoryState
from mdmemory.files import digest, name_refusals, read_regular, require_utf8
from mdmemory.git import index_file, replacement, repositories
from mdmemory.git.commits_of_store import History, Message, Staged
from mdmemory.git.index_file import Staging
from mdmemory.git.journal import Journal, Journals
from mdmemory.git.objects import Blob
from mdmemory.git.replacement import MARK, Change
from mdmemory.git.repositories import is_ancestor

__all__ = ["MARK", "Applied", "Change", "Checkpoint", "Transactions"]


class Checkpoint(NamedTuple):
    """Proof that a commit's tree holds these bytes: `digests` are the sha256 of what was seen.

    Made by `Transactions.checkpoint` alone, from hashes read back from the commit. `commit` is
    None only on a branch without commits where nothing had to be kept. `made`: it is a new commit.
    """

    commit: str | None
    digests: Mapping[str, str]
    made: bool


class Applied(NamedTuple):
    """What a transaction did. `unchanged`: files that somebody else edited meanwhile, and why."""

    commit: str | None
    unchanged: tuple[tuple[str, str], ...] = ()


class Transactions:
    """Writes to one folder, each whole or not at all. The caller holds the store's lock."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.folder = history.folder
        self.staging = Staging(history)
        self.journals = Journals(history.repository.room, history.repository.top)

    @contextmanager
    def hold_index(self, index: bool = True) -> Iterator[str]:
        """Hold git's lock on the index for the block; it stays while a journal is open.

        From here on no git command of anybody's changes the index or switches the branch. Without
        `index` they may: for what commits nothing. Gives the id of the transaction.
        """
        id = os.urandom(6).hex()  # part of every name that the write makes
        with name_refusals(self.journals.room), self.history.objects.open():
            self.journals.prepare()
            if index:
                self.staging.take(id)
            else:
                self.staging.write_mark(id)
            try:
                yield id
            finally:
                if not self.journals.is_open():
                    self.staging.release()

    def publish(
        self,
        id: str,
        base: str | None,
        texts: Mapping[str, bytes | None],
        staged: Mapping[str, Staged],
        message: Message | None,
        changes: Sequence[Change] = (),
        proof: Mapping[str, str] = MappingProxyType({}),
        joins: str | None = None,
    ) -> tuple[str | None, replacement.Kept]:
        """Make it happen: these texts (None: removed) committed on top of `base`, and the changes
        to files. The commit (`base` where that says the same), and what was kept.

        Whatever fails before the branch has moved leaves all as it was. `joins` becomes a parent as
        well; without a `message` it is the commit. `staged` is what the index has of the files;
        `proof` are object ids that the commit must hold, or nothing happens.
        """
        tree, steps = self.history.read_tree(base, texts), replacement.plan_moves(changes, id)
        entries: dict[str, Blob | None] = dict.fromkeys(texts)
        for file, data in texts.items():
            if data is not None:
                entries[file] = Blob(self.mode(file, tree), self.history.blob_id(data))
        executable = {file for file, blob in entries.items() if blob and blob.mode == "100755"}
        try:
            replacement.write_fresh(self.folder, changes, steps, executable)
            # what is staged of our files leaves the index now; what only the index has is kept
            self.staging.keep(staged, tree, entries)
            self.staging.prepare(id, entries)
            commit = joins if message is None else base
            if message and (joins or any(tree.get(f) != blob for f, blob in entries.items())):
                new = [data for data in texts.values() if data is not None]
                commit = self.history.build(base, entries, message, new, joins)
            if proof:
                prove(self.history, commit, proof, entries)
            name, folder = self.history.branch(), str(self.folder)
            journal = Journal(id, folder, steps, name, base, commit, entries)
            self.journals.write(journal)
            try:
                self.move_branch(journal)
            except BaseException:
                # unless it has moved all the same: then the next start goes on
                if self.history.find_commit(name) != commit:
                    self.journals.drop()
                raise
        except BaseException:
            if not self.journals.is_open():
                replacement.forget_fresh(self.folder, steps)
            raise
        return commit, self.journals.finish(self.folder, journal, self.staging.put)

    def move_branch(self, journal: Journal) -> None:
        """Move the branch from the journal's base to its commit, or raise RepositoryState."""
        if journal.commit is not None and journal.commit != journal.base:
            nothing = "0" * len(journal.commit)
            words = ("update-ref", "-m", "mdmemory", journal.branch, journal.commit)
            try:
                self.history.repository.run(*words, journal.base or nothing)
            except GitFailed as problem:
                tip = self.history.find_commit(journal.branch)
                if tip == journal.base:
                    # whose lock kept it there; of a git of ours that was killed none stays
                    repository, since = self.history.repository, self.journals.written_ns()
                    ours = journal.branch, journal.commit
                    index_file.clear_dead_locks(repository, *ours, since)
                    if locks := index_file.locks_on(repository, journal.branch):
                        raise repositories.lock_refusal(locks[0]) from problem
                    raise
                if tip != journal.commit:
                    name = journal.branch.removeprefix("refs/heads/")
                    raise RepositoryState(
                        f"Somebody else committed to {name} in this moment; nothing was changed.",
                        "Run the command again.",
                    ) from problem
        self.journals.mark_moved()

    # the checkpoint

    def checkpoint(
        self, files: Iterable[str], message: Message, *, gone: Iterable[str] = (),
        others: Iterable[str] = (),
    ) -> Checkpoint:  # fmt: skip
        """Make sure that HEAD holds the bytes that these files have now, committing what it lacks.

        `gone` are files that HEAD has and a person removed by hand: the commit records that.
        `others` are left out where they cannot be read, such as a file of a gigabyte. Raises
        RepositoryState for a file that git is told not to see, NotFound for a missing one.
        """
        head = self.history.head()
        removed, needed, others = map(sorted, (gone, files, others))
        require_utf8([*removed, *needed, *others])
        seen = {file: read_regular(f"{self.folder}/{file}") for file in needed}
        for file in others:
            with suppress(MdmemoryError):
                seen[file] = read_regular(f"{self.folder}/{file}")
        digests = {file: digest(data) for file, data in seen.items()}
        ids = {file: self.history.blob_id(data) for file, data in seen.items()}
        lacking = self.history.list_differing(head, ids) if ids else []
        if not lacking and not removed:
            return Checkpoint(head, digests, made=False)
        with self.hold_index() as id:
            staged = self.history.read_index([*lacking, *removed])
            why = {file: there.closed for file, there in staged.items()}
            self.require_seen(lacking, why)
            # what was read: the files themselves may be something else by now
            texts = {**dict.fromkeys(removed), **{file: seen[file] for file in lacking}}
            commit, _ = self.publish(id, head, texts, staged, message, proof=ids)
        return Checkpoint(commit, digests, made=commit != head)

    # what git was told not to look at

    def list_unseen(
        self, files: Sequence[str], staged: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Which of these files we cannot commit as they are, and why: a promise we cannot keep.
        `staged`: of the files in the index, why git does not look at them ("": it does)."""
        staged = self.history.list_closed(files) if staged is None else staged
        ignored = self.history.list_ignored(file for file in files if file not in staged)
        reasons = dict.fromkeys(ignored, "is ignored by git")
        return reasons | {file: why for file in files if (why := staged.get(file))}

    def require_seen(self, files: Sequence[str], staged: Mapping[str, str] | None = None) -> None:
        """Raise RepositoryState where one of these files cannot be committed as it is."""
        for file, why in self.list_unseen(files, staged).items():
            raise RepositoryState(
                f"{file} {why}, so its bytes cannot be put where an undo would find them.",
                f"Undo that first; `git check-ignore -v {file}` or `git ls-files -v` shows it.",
            )

    # the write

    def apply(
        self, changes: Sequence[Change], checkpoint: Checkpoint, message: Message | None, *,
        others: Mapping[str, bytes | None] = MappingProxyType({}), joins: str | None = None,
    ) -> Applied:  # fmt: skip
        """Commit the changes on top of the checkpoint, then bring the files up to the commit.

        `others` are other files as they stand (None: gone), which are committed and not touched.

        Every file that is replaced or removed must be in the checkpoint with the digest that its
        change names (derived files excepted). Raises NoteChanged when a file is not what the
        change says, before anything happened. A file that changes later is kept and reported.
        `joins`, a commit of another history, becomes a parent as well; without a `message` it is
        the commit that the branch moves to, and the changes are those that lead there.
        """
        for change in changes:
            replacement.verify(self.folder, change)
            if change.old is not None and change.old != checkpoint.digests.get(change.file):
                raise MdmemoryError(f"No checkpoint holds {change.file}; nothing was changed.")
        if not (changes or others or joins):
            return Applied(None)
        with self.hold_index() as id:
            staged = self.history.read_index([*(change.file for change in changes), *others])
            why = {file: there.closed for file, there in staged.items()}
            files = [*(each.file for each in changes if not each.derived), *others]
            self.require_seen(files, why)
            # a derived file that git is told not to look at is no affair of the commit's
            changes = [c for c in changes if not c.derived or not why.get(c.file)]
            texts = {**others, **{change.file: change.new for change in changes}}
            commit, unchanged = self.publish(
                id, checkpoint.commit, texts, staged, message, changes, joins=joins
            )
        is_new = commit != checkpoint.commit or message is None
        return Applied(commit if is_new else None, tuple(unchanged.items()))

    def apply_uncommitted(
        self, changes: Sequence[Change], texts: Mapping[str, bytes | None]
    ) -> replacement.Kept:
        """Bring the files to what the changes say, and no branch; files that stay, and why.

        `texts` are the texts that git has of them. Raises NoteChanged before anything has happened.
        """
        for change in changes:
            replacement.verify(self.folder, change)
            old = texts.get(change.file)
            if change.old is not None and (old is None or digest(old) != change.old):
                raise MdmemoryError(f"No commit holds {change.file}; nothing was changed.")
        with self.hold_index(index=False) as id:
            return self.journals.finish(self.folder, self.journals.begin(self.folder, changes, id))

    def mode(self, file: str, tree: Mapping[str, Blob]) -> str:
        """The executable bit as git has it (the disk may have none); a new file's as on disk."""
        if file in tree:
            return "100755" if tree[file].mode == "100755" else "100644"
        path = self.folder / file
        return "100755" if path.exists() and path.stat().st_mode & 0o100 else "100644"


def prove(
    history: History, commit: str | None, ids: Mapping[str, str], written: Collection[str]
) -> None:
    """Raise GitFailed unless a commit holds these object ids, and git the bytes of the files that
    were `written` for it."""
    # read back from the commit itself: `git status` would call an assume-unchanged file clean
    history.objects.forget()
    missing = history.list_differing(commit, ids)
    # what was there before is named by a tree that was there before; the rest is read
    new = [file for file in ids if file in written]
    bytes = history.objects.read([ids[file] for file in new])
    missing += [file for file, data in zip(new, bytes, strict=True) if data is None]
    for file in missing:
        raise GitFailed(f"The checkpoint does not hold {file}; nothing was changed.")


# What a killed process left: finished where the branch holds its commit, or can; else given up. A
# person may have used git since the crash. Their word counts: what HEAD says of a file, what they
# staged, and every file that is not what the journal expects.


def recover(transactions: Transactions) -> tuple[str, ...]:
    """Finish what a killed process began; what there is to say of that, () when there was nothing.

    Safe to repeat. Raises what a write raises; then the journal stays, and with it our lock on
    git's index.
    """
    journals, staging = transactions.journals, transactions.staging
    try:
        has_leftovers = journals.room.is_symlink() or bool(os.listdir(journals.room))
    except OSError as problem:
        has_leftovers = not isinstance(problem, FileNotFoundError)
    ours = transactions.history.repository.common_dir / index_file.OURS
    if not has_leftovers and not any(ours.rglob("*.lock")):
        return ()  # as mostly
    journal = journals.read()
    sentences: tuple[str, ...] = ()
    with name_refusals(journals.room):
        if journal is not None:
            # the folder of the journal may be another than ours: `init` writes above the store
            history = History(transactions.history.repository, Path(journal.folder))
            sentences = _resume(Transactions(history), journal)
        if journals.room.is_dir():
            # those on refs of our own, which only the holder of the store's lock writes
            for lock in ours.rglob("*.lock"):
                lock.unlink(missing_ok=True)
            journals.prepare()
            if any(staging.room.glob("*.held")):  # else there are no new bytes of a write
                replacement.sweep_fresh(transactions.folder)
            staging.release()
    return sentences


def _resume(transactions: Transactions, journal: Journal) -> tuple[str, ...]:
    history, staging, folder = transactions.history, transactions.staging, transactions.folder
    if not journal.branch:  # none is to move
        return transactions.journals.resume(folder, journal)
    had_lock = staging.is_ours()
    staging.take(journal.id)
    if journal.commit != journal.base:  # or no git of ours was to move the branch
        since = transactions.journals.written_ns()
        index_file.clear_dead_locks(history.repository, journal.branch, journal.commit, since)
    if _can_go_on(transactions, journal):
        transactions.move_branch(journal)
    commit, tip = journal.commit, history.head()
    is_reached = commit in (None, tip)
    if commit and tip and not is_reached:
        is_reached = is_ancestor(history.repository, commit, tip)
    # HEAD may have gone on, to other texts of our files: those are a person's
    there = history.read_tree(tip, journal.entries) if is_reached else {}
    ours = {file: blob for file, blob in journal.entries.items() if there.get(file) == blob}
    theirs = [move for move in journal.moves if not is_reached or move.file not in ours]
    # what was aside comes back; where its name is taken, the text stays aside
    apart = {move.file: why for move in theirs if (why := replacement.retract(folder, move))}
    if not is_reached:  # the branch is elsewhere, without the commit: the files stay
        transactions.journals.drop()
        kept = (f"{file}: {why}." for file, why in apart.items())
        return ("A write that was interrupted is given up.", *kept)
    # the old text is in the branch
    late = {move.file: why for move in theirs if (why := replacement.settle(folder, move))}
    steps = [move for move in journal.moves if move.file in ours]
    if not had_lock:  # without what a person staged since they removed our lock
        staged, old = history.read_index(ours), history.read_tree(journal.base, ours)
        blobs = {file: there.blob for file, there in staged.items() if not there.closed}
        ours = {
            file: blob
            for file, blob in ours.items()
            if blobs.get(file) == old.get(file) and (file in blobs or file not in staged)
        }
    staging.prepare(journal.id, ours)
    return transactions.journals.resume(folder, journal._replace(moves=steps), late, staging.put)


def _can_go_on(transactions: Transactions, journal: Journal) -> bool:
    """Whether the branch was not moved, and nothing happened since that stands in the way."""
    history = transactions.history
    if transactions.journals.has_moved():
        return False  # by us; if it is elsewhere by now, a person reset it
    if repositories.read_branch(history.repository) != journal.branch:
        return False
    # gc removes what nothing refers to, after two weeks
    there = journal.commit is None or history.find_commit(journal.commit) is not None
    return there and history.head() == journal.base
