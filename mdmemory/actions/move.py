"""`move`: a store leaves its place, with its history, and the project's commits stay as they are.

A whole copy is made under a hidden name: the history first, then every file. It gets its own name
in one step, and from then on the old place is none. Only what the copy says byte for byte is
removed there; whatever kills us, one of the two places works, and moving again finishes it.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from mdmemory.actions import memory_folder, move_files, setup
from mdmemory.config.person import Places
from mdmemory.config.table import DEFAULT_STORE, PERSON, PROJECT_FILE
from mdmemory.errors import MdmemoryError, NoStore, RepositoryState, UsageError
from mdmemory.files import is_inside, read_if_there, read_regular, sync_folder, to_text
from mdmemory.git import identity, repositories
from mdmemory.git.commits_of_store import History
from mdmemory.git.filter_repo import Carried, carry, has_all
from mdmemory.git.repositories import Repository
from mdmemory.store import home as homes
from mdmemory.store import inbox, project
from mdmemory.store.home import Known
from mdmemory.store.project import INBOX, PRIVATE, home_of
from mdmemory.store.refresh import is_foreign
from mdmemory.store.store import GENERATED
from mdmemory.store.writer import Writer

HOME, HERE = "home", "here"
_HIDDEN = ".moving-"
_STORE_LINE = re.compile(rb"(?m)^store[ \t]*=.*\n?")

# what the copy has of its own: made anew, or said of the new place
_ANEW = (*GENERATED, PROJECT_FILE, f"{INBOX}/.gitignore")

IsSecret = Callable[[str], bool]


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
    writer: Writer, places: Places, is_secret: IsSecret, *,
    to: str = HOME, folder: str | None = None, dry_run: bool = False,
) -> Moved:  # fmt: skip
    """Move the writer's store to the memory folder, or to a repository of its own in the project.

    `folder`, in the project, is where it goes for `HERE`. Raises NoStore, RepositoryState,
    UsageError, Unwritable; then in the old place everything is as it was.
    """
    project = writer.project
    if to == HOME and is_inside(project.store, home_of(places)):
        return Moved(project.store, project.store, said=[f"{project.store} lies there already."])
    move = _Move(writer, places, is_secret, to)
    with move.targets(folder) as target:
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

    def __init__(self, writer: Writer, places: Places, is_secret: IsSecret, to: str) -> None:
        self.writer, self.places, self.is_secret, self.to = writer, places, is_secret, to
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
        self.around = self._outer_repository()
        self.roots = self._project_roots()
        self.hidden = Path()

    def _outer_repository(self) -> Repository | None:
        """The project's repository, by which its store is known. Raises NoStore."""
        start = self.project.store.parent if self.own else self.project.root
        return memory_folder.project_around(start)

    def _project_roots(self) -> list[Path]:
        """The project roots whose store it is by what their repository says of them."""
        if self.project.root != self.project.store:
            return [self.project.root]
        now = project.moved_stores(self.project.store.parent)
        return [root for root, (folder, _) in now.items() if folder == self.project.store]

    @contextmanager
    def targets(self, folder: str | None) -> Iterator[Path]:
        """The folder that the store goes to; meanwhile nobody else begins one there."""
        if self.to == HERE:
            target = self._uncommitted_folder(folder)
            self.hidden = target.with_name(f"{_HIDDEN}{target.name}")
            yield target
            return
        home = memory_folder.prepare_folder(self.places)
        with memory_folder.one_at_a_time(home):
            self._require_none(home)
            name = PERSON if self.around is None else self.around.top.name
            target = homes.free_folder(home, name) if self.around else home / name
            if os.path.lexists(target):
                raise NoStore(f"{target} is there already.", "Move it away, then try again.")
            self.hidden = target.with_name(f"{_HIDDEN}{target.name}")
            yield target

    def _require_none(self, home: Path) -> None:
        """Raises NoStore where the project has, or may have, a store in the memory folder."""
        if self.around is None:
            return
        match = homes.find_match(home, self.around.top)
        known = [match.entry] if match.entry else [*match.asked]
        if known:
            stores = " or ".join(str(entry.store) for entry in known)
            raise NoStore(
                f"The project has a store in the memory folder already: {stores}.",
                f"Take the notes over: `mdmemory --store {known[0].store} import "
                f"{self.project.store}`.",
            )

    def _uncommitted_folder(self, folder: str | None) -> Path:
        """A folder of the project that no commit of it has, and so none can overwrite."""
        if self.around is None:
            raise UsageError("Your own store lies in no project.", "Move it: `mdmemory move`.")
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
            if self.own:
                self._copy_repository(done)
            else:
                self._carry_history(done)
            left = move_files.copy_files(self.project.store, self.hidden)
            done.said += [f"{name} is neither file nor folder, and stays." for name in left]
            move_files.copy_state(self.project, self.hidden)
            self._begin_copy(done)
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
        move_files.copy_files(git, self.hidden / ".git", without=("mdmemory.lock",))
        self._fresh_repository().run(
            "fsck", "--connectivity-only", "--no-dangling", "--no-progress"
        )
        done.commits = self.count()

    def _carry_history(self, done: Moved) -> None:
        kind = self.history.repository.hash_name if self.history else "sha1"
        begun = repositories.run(self.hidden, ["init", "-q", f"--object-format={kind}", "."])
        if begun.returncode != 0:
            raise RepositoryState(f"git init failed in {self.hidden}: {begun.stderr.decode()}")
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
        done.said += _of_history(carried)

    def _fresh_repository(self) -> Repository:
        repository = repositories.find(self.hidden)
        if repository is None or os.path.realpath(repository.top) != os.path.realpath(self.hidden):
            raise RepositoryState(f"git made no repository in {self.hidden}.", "Run it again.")
        return repository

    def _begin_copy(self, done: Moved) -> None:
        """Make the copy a store: its settings, its index, and what waited is committed."""
        (self.hidden / PROJECT_FILE).unlink(missing_ok=True)  # of the old place
        made = setup.init_store(
            self.hidden, self.places, self.is_secret, store=".", text=self._copied_settings(),
            subject="memory: move the store",
        )  # fmt: skip
        writer = Writer(made.project, self.is_secret, self.writer.holder, done.said.append)
        with writer.lock_store():
            pass

    def _copied_settings(self) -> bytes:
        """The settings of the project's file, which says of itself now whose store it is."""
        old = read_if_there(self.project.root / PROJECT_FILE) or b""
        settings = _STORE_LINE.sub(b"", old, count=1).lstrip(b"\n")
        fresh = b'store = "."\n' + settings
        if self.around is None or self.to == HERE:
            return fresh
        project = identity.identify(self.around)
        assert project is not None  # `project_around` looked
        known = Known(self.hidden).met(project, identity.read_head(self.around))
        return homes.write(known, fresh)

    # the step

    def settle(self, done: Moved) -> None:
        """Let the copy be the store, in one step, and the old place none."""
        source = self.project.store
        late = [f for f in move_files.differing_files(source, self.hidden) if f not in _ANEW]
        for file in late:  # an editor saved it meanwhile
            move_files.copy_file(source / file, self.hidden / file)
        if self.around is not None:
            target = done.target
            if is_inside(target, self.around.top):
                setup.exclude_lines(
                    self.around, [f"/{target.relative_to(self.around.top).as_posix()}"]
                )
            for root in self.roots:
                project.note_move(root, source, target)
        os.rename(self.hidden, done.target)
        sync_folder(done.target.parent)
        if self.to == HOME:
            memory_folder.hide_folder(done.target.parent)

    def leave(self, done: Moved) -> None:
        """Take away what the copy has, and say what is left for the person."""
        inside = os.path.relpath(self.project.store, self.project.root)
        if self.around is not None and not self.own:
            done.removal = _removal_command(History(self.around, self.project.root), inside)
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
    done.kept += move_files.remove_copied(source, target, without=(".git", PRIVATE, PROJECT_FILE))
    for folder in {root, source}:
        move_files.remove_state(folder, target)
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


