"""Whether other people read what is written here, so that `init` can say so."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from mdmemory.store import git

_PROGRAM = "GIT_PYTHON_GIT_EXECUTABLE"


def advice(folder: Path) -> list[str]:
    """A sentence when the store lies in a repository with a remote and other authors."""
    repository = git.find(folder)
    if repository is None or not _has_remote(repository.top):
        return []
    # a line about each commit, then its author
    lines = (repository.ask("rev-list", "-n500", "--format=%ae", "HEAD") or b"").splitlines()
    if len(set(lines[1::2])) < 2:
        return []
    return [
        f"This repository has a remote and other authors: whoever reads it reads {folder}. "
        "`mdmemory init --own-repo` keeps the notes in a repository of their own."
    ]


def _has_remote(top: Path) -> bool:
    """GitPython reads the configuration, with all that it includes."""
    # at its import it runs the git it finds, and a relative PATH entry could be the repository's
    absolute = [part for part in os.get_exec_path() if os.path.isabs(part)]
    program = shutil.which("git", path=os.pathsep.join(absolute))
    before = os.environ.get(_PROGRAM)
    os.environ[_PROGRAM] = program or "git"
    try:
        from git import Repo  # takes 100 ms to load, once in a project's life
    finally:
        del os.environ[_PROGRAM]
        os.environ |= {} if before is None else {_PROGRAM: before}
    with Repo(top) as known:
        return bool(known.remotes)
