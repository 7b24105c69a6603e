"""What a process that was killed, or an editor in the middle of a write, left in the folders."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from mdmemory.git import replacement
from mdmemory.git.private_folder import is_folder
from mdmemory.git.replacement import MARK
from mdmemory.store.project import Project

MIN_AGE = 600.0  # seconds; a write takes milliseconds, on a disk that hangs a little longer


def temporary(project: Project, now: datetime) -> list[Path]:
    """The temporary files that no live process writes any more; those in a project's store go with
    the next command."""
    private = project.private
    folders = [project.root, project.root / ".opencode"]
    within = (private, private / "aside", private / "refused")
    folders += filter(is_folder, within)  # not through a link, which may have been planted
    before = now.timestamp() - MIN_AGE
    return sorted(path for folder in folders for path in _copies(folder, before))


def sweep(project: Project, now: datetime) -> None:
    """Remove them."""
    for path in temporary(project, now):
        path.unlink(missing_ok=True)


def aside(project: Project) -> list[Path]:
    """Texts that were saved into a note while it was replaced, and found their name taken."""
    late = replacement.grown_open_texts(project.store)
    return sorted([*project.store.glob(f"{MARK}*.old"), *late])


def _copies(folder: Path, before: float) -> Iterator[Path]:
    with suppress(OSError):
        for path in replacement.copies(folder, os.listdir(folder)):
            if path.lstat().st_mtime < before:
                yield path
