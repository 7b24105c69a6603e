"""What tells one project from another: where its repository lies, its first commit, its remotes.

A clone keeps the first commit; a fork keeps it too. A remote says where a clone came from. So only
both together speak for the same project, and a commit that was seen there before speaks against a
stranger who copied them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from mdmemory.git.repositories import Repository

_MOST = 16  # first commits and remotes that are looked at; joined histories have two or three
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]*://)(?:[^/@\s]*@)?([^/\s]+)/*(\S*)", re.IGNORECASE)
_SSH = re.compile(r"(?:[^/@:\s]+@)?([^/@:\s]+):(?!/{2})/*(\S+)")


class Identity(NamedTuple):
    """A project: its work tree's root, the git directory that all its worktrees share, the first
    commits of its history (40 or 64 hex), and its remotes as `host/path`, without credentials."""

    top: Path
    common_dir: Path
    roots: tuple[str, ...]
    remotes: tuple[str, ...]


def identify(repository: Repository, among: Collection[str] | None = None) -> Identity | None:
    """The identity of a repository; None while it has no commit.

    With `among` its first commits are those of `among` that it holds: no history is walked.
    """
    if not read_head(repository):
        return None
    roots: list[str] = []  # of a shallow clone the oldest commit at hand is not the first one
    if among is not None:
        data = "".join(f"{commit}\n" for commit in among).encode()
        rows = (repository.ask("cat-file", "--batch-check", data=data) or b"").decode().splitlines()
        roots = [row.split()[0] for row in rows if row.split()[1:2] == ["commit"]]
    elif not is_shallow(repository):
        output = repository.ask("rev-list", "--max-parents=0", f"-n{_MOST}", "HEAD") or b""
        roots = output.decode().split()
    return Identity(
        top=Path(os.path.realpath(repository.top)),
        common_dir=Path(os.path.realpath(repository.common_dir)),
        roots=tuple(sorted(roots)),
        remotes=list_remotes(repository),
    )


def is_shallow(repository: Repository) -> bool:
    """Whether the clone was told to leave old commits out."""
    return (repository.common_dir / "shallow").exists()


def has_commit(repository: Repository, commit: str) -> bool:
    """Whether the repository has this commit, asked without the network."""
    return repository.ask("cat-file", "-e", f"{commit}^{{commit}}") is not None


def is_ancestor(repository: Repository, commit: str, tip: str) -> bool:
    """Whether a commit is `tip` or one of its ancestors."""
    return repository.ask("merge-base", "--is-ancestor", commit, tip) is not None


def read_head(repository: Repository) -> str:
    """The commit that is checked out, or "" without one."""
    return (repository.ask("rev-parse", "-q", "--verify", "HEAD^{commit}") or b"").decode().strip()


def list_remotes(repository: Repository) -> tuple[str, ...]:
    """The remotes of a repository as `host/path`, without credentials."""
    raw = repository.ask("config", "-z", "--get-regexp", r"^remote\..*\.url$") or b""
    urls = [entry.partition("\n")[2] for entry in os.fsdecode(raw).split("\0") if entry]
    return tuple(sorted({parse_remote(url) for url in urls[:_MOST]}))


def parse_remote(url: str) -> str:
    """The place that a remote's URL names, as `host/path`: the same for every way to reach it.

    `git@example.org:team/app.git` and `https://name:word@example.org/team/app` are both
    `example.org/team/app`. A folder of this machine stays its path.
    """
    url = url.strip()
    match = _ADDRESS.fullmatch(url) or (None if url.startswith((".", "/")) else _SSH.fullmatch(url))
    if match is None or url.lower().startswith("file:"):
        return re.sub(r"^file://[^/]*", "", url, flags=re.IGNORECASE).rstrip("/")
    host = re.sub(r":\d+$", "", match[1]).lower()
    return f"{host}/{match[2].rstrip('/').removesuffix('.git')}"
