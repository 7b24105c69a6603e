"""The only writer of commits. Files change only after the commit that can restore them exists.

Order of a write: old bytes into a checkpoint commit, new bytes into a result commit, a journal,
the index lock, the branch by compare-and-swap, the files one by one, the index. A crash before
the journal means that nothing happened; after it, the next start rolls forward.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from mdmemory.errors import GitFailed, MdmemoryError, NoteChanged, NotFound, RepositoryState
from mdmemory.files import digest, read_regular, sync_folder, write_atomic, writing
from mdmemory.store.history import Blob, History, Message

PATIENCE = 5.0  # seconds to wait for somebody else's index.lock, which is never ours to delete
MARK = ".mdmemory-tx-"  # begins the names of new and aside bytes, beside the file they belong to


@dataclass(frozen=True, slots=True)
class Change:
    """One file of the folder: `old` is the sha256 it must have now (None: it must not exist).

    `new` None removes it. A `derived` file (the index) is replaced whatever it holds.
    """

    file: str
    old: str | None
    new: bytes | None
    derived: bool = False


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Proof that a commit's tree holds these bytes: `blobs` maps files to what was seen there.

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
class Move:
    """One step of the journal: `file` from the bytes `old` to `new`, by way of two hidden names."""

    file: str
    old: str | None
    new: str | None
    fresh: str
    aside: str
    derived: bool


@dataclass(frozen=True, slots=True)
class Journal:
    """What recovery needs to finish a transaction: written and synced before the branch moves."""

    id: str
    branch: str
    base: str | None
    commit: str
    folder: str
    moves: list[Move]
    entries: dict[str, tuple[str, str] | None]


class Transactions:
    """Writes commits for one folder. The caller holds the store's lock throughout."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.folder = history.folder
        self.room = history.repository.git_dir / "mdmemory"

    # the checkpoint

    def checkpoint(
        self, files: Iterable[str], message: Message, *, gone: Iterable[str] = ()
    ) -> Checkpoint:
        """Make sure that HEAD holds the bytes that these files have now, committing what it lacks.

        `gone` are files that HEAD has and a person removed by hand: the commit records that.
        Raises RepositoryState for a file that git is told not to see, NotFound for a missing one.
        """
        files = sorted(files)
        head = self.history.head()
        held = self.history.tree(head, files)
        seen = {file: read_regular(self.folder / file) for file in files}
        lacking = [f for f in files if f not in held or held[f].id != self.history.blob_id(seen[f])]
        self._refuse_unseen(lacking)
        entries: dict[str, Blob | None] = dict(self._blobs(lacking, seen, held))
        entries |= dict.fromkeys(gone)
        commit = head
        if entries:
            self.room.mkdir(exist_ok=True)
            commit = self.history.build(head, entries, message, self._private()) or head
        self._prove(commit, seen)
        digests = {file: digest(data) for file, data in seen.items()}
        if commit == head:
            return Checkpoint(head, digests, made=False)
        assert commit is not None
        self._publish(Journal(_new_id(), self.history.branch(), head, commit, str(self.folder), [],
                              {f: (b.mode, b.id) if b else None for f, b in entries.items()}))  # fmt: skip
        return Checkpoint(commit, digests, made=True)

    def _blobs(
        self, files: Sequence[str], seen: Mapping[str, bytes], held: Mapping[str, Blob]
    ) -> dict[str, Blob]:
        ids = self.history.write_blobs([self.folder / file for file in files])
        for file, blob in zip(files, ids, strict=True):
            if blob != self.history.blob_id(seen[file]):
                raise NoteChanged(f"{file} was saved while it was read.", "Run the command again.")
        return {f: Blob(self._mode(f, held), blob) for f, blob in zip(files, ids, strict=True)}

    def _refuse_unseen(self, files: Sequence[str]) -> None:
        for file, why in self.unseen(files).items():
            raise RepositoryState(
                f"{file} {why}, so its bytes cannot be put where an undo would find them.",
                f"Undo that first; `git check-ignore -v {file}` or `git ls-files -v` shows it.",
            )

    def unseen(self, files: Sequence[str]) -> dict[str, str]:
        """Which of these files git was told not to look at, and how: a promise we cannot keep."""
        found = dict.fromkeys(self.history.ignored(files), "is ignored by git")
        for file, staged in self.history.staged(files).items():
            if not staged.trusted:
                found[file] = "is marked assume-unchanged or skip-worktree in git"
        return found

    def _prove(self, commit: str | None, seen: Mapping[str, bytes]) -> None:
        # read back from the commit itself: `git status` would call an assume-unchanged file clean
        held = self.history.tree(commit, seen) if seen else {}
        for file, data in seen.items():
            if file not in held or held[file].id != self.history.blob_id(data):
                raise GitFailed(f"The checkpoint does not hold {file}; nothing was changed.")

    def _mode(self, file: str, held: Mapping[str, Blob]) -> str:
        if file in held:
            return held[file].mode
        try:
            return "100755" if os.lstat(self.folder / file).st_mode & 0o100 else "100644"
        except FileNotFoundError:
            return "100644"

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
        id = _new_id()
        moves = [_move(change, f"{MARK}{id}-{at}") for at, change in enumerate(changes)]
        try:
            entries = self._stage(changes, moves)
            commit = self.history.build(checkpoint.commit, entries, message, self._private())
            if commit is None:
                return self._forget(moves)
            plain = {f: (b.mode, b.id) if b else None for f, b in entries.items()}
            journal = Journal(
                id, self.history.branch(), checkpoint.commit, commit, str(self.folder), moves, plain
            )
            return Applied(commit, self._publish(journal))
        except BaseException:
            if not self._journal().exists():
                self._forget(moves)
            raise

    def _verify(self, change: Change, checkpoint: Checkpoint) -> None:
        path = self.folder / change.file
        if change.derived:
            return
        try:
            found = digest(read_regular(path))
        except NotFound:
            found = None
        if found != change.old:
            what = "is gone" if found is None else "has changed" if change.old else "exists already"
            raise NoteChanged(
                f"{change.file} {what} since it was read.", "Look at it and run the command again."
            )
        if change.old is not None and checkpoint.digests.get(change.file) != change.old:
            raise MdmemoryError(f"No checkpoint holds {change.file}; nothing was changed.")

    def _stage(self, changes: Sequence[Change], moves: Sequence[Move]) -> dict[str, Blob | None]:
        """Write the new bytes beside their files and into git; what the commit's tree shall say."""
        self.room.mkdir(exist_ok=True)
        written = [(c, m) for c, m in zip(changes, moves, strict=True) if c.new is not None]
        held = self.history.tree(self.history.head(), [c.file for c in changes])
        for change, move in written:
            fresh = self._beside(move.file, move.fresh)
            with writing(self.folder):
                fresh.parent.mkdir(parents=True, exist_ok=True)
                _write_new(fresh, change.new or b"", self._mode(change.file, held))
        blobs = self.history.write_blobs([self._beside(m.file, m.fresh) for _, m in written])
        entries: dict[str, Blob | None] = {change.file: None for change in changes}
        for (change, _), blob in zip(written, blobs, strict=True):
            entries[change.file] = Blob(self._mode(change.file, held), blob)
        return entries

    def _publish(self, journal: Journal) -> tuple[tuple[str, str], ...]:
        """From the journal on: index lock, branch, files, index. Each step may be done already."""
        prepared = self.room / f"{journal.id}.index"
        self._prepare_index(journal, prepared)
        self._write_journal(journal)
        lock = self.history.repository.git_dir / "index.lock"
        try:
            _take_index_lock(prepared, lock)
            self._swap_branch(journal)
        except BaseException:
            if self.history.head() == journal.commit:
                raise  # the branch has moved all the same: the next start rolls forward
            # as if nothing had been begun
            if prepared.exists() and lock.exists() and os.path.samefile(prepared, lock):
                lock.unlink()
            self._journal().unlink(missing_ok=True)
            prepared.unlink(missing_ok=True)
            raise
        return self._finish(journal, prepared)

    def _swap_branch(self, journal: Journal) -> None:
        if self.history.branch() != journal.branch:
            raise RepositoryState("The branch was switched meanwhile.", "Run the command again.")
        nothing = "0" * len(journal.commit)
        words = ("update-ref", "-m", "mdmemory", journal.branch, journal.commit)
        self.history.repository.run(*words, journal.base or nothing)

    def _finish(self, journal: Journal, prepared: Path) -> tuple[tuple[str, str], ...]:
        kept = [(move.file, why) for move in journal.moves if (why := self._install(move))]
        for folder in {self._beside(move.file, "x").parent for move in journal.moves}:
            sync_folder(folder)
        self._put_index(journal, prepared)
        self._journal().unlink(missing_ok=True)
        return tuple(kept)

    # one file

    def _install(self, move: Move) -> str | None:
        """Bring one file from old to new, whatever was done of it before; why it was kept, if so."""
        path, fresh = self.folder / move.file, self._beside(move.file, move.fresh)
        aside = self._beside(move.file, move.aside)
        now = _digest_of(path)
        if now == move.new:
            fresh.unlink(missing_ok=True)
            return self._drop_aside(aside, move)
        if move.derived and fresh.exists():
            os.replace(fresh, path)
            return None
        if now is not None and not aside.exists():
            if now != move.old:
                fresh.unlink(missing_ok=True)
                return "it was changed meanwhile"
            # aside first, looked at afterwards: an editor may save in this very moment
            os.rename(path, aside)
        if aside.exists() and _digest_of(aside) != move.old:
            return self._put_back(aside, path, fresh)
        if move.new is not None and fresh.exists():
            try:
                os.link(fresh, path)  # link, not rename: never over a file that came meanwhile
            except FileExistsError:
                fresh.unlink()
                self._drop_aside(aside, move)
                return "another file took its name meanwhile"
            fresh.unlink()
        return self._drop_aside(aside, move)

    def _put_back(self, aside: Path, path: Path, fresh: Path) -> str:
        fresh.unlink(missing_ok=True)
        try:
            os.link(aside, path)
        except FileExistsError:
            return f"it was changed twice meanwhile; the earlier text is in {aside.name}"
        aside.unlink()
        return "it was changed meanwhile"

    def _drop_aside(self, aside: Path, move: Move) -> str | None:
        if not aside.exists():
            return None
        if _digest_of(aside) == move.old:
            aside.unlink()  # these very bytes are in the checkpoint
            return None
        return f"it was changed meanwhile; the late text is in {aside.name}"

    # the person's index

    def _prepare_index(self, journal: Journal, prepared: Path) -> None:
        """A copy of the person's index with our files brought up to the commit, all else as it is.

        Without it their next plain `git commit` would silently revert ours.
        """
        self.room.mkdir(exist_ok=True)
        live = self.history.repository.git_dir / "index"
        self._keep_staged(journal)
        if live.exists():
            shutil.copyfile(live, prepared)
        entries = {file: Blob(*blob) if blob else None for file, blob in journal.entries.items()}
        self.history.set_entries(entries, prepared)

    def _keep_staged(self, journal: Journal) -> None:
        """Bytes that only the person's index holds get a ref before our entry replaces theirs."""
        base = self.history.tree(journal.base, journal.entries)
        lone: dict[str, Blob | None] = {}
        for file, staged in self.history.staged(journal.entries).items():
            known = {journal.entries[file] and (journal.entries[file] or ("", ""))[1]}
            known |= {base[file].id} if file in base else set()
            known |= {self._current_blob(file)}
            if staged.blob.id not in known:
                lone[file] = staged.blob
        if lone:
            message = Message("memory: text that was staged and nowhere else")
            commit = self.history.build(journal.base, lone, message, self._private())
            if commit:
                ref = f"refs/mdmemory/staged/{journal.id}"
                self.history.repository.run("update-ref", ref, commit)

    def _current_blob(self, file: str) -> str | None:
        try:
            return self.history.blob_id(read_regular(self.folder / file))
        except MdmemoryError:
            return None

    def _put_index(self, journal: Journal, prepared: Path) -> None:
        live = self.history.repository.git_dir / "index"
        lock = self.history.repository.git_dir / "index.lock"
        if not prepared.exists():
            return
        if live.exists() and os.path.samefile(prepared, live):
            # in place already; renaming one name of a file onto another would leave the lock
            if lock.exists() and os.path.samefile(lock, live):
                lock.unlink()
        elif lock.exists() and os.path.samefile(prepared, lock):
            os.rename(lock, live)
        else:
            # after a crash the person may have used their index: start again from what it is now
            prepared.unlink()
            self._prepare_index(journal, prepared)
            _take_index_lock(prepared, lock)
            os.rename(lock, live)
        prepared.unlink()

    # the journal

    def is_open(self) -> bool:
        """Whether a killed process left a journal that the next write will finish."""
        return self._journal().exists()

    def recover(self) -> bool:
        """Finish what a killed process began; whether there was anything. Safe to repeat."""
        path = self._journal()
        if not path.exists():
            self._sweep()
            return False
        journal = _read_journal(path)
        # the folder of the journal may be another than ours: `init` writes above the store
        Transactions(History(self.history.repository, Path(journal.folder)))._resume(journal)
        return True

    def _resume(self, journal: Journal) -> None:
        prepared = self.room / f"{journal.id}.index"
        if self._decided(journal):
            self._finish(journal, prepared)
        else:
            self._abandon(journal, prepared)

    def _decided(self, journal: Journal) -> bool:
        """Whether the journal's commit is, or can still be made, part of its branch."""
        git = self.history.repository
        now = git.ask("rev-parse", "-q", "--verify", f"{journal.branch}^{{commit}}")
        head = now.decode().strip() if now else None
        if head == journal.base:
            nothing = "0" * len(journal.commit)
            words = ("update-ref", "-m", "mdmemory", journal.branch, journal.commit)
            return git.ask(*words, journal.base or nothing) is not None
        if head is None:
            return False
        return git.ask("merge-base", "--is-ancestor", journal.commit, head) is not None

    def _abandon(self, journal: Journal, prepared: Path) -> None:
        lock = self.history.repository.git_dir / "index.lock"
        if prepared.exists() and lock.exists() and os.path.samefile(prepared, lock):
            lock.unlink()
        for move in journal.moves:
            path, aside = self.folder / move.file, self._beside(move.file, move.aside)
            if aside.exists() and not os.path.lexists(path):
                os.rename(aside, path)
        self._forget(journal.moves)
        prepared.unlink(missing_ok=True)
        self._journal().unlink(missing_ok=True)

    def _sweep(self) -> None:
        """Remove what a process left that died before its journal: copies, never the only ones."""
        for leftover in self.room.glob("*.index") if self.room.is_dir() else ():
            lock = self.history.repository.git_dir / "index.lock"
            if lock.exists() and os.path.samefile(leftover, lock):
                lock.unlink()
            leftover.unlink()
        for leftover in self.folder.glob(f"{MARK}*.new"):
            leftover.unlink()

    def _write_journal(self, journal: Journal) -> None:
        data = json.dumps(asdict(journal), indent=1).encode("utf-8", "surrogateescape")
        write_atomic(self._journal(), data, mode=0o600)

    def _journal(self) -> Path:
        return self.room / "journal.json"

    def _private(self) -> Path:
        return self.room / f"{_new_id()}.private"

    def _beside(self, file: str, name: str) -> Path:
        return (self.folder / file).parent / name

    def _forget(self, moves: Sequence[Move]) -> Applied:
        for move in moves:
            self._beside(move.file, move.fresh).unlink(missing_ok=True)
        return Applied(None)


