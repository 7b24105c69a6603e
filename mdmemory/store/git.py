"""Running git: one function, a scrubbed environment, and fixed settings.

A repository may be hostile: nothing that its configuration names is run, and no GIT_* variable of
the caller can point us at another repository. A process, not GitPython, because every write
passes here and importing GitPython costs ten times what the git command itself does.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mdmemory.errors import GitFailed, RepositoryState

# Each of these closes a door through which a repository's own configuration could run a program,
# or makes what we write durable (git's default does not sync loose objects).
SAFE = (
    "-c", "core.fsmonitor=false",
    "-c", "core.hooksPath=/dev/null",
    "-c", "commit.gpgSign=false",
    "-c", "core.fsync=all",
    "-c", "core.quotePath=false",
    "-c", "core.splitIndex=false",
)  # fmt: skip
TIMEOUT = 120.0  # seconds for one git command; they take milliseconds

# What marks an operation of the person's that is not finished, and how they end it.
_UNFINISHED = {
    "MERGE_HEAD": ("a merge is under way", "`git merge --continue` or `git merge --abort`"),
    "rebase-merge": ("a rebase is under way", "`git rebase --continue` or `git rebase --abort`"),
    "rebase-apply": ("a rebase is under way", "`git rebase --continue` or `git rebase --abort`"),
    "CHERRY_PICK_HEAD": (
        "a cherry-pick is under way",
        "`git cherry-pick --continue` or `git cherry-pick --abort`",
    ),
    "REVERT_HEAD": (
        "a revert is under way",
        "`git revert --continue` or `git revert --abort`",
    ),
}


@dataclass(frozen=True, slots=True)
class Repository:
    """A git work tree: `top` is its root, `git_dir` its own, `common_dir` shared by all worktrees."""

    top: Path
    git_dir: Path
    common_dir: Path
    hash_name: str  # "sha1" or "sha256"

    def run(
        self,
        *words: str,
        data: bytes = b"",
        folder: Path | None = None,
        extra: Mapping[str, str] | None = None,
        fine: Sequence[int] = (0,),
    ) -> bytes:
        """What `git words...` prints. Raises GitFailed, with git's words, unless its exit is fine."""
        done = run(folder or self.top, words, data=data, extra=extra)
        if done.returncode not in fine:
            raise GitFailed(f"git {words[0]} failed: {_last_line(done.stderr)}")
        return done.stdout

    def ask(self, *words: str, data: bytes = b"", folder: Path | None = None) -> bytes | None:
        """What `git words...` prints, or None where it ends with an error: a no to a question."""
        done = run(folder or self.top, words, data=data)
        return done.stdout if done.returncode == 0 else None


def run(
    folder: Path,
    words: Sequence[str],
    *,
    data: bytes = b"",
    extra: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """One git command in `folder`, with nothing of the caller's GIT_* variables in it."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= {"LC_ALL": "C", "LANGUAGE": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
    env |= {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_LITERAL_PATHSPECS": "1"}
    env |= extra or {}
    try:
        return subprocess.run(
            ["git", *SAFE, *words],
            cwd=folder, env=env, input=data, capture_output=True, timeout=TIMEOUT, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as problem:
        raise GitFailed(f"git {words[0]} did not end within {TIMEOUT:.0f} s.") from problem


def is_installed() -> bool:
    """Whether a git program is on the path."""
    import shutil  # only asked where something failed already

    return shutil.which("git") is not None


def find(folder: Path) -> Repository | None:
    """The repository whose work tree holds `folder`, or None (no git, no repository).

    Raises RepositoryState for a bare repository and for one that git itself refuses to open.
    """
    words = (
        "rev-parse", "--is-bare-repository", "--absolute-git-dir", "--git-common-dir",
        "--show-object-format", "--show-toplevel",
    )  # fmt: skip
    try:
        done = run(folder, words)
    except FileNotFoundError:
        return None
    lines = done.stdout.decode("utf-8", "surrogateescape").split("\n")
    if lines[0] == "true":
        raise RepositoryState(
            f"{folder} lies in a bare git repository, which has no work tree for notes.",
            "Clone it and work in the clone.",
        )
    if done.returncode == 0:
        git_dir, common, kind, top = lines[1:5]
        return Repository(Path(top), Path(git_dir), _absolute(folder, common), kind)
    complaint = _last_line(done.stderr)
    if "not a git repository" in complaint:
        return None
    raise RepositoryState(f"git refuses this repository: {complaint}", "Run `git status` there.")


def _absolute(folder: Path, path: str) -> Path:
    # --git-common-dir is relative to where git ran
    return Path(os.path.realpath(folder / path))


def refusal(repository: Repository) -> RepositoryState | None:
    """Why no commit is written in the repository's present state, or None when it is ready."""
    for mark, (what, way_out) in _UNFINISHED.items():
        if (repository.git_dir / mark).exists():
            return RepositoryState(
                f"Nothing is committed while {what} in {repository.top}.",
                f"Finish it first: {way_out}.",
            )
    if repository.ask("symbolic-ref", "-q", "HEAD") is None:
        return RepositoryState(
            f"HEAD is detached in {repository.top}, and a commit there would belong to no branch.",
            "Switch to a branch first: `git switch <branch>`.",
        )
    if (repository.git_dir / "index.lock").exists():
        return RepositoryState(
            f"Another git process holds {repository.git_dir / 'index.lock'}.",
            "Wait for it; if none runs any more, remove that file.",
        )
    return None


def _last_line(text: bytes) -> str:
    lines = [line for line in text.decode("utf-8", "replace").splitlines() if line.strip()]
    for line in lines:
        if line.startswith(("fatal:", "error:")):
            return line.partition(":")[2].strip()
    return lines[-1].strip() if lines else "it said nothing"
