"""`init`: a project gets a store, in one commit of exactly the files that it needs.

Run again it changes nothing. Whatever a person had there stays: a MEMORY.md of their own becomes
a note like any other.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path

from mdmemory.actions import attributes
from mdmemory.config.person import Places
from mdmemory.config.settings import load_settings
from mdmemory.config.table import PROJECT_FILE
from mdmemory.errors import BadSetting, NoState, NoStore, RepositoryState, UsageError
from mdmemory.files import digest, name_refusals, read_regular, write_atomic
from mdmemory.git import repositories
from mdmemory.git.commits_of_store import KEEP, History, Message, memory_trailers
from mdmemory.git.lock import Patience, hold_lock
from mdmemory.git.persons_git import Signer
from mdmemory.git.transaction import Change, Transactions, recover
from mdmemory.privacy import is_secret
from mdmemory.store.project import Project, forget_move, open_project
from mdmemory.store.refresh import Refresher, is_foreign
from mdmemory.store.store import GENERATED, INDEX, Store


@dataclass
class Setup:
    """What `init` did: sentences for the person, the commit, and the files that it holds."""

    project: Project
    said: list[str] = field(default_factory=list)
    text: bytes = b""  # of the settings file, where it is new
    subject: str = ""  # of the commit
    commit: str | None = None
    files: list[str] = field(default_factory=list)


def init_store(
    root: Path, places: Places, *,
    store: str | None = None, own_repo: bool = False, text: bytes = b"", tracked: bool = True,
    subject: str = "memory: begin a store",
) -> Setup:  # fmt: skip
    """Make `root` a project with a store at `store`, relative to it (default notes/memory).

    A new settings file holds `text`, else the store, and without `tracked` that the index stays
    out of git. Raises before anything is written: BadSetting, NoStore (a link in the way),
    RepositoryState (detached HEAD, merge under way, ignored store, content filter), Unwritable.
    """
    root = root.absolute()
    if root.exists() and not root.is_dir():
        raise NoStore(f"{root} is a file, not a folder.", "Name the project's folder.")
    inside = _store_path(root, places, store)
    with name_refusals(root):
        root.mkdir(parents=True, exist_ok=True)
    part, remarks = root, list[str]()
    for name in Path(inside).parts:
        part = part / name
        if part.is_symlink():
            raise NoStore(
                f"{part} is a symbolic link, and a store is not made behind links.",
                "Remove the link, or choose another folder with --store.",
            )
        if part.exists() and not part.is_dir():
            raise NoStore(f"{part} is a file.", "Move it, or choose another folder with --store.")
    repository = repositories.find(root)
    if own_repo:
        repository = _own_repository(root, inside, repository, remarks)
    elif repository is None:
        repository = new_repository(root, remarks)
    base = root / inside if own_repo else root
    if repository is not None:
        _require_history(History(repository, base), os.path.relpath(root / inside, base))
    with name_refusals(root / inside):
        (root / inside).mkdir(parents=True, exist_ok=True)
    text = text or _settings_text(inside, tracked=tracked)
    if own_repo and not (root / PROJECT_FILE).exists():
        write_atomic(root / PROJECT_FILE, text)
    settings = load_settings(places.environment, places.personal_settings, root / PROJECT_FILE)
    if not tracked and not (root / PROJECT_FILE).exists():
        settings = settings._replace(values={**settings.values, "index.tracked": False})
    setup = Setup(Project(root, root / inside, settings), remarks, text, subject)
    try:
        setup.project.prepare_private()
    except NoState:  # with git nothing of it is needed
        if repository is None:
            raise
    lock = repository.common_dir / "mdmemory.lock" if repository else setup.project.private / "lock"
    with hold_lock(lock, "`mdmemory init`", Patience(30.0)):
        _fill_store(setup, base, repository)
    open_project(root, places)
    forget_move(root)
    own = None if own_repo else repositories.find(setup.project.store)
    if own and own.ask("remote"):
        # a line about each commit, then its author
        lines = (own.ask("rev-list", "-n500", "--format=%ae", "HEAD") or b"").splitlines()
        if len(set(lines[1::2])) > 1:
            setup.said.append(
                "This repository has a remote and other authors: whoever reads it reads "
                f"{setup.project.store}. `mdmemory init --here` keeps the notes in a repository of "
                "their own."
            )
    return setup


def _settings_text(inside: str | Path, *, tracked: bool) -> bytes:
    """The text of a new settings file, for a store `inside` the project."""
    more = "" if tracked else "\n[index]\ntracked = false\n"
    return f'store = "{inside}"\n{more}'.encode()


def _store_path(root: Path, places: Places, wanted: str | None) -> str:
    """The store's path inside the project: the file's word, else the caller's, else the default."""
    settings = load_settings(places.environment, places.personal_settings, root / PROJECT_FILE)
    named = os.path.normpath(settings.text("store"))
    if wanted is None:
        return named
    clean = os.path.normpath(wanted)
    if settings.origins["store"] != "default" and clean != named:
        raise BadSetting(
            f"{root / PROJECT_FILE} says that the store is {named}.",
            "Change that line first, and move the folder yourself.",
        )
    if os.path.isabs(clean) or clean.startswith(("..", "~")) or set(clean) & set('"\\\n'):
        raise BadSetting(
            f"The store {wanted} must be a folder inside {root}.",
            "Name it relative to the project, such as notes/memory.",
        )
    return clean


