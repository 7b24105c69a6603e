"""Stores in the memory folder: one for a project, and the person's own.

Each is begun in a folder with a hidden name, and gets its own when it is whole: whatever kills us,
no half store is found.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from mdmemory.actions import setup
from mdmemory.actions.configuring import change_settings
from mdmemory.actions.setup import Setup
from mdmemory.config.person import Places
from mdmemory.config.table import PERSON, PERSONS_INDEX, PROJECT_FILE
from mdmemory.errors import NoGit, NoStore, NotFound
from mdmemory.files import name_refusals
from mdmemory.git import repositories
from mdmemory.git.lock import Patience, hold_lock
from mdmemory.store import home as homes
from mdmemory.store.home import Known
from mdmemory.store.project import home_of, open_project, person_root

_BEGUN = ".begun-"
_ELSEWHERE = (
    "Facts that are said here go to your own store; `mdmemory init --shared` makes one here."
)


def project_around(start: Path) -> repositories.Repository:
    """The repository around `start`, which can have a store in the memory folder.

    Raises NoStore where it cannot: no repository, the home folder or one above it.
    """
    if not repositories.is_installed():
        raise NoGit("git is not installed, and a project's store is known by its repository.",
                    "Install git and run `mdmemory init` again.")  # fmt: skip
    if not start.is_dir():
        raise NoStore(f"There is no folder {start}.", "Name the project's folder.")
    repository = repositories.find(start)
    if repository is None:
        raise NoStore(f"{start.absolute()} is in no git repository, which a store needs.",
                      f"Make it one with `git init`. {_ELSEWHERE}")  # fmt: skip
    persons = os.path.realpath(os.path.expanduser("~"))
    if Path(persons).is_relative_to(os.path.realpath(repository.top)):
        raise NoStore(f"{repository.top} is your home folder, or above it, and no one project.",
                      _ELSEWHERE)  # fmt: skip
    return repository


def begin_store(start: Path, places: Places) -> Setup:
    """Make a store for the project around `start`; its own, again: no change.

    Raises NoStore, and what `setup.init_store` raises.
    """
    repository = project_around(start)
    home = prepare_folder(places)
    with one_at_a_time(home):
        if known := homes.find_match(home, repository.top).entry:
            done = setup.init_store(known.store, places, store=".")
        else:
            folder = homes.free_folder(home, repository.top.name)
            text = homes.write(know_project(Known(home), repository))
            done = _begin_folder(folder, text, places)
        return replace(done, project=done.project._replace(around=repository.top))


def know_project(entry: Known, repository: repositories.Repository) -> Known:
    """What a store knows of its project, with this repository of it: before the first commit only
    its place, until `met_again` learns more."""
    project = repositories.identify(repository)
    if project is None:
        return entry._replace(folders=(os.path.realpath(repository.common_dir),))
    return entry.met(project)


def begin_person(places: Places) -> Setup:
    """Make the person's own store; again: no change."""
    root = person_root(places)
    if (root / PROJECT_FILE).is_file():
        return setup.init_store(root, places)
    home = prepare_folder(places)
    with one_at_a_time(home):
        folder = home / PERSON
        if os.path.lexists(folder / PROJECT_FILE):
            return setup.init_store(folder, places, store=".")
        if os.path.lexists(folder):
            raise NoStore(f"{folder} is there and is no store.", "Move it away, then try again.")
        return _begin_folder(folder, f'store = "."\n{PERSONS_INDEX}'.encode(), places)


def join_store(start: Path, store: str, places: Places) -> Path:
    """Write into the store (a folder, or its name in the memory folder) that the project around
    `start` is its own; the store's folder. Raises NoStore, NotFound."""
    repository = project_around(start)
    home = home_of(places)
    folder = Path(os.path.expanduser(store))
    folder = folder if folder.is_absolute() else home / store
    entry = homes.read(folder) if (folder / PROJECT_FILE).is_file() else None
    if entry is None:
        names = ", ".join(each.store.name for each in homes.read_entries(home)) or "none"
        raise NotFound(f"{folder} is no project's store.", f"Those in {home}: {names}.")
    edit = partial(homes.write, know_project(entry, repository))
    place = open_project(entry.store, places)
    change_settings(place, edit, "place", "know the project again", "`mdmemory init`")
    return folder


def is_forbidden(places: Places) -> bool:
    """Whether no store is made in the memory folder, since a build service runs us."""
    return places.environment.get("CI", "").lower() not in ("", "0", "false", "no")


def prepare_folder(places: Places, *, make: bool = True) -> Path:
    """The memory folder, made where it is missing (not without `make`). Raises NoStore."""
    if is_forbidden(places):
        raise NoStore(
            "CI is set, and a build service keeps no memory of its own.",
            "Unset CI, or make the store in the project: `mdmemory init --shared`.",
        )
    return homes.prepare_home(home_of(places)) if make else home_of(places)


@contextmanager
def one_at_a_time(home: Path) -> Iterator[None]:
    """No two processes make a store at once; what a killed one began is taken away."""
    with hold_lock(home / ".lock", "`mdmemory init`", Patience(30.0)):
        for name in os.listdir(home):
            if name.startswith(_BEGUN):
                shutil.rmtree(home / name, ignore_errors=True)  # it never held a note
        yield


def _begin_folder(folder: Path, text: bytes, places: Places) -> Setup:
    hidden = folder.with_name(f"{_BEGUN}{folder.name}")
    with name_refusals(hidden):
        hidden.mkdir(mode=0o700)
    if repositories.is_installed():
        setup.new_repository(hidden, [])
    done = setup.init_store(hidden, places, store=".", text=text)
    os.rename(hidden, folder)
    hide_folder(folder.parent)
    return replace(done, project=open_project(folder, places), said=done.said)


def hide_folder(home: Path) -> None:
    """Let a repository around the memory folder ignore it: a home folder may be one itself."""
    outer = repositories.find(home) if repositories.is_installed() else None
    if outer is not None:
        inside = os.path.relpath(os.path.realpath(home), os.path.realpath(outer.top))
        setup.exclude_lines(outer, [f"/{inside}/"])
