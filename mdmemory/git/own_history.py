"""The history of one folder becomes the history of a repository of its own.

Each commit that touched the folder is made anew with the folder's tree as its whole tree: author,
dates, message and trailers stay. The old repository is only read, and keeps what it has. Where the
folder had another name before, its history begins with the commit that moved it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mdmemory.errors import GitFailed, RepositoryState
from mdmemory.files import to_bytes, to_text
from mdmemory.git.commits_of_store import History
from mdmemory.git.log import REVERTS
from mdmemory.git.objects import Object, pack_objects
from mdmemory.git.repositories import Repository

FROM = "refs/heads/from/"  # branches of the project that hold notes which its HEAD does not

_WALK = ("rev-list", "--topo-order", "--full-history", "--simplify-merges", "--parents")
_ID = re.compile(rb"\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b")
_SHORT = re.compile(rb"^((?:Memory-[A-Za-z]+: |%s))([0-9a-f]{7,63})\b" % REVERTS.encode(), re.M)
_NOT_KEPT = (b"gpgsig", b"mergetag")  # signatures, which say nothing of another commit


@dataclass
class Carried:
    """What went along: `head` is the new commit of HEAD's (None: the folder is in no commit),
    `refs` the other new refs, `commits` and `signed` how many, `new` maps old ids to new ones."""

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
    old = history.repository
    if history.prefix == "" or "\n" in history.prefix:
        raise RepositoryState(f"{history.folder} is no folder inside a repository.")
    walk = _Walk(history)
    done = walk.rewrite_commits()
    done.is_shallow = old.run("rev-parse", "--is-shallow-repository") == b"true\n"
    if not walk.made:
        return done
    own.run("index-pack", "--stdin", data=pack_objects(walk.made, old.hash_name))
    # what the trees hold is copied out of the old repository by the repack, which sees both
    both = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(str(old.common_dir / "objects"))}
    branch = to_text(own.run("symbolic-ref", "HEAD")).strip()
    refs = {**done.refs, **({branch: done.head} if done.head else {})}
    rows = "".join(f"create {ref} {commit}\n" for ref, commit in sorted(refs.items()))
    own.run("update-ref", "--stdin", data=rows.encode(), extra=both)
    own.run("repack", "-a", "-d", "-q", extra=both)
    own.run("fsck", "--connectivity-only", "--no-dangling", "--no-progress")
    return done


def has_all(old: Repository, new: Repository) -> bool:
    """Whether a repository has what another's refs, log and index refer to."""
    named = old.run("rev-list", "--no-walk", "--ignore-missing", "--all", "--reflog", "HEAD")
    staged = to_text(old.run("ls-files", "-s", "-z")).split("\0")[:-1]
    ids = [*named.decode().split(), *(row.split(" ")[1] for row in staged)]
    data = "".join(f"{id}\n" for id in ids).encode()
    output = new.run("cat-file", "--batch-check=%(objecttype)", data=data)
    return not any(row.endswith(b"missing") for row in output.splitlines())


def _quoted(path: str) -> str:
    """A path in the list of alternates, where a colon would end it."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


class _Walk:
    """The commits that touched the folder, and what they become."""

    def __init__(self, history: History) -> None:
        self.history, self.git = history, history.repository
        self.folder = history.prefix.rstrip("/")
        self.head = history.head()
        self.made: list[Object] = []

    def list_branches(self) -> dict[str, str]:
        """The branches that HEAD does not hold, and their commits."""
        words = ["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/"]
        if self.head:
            words.insert(1, f"--no-merged={self.head}")
        rows = (row.partition(" ") for row in to_text(self.git.run(*words)).splitlines())
        return {ref: commit for commit, _, ref in rows}

    def rewrite_commits(self) -> Carried:
        """All commits as they are to be, in `made`; nothing is written."""
        done, branches = Carried(), self.list_branches()
        tips = [*([self.head] if self.head else []), *branches.values()]
        if not tips:
            return done
        rows = to_text(self.git.run(*_WALK, *tips, "--", self.folder)).splitlines()
        # parents come first
        parents = {row[0]: row[1:] for row in (line.split() for line in reversed(rows))}
        trees, names, empty = self._list_trees(parents), CommitNames(done.new), Object("tree", b"")
        self.made.append(empty)
        objects = self.history.objects.read([*parents])
        for commit, there in zip(parents, objects, strict=True):
            if there is None:
                raise GitFailed(f"git has lost the commit {commit}.")
            above = list(dict.fromkeys(done.new[each] for each in parents[commit]))
            tree = trees.get(commit) or self.history.objects.hash(empty)
            data, was_signed = made_anew(there.data, tree, above, names)
            done.signed += was_signed
            self.made.append(Object("commit", data))
            done.new[commit] = self.history.objects.hash(self.made[-1])
            names.add(commit)
        head = self._find_touching(self.head, done) if self.head else None
        done.head = done.new[head] if head else None
        for ref, commit in branches.items():
            touching = self._find_touching(commit, done)
            if touching and not (head and self.history.is_part_of(touching, head)):
                done.refs[FROM + ref.removeprefix("refs/heads/")] = done.new[touching]
        return done

    def _find_touching(self, commit: str, done: Carried) -> str | None:
        """The newest of a commit and its ancestors that touched the folder."""
        commits = to_text(self.git.run(*_WALK, "-n1", commit, "--", self.folder)).split()
        return commits[0] if commits and commits[0] in done.new else None

    def _list_trees(self, commits: Iterable[str]) -> dict[str, str]:
        """The tree of the folder in each commit that has it."""
        names = [*commits]
        data = "".join(f"{commit}:{self.folder}\n" for commit in names)
        words = ("cat-file", "--batch-check=%(objecttype) %(objectname)")
        out = to_text(self.git.run(*words, data=to_bytes(data)))
        split = zip(names, (row.partition(" ") for row in out.splitlines()), strict=True)
        return {commit: id for commit, (kind, _, id) in split if kind == "tree"}


class CommitNames:
    """What commits are called now: in a message, also by the first digits of their former ids."""

    def __init__(self, new: Mapping[str, str]) -> None:
        self.new = new
        self.old: list[str] = []

    def add(self, commit: str) -> None:
        self.old.insert(bisect_left(self.old, commit), commit)

    def update_ids(self, message: bytes) -> bytes:
        """The message with the ids of now."""
        text = _ID.sub(lambda match: self._update_id(match[0]), message)
        return _SHORT.sub(lambda match: match[1] + self._update_id(match[2]), text)

    def _update_id(self, id: bytes) -> bytes:
        begins = id.decode()
        at = bisect_left(self.old, begins)
        fit = [old for old in self.old[at : at + 2] if old.startswith(begins)]
        return self.new[fit[0]][: len(begins)].encode() if len(fit) == 1 else id


def made_anew(
    commit: bytes, tree: str, parents: list[str], names: CommitNames
) -> tuple[bytes, bool]:
    """A commit's bytes with another tree and other parents, and whether it was signed."""
    head, _, message = commit.partition(b"\n\n")
    rows: list[bytes] = []
    signed = keeps = False
    for row in head.split(b"\n"):
        if not row.startswith(b" "):  # a row that begins so belongs to the one above it
            word = row.partition(b" ")[0]
            signed = signed or word.startswith(b"gpgsig")
            keeps = not word.startswith((b"tree", b"parent", *_NOT_KEPT))
        if keeps:
            rows.append(row)
    first = [f"tree {tree}".encode(), *(f"parent {parent}".encode() for parent in parents)]
    return b"\n".join([*first, *rows]) + b"\n\n" + names.update_ids(message), signed