def new_repository(
    folder: Path, remarks: list[str], *options: str
) -> repositories.Repository | None:
    """Make the folder a git repository with these options of git, or say why it is none."""
    if not repositories.is_installed():
        remarks.append(
            "git is not installed: notes are written and read, but nothing can be taken back, so "
            "removing and compacting are refused. Install git and run `mdmemory init` again."
        )
        return None
    done = repositories.run(folder, ["init", "-q", *options, "."])
    if done.returncode != 0:
        raise RepositoryState(f"git init failed in {folder}: {done.stderr.decode().strip()}")
    remarks.append(f"Made a git repository in {folder}.")
    return repositories.find(folder)


def _own_repository(
    root: Path, inside: str, outer: repositories.Repository | None, remarks: list[str]
) -> repositories.Repository | None:
    """The store as a repository of its own, which the outer one is told, privately, to ignore."""
    if outer is None or inside == ".":
        raise UsageError(
            f"--here is for a store inside another repository, and {root / inside} is not.",
            "Run `mdmemory init` without it.",
        )
    folder = root / inside
    history = History(outer, root)
    if not (folder / ".git").exists():
        if history.has_files(inside):
            raise RepositoryState(
                f"The repository {outer.top} already holds files of {folder}.",
                "Choose another folder with --store, or go on without --here.",
            )
        if named := history.list_refs_with(inside):
            raise RepositoryState(
                f"{named[0]} of {outer.top} has files of {folder}: a switch to it would put them "
                "in the place of your notes.",
                "Choose another folder with --store, or go on without --own-repo.",
            )
        with name_refusals(folder):
            folder.mkdir(parents=True, exist_ok=True)
        new_repository(folder, [])
    exclude_lines(outer, _ignored_lines(history, folder))
    remarks.append(
        f"The store {folder} is a git repository of its own. {outer.top} ignores it through "
        ".git/info/exclude; all its branches and worktrees share it."
    )
    return repositories.find(folder)


def _ignored_lines(history: History, store: Path) -> list[str]:
    """What the outer repository ignores for a store in a repository of its own."""
    inside = os.path.relpath(store, history.folder)
    return [f"/{history.prefix}{name}" for name in (inside, PROJECT_FILE)]


def exclude_lines(repository: repositories.Repository, lines: Sequence[str]) -> None:
    """Let a repository ignore what these lines say, on this machine alone."""
    path = repository.common_dir / "info" / "exclude"
    with name_refusals(path):
        path.parent.mkdir(exist_ok=True)
    for change in attributes.lines_added(path, path.name, lines):
        write_atomic(path, change.new or b"")


def remove_store(project: Project) -> list[str]:
    """Take out the store in a repository of its own that `init --here` made, where it holds no note
    and no commit but the first; sentences, [] where there is no such store."""
    folder, own = project.store, repositories.find(project.store)
    outer = repositories.find(project.root)
    if own is None or outer is None or own.top != folder or outer.top == folder:
        return []
    commits = (own.ask("rev-list", "--count", "--all") or b"0").strip()
    made = {".git", ".gitattributes", ".gitignore", INDEX}
    if commits not in (b"0", b"1") or own.ask("remote") or not made.issuperset(os.listdir(folder)):
        return [f"{folder} has notes, or had some: it stays. To go on without it, delete it."]
    shutil.rmtree(folder)
    with suppress(OSError):  # others have files there
        folder.parent.rmdir()
    settings = project.root / PROJECT_FILE
    if read_regular(settings) == _settings_text(folder.relative_to(project.root), tracked=True):
        settings.unlink()
    shutil.rmtree(project.private, ignore_errors=True)
    ignored = _ignored_lines(History(outer, project.root), folder)
    attributes.drop_lines(outer.common_dir / "info" / "exclude", ignored)
    return [f"Removed {folder}, which had no note, and what named it."]