def _of_history(carried: Carried) -> list[str]:
    sentences = []
    if carried.signed:
        sentences.append(
            f"{carried.signed} commits were signed; a signature says nothing of a commit "
            "that is made anew, so they are without it."
        )
    if carried.is_shallow:
        sentences.append(
            "The clone is shallow: what is older than its first commit did not go along."
        )
    for ref in carried.refs:
        if ref.startswith("refs/heads/"):
            name = ref.removeprefix("refs/heads/")
            sentences.append(f"Notes that only another branch has are on the branch {name}.")
    return sentences


def _removal_command(history: History, inside: str) -> str:
    """The command that takes the store out of the project's index, "" where it holds none."""
    files = [*([inside] if history.has_files(inside) else []), *history.read_index([PROJECT_FILE])]
    if not files:
        return ""
    words = ["git", "-C", str(history.folder), "rm", "-r", "-q", "--cached", "--", *files]
    return shlex.join(words)


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
        other = [f for f in move_files.differing_files(folder, target) if f not in _ANEW]
        lone = [file for file in other if not _is_known(own, folder / file)]
        if lone:
            sentences.append(
                f"{folder} has texts of its own ({', '.join(lone[:3])}): look at them, and "
                f"`mdmemory import {shlex.quote(str(folder))}`."
            )
    return sentences


def _is_known(own: Repository, file: Path) -> bool:
    """Whether a repository has these bytes."""
    try:
        id = History(own, own.top).blob_id(read_regular(file))
    except MdmemoryError:
        return False
    return own.ask("cat-file", "-e", id) is not None
