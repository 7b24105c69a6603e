"""`.mdmemory/`: the one place that opens what lies there, and knows when it is not to be had.

It may have come with somebody else's repository, so no link is followed at any step, and only
regular files are opened. Nothing in it is knowledge: whoever meets NoState goes on without it.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from mdmemory.errors import MdmemoryError, NoState
from mdmemory.files import read_regular

NAME = ".mdmemory"
STATE = "state.db"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_CLOSED = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_INDEX = 256 * 1024 * 1024  # bytes of git's index that are read


def prepare(folder: Path) -> Path:
    """Make the folder when it is missing: for its owner only, and ignored by itself.

    Raises NoState where it is a link, no folder, tracked by git, or cannot be made.
    """
    check(folder)
    try:
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        ignore = folder / ".gitignore"
        if not os.path.lexists(ignore):
            with suppress(FileExistsError), open(open_file(ignore, _NEW), "wb") as file:
                file.write(b"*\n")
    except OSError as problem:
        raise as_refusal(folder, problem) from problem
    return folder


def check(folder: Path) -> None:
    """Raises NoState where what lies at the folder's place is not ours to use. Changes nothing."""
    try:
        mode = os.lstat(folder).st_mode
    except FileNotFoundError:
        return
    except OSError as problem:
        raise as_refusal(folder, problem) from problem
    if stat.S_ISLNK(mode):
        what = "is a symbolic link, and state is not written through links"
        raise NoState(str(folder), what, f"Remove it: `rm {_quote_path(folder)}`.")
    if not stat.S_ISDIR(mode):
        raise NoState(str(folder), "is not a folder", moving_step(folder))
    if is_tracked(folder):
        raise NoState(
            str(folder), "is tracked by git, but is state of one machine",
            f"Take it out: `git rm -r --cached {_quote_path(folder)}`, and commit that.",
        )  # fmt: skip


def open_file(file: Path, flags: int) -> int:
    """A regular file, open; what is created is its owner's only. Never waits.

    Neither the file nor a folder from `.mdmemory` down may be a link. Raises OSError.
    """
    folder = _open_folder(file.parent)
    try:
        handle = os.open(file.name, flags | _CLOSED, 0o600, dir_fd=folder)
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "It is not a regular file", str(file))
    return handle


def make_folder(folder: Path) -> Path:
    """A folder in `.mdmemory`, made where it is missing. Raises OSError where it is a link, or
    where `.mdmemory` is not ours to use."""
    try:
        check(folder.parent)
    except NoState as problem:
        raise OSError(errno.EINVAL, problem.what, str(folder.parent)) from problem
    above = _open_folder(folder.parent)
    try:
        with suppress(FileExistsError):
            os.mkdir(folder.name, 0o700, dir_fd=above)
    finally:
        os.close(above)
    os.close(_open_folder(folder))
    return folder


def is_folder(folder: Path) -> bool:
    """Whether there is such a folder in `.mdmemory`, ours to use, and no link in its place."""
    try:
        check(folder.parent)
        os.close(_open_folder(folder))
    except (NoState, OSError):
        return False
    return True


def as_refusal(path: Path, problem: OSError) -> NoState:
    """What the file system says, as a sentence with the next step."""
    hints = {
        errno.ENOSPC: "Free some space.",
        errno.EROFS: "The file system is read-only: make it writable.",
        errno.ELOOP: "It is a symbolic link: remove it.",
    }
    why = f"cannot be used ({problem.strerror or problem})"
    return NoState(str(path), why, hints.get(problem.errno or 0, "Check its permissions."))


def moving_step(path: Path) -> str:
    """The step that takes something away without losing it."""
    return f"Move it away: `mv {_quote_path(path)} {_quote_path(path)}.away`."


def _quote_path(path: Path) -> str:
    import shlex  # only for words to a person

    return shlex.quote(str(path))


def is_tracked(folder: Path) -> bool:
    """Whether git's index holds a file below the folder: then it came with the repository."""
    top = find_top(folder.parent)
    if top is None:
        return False
    index = _find_git_dir(top) / "index"
    try:
        status = index.stat()
    except OSError:
        return False  # nothing was ever added
    return _has_tracked(folder, top, index, (status.st_mtime_ns, status.st_size, status.st_ino))


@lru_cache(maxsize=16)
def _has_tracked(folder: Path, top: Path, index: Path, _state: tuple[int, ...]) -> bool:
    """Spares a git process where the index's plain bytes say that no path has such a name."""
    try:
        data = read_regular(index, _INDEX)
    except MdmemoryError:
        data = b""
    # version 4 shortens paths, and a split index keeps them elsewhere
    is_plain = data[:8] in (b"DIRC\0\0\0\2", b"DIRC\0\0\0\3")
    names = os.listdir(index.parent) if b"link" in data else ()
    is_split = any(name.startswith("sharedindex.") for name in names)
    is_named = folder.name.encode() + b"/" in data
    if is_plain and not is_split and not is_named:
        return False
    from mdmemory.git import repositories  # most readers never need it

    inside = os.path.relpath(os.path.realpath(folder.parent), os.path.realpath(top))
    try:
        words = ("ls-files", "-z", "--", os.path.join(inside, folder.name) + "/")
        done = repositories.run(top, words)
    except (OSError, MdmemoryError):
        return is_named  # without git nobody can say better
    return bool(done.stdout) if done.returncode == 0 else is_named


def common_dir(start: Path) -> Path | None:
    """The git directory that all worktrees of the repository around `start` share, or None.

    Only files are read: no git runs.
    """
    top = find_top(start)
    if top is None:
        return None
    git_dir = _find_git_dir(top)
    shared = git_dir / "commondir"
    if shared.is_file():
        git_dir /= _read_path(shared)
    return Path(os.path.realpath(git_dir))


def find_top(start: Path) -> Path | None:
    """The nearest folder upward that has a `.git`, whatever that is; None where there is none."""
    return next((up for up in (start, *start.parents) if os.path.lexists(up / ".git")), None)


def _find_git_dir(top: Path) -> Path:
    """The git directory of a work tree; of a linked one, or a submodule, a file names it."""
    pointer = top / ".git"
    return pointer if pointer.is_dir() else top / (_read_path(pointer) or pointer)


def _read_path(file: Path) -> str:
    """The path that a file of git's names; "" for what names none."""
    try:
        line = os.fsdecode(file.read_bytes()) if file.is_file() else ""
    except OSError:
        return ""
    return "" if "\0" in line else line.removeprefix("gitdir:").strip()


def _open_folder(path: Path) -> int:
    """A folder, open. Of `.mdmemory` and what lies in it no part may be a link."""
    parts = path.parts
    at = next((at for at in (-1, -2) if len(parts) > -at and parts[at] == NAME), 0)
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    handle = os.open(Path(*parts[:at]) if at else path, flags)
    for name in parts[at:] if at else ():
        above = handle
        try:
            handle = os.open(name, flags | os.O_NOFOLLOW, dir_fd=above)
        finally:
            os.close(above)
    return handle
