"""Where things lie: the project root, its store, `.mdmemory/`, and how a store is found.

Reads files and folders only; runs no git, so that finding the store costs a reader nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mdmemory.config.person import Places, state_folder
from mdmemory.config.settings import Settings, load
from mdmemory.config.table import PROJECT_FILE
from mdmemory.errors import NoStore
from mdmemory.git.private_folder import NAME, STATE, prepare

PRIVATE = NAME
INBOX = ".inbox"


@dataclass(frozen=True, slots=True)
class Project:
    """A project root and the store that belongs to it; both are absolute."""

    root: Path
    store: Path
    settings: Settings

    @property
    def private(self) -> Path:
        """`.mdmemory/` at the root: derived and operational state, never knowledge."""
        return self.root / PRIVATE

    @property
    def state_file(self) -> Path:
        """Where `state.db` lies, or would lie."""
        return self.private / STATE

    def inboxes(self) -> tuple[Path, Path]:
        """Where wishes that cannot be written wait: beside the notes, else in the person's folder.

        Either may be missing.
        """
        return self.store / INBOX, state_folder() / "inbox"

    def has_inbox(self) -> bool:
        """Whether wishes may wait: mostly there is no inbox, and nothing need be loaded."""
        return any(folder.is_dir() for folder in self.inboxes())

    def prepare_private(self) -> Path:
        """Make `.mdmemory/` when it is missing. Raises NoState where it is not to be had."""
        return prepare(self.root / PRIVATE)


def open_project(root: Path, places: Places) -> Project:
    """The project with this root. Raises NoStore when the store's folder is missing or a link."""
    root = root.absolute()
    settings = load(places.environment, places.personal_settings, root / PROJECT_FILE)
    return _checked(Project(root, root / settings.text("store"), settings))


def find(start: Path, named: str | None, places: Places) -> Project:
    """The store to use from the folder `start`.

    In this order: `named` or MDMEMORY_STORE (a store or a project root); the nearest
    mdmemory.toml upward, never above the repository root; the main worktree's, when `start` lies
    in a linked worktree without one; the person's own store.
    """
    start = start.absolute()
    if named := named or places.environment.get("MDMEMORY_STORE"):
        return _named(Path(os.path.expanduser(named)), start, places)
    for folder in _upward(start):
        if (folder / PROJECT_FILE).is_file():
            return open_project(folder, places)
    main = _main_worktree(start)
    if main is not None and (main / PROJECT_FILE).is_file():
        return open_project(main, places)
    if (places.personal_root / PROJECT_FILE).is_file():
        return open_project(places.personal_root, places)
    raise NoStore(f"There is no memory store for {start}.", "Make one: `mdmemory init`.")


def _named(path: Path, start: Path, places: Places) -> Project:
    folder = (start / path).absolute()
    if folder.exists() and not folder.is_dir():
        raise NoStore(f"The store {folder} is a file, not a folder.", "Name the folder.")
    if not folder.is_dir():
        raise NoStore(
            f"The store {folder} is not there.",
            "Name an existing one, or make it: `mdmemory init`.",
        )
    if (folder / PROJECT_FILE).is_file():
        return open_project(folder, places)
    for root in _upward(folder):
        if (root / PROJECT_FILE).is_file():
            project = open_project(root, places)
            if os.path.realpath(project.store) == os.path.realpath(folder):
                return project
    settings = load(places.environment, places.personal_settings)
    return _checked(Project(folder, folder, settings))


def _checked(project: Project) -> Project:
    root, store = project.root, project.store
    direct = os.path.normpath(os.path.join(os.path.realpath(root), store.relative_to(root)))
    if os.path.realpath(store) != direct:
        if not store.exists() and not store.is_symlink():
            return _missing(project)
        raise NoStore(
            f"The store {store} is, or lies behind, a symbolic link, and links are not followed.",
            "Move the folder to its place, or name its real place: `mdmemory --store PATH`.",
        )
    return project if store.is_dir() else _missing(project)


def _missing(project: Project) -> Project:
    raise NoStore(
        f"The store {project.store} is not there, though {project.root / PROJECT_FILE} names it.",
        "Restore the folder, or run `mdmemory init` to begin an empty one.",
    )


def _upward(start: Path) -> Iterator[Path]:
    """`start` and the folders above it, to the repository root; without one, while ours."""
    chain = [start, *start.parents]
    top = next((at for at, folder in enumerate(chain) if (folder / ".git").exists()), None)
    if top is not None:
        yield from chain[: top + 1]
        return
    owner = start.stat().st_uid
    for folder in chain:
        # a settings file in a folder of somebody else's, such as /tmp, is not ours to obey
        if folder.stat().st_uid != owner or folder == Path(folder.anchor):
            return
        yield folder


def _main_worktree(start: Path) -> Path | None:
    """The main worktree of the linked worktree that holds `start`, or None."""
    for folder in _upward(start):
        pointer = folder / ".git"
        if not pointer.is_file():
            continue
        git_dir = folder / pointer.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        shared = git_dir / "commondir"
        if not shared.is_file():
            return None  # a submodule
        common = Path(os.path.realpath(git_dir / shared.read_text(encoding="utf-8").strip()))
        return common.parent if common.name == ".git" else None
    return None
