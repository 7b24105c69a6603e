"""What killed processes left beside the notes: copies that may go, and texts that may not.

A copy is a temporary file of `files.write_atomic`: what it holds was to be written elsewhere, too,
or is derived. Old enough to be nobody's any more, it is swept.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from mdmemory.store import opened
from mdmemory.store.moves import MARK
from mdmemory.store.private import is_folder
from mdmemory.store.project import Project

MIN_AGE = 600.0  # seconds; a write takes milliseconds, on a disk that hangs a little longer
_TEMPORARY = re.compile(r"\.mdmemory-[0-9a-f]{12}\.tmp")


def temporary(project: Project, now: datetime) -> list[Path]:
    """The temporary files that no live process writes any more."""
    private = project.private
    folders = [project.root, project.root / ".opencode", project.store]
    within = (private, private / "aside", private / "refused")
    folders += filter(is_folder, within)  # not through a link, which may have been planted
    found = {path for folder in folders for path in _copies(folder, now.timestamp() - MIN_AGE)}
    return sorted(found)


def sweep(project: Project, now: datetime) -> None:
    """Remove them."""
    for path in temporary(project, now):
        path.unlink(missing_ok=True)


def aside(project: Project) -> list[Path]:
    """Texts that were saved into a note while it was replaced, and found their name taken."""
    return sorted([*project.store.glob(f"{MARK}*.old"), *opened.written_to(project.store)])


def _copies(folder: Path, before: float) -> Iterator[Path]:
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in filter(_TEMPORARY.fullmatch, names):
        try:
            status = os.lstat(folder / name)
        except FileNotFoundError:
            continue  # done in this moment
        if stat.S_ISREG(status.st_mode) and status.st_mtime < before:
            yield folder / name