def _require_history(history: History, inside: str) -> None:
    """Git must be able to hold, byte for byte, what is written to the store `inside` the folder."""
    if refusal := repositories.refusal(history.repository):
        raise refusal
    sample = os.path.normpath(os.path.join(inside, "reference-sample.md"))
    if history.list_ignored([sample]):
        raise RepositoryState(
            f"git ignores {history.folder / inside}, so notes there would be in no commit.",
            f"Take the rule out (`git check-ignore -v {sample}` names it), choose another folder "
            "with --store, or use --here.",
        )
    if name := attributes.filtered_by(history, [sample]):
        raise RepositoryState(
            f"A content filter ({name}) applies to notes in {history.folder / inside}, so git "
            "would not hold their bytes.",
            "Exempt the folder in .gitattributes, or choose another with --store.",
        )


def _fill_store(setup: Setup, base: Path, own: repositories.Repository | None) -> None:
    """Write and commit what is missing; `base` is the folder that the commit is about."""
    refresher = Refresher(setup.project, is_secret)
    history = History(own, base) if own else None
    if history:
        setup.said += recover(Transactions(history))
        is_shared = base == setup.project.root != setup.project.store
        if is_shared:
            history.signer = Signer(history.repository, setup.said.append)
    changes = _missing_changes(setup, base, history, refresher)
    files = setup.files = [change.file for change in changes]
    if history and changes:
        transactions = Transactions(history)
        old = [change.file for change in changes if change.old is not None]
        trailers = memory_trailers("init", groups=[files])
        message = Message(setup.subject, [f"init {' '.join(files)}"], trailers)
        done = transactions.apply(changes, transactions.checkpoint(old, KEEP), message)
        setup.commit = done.commit
    elif changes:  # without git: what a foreign file said has become a note one change earlier
        for change in changes:
            path, is_old = base / change.file, change.old is not None or change.derived
            if change.new is None:
                path.unlink(missing_ok=True)
            else:
                write_atomic(path, change.new, replace=is_old)
    refresher.refresh()


def _missing_changes(
    setup: Setup, base: Path, history: History | None, refresher: Refresher
) -> list[Change]:
    """The files that a store needs and does not have, as changes relative to `base`."""
    project = setup.project
    inside = os.path.relpath(project.store, base)
    changes: list[Change] = []
    if base == project.root and not (project.root / PROJECT_FILE).exists():
        changes.append(Change(PROJECT_FILE, None, setup.text))
    here: list[Change] = []
    if history:
        store = Store(project.store)
        own = History(history.repository, store.folder)
        if not attributes.same_bytes(own, store):
            setup.said.append(
                "git converts the line ends of notes here, so .gitattributes does not say "
                f"`{attributes.RAW}`; `mdmemory doctor` explains."
            )
        here += attributes.missing_lines(own, store)
        if not project.settings.switch("index.tracked"):
            path = project.store / ".gitignore"
            here += attributes.lines_added(path, path.name, [f"/{name}" for name in GENERATED])
    here += _index_changes(setup, refresher)
    return changes + [
        Change(os.path.normpath(os.path.join(inside, c.file)), c.old, c.new, c.derived)
        for c in here
    ]


def _index_changes(setup: Setup, refresher: Refresher) -> list[Change]:
    """MEMORY.md where there is none; somebody's own text under its name becomes a note first."""
    store = setup.project.store
    foreign = {
        name: data
        for name in GENERATED
        if is_foreign(store / name) and (data := read_regular(store / name)).strip()
    }
    rescued = []
    for name, data in foreign.items():
        stem = f"{name.strip('_').removesuffix('.md').lower()}-before-mdmemory"
        names = chain([f"{stem}.md"], (f"{stem}-{number}.md" for number in count(2)))
        note = next(each for each in names if not os.path.lexists(store / each))
        rescued.append(Change(note, None, data))
        setup.said.append(f"{name} was there before: its text is now the note {note}.")
    is_tracked = setup.project.settings.switch("index.tracked")
    if not foreign and ((store / INDEX).exists() or not is_tracked):
        return []  # one outside git is written by the refresh that follows
    # what took the place of a foreign file is no derived change: its old bytes must be safe
    return rescued + [
        Change(c.file, digest(foreign[c.file]), c.new) if c.file in foreign else c
        for c in refresher.after(rescued)
    ]
