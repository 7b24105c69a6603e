"""The remote of a store: which it is, what came from there, and giving one to a store of its own.

A remote is looked at before anything is set, so that a wrong address changes nothing.
"""

from __future__ import annotations

import subprocess

from mdmemory.config.table import PROJECT_FILE
from mdmemory.errors import GitFailed, RepositoryState, UsageError
from mdmemory.files import to_text
from mdmemory.git import filter_repo, identity, repositories
from mdmemory.git.commits_of_store import History
from mdmemory.git.persons_git import PersonsGit, explain, redact_url
from mdmemory.store import home
from mdmemory.store.project import Project
from mdmemory.store.writer import Writer

NAME = "origin"


def connect_remote(writer: Writer, history: History, own: PersonsGit, url: str) -> bool:
    """Give a store of its own the remote `url`, and its branch the one there that it follows.

    Whether the store had no remote before; with the same address again nothing changes. Raises
    RepositoryState where the store has another already or is a project's, GitFailed where nothing
    can be read at that address.
    """
    if not url or url.startswith("-") or not url.isprintable():
        raise UsageError(f"{url[:200]!r} is no address of a repository.", "Give a URL or a path.")
    top = history.repository.top
    if not writer.is_own:
        raise RepositoryState(
            f"The store is a part of {top}, whose remote is the project's.",
            "Once: `git push -u origin BRANCH` there; then `mdmemory sync`. Or `mdmemory move` "
            "makes the store a repository of its own.",
            code="shared_store",
        )
    if identity.parse_remote(url) in _places_of_project(writer.project):
        raise RepositoryState(
            f"{redact_url(url)} is the project's own repository, and notes do not belong there.",
            "Make an empty repository for them, and give its address.",
            code="not_a_store",
        )
    known = read_config(history, f"remote.{NAME}.url")
    if known and known != url:
        raise RepositoryState(
            f"The store has another remote already: {redact_url(known)}.",
            f"To change it: `git -C {top} remote set-url {NAME} {redact_url(url)}`, then "
            "`mdmemory sync`.",
            code="other_remote",
        )
    branch = history.branch().removeprefix("refs/heads/")
    if known and read_config(history, f"branch.{branch}.merge"):
        return False
    there = _branch_there(own, url, branch)
    with writer.lock_store():
        if not known:
            history.repository.run("remote", "add", NAME, url)
        history.repository.run("config", f"branch.{branch}.remote", NAME)
        history.repository.run("config", f"branch.{branch}.merge", there)
    return not known


def disconnect_remote(writer: Writer, history: History) -> None:
    """Take the remote away that `connect_remote` gave, with what was fetched from it."""
    with writer.lock_store():
        history.repository.run("remote", "remove", NAME)


def _places_of_project(project: Project) -> tuple[str, ...]:
    """The remotes of the project that the store belongs to, as `host/path`."""
    entry = home.read(project.store) if (project.store / PROJECT_FILE).is_file() else None
    if entry is not None:
        return entry.remotes
    outer = repositories.find(project.root) if project.root != project.store else None
    identified = identity.identify(outer, ()) if outer else None
    return identified.remotes if identified else ()


def _branch_there(own: PersonsGit, url: str, branch: str) -> str:
    """The branch at that address which the store's is to follow; its own name where there is none.

    One of the same name, else the one that HEAD there names, else the only one.
    """
    done = own.run("ls-remote", "--symref", "--", url)
    if done.returncode != 0:
        raise GitFailed(
            f"Nothing can be read at {redact_url(url)}: {explain(done)}",
            "The store was left without a remote: make an empty repository there, or correct the "
            "address.",
        )
    rows = [row.partition("\t") for row in to_text(done.stdout).splitlines()]
    heads = {name for _, _, name in rows if name.startswith("refs/heads/")}
    # the row on what HEAD stands for begins with `ref: `
    default = [left.removeprefix("ref: ") for left, _, name in rows if name == "HEAD"]
    wanted = f"refs/heads/{branch}"
    only = [*heads] if len(heads) == 1 else []
    for head in [wanted, *default, *only]:
        if head in heads:
            return head
    if not heads:
        return wanted
    raise RepositoryState(
        f"{redact_url(url)} has {len(heads)} branches, and none is called {branch}.",
        f"Rename the store's branch to the right one: `git -C {own.folder} branch -m NAME`.",
    )


