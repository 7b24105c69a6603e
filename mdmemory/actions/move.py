"""`move`: a store leaves its place, with its history, and the project's commits stay as they are.

A whole copy is made under a hidden name: the history first, then every file. It gets its own name
in one step, and from then on the old place is none. Only what the copy says byte for byte is
removed there; whatever kills us, one of the two places works, and moving again finishes it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

from mdmemory.actions import memory_folder, setup
from mdmemory.config.person import Places
from mdmemory.config.table import DEFAULT_STORE, PROJECT_FILE
from mdmemory.errors import MdmemoryError, NoStore, RepositoryState, UsageError
from mdmemory.files import (
    is_inside,
    is_open_for_writing,
    name_refusals,
    read_if_there,
    read_regular,
    sync_folder,
    to_text,
)
from mdmemory.git import repositories
from mdmemory.git.commits_of_store import History
from mdmemory.git.filter_repo import carry, has_all
from mdmemory.git.private_folder import NAME, STATE
from mdmemory.git.repositories import Repository
from mdmemory.privacy import is_secret
from mdmemory.store import home as homes
from mdmemory.store import inbox, project
from mdmemory.store.home import Known
from mdmemory.store.project import INBOX, PRIVATE, Project, home_of
from mdmemory.store.refresh import is_foreign
from mdmemory.store.store import GENERATED
from mdmemory.store.writer import Writer

_ASIDE = ".mdmemory-moved."  # before the name of a file that is about to be removed
# what is made anew, or belongs to the processes of now
_REMADE = ("catalog", "search.db", f"{STATE}-", "lock", "compact.lock")


def copy_files(
    source: Path, target: Path, *, without: tuple[str, ...] = (".git", NAME)
) -> list[str]:
    """Copy all files and links below `source`, but for those names at its top; what was left out,
    being neither. Everything is on disk afterwards."""
    left = []

    def copy(path: str, there: str) -> None:
        with name_refusals(Path(there)):
            if stat.S_ISREG(os.lstat(path).st_mode):
                copy_file(Path(path), Path(there))
            else:
                left.append(os.path.relpath(path, source))

    def passed_over(folder: str, _: list[str]) -> tuple[str, ...]:
        return without if Path(folder) == source else ()

    with name_refusals(target):
        shutil.copytree(
            source, target, symlinks=True, ignore=passed_over, copy_function=copy,
            dirs_exist_ok=True,
        )  # fmt: skip
    for folder, _, _ in os.walk(target):
        sync_folder(Path(folder))
    return left


def copy_file(path: Path, there: Path) -> None:
    """Copy one file, synced; a note keeps its times."""
    shutil.copy2(path, there, follow_symlinks=False)
    handle = os.open(there, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def copy_state(project: Project, target: Path) -> None:
    """Copy what `.mdmemory/` remembers to the new project root `target`."""
    private = project.private
    if not private.is_dir() or private.is_symlink():
        return
    fresh = target / NAME
    fresh.mkdir(mode=0o700, exist_ok=True)
    copy_files(private, fresh, without=tuple(_own_names(private)))
    file, copy = project.state_file, fresh / STATE
    if not file.is_file() or file.is_symlink():
        return
    import sqlite3

    # a process may be writing to it: SQLite gives a whole copy all the same
    uri = f"{file.absolute().as_uri()}?mode=rw"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as old, closing(sqlite3.connect(copy)) as new:
            old.backup(new)
    except sqlite3.DatabaseError:
        copy.unlink(missing_ok=True)  # a damaged one is put aside by whoever opens it next
        shutil.copy2(file, copy, follow_symlinks=False)


def _own_names(private: Path) -> list[str]:
    """The names in `.mdmemory/` that are not copied as they are."""
    remade = [name for name in os.listdir(private) if name.startswith(_REMADE)]
    return [*remade, STATE]


def differing_files(source: Path, target: Path) -> list[str]:
    """The files below `source` of which `target` has not the same bytes."""
    return [
        str(path.relative_to(source))
        for path in _walk_below(source, (".git", NAME))
        if not path.is_dir() and not _is_same(path, target / path.relative_to(source))
    ]


def remove_copied(
    source: Path, target: Path, *, without: tuple[str, ...] = (".git", NAME)
) -> list[str]:
    """Remove what `target` has, byte for byte, and folders that are empty then; what stays."""
    remaining: list[str] = []
    for path in sorted(_walk_below(source, without), reverse=True):
        if path.is_dir() and not path.is_symlink():
            with suppress(OSError):
                path.rmdir()
        elif not _remove_file(path, target / path.relative_to(source)):
            remaining.append(str(path.relative_to(source)))
    with suppress(OSError):
        source.rmdir()
    return sorted(remaining)


def remove_state(project_root: Path, target: Path) -> None:
    """Remove what `.mdmemory/` at the old root holds, but for what it says of a wiring there."""
    private = project_root / NAME
    if not private.is_dir() or private.is_symlink():
        return
    names = _own_names(private)
    remove_copied(private, target / NAME, without=(*names, ".gitignore"))
    for name in names:
        with suppress(OSError):
            (private / name).unlink()
    with suppress(OSError):
        if {*os.listdir(private)} <= {".gitignore"}:
            (private / ".gitignore").unlink(missing_ok=True)
            private.rmdir()


def _remove_file(path: Path, copied: Path) -> bool:
    """Remove a file whose copy says the same. An editor may save in this very moment: so it goes
    aside first, and is looked at there."""
    if path.name.startswith(_ASIDE):  # of a process that was killed here
        aside, path = path, path.with_name(path.name.removeprefix(_ASIDE))
        copied = copied.with_name(path.name)
    else:
        aside = path.with_name(f"{_ASIDE}{path.name}")
        if not _is_same(path, copied):
            return False
        os.rename(path, aside)
    if _is_same(aside, copied) and not is_open_for_writing(aside):
        aside.unlink()
        return True
    if not os.path.lexists(path):
        os.rename(aside, path)
    return False


def _is_same(path: Path, copied: Path) -> bool:
    try:
        if path.is_symlink() or copied.is_symlink():
            return os.readlink(path) == os.readlink(copied)
        if not (path.is_file() and copied.is_file()):
            return False
        return _file_digest(path) == _file_digest(copied)
    except OSError:
        return False


def _file_digest(path: Path) -> bytes:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _walk_below(folder: Path, without: tuple[str, ...]) -> Iterator[Path]:
    """Everything below a folder, each folder before what is in it; links are not followed."""
    for at, folders, files in os.walk(folder):
        if Path(at) == folder:
            folders[:] = [name for name in folders if name not in without]
            files = [name for name in files if name not in without]
        for name in sorted([*folders, *files]):
            yield Path(at, name)


HOME, HERE = "home", "here"
_HIDDEN = ".moving-"
_STORE_LINE = re.compile(rb"(?m)^store[ \t]*=.*\n?")

# what the copy has of its own: made anew, or said of the new place
_ANEW = (*GENERATED, PROJECT_FILE, f"{INBOX}/.gitignore")


@dataclass
class Moved:
    """What `move` did: `source` and `target` are folders of notes, `commits` those that went
    along, `kept` files that stayed in the old place, `removal` the command that takes what the
    project's git still has out of it ("" where there is nothing)."""

    source: Path
    target: Path
    commits: int = 0
    kept: list[str] = field(default_factory=list)
    removal: str = ""
    said: list[str] = field(default_factory=list)


