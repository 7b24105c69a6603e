"""A store's files go to another folder: all copied and synced first, the old ones removed last.

A file is removed only while the copy says the same, byte for byte; every other one stays.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from mdmemory.files import is_open_for_writing, name_refusals, sync_folder
from mdmemory.git.private_folder import NAME, STATE
from mdmemory.store.project import Project

_ASIDE = ".mdmemory-moved."  # before the name of a file that is about to be removed
# what is made anew, or belongs to the processes of now
_REMADE = ("catalog", "search.db", f"{STATE}-", "lock", "compact.lock")


def copy_files(
    source: Path, target: Path, *, without: tuple[str, ...] = (".git", NAME)
) -> list[str]:
    """Copy all files and links below `source`, but for those names at its top; what was left out,
    being neither. Everything is on disk afterwards."""
    left = []
    folders = [target]
    with name_refusals(target):
        target.mkdir(exist_ok=True)
    for path in _walk_below(source, without):
        inside = path.relative_to(source)
        there = target / inside
        mode = path.lstat().st_mode
        with name_refusals(there):
            if stat.S_ISDIR(mode):
                there.mkdir(exist_ok=True)
                folders.append(there)
            elif stat.S_ISREG(mode):
                copy_file(path, there)
            elif stat.S_ISLNK(mode):
                there.unlink(missing_ok=True)
                os.symlink(os.readlink(path), there)
            else:
                left.append(str(inside))
    for folder in folders:
        sync_folder(folder)
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
    if project.state_file.is_file() and not project.state_file.is_symlink():
        _copy_database(project.state_file, fresh / STATE)


def _copy_database(file: Path, fresh: Path) -> None:
    import sqlite3

    # a process may be writing to it: SQLite gives a whole copy all the same
    with suppress(sqlite3.DatabaseError):
        uri = f"{file.absolute().as_uri()}?mode=rw"
        with closing(sqlite3.connect(uri, uri=True)) as old, closing(sqlite3.connect(fresh)) as new:
            old.backup(new)
        return
    fresh.unlink(missing_ok=True)  # a damaged one is put aside by whoever opens it next
    shutil.copy2(file, fresh, follow_symlinks=False)


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
