"""History that a person is shown, read through GitPython.

What answers a hook or writes starts git by itself: GitPython takes long to load. Its objects and
`Repo` cannot read a repository of SHA-256 and take 8 ms for the difference of one commit, so git's
own commands are asked for, in bulk, behind the same settings and environment as all of ours.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from subprocess import PIPE, CompletedProcess, Popen
from types import ModuleType

from mdmemory import debugging
from mdmemory.errors import GitFailed
from mdmemory.files import require_utf8
from mdmemory.git import repositories
from mdmemory.git.commits_of_store import History
from mdmemory.git.repositories import Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KILLED = "did not complete in"  # as GitPython says it


class ShownRepository(Repository):
    """A repository that passed our guard, whose commands GitPython runs."""

    @staticmethod
    def git(
        folder: Path, words: Sequence[str], *, data: bytes = b"",
        extra: Mapping[str, str] | None = None, seconds: float = repositories.TIMEOUT,
    ) -> CompletedProcess[bytes]:  # fmt: skip
        """As `repositories.run` has it."""
        with tempfile.TemporaryFile() as given:
            given.write(data)
            given.seek(0)
            status, out, errors = _execute(
                folder, words, extra, istream=given, with_extended_output=True,
                with_exceptions=False, stdout_as_string=False, strip_newline_in_stdout=False,
                kill_after_timeout=seconds,
            )  # fmt: skip
        if status and _KILLED in errors:
            raise GitFailed(f"git {words[0]} did not end within {seconds:.0f} s.")
        debugging.log_line("git %s by GitPython: exit %d", words[0], status)
        return CompletedProcess([*words], status, out, errors.encode())

    @staticmethod
    def start(folder: Path, words: Sequence[str]) -> Popen[bytes]:
        """As `repositories.start` has it."""
        handle = _execute(folder, words, None, istream=PIPE, as_process=True)
        process: Popen[bytes] = handle.proc
        handle.proc = None  # else it would end with the handle
        return process


def _execute(
    folder: Path, words: Sequence[str], extra: Mapping[str, str] | None, **how: Any
) -> Any:
    require_utf8(words)
    env = repositories.environment(extra)
    # GitPython adds to the caller's variables, and cannot take any away
    leaked = repositories.list_leaked(env)
    unset = ["env", *(word for name in leaked for word in ("-u", name))] if leaked else []
    # -C: it would read a ~ or $ in a folder's name
    command = [*unset, "git", "-C", str(folder), *repositories.SAFE, *words]
    return _import_gitpython().Git().execute(command, env=env, **how)


@cache
def _import_gitpython() -> ModuleType:
    with repositories.named_to_gitpython():
        import git
    return git


def open_history(history: History) -> History:
    """The same history, for what a person is shown."""
    git = history.repository
    about = (git.top, git.git_dir, git.common_dir, git.hash_name, git.patience)
    return History(ShownRepository(*about), history.folder)