def move_store(
    writer: Writer, places: Places, *, to: str = HOME, folder: str | None = None,
    dry_run: bool = False,
) -> Moved:  # fmt: skip
    """Move the writer's store to the memory folder, or to a repository of its own in the project.

    `folder`, in the project, is where it goes for `HERE`. Raises NoStore, RepositoryState,
    UsageError, Unwritable; then in the old place everything is as it was.
    """
    project = writer.project
    if to == HOME and is_inside(project.store, home_of(places)):
        return Moved(project.store, project.store, said=[f"{project.store} lies there already."])
    move = _Move(writer, places, to)
    with move.targets(folder, dry_run) as target:
        done = Moved(project.store, target)
        if dry_run:
            done.commits = move.count()
            return done
        with writer.lock_recovered():
            if move.history and (problem := repositories.refusal(move.history.repository)):
                raise problem  # in the middle of a merge, or another git is at work
            writer.commit_what_waits()
            move.build(done)
            move.settle(done)
    move.leave(done)
    return done


def finish_move(start: Path) -> Moved | None:
    """Take away what a move that was killed left in the old place; None where nothing is."""
    now, finished = project.moved_stores(start), None
    for root, source in project.unfinished_moves(start).items():
        # killed before its one step: what an earlier move brought to the old place lives there
        target = now[root][0] if root in now else source
        if target != source:
            finished = Moved(source, target, said=["A move that was interrupted is finished."])
            _clear_place(root, finished)
    return finished


