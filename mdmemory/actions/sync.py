"""Bringing a store and its upstream together, on a person's command and never else.

What is written is committed first, what is merged is merged by git, what conflicts is left to the
person in git's ordinary way. No lock is held while the network is waited for.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mdmemory.errors import GitFailed, MdmemoryError, NoGit, RepositoryState
from mdmemory.git.commits_of_store import AUTHOR, History, text
from mdmemory.store.store import is_note_name
from mdmemory.store.writer import Writer

PATIENCE = 300.0  # seconds for one fetch or push
ROUNDS = 3  # pushes that others may overtake before we give up
_ROLES = ("AUTHOR", "COMMITTER")
# What `git rev-parse --local-env-vars` lists: variables that name a repository. Inside a hook they
# name the one that the hook belongs to.
_LOCAL = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS", "GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
)  # fmt: skip


@dataclass
class Synced:
    """What `sync` did. `committed` and `merged` are commits or None; `fetched` and `pushed` count.

    With `conflicts` (paths below `top`, the work tree's root) nothing was pushed: the person
    decides first.
    """

    top: Path
    upstream: str
    committed: str | None = None
    fetched: int = 0
    merged: str | None = None
    pushed: int = 0
    conflicts: list[str] = field(default_factory=list)


class _Git:
    """The person's own git: their configuration, credentials, signing and hooks, as if typed."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        self.environment = {n: v for n, v in environment.items() if n not in _LOCAL}
        # our line in their hooks would wait for the lock that we hold
        self.environment |= {"MDMEMORY_DISABLE": "1", "LC_ALL": "C", "LANGUAGE": "C"}
        if self.run("var", "GIT_COMMITTER_IDENT").returncode != 0:
            for role in _ROLES:
                self.environment[f"GIT_{role}_NAME"] = AUTHOR[0]
                self.environment[f"GIT_{role}_EMAIL"] = AUTHOR[1]

    def run(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(
                ["git", *words], cwd=self.folder, env=self.environment,
                stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as problem:
            raise GitFailed(
                f"git {words[0]} did not end within {PATIENCE:.0f} s.", "Is the remote there?"
            ) from problem


def sync(writer: Writer, environment: Mapping[str, str], *, rebase: bool = False) -> Synced:
    """Commit what is uncommitted, fetch, merge (or rebase), bring the index up to date, push.

    `environment` is the person's. Raises RepositoryState without an upstream, and where git will
    not merge because files are changed; GitFailed, with git's words, where the remote cannot be
    reached. Either leaves the work tree as git left it, and the notes committed.
    """
    history = writer.history
    if history is None:
        raise writer.refusal() or NoGit("There is no git repository.")
    with writer.locked():
        if refusal := writer.refusal():
            raise refusal
        remote, there = _upstream(history)
        result = Synced(history.repository.top, f"{remote}/{there.removeprefix('refs/heads/')}")
        own = _Git(result.top, environment)
        _commit(writer, history, result)
    for _ in range(ROUNDS):
        _require(own.run("fetch", "--quiet", remote), f"git could not fetch from {remote}")
        with writer.locked():
            if refusal := writer.refusal():
                raise refusal
            _commit(writer, history, result)  # whatever was written meanwhile
            _merge(own, history, result, rebase)
            if result.conflicts:
                return result
            writer.refresher.forget()
            _commit(writer, history, result)  # the index of what is now there
        if _push(own, history, result, remote, there):
            return result
    raise GitFailed(
        f"{result.upstream} was ahead again each of {ROUNDS} times.", "Run `mdmemory sync` again."
    )


# before and after


def _upstream(history: History) -> tuple[str, str]:
    """The remote and the branch there that this branch follows."""
    branch = history.branch().removeprefix("refs/heads/")
    found = [_config(history, f"branch.{branch}.{key}") for key in ("remote", "merge")]
    if all(found):
        return found[0], found[1]
    remotes = (history.repository.ask("remote") or b"").decode("utf-8", "replace").split()
    first = "" if remotes else "`git remote add origin URL`, then "
    name = remotes[0] if len(remotes) == 1 else "origin"
    raise RepositoryState(
        f"The branch {branch} follows no branch of a remote, so there is nothing to sync with.",
        f"Once: {first}`git push -u {name} {branch}`.",
        code="no_upstream",
    )


def _config(history: History, name: str) -> str:
    return (history.repository.ask("config", name) or b"").decode("utf-8", "replace").strip()


def _commit(writer: Writer, history: History, result: Synced) -> None:
    """Commit the store as it is, held notes excepted, and the index that belongs to it."""
    _refuse_sudden_loss(writer, history)
    checkpoint = writer.checkpoint_all(())
    written = writer.write("memory: bring the index up to date", [], kind="sync")
    made = checkpoint.commit if checkpoint.made else None
    result.committed = written.commit or made or result.committed


def _refuse_sudden_loss(writer: Writer, history: History) -> None:
    """A store that lost its notes by accident must not tell the other side to lose them, too."""
    held = [file for file in history.tree(history.head()) if is_note_name(file)]
    missing = [file for file in held if not (writer.project.store / file).exists()]
    missing = [f for f, staged in history.staged(missing).items() if staged.trusted]
    if len(missing) > max(3, len(held) // 4):
        raise MdmemoryError(
            f"{len(missing)} of {len(held)} notes are gone from {writer.project.store} without a "
            "commit that removes them.",
            "If that was an accident: `git restore .` in that folder. If it was meant: commit it.",
            code="sudden_loss",
        )


# with the upstream


def _merge(own: _Git, history: History, result: Synced, rebase: bool) -> None:
    head, theirs = history.head(), _tracked(history)
    if theirs is None or head is None:
        return
    result.fetched += _count(history, f"{head}..{theirs}")
    if not _count(history, f"{head}..{theirs}"):
        return
    words = ["rebase"] if rebase else ["merge", "--no-edit"]
    # never a stash of theirs: what cannot be merged over is told
    done = own.run(*words, "--no-autostash", "@{upstream}")
    if done.returncode == 0:
        result.merged = history.head()
        return
    unmerged = text(history.repository.run("ls-files", "-u", "-z")).split("\0")[:-1]
    # a row for each side of a file: its object, then after a tab the path
    result.conflicts = [*dict.fromkeys(row.partition("\t")[2] for row in unmerged)]
    if not result.conflicts:
        raise RepositoryState(
            f"git did not {words[0]} {result.upstream}: {_words(done)}",
            "Commit or put away what it names (a note that is on hold is never committed by "
            "mdmemory), then run `mdmemory sync` again.",
        )


def _tracked(history: History) -> str | None:
    """The upstream's commit as last fetched; None when it has none yet."""
    found = history.repository.ask("rev-parse", "-q", "--verify", "@{upstream}^{commit}")
    return None if found is None else found.decode().strip()


def _push(own: _Git, history: History, result: Synced, remote: str, there: str) -> bool:
    """Whether the upstream has everything now; False when somebody else was quicker."""
    theirs = _tracked(history)
    ahead = _count(history, f"{theirs}..HEAD" if theirs else "HEAD")
    if not ahead:
        return True
    done = own.run("push", "--quiet", remote, f"HEAD:{there}")
    if done.returncode != 0 and (b"fetch first" in done.stderr or b"non-fast" in done.stderr):
        return False
    _require(done, f"git could not push to {remote}")
    result.pushed += ahead
    return True


def _count(history: History, commits: str) -> int:
    return int(history.repository.run("rev-list", "--count", commits))


def _require(done: subprocess.CompletedProcess[bytes], what: str) -> None:
    if done.returncode != 0:
        raise GitFailed(
            f"{what}: {_words(done)}",
            "What was changed here is committed; run `mdmemory sync` again when that is solved.",
        )


def _words(done: subprocess.CompletedProcess[bytes]) -> str:
    """What git and the person's hooks said, on one line, without git's advice."""
    lines = map(str.strip, done.stderr.decode("utf-8", "replace").splitlines())
    advice = (
        "hint:", "To ", "Please ", "and the repository exists", "Aborting", "Merge with strategy",
    )  # fmt: skip
    told = " ".join(line for line in lines if line and not line.startswith(advice))
    return f"{(told or 'no word').rstrip('.')}."
