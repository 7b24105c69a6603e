"""From a commit that nothing refers to yet to a branch, files and an index that say the same.

Order: git's lock on the index, the commit, the journal, the branch by compare-and-swap, the files
one by one, the index, the journal dropped, the lock given back. Before the journal nothing has
happened; after it the next start finishes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType

from mdmemory.errors import GitFailed, RepositoryState
from mdmemory.files import writing
from mdmemory.git import commits, reflocks, replacement, repositories
from mdmemory.git.commits import Entries
from mdmemory.git.commits_of_store import History, Message, Staged
from mdmemory.git.index_file import Staging
from mdmemory.git.journal import Journal, Journals, new_id
from mdmemory.git.trees import Blob
from mdmemory.git.waiting import Waiting


@dataclass(frozen=True, slots=True)
class Write:
    """What is to be committed on top of `base`, and what the files are there and in the index.

    `texts` are the bytes of the entries that git may not have yet.
    """

    id: str
    base: str | None
    entries: Entries
    held: Mapping[str, Blob]
    staged: Mapping[str, Staged]
    texts: Sequence[bytes] = ()

    def changes(self) -> bool:
        """Whether `base` says anything else."""
        return any(self.held.get(file) != blob for file, blob in self.entries.items())


class Publisher:
    """Makes writes to one folder happen, each whole or not at all.

    With `waiting` no branch moves and the person's index stays: the commits go to that chain.
    """

    def __init__(self, history: History, waiting: Waiting | None = None) -> None:
        self.history = history
        self.waiting = waiting
        self.folder = history.folder
        self.staging = Staging(history)
        self.journals = Journals(history.repository.room, history.repository.top)

    def base(self) -> str | None:
        """The commit that the next one stands on."""
        return self.waiting.base() if self.waiting else self.history.head()

    @contextmanager
    def locked(self) -> Iterator[str]:
        """Hold git's lock on the index for the block; it stays while a journal is open.

        From here on no git command of anybody's changes the index or switches the branch. What
        goes to the waiting chain needs no such lock. Gives the id of the transaction.
        """
        id = new_id()
        with writing(self.journals.room), self.history.trees.open():
            self.journals.prepare()
            if self.waiting:
                self.staging.mark(id)
            else:
                self.staging.take(id)
            try:
                yield id
            finally:
                if not self.journals.is_open():
                    self.staging.release()

    def publish(
        self,
        write: Write,
        message: Message,
        steps: Sequence[replacement.Move] = (),
        proof: Mapping[str, str] = MappingProxyType({}),
    ) -> tuple[str | None, replacement.Kept]:
        """Make it happen: the commit (`base` where that says the same), and what was kept.

        Whatever fails before the branch has moved leaves all as it was. `proof` are object ids
        that the commit must hold, or nothing happens.
        """
        self._prepare(write)
        commit = write.base
        if write.changes():
            commit = commits.build(self.history, commit, write.entries, message, write.texts)
        self._prove(commit, proof, write.entries)
        return commit, self._complete(write, commit, steps)

    def publish_ready(self, write: Write, commit: str) -> None:
        """The same with a commit that is built already and says what `write` does."""
        self._prepare(write)
        self._complete(write, commit, ())

    def _prepare(self, write: Write) -> None:
        if self.waiting:
            return
        # what is staged of our files leaves the index now; what only the index has is kept
        self.staging.keep(write.staged, write.held, write.entries)
        self.staging.prepare(write.id, write.entries)

    def _complete(
        self, write: Write, commit: str | None, steps: Sequence[replacement.Move]
    ) -> replacement.Kept:
        place = (self.waiting.ref, self.waiting.tip()) if self.waiting else None
        name, base = place or (self.history.branch(), write.base)
        folder = str(self.folder)
        journal = Journal(write.id, folder, [*steps], name, base, commit, write.entries)
        self.journals.write(journal)
        try:
            self.move_branch(journal)
        except BaseException:
            # unless it has moved all the same: then the next start goes on
            if self.history.commit(name) != commit:
                self.journals.drop()
            raise
        return self.finish(journal)

    def _prove(self, commit: str | None, ids: Mapping[str, str], written: Entries) -> None:
        # read back from the commit itself: `git status` would call an assume-unchanged file clean
        if not ids:
            return
        self.history.trees.forget()
        missing = self.history.differing(commit, ids)
        # what was there before is named by a tree that was there before; the rest is read
        new = [file for file in ids if file in written]
        bytes = self.history.trees.objects.read([ids[file] for file in new])
        missing += [file for file, found in zip(new, bytes, strict=True) if found is None]
        for file in missing:
            raise GitFailed(f"The checkpoint does not hold {file}; nothing was changed.")

    def move_branch(self, journal: Journal) -> None:
        """Move the branch from the journal's base to its commit, or raise RepositoryState."""
        if journal.commit is not None and journal.commit != journal.base:
            nothing = "0" * len(journal.commit)
            words = ("update-ref", "-m", "mdmemory", journal.branch, journal.commit)
            try:
                self.history.repository.run(*words, journal.base or nothing)
            except GitFailed as problem:
                tip = self.history.commit(journal.branch)
                if tip == journal.base:
                    raise self._why_not(journal) or problem from problem
                if tip != journal.commit:
                    name = journal.branch.removeprefix("refs/heads/")
                    raise RepositoryState(
                        f"Somebody else committed to {name} in this moment; nothing was changed.",
                        "Run the command again.",
                    ) from problem
        self.journals.mark_moved()

    def _why_not(self, journal: Journal) -> RepositoryState | None:
        """Whose lock kept the branch where it is; of a git of ours that was killed none stays."""
        repository, since = self.history.repository, self.journals.written_ns()
        reflocks.clear_dead(repository, journal.branch, journal.commit, since)
        locks = reflocks.on(repository, journal.branch)
        return repositories.lock_refusal(locks[0]) if locks else None

    def finish(self, journal: Journal) -> replacement.Kept:
        """Bring files and index up to the commit; what was kept instead, and why.

        Each step may have been done already. Raises Unwritable when the disk does not let it.
        """
        with replacement.finishing():
            kept = replacement.install_all(self.folder, journal.moves)
            if not self.waiting:
                self.staging.put(journal.id)
            # only now: an editor that was about to save has had its time
            kept = {**kept, **replacement.settle_all(self.folder, journal.moves)}
            self.journals.drop()
        return kept
