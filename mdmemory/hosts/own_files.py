"""Files of ours among those of a client: each carries our stamp, and an edited one is the person's.

One rule for all clients: what is missing or outdated is written, what somebody edited stays.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mdmemory.hosts import settings_files
from mdmemory.note.stamps import add_stamp, explain_outdated, is_unedited, read_stamp

_WRITTEN = ("Installed", "Updated")
WHY_LEFT = {"edited": "was edited", "another's": "is not ours"}
Name = Callable[[Path], str]  # how messages name a file


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file of ours; `text` is without its stamp."""

    path: Path
    text: str

    @property
    def bytes(self) -> bytes:
        return add_stamp(self.text, self.path.name)

    def step(self) -> str:
        """What is to be done: Installed, Updated, why it is left, or "" when all is in place.

        Raises MdmemoryError for a link.
        """
        present = settings_files.bytes_of(self.path)
        if present is None:
            return "Installed"
        if present.replace(b"\r\n", b"\n") == self.bytes:
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


def write(files: Iterable[OwnFile]) -> None:
    """Write files; what was there gives its permissions."""
    for file in files:
        settings_files.replace_file(file.path, file.bytes, 0o644)


def plan_removal(paths: Iterable[Path], name: Name = str) -> tuple[list[Path], list[str]]:
    """Which of these files are as we wrote them, and go; sentences on them, and on edited ones."""
    present = {path: data for path in paths if (data := _bytes_of_file(path)) is not None}
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
        present = settings_files.bytes_of(file.path)
        if present is None:
            yield f"{file.path} is missing. {again}"
        elif not read_stamp(present):
            continue  # a command of the person's own by the same name
        elif wrong := explain_outdated(present, file.path, again):
            yield wrong


def _bytes_of_file(path: Path) -> bytes | None:
    return None if path.is_symlink() else settings_files.bytes_of(path)


def _list_names(names: Sequence[str]) -> str:
    """The names of files; of several, the folder that they share is named once."""
    if len(names) == 1:
        return names[0]
    folder = os.path.commonpath(names)
    return f"in {folder}: {', '.join(os.path.relpath(name, folder) for name in names)}"