def upstream_of(history: History, *, is_own: bool) -> tuple[str, str]:
    """The remote and the branch there that this branch follows. Raises RepositoryState."""
    branch = history.branch().removeprefix("refs/heads/")
    values = [read_config(history, f"branch.{branch}.{key}") for key in ("remote", "merge")]
    if all(values):
        return values[0], values[1]
    remotes = (history.repository.ask("remote") or b"").decode("utf-8", "replace").split()
    first = "" if remotes else "`git remote add origin URL`, then "
    name = remotes[0] if len(remotes) == 1 else NAME
    way = f"Once: {first}`git push -u {name} {branch}`."
    why = f"The branch {branch} follows no branch of a remote, so there is nothing to sync with."
    if is_own:
        url = read_config(history, f"remote.{NAME}.url")
        given = f"`--remote {redact_url(url) or 'URL'}`"
        way = f"Once: the same command with {given} (an empty repository will do)."
        why = why if remotes else "This store has no remote: its notes are only on this disk."
    raise RepositoryState(why, way, code="no_upstream")


def remote_address(history: History) -> str | None:
    """The address of the store's remote, without a password; None where it has none."""
    names = (history.repository.ask("remote") or b"").decode("utf-8", "replace").split()
    if not names:
        return None
    name = NAME if NAME in names else names[0]
    return redact_url(read_config(history, f"remote.{name}.url")) or name


def read_config(history: History, name: str) -> str:
    """A value of git's configuration, "" where it is not set."""
    return (history.repository.ask("config", name) or b"").decode("utf-8", "replace").strip()


def fetch_remote(history: History, own: PersonsGit, remote: str, *, is_own: bool) -> None:
    """Bring what the remote has. Of a store of its own also what a shallow clone lacks; and what
    the remote has no more, because it was made anew, is pushed again."""
    gone = filter_repo.list_former(history) if is_own else set()
    if gone:
        _refuse_erased(history, gone, own.run("ls-remote", remote).stdout, remote)
    is_shallow = (history.repository.common_dir / "shallow").exists()
    more = ["--prune", *(["--unshallow"] if is_shallow else [])] if is_own else []
    require_done(own.run("fetch", "--quiet", *more, remote), f"git could not fetch from {remote}")
    if gone:
        _refuse_erased(history, gone, history.repository.run("rev-list", "--remotes"), remote)


def _refuse_erased(history: History, gone: set[str], listed: bytes, remote: str) -> None:
    """Raise RepositoryState where a list of commits has one of an erased history: joined with
    ours, it would bring the text back."""
    if not gone.isdisjoint(listed.decode("ascii", "replace").split()):
        branch = history.branch().removeprefix("refs/heads/")
        raise RepositoryState(
            f"{remote} still has the history from before `mdmemory forget --erase`.",
            f"Overwrite it: `git -C {history.repository.top} push --force {remote} {branch}`; then "
            "clone anew wherever else you have this store.",
        )


def tracked_commit(history: History) -> str | None:
    """The upstream's commit as last fetched; None when it has none yet."""
    answer = history.repository.ask("rev-parse", "-q", "--verify", "@{upstream}^{commit}")
    return None if answer is None else answer.decode().strip()


def count_commits(history: History, commits: str) -> int:
    """How many commits a range such as `a..b` has."""
    return int(history.repository.run("rev-list", "--count", commits))


def require_done(done: subprocess.CompletedProcess[bytes], what: str) -> None:
    """Raise GitFailed, saying `what` could not be done and git's reason, unless it was."""
    if done.returncode != 0:
        raise GitFailed(
            f"{what}: {explain(done)}",
            "What was changed here is committed; run `mdmemory sync` again when that is solved.",
        )