class _Move:
    """One store on its way. `own`: it has a repository of its own; `around`: the project's."""

    def __init__(self, writer: Writer, places: Places, to: str) -> None:
        self.writer, self.places, self.to = writer, places, to
        self.project = writer.project
        self.history = writer.history
        if writer.trouble:
            raise writer.trouble
        self.own = self.history is not None and not self.history.prefix
        within = any((folder / ".git").exists() for folder in self.project.store.parents)
        if self.own and self.project.root == self.project.store and not within:
            raise NoStore(
                f"{self.project.store} is a repository of its own, in no project.",
                "Move the folder itself: its history is in it.",
            )
        root, store = self.project.root, self.project.store
        # by the project's repository its store is known, and by what that says of them its roots
        self.around = memory_folder.project_around(store.parent if self.own else root)
        self.roots, self.hidden = [root], Path()
        if root == store:
            now = project.moved_stores(store.parent)
            self.roots = [each for each, (folder, _) in now.items() if folder == store]

    @contextmanager
    def targets(self, folder: str | None, dry_run: bool) -> Iterator[Path]:
        """The folder that the store goes to; meanwhile nobody else begins one there, but for a dry
        run, which changes nothing."""
        if self.to == HERE:
            target = self._uncommitted_folder(folder)
            self.hidden = target.with_name(f"{_HIDDEN}{target.name}")
            yield target
            return
        home = memory_folder.prepare_folder(self.places, make=not dry_run)
        with nullcontext() if dry_run else memory_folder.one_at_a_time(home):
            match = homes.find_match(home, self.around.top)
            if known := [match.entry] if match.entry else [*match.asked]:
                stores = " or ".join(str(entry.store) for entry in known)
                raise NoStore(
                    f"The project has a store in the memory folder already: {stores}.",
                    f"Take the notes over: `mdmemory --store {known[0].store} import "
                    f"{self.project.store}`.",
                )
            target = homes.free_folder(home, self.around.top.name)
            self.hidden = target.with_name(f"{_HIDDEN}{target.name}")
            yield target

    def _uncommitted_folder(self, folder: str | None) -> Path:
        """A folder of the project that no commit of it has, and so none can overwrite."""
        if self.own:
            raise UsageError(f"{self.project.store} is a repository of its own already.",
                             "To move it out of the project: `mdmemory move`.")  # fmt: skip
        history, root = History(self.around, self.project.root), self.project.root
        wanted = os.path.normpath(folder or DEFAULT_STORE)
        if os.path.isabs(wanted) or wanted.startswith(("..", "~")) or wanted == ".":
            raise UsageError(f"The folder {folder} must be a folder inside {root}.",
                             "Name it relative to the project, such as notes/own.")  # fmt: skip
        for number in range(1, 100):
            inside = wanted if number == 1 else f"{wanted}-{number}"
            if not (os.path.lexists(root / inside) or history.list_refs_with(inside)):
                return root / inside
            if folder is not None:
                break
        raise RepositoryState(f"{root / wanted} is there, or a branch or tag has files there.",
                              "Name another one with --folder.")  # fmt: skip

    def count(self) -> int:
        """How many commits of the store HEAD has."""
        if self.history is None or self.history.head() is None:
            return 0
        words = ("rev-list", "--count", "HEAD", "--", self.history.prefix or ".")
        return int(self.history.repository.run(*words))

    # the copy

    def build(self, done: Moved) -> None:
        """Make the whole copy under its hidden name."""
        if self.hidden.exists():
            shutil.rmtree(self.hidden)  # of a killed process: the store is where it was
        self.hidden.mkdir(mode=0o700, parents=True)
        try:
            self._copy_repository(done) if self.own else self._carry_history(done)
            left = copy_files(self.project.store, self.hidden)
            self.hidden.chmod(0o700)  # whatever the old place was
            done.said += [f"{name} is neither file nor folder, and stays." for name in left]
            copy_state(self.project, self.hidden)
            # its own settings and index, and what waited is committed
            (self.hidden / PROJECT_FILE).unlink(missing_ok=True)  # of the old place
            made = setup.init_store(
                self.hidden, self.places, store=".", text=self._copied_settings(),
                subject="memory: move the store",
            )  # fmt: skip
            writer = Writer(made.project, is_secret, self.writer.holder, done.said.append)
            with writer.lock_store():
                pass
        except BaseException:
            shutil.rmtree(self.hidden, ignore_errors=True)
            raise

    def _copy_repository(self, done: Moved) -> None:
        assert self.history is not None
        git = self.project.store / ".git"
        if not git.is_dir():
            raise RepositoryState(
                f"{git} is a file: the store is a submodule or a linked work tree of another "
                "repository.", "Clone that repository into the memory folder yourself.",
            )  # fmt: skip
        copy_files(git, self.hidden / ".git", without=("mdmemory.lock",))
        self._fresh_repository().run(
            "fsck", "--connectivity-only", "--no-dangling", "--no-progress"
        )
        done.commits = self.count()

    def _carry_history(self, done: Moved) -> None:
        kind = self.history.repository.hash_name if self.history else "sha1"
        setup.new_repository(self.hidden, [], f"--object-format={kind}")
        if self.history is None:
            return
        fresh = self._fresh_repository()
        for name in ("user.name", "user.email"):  # whose the commits are, where only the project
            value = self.history.repository.ask("config", "--local", "--get", name)  # says it
            if value:
                fresh.run("config", name, to_text(value).strip())
        carried = carry(self.history, fresh)
        if carried.head:
            fresh.run("read-tree", "HEAD")
            done.commits = int(fresh.run("rev-list", "--count", "HEAD"))
        if carried.signed:
            done.said.append(
                f"{carried.signed} commits were signed; a signature says nothing of a commit "
                "that is made anew, so they are without it."
            )
        if carried.is_shallow:
            done.said.append(
                "The clone is shallow: what is older than its first commit did not go along."
            )
        for ref in carried.refs:
            if ref.startswith("refs/heads/"):
                name = ref.removeprefix("refs/heads/")
                done.said.append(f"Notes that only another branch has are on the branch {name}.")

    def _fresh_repository(self) -> Repository:
        repository = repositories.find(self.hidden)
        if repository is None or os.path.realpath(repository.top) != os.path.realpath(self.hidden):
            raise RepositoryState(f"git made no repository in {self.hidden}.", "Run it again.")
        return repository

    def _copied_settings(self) -> bytes:
        """The settings of the project's file, which says of itself now whose store it is."""
        old = read_if_there(self.project.root / PROJECT_FILE) or b""
        settings = _STORE_LINE.sub(b"", old, count=1).lstrip(b"\n")
        fresh = b'store = "."\n' + settings
        if self.to == HERE:
            return fresh
        return homes.write(memory_folder.know_project(Known(self.hidden), self.around), fresh)

    # the step

    def settle(self, done: Moved) -> None:
        """Let the copy be the store, in one step, and the old place none."""
        source, target, top = self.project.store, done.target, self.around.top
        late = [f for f in differing_files(source, self.hidden) if f not in _ANEW]
        for file in late:  # an editor saved it meanwhile
            copy_file(source / file, self.hidden / file)
        if is_inside(target, top):
            setup.exclude_lines(self.around, [f"/{target.relative_to(top).as_posix()}"])
        for root in self.roots:
            project.note_move(root, source, target)
        os.rename(self.hidden, target)
        sync_folder(target.parent)
        if self.to == HOME:
            memory_folder.hide_folder(target.parent)

    def leave(self, done: Moved) -> None:
        """Take away what the copy has, and say what is left for the person."""
        if not self.own:
            # the command that takes the store out of the project's index, where that holds one
            history = History(self.around, self.project.root)
            inside = os.path.relpath(self.project.store, self.project.root)
            files = [inside] if history.has_files(inside) else []
            if files := [*files, *history.read_index([PROJECT_FILE])]:
                words = ["git", "-C", str(history.folder), "rm", "-r", "-q", "--cached", "--"]
                done.removal = shlex.join([*words, *files])
            done.said += _other_trees(self.around, self.history, done.target)
        for root in self.roots or [self.project.root]:
            _clear_place(root, done)
        if (self.project.root / ".opencode").is_dir():
            done.said.append(
                "OpenCode's files in the project name the old place: `mdmemory init --remove` "
                "takes them out, and `mdmemory setup opencode` connects it for all projects."
            )


