"""Files of a person's that their clients read: read as they are, and replaced in one step. Files of
ours among them carry our stamp: what is missing or outdated is written, an edited one stays.

A link is never written through, and what is read-only stays as it is.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mdmemory.errors import MdmemoryError
from mdmemory.files import name_refusals, read_if_there, sync_folder, write_beside
from mdmemory.note.stamps import add_stamp, explain_outdated, is_unedited, read_stamp

_MOST = 64 * 1024 * 1024  # bytes of a configuration; Claude Code's grows with its projects
_WRITTEN = ("Installed", "Updated")
WHY_LEFT = {"edited": "was edited", "another's": "is not ours"}
Name = Callable[[Path], str]  # how messages name a file


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


def drop_empty(folders: Iterable[Path]) -> None:
    """Remove those of the folders that hold nothing, the inner ones first."""
    for folder in sorted(folders, key=lambda each: len(each.parts), reverse=True):
        if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
            folder.rmdir()


# --- files of ours


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file of ours; `text` is without its stamp."""

    path: Path
    text: str

    def step(self) -> str:
        """What is to be done: Installed, Updated, why it is left, or "" when all is in place.

        Raises MdmemoryError for a link.
        """
        present = bytes_of(self.path)
        if present is None:
            return "Installed"
        if present.replace(b"\r\n", b"\n") == add_stamp(self.text, self.path.name):
            return ""
        if is_unedited(present):
            return "Updated"
        return "edited" if read_stamp(present) else "another's"


def plan_files(files: Iterable[OwnFile], name: Name = str) -> tuple[list[OwnFile], list[str]]:
    """The files that are to be written, and what is to be said: one sentence for all of them, and
    one for each that is left."""
    steps = [(file, step) for file in files if (step := file.step())]
    sentences = [
        f"{verb} {_list_names([name(file.path) for file in written])}."
        for verb in _WRITTEN
        if (written := [file for file, step in steps if step == verb])
    ]
    sentences += [
        f"Left {name(file.path)} as it is: it {WHY_LEFT[step]}. Remove it and run this again for "
        "ours."
        for file, step in steps
        if step in WHY_LEFT
    ]
    return [file for file, step in steps if step in _WRITTEN], sentences


def write_own(files: Iterable[OwnFile]) -> None:
    """Write files; what was there gives its permissions."""
    for file in files:
        replace_file(file.path, add_stamp(file.text, file.path.name), 0o644)


def plan_removal(paths: Iterable[Path], name: Name = str) -> tuple[list[Path], list[str]]:
    """Which of these files are as we wrote them, and go; sentences on them, and on edited ones."""
    files = [path for path in paths if not path.is_symlink()]
    present = {path: data for path in files if (data := bytes_of(path)) is not None}
    ours = [path for path, data in present.items() if is_unedited(data)]
    sentences = [f"Removed {_list_names([*map(name, ours)])}."] if ours else []
    return ours, sentences + [
        f"Left {name(path)} where it is: it was edited."
        for path, data in present.items()
        if path not in ours and read_stamp(data)
    ]


def file_findings(files: Iterable[OwnFile], again: str) -> Iterator[str]:
    """What is missing, old or edited, a sentence each; `again` is the next step."""
    for file in files:
        present = bytes_of(file.path)
        if present is None:
            yield f"{file.path} is missing. {again}"
        elif not read_stamp(present):
            continue  # a command of the person's own by the same name
        elif wrong := explain_outdated(present, file.path, again):
            yield wrong


def _list_names(names: Sequence[str]) -> str:
    """The names of files; of several, the folder that they share is named once."""
    if len(names) == 1:
        return names[0]
    folder = os.path.commonpath(names)
    return f"in {folder}: {', '.join(os.path.relpath(name, folder) for name in names)}"
