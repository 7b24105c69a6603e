"""Files of a person's that their clients read: read as they are, and replaced in one step.

A link is never written through, and what is read-only stays as it is.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mdmemory.errors import MdmemoryError
from mdmemory.files import name_refusals, read_if_there, sync_folder, write_beside

_MOST = 64 * 1024 * 1024  # bytes of a configuration; Claude Code's grows with its projects


def invalid_file(path: Path | str, problem: Exception | str) -> MdmemoryError:
    """The error for a file whose text is not what its client reads."""
    return MdmemoryError(
        f"{path} is not a valid configuration: {problem}.",
        "Correct it and run this again; nothing was written.",
        code="bad_configuration",
    )


@contextmanager
def name_file(path: Path | str) -> Iterator[None]:
    """A context in which the error of a text that is not valid becomes `invalid_file`."""
    try:
        yield
    except ValueError as problem:
        raise invalid_file(path, problem) from problem


def read(path: Path) -> str | None:
    """The text of a file, None where there is none. Raises MdmemoryError."""
    data = bytes_of(path)
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError as problem:
        raise invalid_file(path, "It is not UTF-8") from problem


def table_of(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """A table in what a file says; an empty one where none is."""
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def bytes_of(path: Path) -> bytes | None:
    """The bytes of a file, None where there is none. Raises MdmemoryError for a link, a folder, and
    what cannot be read."""
    if path.is_symlink():
        raise MdmemoryError(
            f"{path} is a symbolic link, and links are not written through.",
            f"Change what it points to by hand, or replace it by a file: {path}.",
        )
    try:
        return read_if_there(path, _MOST)
    except MdmemoryError as problem:  # which speaks of a file in a store, by its name
        message = problem.message.replace(path.name, str(path), 1)
        raise MdmemoryError(
            message, "Mend that and run this again; nothing was written."
        ) from problem


def refuse_read_only(paths: Sequence[Path]) -> None:
    """Raise MdmemoryError where a file is read-only: a person may have meant that."""
    for path in paths:
        if path.exists() and not path.stat().st_mode & stat.S_IWUSR:
            allow = f"chmod u+w {shlex.quote(str(path))}"
            raise MdmemoryError(f"{path} is read-only.", f"`{allow}`, and run this again.")


def refuse_no_folders(paths: Iterable[Path]) -> None:
    """Raise MdmemoryError where what is to be a folder above a file is something else."""
    for path in paths:
        above = next(each for each in path.parents if os.path.lexists(each))
        if not above.is_dir():
            what = "a link that leads nowhere" if above.is_symlink() else "no folder"
            raise MdmemoryError(
                f"{above} is {what}.",
                "Move it out of the way and run this again; nothing was written.",
            )


def replace_file(path: Path, data: bytes, mode: int) -> None:
    """Write a file in one step; what was there gives its permissions and its owner."""
    with name_refusals(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        status = path.stat() if path.exists() else None
        fresh = write_beside(path, data, status.st_mode & 0o7777 if status else mode)
        try:
            if status and (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
                os.chown(fresh, status.st_uid, status.st_gid)
            os.replace(fresh, path)
        finally:
            fresh.unlink(missing_ok=True)
        sync_folder(path.parent)