def _clear_place(root: Path, done: Moved) -> None:
    """Remove from the old place what the new one has; the settings file goes last."""
    source, target = done.source, done.target
    _clear_repository(done)
    for name in GENERATED:  # made anew there, and perhaps of newer notes
        with suppress(MdmemoryError):
            if not is_foreign(source / name):
                (source / name).unlink(missing_ok=True)
    inbox.stop_ignoring(source / INBOX)
    settings = source if (source / PROJECT_FILE).exists() else root
    done.kept += remove_copied(source, target, without=(".git", PRIVATE, PROJECT_FILE))
    for folder in {root, source}:
        remove_state(folder, target)
    if not done.kept:
        (settings / PROJECT_FILE).unlink(missing_ok=True)
    empty = source
    while empty != root and (not empty.exists() or not any(empty.iterdir())):
        with suppress(FileNotFoundError):
            empty.rmdir()
        empty = empty.parent
    project.forget_move(root, is_finished=True)


def _clear_repository(done: Moved) -> None:
    """Remove the old place's own `.git`, where the new one has all that it refers to."""
    git, aside = done.source / ".git", done.source / ".mdmemory-moved.git"
    if git.is_dir():
        old, new = repositories.find(done.source), repositories.find(done.target)
        if old is None or new is None or not has_all(old, new):
            done.said.append(f"{git} changed meanwhile, and stays: look at it.")
            done.kept.append(".git")
            return
        os.rename(git, aside)
    if aside.is_dir():
        shutil.rmtree(aside)


def _other_trees(around: Repository, history: History | None, target: Path) -> list[str]:
    """A sentence on each other work tree whose copy of the store says what no commit says."""
    own = repositories.find(target)
    if history is None or own is None:
        return []
    rows = to_text(around.run("worktree", "list", "--porcelain", "-z")).split("\0")
    sentences = []
    for row in rows:
        folder = Path(row.removeprefix("worktree "), history.prefix)
        if not row.startswith("worktree ") or not folder.is_dir() or folder == history.folder:
            continue
        other = [f for f in differing_files(folder, target) if f not in _ANEW]
        lone = []
        for file in other:  # git may have its bytes already
            id = None
            with suppress(MdmemoryError):
                id = History(own, own.top).blob_id(read_regular(folder / file))
            if id is None or own.ask("cat-file", "-e", id) is None:
                lone.append(file)
        if lone:
            sentences.append(
                f"{folder} has texts of its own ({', '.join(lone[:3])}): look at them, and "
                f"`mdmemory import {shlex.quote(str(folder))}`."
            )
    return sentences
