"""What a write does where git is ready, where there is none, and where it must wait.

Ready: one commit, behind a checkpoint. No git, or a repository in the middle of something: what
only adds is written all the same, and what destroys is refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from mdmemory.config.table import PROJECT_FILE
from mdmemory.errors import (
    Ambiguous,
    GitFailed,
    MdmemoryError,
    NoGit,
    NoState,
    NoteChanged,
    NotFound,
    RepositoryState,
)
from mdmemory.files import list_names, require_utf8
from mdmemory.git import replacement, repositories
from mdmemory.git.commits_of_store import KEEP, History, Message, memory_trailers, new_id
from mdmemory.git.journal import Journals
from mdmemory.git.lock import USUAL, Patience, hold_lock
from mdmemory.git.persons_git import Signer
from mdmemory.git.private_folder import is_folder
from mdmemory.git.transaction import Change, Checkpoint, Transactions, recover
from mdmemory.store.project import INBOX, PRIVATE, Project
from mdmemory.store.refresh import Refresher
from mdmemory.store.state import State
from mdmemory.store.store import LEDGER, StoredNote


class NoteSource(NamedTuple):
    """A store that is looked in; `prefix` stands before its files in what is told."""

    prefix: str
    writer: Writer


class StoredIn(NamedTuple):
    """A note, and the store that it lies in."""

    source: NoteSource
    stored: StoredNote

    @property
    def file(self) -> str:
        """Its file as it is told."""
        return f"{self.source.prefix}{self.stored.file}"


def find_note(sources: Sequence[NoteSource], name: str) -> StoredIn:
    """The note of this name, stem or file: with the prefix of a source in that one, else in the
    first that has it. A note on hold is none. Raises NotFound, Ambiguous."""
    name = name.strip()
    meant = [each for each in sources if each.prefix and name.startswith(each.prefix)]
    for source in meant or sources:
        try:
            store, short = source.writer.refresher.store, name.removeprefix(source.prefix)
            stored = store.find(short, former=False)
        except Ambiguous:
            raise
        except NotFound:
            continue
        if stored.file not in source.writer.refresher.catalog().held and stored.note.text:
            return StoredIn(source, stored)
    raise NotFound(f"There is no note {name[:80]!r}.", "Name its file, as memory_search gives it.")


TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Group(NamedTuple):
    """One op of a write: the files it changes together, and its line in the commit message."""

    line: str
    changes: tuple[Change, ...]


class Written(NamedTuple):
    """What became of a write. Without git `commit` is None; `kept` names what was left as it is.

    `waits`: it is kept in git, and the next command that a person types commits it.
    """

    id: str | None = None
    commit: str | None = None
    checkpoint: str | None = None
    kept: tuple[tuple[str, str], ...] = ()
    waits: bool = False

    @property
    def done(self) -> bool:
        """Whether git has it, be it in no branch yet."""
        return self.waits or self.commit is not None


class Writer:
    """Writes into one store. `is_secret` tells which text is never committed.

    `tell` hears in sentences what became of a write that an earlier process could not finish.
    `automatic`: no person typed the command, so that a branch of theirs must not move by it.
    """

    def __init__(
        self, project: Project, is_secret: Callable[[str], bool], holder: str,
        tell: Callable[[str], None] = lambda _: None, automatic: bool = False,
        patience: Patience | None = None,
    ) -> None:  # fmt: skip
        self.project = project
        self.tell = tell
        self.automatic, self.patience = automatic, patience or USUAL
        self.refresher = Refresher(project, is_secret)
        self.holder = holder
        self.repository: repositories.Repository | None = None
        self.trouble: RepositoryState | None = None
        try:
            self.repository = repositories.find(project.store)
        except RepositoryState as problem:  # bare, or another's: reading goes on all the same
            self.trouble = problem
        self.history = History(self.repository, project.store) if self.repository else None
        if self.history and (lost := self.history.find_lost()):
            self.repository, self.history, self.trouble = None, None, lost

    @contextmanager
    def lock_store(self) -> Iterator[None]:
        """Hold the store for the block, after finishing what a killed process left; then MEMORY.md
        is up to date, whether anything was written or not.

        Raises Busy, naming the holder, when our turn does not come in time.
        """
        with self.lock_recovered():
            self.commit_what_waits()
            yield
            self.commit_inbox()
            # what wrote nothing shows a hand edit all the same; a person's merge is left alone
            if self.repository is None or repositories.refusal(self.repository) is None:
                self.refresher.settle()

    @contextmanager
    def lock_recovered(self) -> Iterator[None]:
        """Hold the store for the block, after finishing what a killed process left."""
        require_utf8([str(self.project.store)])
        private = None
        try:
            private = self.project.prepare_private()
        except NoState:  # with git nothing needs it
            if self.repository is None:
                raise
        common = self.repository.common_dir / "mdmemory.lock" if self.repository else None
        reading = self.history.objects.open() if self.history else nullcontext()
        path = common or self.project.private / "lock"
        with hold_lock(path, self.holder, self.patience), reading:
            self.refresher.forget()  # what was seen before the lock may be of yesterday
            if self.history and not self.automatic and not self.is_own:
                self.history.signer = Signer(self.history.repository, self.tell)
            for sentence in self._recover_store(private):
                self.tell(sentence)
            if self.history is None:  # with git, `recover` knows whether there is anything
                replacement.sweep_fresh(self.project.store)
            yield

    def _recover_store(self, private: Path | None) -> list[str]:
        """Finish what killed processes left; the sentences on that. Mostly there is nothing."""
        sentences: list[str] = []
        if self.history:
            sentences += recover(Transactions(self.history))
        plain = Journals(private, self.project.store) if private else None  # of writes without git
        if plain and (journal := plain.read()):
            sentences += plain.resume(self.project.store, journal)
        root, store = self.project.root, self.project.store
        within = filter(is_folder, (root / PRIVATE, root / PRIVATE / "aside"))
        for folder in {root, root / ".opencode", *within, store}:
            names = list_names(folder)
            replacement.sweep_copies(folder, names)
            if folder == store and any(name.startswith(replacement.OPEN_MARK) for name in names):
                sentences += replacement.sweep_open_texts(store, names)
        return sentences

    @cached_property
    def waits(self) -> bool:
        """Whether a write of ours is automatic and the repository a person's own: their branch
        does not move then, and what is written waits for a command that they type."""
        return self.automatic and self.history is not None and not self.is_own

    @cached_property
    def is_own(self) -> bool:
        """Whether the store is a repository of its own; one at a project's root is the memory's
        own in the memory folder, and elsewhere unless it holds more than notes."""
        if self.history is None or self.history.prefix:
            return False
        store = os.path.realpath(self.project.store)
        home = os.path.realpath(os.path.expanduser(self.project.settings.text("memory.home")))
        if store != os.path.realpath(self.project.root) or os.path.dirname(store) == home:
            return True
        return not self.history.holds_other_work()

    def commit_inbox(self) -> None:
        """Where the repository is our own, commit what came into the inbox and what went. The
        caller holds the lock; what cannot be committed now is by a later command."""
        if self.history is None or not (self.project.store / INBOX).is_dir():
            return
        if self.is_own and self.refusal() is None:
            from mdmemory.store import inbox

            try:
                inbox.commit_inbox(self.history, self.refresher.is_secret)
            except (RepositoryState, GitFailed) as problem:
                if Transactions(self.history).journals.is_open():
                    raise
                self.tell(f"The inbox is not committed yet: {problem.message}")

    def commit_what_waits(self) -> None:
        """Commit the writes that no branch has yet, where that may be now; else a later command
        does. The caller holds the lock."""
        history = self.history
        if history is None or self.waits or not history.kept.list_entries() or self.refusal():
            return
        from mdmemory.store import uncommitted

        try:
            uncommitted.commit_kept(self.refresher, history, self.tell, self._index)
        except (RepositoryState, GitFailed) as problem:
            if Transactions(history).journals.is_open():
                raise
            self.tell(f"What waits to be committed goes on waiting: {problem.message}")

    def refusal(self, patience: float = 0.0) -> MdmemoryError | None:
        """Why nothing destructive can be done now (no git, a merge under way...), or None.

        Another git process's lock is waited for, up to `patience` seconds.
        """
        if self.trouble:
            return self.trouble
        if self.repository is None:
            if not repositories.is_installed():
                return NoGit("git is not installed, and without it this could not be taken back.",
                             "Install git, then run `mdmemory init`.")  # fmt: skip
            return NoGit(
                f"{self.project.store} is in no git repository, so this could not be taken back.",
                f"Make it one: `mdmemory init {self.project.root}`.",
            )
        if self.waits:  # neither the branch nor the index is touched
            return repositories.find_unfinished(self.repository)
        return repositories.refusal(self.repository, patience)

    def require_history(self, patience: float = 0.0) -> History:
        """The history of the store. Raises why nothing can be committed to it now."""
        refusal = self.refusal(patience)
        if refusal or self.history is None:
            raise refusal or NoGit("There is no git repository.")
        return self.history

    def state(self) -> State:
        """What is remembered of our own work; `tell` hears where that is not to be had."""
        return State(self.project.state_file, self.tell)

    def write(
        self, subject: str, groups: Sequence[Group], *, kind: str, destructive: bool = False,
        trailers: Sequence[tuple[str, str]] = (), by_model: bool = False,
        checkpoint: Checkpoint | None = None,
    ) -> Written:  # fmt: skip
        """Write all groups, in one commit where that can be. The caller holds the lock.

        Raises what `refusal` says when `destructive` and not ready; NoteChanged when a file is not
        what its change says, before anything is written.
        """
        changes = [change for group in groups for change in group.changes]
        refusal = self.refusal(repositories.PATIENCE)
        if refusal and (destructive or any(change.new is None for change in changes)):
            raise refusal
        if self.history is None:
            from mdmemory.store.uncommitted import write_plainly

            left = write_plainly(self.project.store, self.project.prepare_private(), changes)
            self.refresher.refresh()
            return Written(kept=self._report_unchanged(left))
        files = [[change.file for change in group.changes] for group in groups]
        lines, id = [group.line for group in groups], new_id()
        if refusal or self.waits:
            about = memory_trailers(kind, trailers, groups=files, id=id)
            return self._write_uncommitted(id, changes, Message(subject, lines, about, by_model))
        transactions = Transactions(self.history)
        if checkpoint is None:
            old = [change.file for change in changes if change.old is not None]
            how = {"destructive": destructive, "flags": LEDGER not in [c.file for c in changes]}
            checkpoint = self._adopt_and_check(old, **how)
        made = [("Memory-Checkpoint", str(checkpoint.commit))] if checkpoint.made else []
        about = memory_trailers(kind, [*trailers, *made], groups=files, id=id)
        message = Message(subject, lines, about, by_model)
        derived = [*self._index(changes), *self._with_place(changes)]
        done = transactions.apply([*changes, *derived], checkpoint, message)
        kept_aside = self._report_unchanged(done.unchanged) if done.unchanged else ()
        if kept_aside:
            self.refresher.refresh()
        else:
            self.refresher.follow()
        before = checkpoint.commit if checkpoint.made else None
        return Written(id if done.commit else None, done.commit, before, kept_aside)

    def _write_uncommitted(self, id: str, changes: Sequence[Change], message: Message) -> Written:
        """Without a commit on the branch, which a later command makes."""
        from mdmemory.store import uncommitted

        assert self.history
        if not changes:
            return Written()
        is_new, left = uncommitted.write(self.history, changes, self._index(changes), message)
        self.refresher.refresh()
        waits = is_new and self.waits
        return Written(id if waits else None, kept=self._report_unchanged(left), waits=waits)

    def join(
        self, changes: Sequence[Change], ours: str | None, theirs: str, message: Message | None
    ) -> Written:
        """Merge the history that `theirs` ends into the one of HEAD, `ours`: the changes are what
        it brings. Without a `message` the branch moves to `theirs`, which says the same.

        The caller holds the lock. Raises what `write` raises; then nothing has happened.
        """
        transactions = Transactions(self.require_history(repositories.PATIENCE))
        files = [change.file for change in changes if change.old is not None]
        checkpoint = transactions.checkpoint(files, KEEP)
        if checkpoint.commit != ours:
            raise NoteChanged("A note was changed in this moment.", "Run the command again.")
        index = self._index(changes) if message else []
        done = transactions.apply([*changes, *index], checkpoint, message, joins=theirs)
        self.refresher.refresh()
        return Written(None, done.commit, kept=self._report_unchanged(done.unchanged))

    def checkpoint_all(self, touched: Sequence[str]) -> Checkpoint:
        """A checkpoint of the whole store as it is: before a compaction that touches `touched`.

        Held notes, notes that git is told not to see and notes that cannot be read are left out
        unless they are touched. Raises SuddenLoss.
        """
        transactions = Transactions(self.require_history(repositories.PATIENCE))
        heads = self.refresher.catalog()
        held_files = heads.held
        files = [file for file in heads.files if file not in held_files]
        files += [LEDGER] if (self.project.store / LEDGER).exists() else []
        unseen = transactions.list_unseen(files)
        files = [file for file in files if file not in unseen or file in touched]
        needed = {*files} & {*touched}
        adopted = self._adopt_and_check(needed, destructive=True, flags=False)
        # all of them once more, by hash: a compaction reads many notes and trusts none
        whole = transactions.checkpoint(needed, KEEP, others={*files} - needed)
        return whole._replace(made=adopted.made or whole.made)

    def adopt(
        self, *, settled: float = 0.0, accepted: Collection[str] = (), accept_loss: bool = False,
        only: Collection[str] | None = None,
    ) -> str | None:  # fmt: skip
        """Commit what other hands did, and give the commit; None where there was nothing to commit,
        or none can be made now. The caller holds the lock; options are those of `adopt_changes`."""
        if self.history is None or self.waits or self.refusal(repositories.PATIENCE):
            return None
        checkpoint = self._adopt_and_check(
            (), accepted=accepted, accept_loss=accept_loss, settled=settled, only=only
        )
        return checkpoint.commit if checkpoint.made else None

    def _adopt_and_check(self, needed: Collection[str], **how: Any) -> Checkpoint:
        """A checkpoint of these files, after one commit of all that other hands did."""
        from mdmemory.store import adopt

        assert self.history
        about = (self.refresher, Transactions(self.history), needed, self.tell, self._index)
        return adopt.adopt_changes(*about, **how)

    def _index(self, changes: Sequence[Change]) -> list[Change]:
        self.refresher.require_ours()
        if not self.project.settings.switch("index.tracked"):
            return []
        return self.refresher.after(changes)

    def _with_place(self, changes: Sequence[Change]) -> list[Change]:
        """What the store's own file is to say of its project, where that is known better now."""
        project = self.project
        is_set = any(change.file == PROJECT_FILE for change in changes)  # by an undo of a setting
        if project.around is None or is_set:
            return []
        from mdmemory.store import home

        known = home.met_again(project.store, project.around, project.is_moved)
        # what a person wrote there is in the new text, too
        return [Change(PROJECT_FILE, None, known[1], derived=True)] if known else []

    def _report_unchanged(
        self, unchanged: Sequence[tuple[str, str]]
    ) -> tuple[tuple[str, str], ...]:
        """Those of the files that stayed as they are; of the others, `tell` hears."""
        for file, why in unchanged:
            if why.startswith(replacement.OPEN):
                self.tell(f"{file}: {why}.")
        return tuple(each for each in unchanged if not each[1].startswith(replacement.OPEN))