def _new_id() -> str:
    return secrets.token_hex(6)


def _move(change: Change, stem: str) -> Move:
    new = None if change.new is None else digest(change.new)
    return Move(change.file, change.old, new, f"{stem}.new", f"{stem}.old", change.derived)


def _write_new(path: Path, data: bytes, mode: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    with open(handle, "wb") as file:
        file.write(data)
        if mode == "100755":
            os.fchmod(file.fileno(), os.fstat(file.fileno()).st_mode | 0o111)
        file.flush()
        os.fsync(file.fileno())


def _digest_of(path: Path) -> str | None:
    try:
        return digest(read_regular(path))
    except NotFound:
        return None


def _take_index_lock(prepared: Path, lock: Path) -> None:
    # a hard link takes the lock in one step, and after a crash its inode proves that it is ours
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            os.link(prepared, lock)
            return
        except FileExistsError as problem:
            if time.monotonic() >= deadline:
                raise RepositoryState(
                    f"Another git process holds {lock}.",
                    "Wait for it; if none runs any more, remove that file.",
                ) from problem
        time.sleep(0.02)


def _read_journal(path: Path) -> Journal:
    try:
        raw = json.loads(path.read_bytes())
        raw["moves"] = [Move(**move) for move in raw["moves"]]
        raw["entries"] = {
            file: tuple(blob) if blob else None for file, blob in raw["entries"].items()
        }
        return Journal(**raw)
    except (ValueError, KeyError, TypeError) as problem:
        raise MdmemoryError(
            f"The journal {path} cannot be read.", "Run `mdmemory doctor`; do not delete it."
        ) from problem
