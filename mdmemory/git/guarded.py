"""GitPython behind our guard: its commands run as ours do, with nothing of the caller's GIT_*
variables, the fixed settings, and a time limit. Its import takes a while."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmemory.errors import GitFailed
from mdmemory.git import repositories
from mdmemory.git.repositories import Repository

if TYPE_CHECKING:
    import git


def open_repo(repository: Repository) -> git.Repo:
    """A repository for GitPython, for reading. A command that fails raises GitFailed, in git's
    words."""
    import git

    class GuardedGit(git.Git):
        def execute(self, command: str | Sequence[Any], *_: object, **__: object) -> str:  # type: ignore[override]
            words = [*map(str, command[1:])]
            where = Path(str(self.working_dir))
            done = repositories.run(where, words, seconds=repository.patience)
            if done.returncode:
                raise GitFailed(f"git {words[0]} failed: {repositories.last_line(done.stderr)}.")
            return done.stdout.decode("utf-8", "surrogateescape")

    class GuardedRepo(git.Repo):
        GitCommandWrapperType = GuardedGit

    return GuardedRepo(repository.top)
