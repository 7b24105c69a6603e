"""History that git-filter-repo makes anew, and by it that of one folder as a repository's own.

It works in a bare repository beside, which borrows the objects and has no settings of anybody's.
Author, dates, message and trailers stay; a message names commits as they are called now. Where the
folder had another name before, its history begins with the commit that moved it.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from mdmemory.errors import GitFailed, RepositoryState
from mdmemory.files import to_bytes, to_text
from mdmemory.git import repositories
from mdmemory.git.commits_of_store import History
from mdmemory.git.repositories import Repository

FROM = "refs/heads/from/"  # branches of the project that hold notes which its HEAD does not

_OURS_ALONE = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
_PATIENCE = 3_600.0  # seconds for a history of 100,000 commits
PYTHON = (sys.executable, "-P", "-m")
_HOW = (
    "--force --quiet --partial --preserve-commit-encoding --prune-empty always "
    "--subdirectory-filter"
).split()
# with the bytes of all blobs, which takes longer, it reads the ids of SHA-256 as well
_LONG_IDS = ("--blob-callback", "pass")
Run = Callable[..., bytes]  # as Repository.run


def build_copy(
    git: Repository, place: Path, refs: Mapping[str, str], command: Sequence[str]
) -> Run:
    """Make these refs with their whole history anew in a bare repository at `place`, where
    `command` does it; what runs git there. Raises GitFailed."""
    import subprocess

    git.run("init", "-q", "--bare", "--template=", f"--object-format={git.hash_name}", str(place))
    (place / "objects/info").mkdir(exist_ok=True)
    objects = os.fsencode(git.common_dir / "objects")
    (place / "objects/info/alternates").write_bytes(objects + b"\n")
    if (git.common_dir / "shallow").exists():
        shutil.copy(git.common_dir / "shallow", place)
    # named, for a person may have git refuse the bare ones that it finds
    beside = partial(git.run, folder=place, extra={"GIT_DIR": str(place)})
    rows = "".join(f"create {ref} {id}\n" for ref, id in refs.items())
    beside("update-ref", "--stdin", data=to_bytes(rows))
    try:
        done = subprocess.run(
            command, cwd=place, env=repositories.environment(_OURS_ALONE), capture_output=True,
            stdin=subprocess.DEVNULL, timeout=_PATIENCE, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as problem:
        raise GitFailed("git filter-repo did not come to an end; nothing was changed.") from problem
    if done.returncode:
        last = repositories.last_line(done.stderr).rstrip(".")
        raise GitFailed(f"git filter-repo failed: {last}; nothing was changed.")
    return beside


def read_refs(run: Run) -> dict[str, str]:
    """By name what each ref holds, but for those that only point at another ref."""
    out = to_text(run("for-each-ref", "--format=%(objectname) %(symref) %(refname)"))
    rows = (row.split(" ", 2) for row in out.splitlines())
    return {ref: id for id, points_to, ref in rows if not points_to}


@dataclass
class Carried:
    """What went along: `head` is the new commit of HEAD's (None: the folder is in no commit),
    `refs` the other new refs, `signed` how many of the commits were, `new` maps old ids to new
    ones."""

    head: str | None = None
    refs: dict[str, str] = field(default_factory=dict)
    signed: int = 0
    is_shallow: bool = False
    new: dict[str, str] = field(default_factory=dict)


def carry(history: History, own: Repository) -> Carried:
    """Give the fresh repository `own` (no commit, same hash) the history of the folder: HEAD's on
    its branch, branches with notes that HEAD lacks below `FROM`.

    Raises GitFailed where an object of it is not to be had; then `own` is of no use.
    """
    old, head = history.repository, history.head()
    if history.prefix == "" or "\n" in history.prefix:
        raise RepositoryState(f"{history.folder} is no folder inside a repository.")
    done = Carried(is_shallow=(old.common_dir / "shallow").exists())
    branch = to_text(own.run("symbolic-ref", "HEAD")).strip()
    wanted = _list_branches(history, head) | ({branch: head} if head else {})
    if not wanted:
        return done
    place = own.git_dir / "carried.git"
    more = _LONG_IDS if old.hash_name == "sha256" else ()
    command = (*PYTHON, "git_filter_repo", *_HOW, history.prefix, *more)
    beside = build_copy(old, place, wanted, command)
    refs = read_refs(beside)
    done.head = refs.pop(branch, None)
    apart = f"--no-merged={done.head}" if done.head else "--"
    names = to_text(beside("for-each-ref", "--format=%(refname)", apart, FROM)).split("\n")
    done.refs = {ref: id for ref, id in refs.items() if ref in names}
    rows = (place / "filter-repo/commit-map").read_text("ascii").splitlines()[1:]
    done.new = {old: new for old, new in map(str.split, rows) if new.strip("0")}
    done.signed = _count_signed(history, [*done.new])
    tips = {**done.refs, **({branch: done.head} if done.head else {})}
    if tips:
        data = "\n".join([*tips.values(), ""]).encode()
        packed = beside("pack-objects", "--revs", "--stdout", "-q", data=data)
        own.run("index-pack", "--stdin", data=packed)
        moves = "".join(f"create {ref} {id}\n" for ref, id in tips.items())
        own.run("update-ref", "--stdin", data=to_bytes(moves))
    shutil.rmtree(place)
    own.run("fsck", "--connectivity-only", "--no-dangling", "--no-progress")
    return done


def _list_branches(history: History, head: str | None) -> dict[str, str]:
    """The branches that HEAD does not hold, by their new names, and their commits."""
    apart = [f"--no-merged={head}"] if head else []
    words = ("for-each-ref", "--format=%(objectname) %(refname)", *apart, "refs/heads/")
    rows = (row.partition(" ") for row in to_text(history.repository.run(*words)).splitlines())
    return {FROM + ref.removeprefix("refs/heads/"): commit for commit, _, ref in rows}


def _count_signed(history: History, commits: Sequence[str]) -> int:
    objects = history.objects.read(commits)
    return sum(b"\ngpgsig" in each.data.partition(b"\n\n")[0] for each in objects if each)


def has_all(old: Repository, new: Repository) -> bool:
    """Whether a repository has what another's refs, log and index refer to."""
    named = old.run("rev-list", "--no-walk", "--ignore-missing", "--all", "--reflog", "HEAD")
    staged = to_text(old.run("ls-files", "-s", "-z")).split("\0")[:-1]
    ids = [*named.decode().split(), *(row.split(" ")[1] for row in staged)]
    data = "".join(f"{id}\n" for id in ids).encode()
    output = new.run("cat-file", "--batch-check=%(objecttype)", data=data)
    return not any(row.endswith(b"missing") for row in output.splitlines())
