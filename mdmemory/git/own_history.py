"""The history of one folder becomes the history of a repository of its own.

Each commit that touched the folder is made anew with the folder's tree as its whole tree: author,
dates, message and trailers stay. The old repository is only read.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping

from mdmemory.errors import GitFailed, RepositoryState
from mdmemory.expressions import lazy
from mdmemory.git.commits_of_store import History, text
from mdmemory.git.index_file import KEPT
from mdmemory.git.log import REVERTS
from mdmemory.git.objects import Object, packed
from mdmemory.git.repositories import Repository
from mdmemory.git.waiting import KEEP, PAST, Waiting
from mdmemory.records import dataclass, field

FROM = "refs/heads/from/"  # branches of the project that hold notes which its HEAD does not

_WALK = ("rev-list", "--topo-order", "--full-history", "--simplify-merges", "--parents")
_FORMER = 16  # names that one folder had before
_ID = lazy(rb"\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b")
_SHORT = lazy(rb"^((?:Memory-[A-Za-z]+: |%s))([0-9a-f]{7,63})\b" % REVERTS.encode(), re.M)
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
    its branch, branches with notes that HEAD lacks below `FROM`, and what waits or is kept.

    Raises GitFailed where an object of it is not to be had; then `own` is of no use.
    """
    old = history.repository
    if history.prefix == "" or "\n" in history.prefix:
        raise RepositoryState(f"{history.folder} is no folder inside a repository.")
    walk = _Walk(history)
    walk.follow()
    done = walk.rewritten()
    done.is_shallow = old.run("rev-parse", "--is-shallow-repository") == b"true\n"
    if not walk.made:
        return done
    own.run("index-pack", "--stdin", data=packed(walk.made, old.hash_name))
    # what the trees hold is copied out of the old repository by the repack, which sees both
    both = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(str(old.common_dir / "objects"))}
    refs = {**done.refs, **({_branch(own): done.head} if done.head else {})}
    rows = "".join(f"create {ref} {commit}\n" for ref, commit in sorted(refs.items()))
    own.run("update-ref", "--stdin", data=rows.encode(), extra=both)
    own.run("repack", "-a", "-d", "-q", extra=both)
    own.run("fsck", "--connectivity-only", "--no-dangling", "--no-progress")
    return done


def has_all(old: Repository, new: Repository) -> bool:
    """Whether a repository has what another's refs, log and index refer to."""
    named = old.run("rev-list", "--no-walk", "--ignore-missing", "--all", "--reflog", "HEAD")
    staged = text(old.run("ls-files", "-s", "-z")).split("\0")[:-1]
    ids = [*named.decode().split(), *(row.split(" ")[1] for row in staged)]
    data = "".join(f"{id}\n" for id in ids).encode()
    found = new.run("cat-file", "--batch-check=%(objecttype)", data=data)
    return not any(row.endswith(b"missing") for row in found.splitlines())


def _branch(own: Repository) -> str:
    return text(own.run("symbolic-ref", "HEAD")).strip()


def _quoted(path: str) -> str:
    """A path in the list of alternates, where a colon would end it."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


class _Walk:
    """The commits that touched the folder, under whatever name it had, and what they become."""

    def __init__(self, history: History) -> None:
        self.history, self.git = history, history.repository
        self.folders = [history.prefix.rstrip("/")]  # its names, the newest first
        self.head = history.head()
        self.branches = self._others()
        self.kept = self._kept()
        self.parents: dict[str, list[str]] = {}  # of each commit, parents before children
        self.chain: set[str] = set()  # what no branch has: commits that wait, or are kept
        self.made: list[Object] = []

    def _others(self) -> dict[str, str]:
        """The branches that HEAD does not hold, and their commits."""
        words = ["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/"]
        if self.head:
            words.insert(1, f"--no-merged={self.head}")
        return _refs(self.git.run(*words))

    def _kept(self) -> dict[str, str]:
        return _refs(
            self.git.run("for-each-ref", "--format=%(objectname) %(refname)", KEEP, KEPT)
        )  # fmt: skip

    def follow(self) -> None:
        """Find the commits, also those from before the folder got its name."""
        tips = [*([self.head] if self.head else []), *self.branches.values()]
        if not tips:
            return
        while True:
            rows = text(self.git.run(*_WALK, *tips, "--", *self.folders)).splitlines()
            # parents come first
            self.parents = {row[0]: row[1:] for row in (line.split() for line in reversed(rows))}
            former = self._former()
            if former is None or len(self.folders) > _FORMER:
                break
            self.folders.append(former)
        self._add_kept(tips)

    def _add_kept(self, tips: Iterable[str]) -> None:
        """The commits that no branch has, all of them: there are few, and they are ours."""
        if not self.kept:
            return
        words = ("rev-list", "--topo-order", "--parents", *self.kept.values(), "--not", *tips)
        rows = [line.split() for line in text(self.git.run(*words)).splitlines()]
        self.chain = {row[0] for row in rows}
        for commit, *parents in reversed(rows):
            near = [each if each in self.chain else self._touching(each) for each in parents]
            self.parents[commit] = [each for each in near if each]

    def _touching(self, commit: str) -> str | None:
        """The newest of a commit and its ancestors that touched the folder."""
        words = (*_WALK, "-n1", commit, "--", *self.folders)
        found = text(self.git.run(*words)).split()
        return found[0] if found and found[0] in self.parents else None

    def _former(self) -> str | None:
        """A folder that was moved to become ours, and is not known yet."""
        for commit, parents in self.parents.items():
            if parents:
                continue
            for parent in text(self.git.run("rev-parse", f"{commit}^@")).split():
                found = self._renamed(parent, commit)
                if found is not None and found not in self.folders:
                    return found
        return None

    def _renamed(self, parent: str, commit: str) -> str | None:
        """The folder from which most of the folder's files came with this commit."""
        words = ("diff-tree", "-r", "-M", "-z", "--name-status", "--diff-filter=RA", parent, commit)
        fields = iter(text(self.git.run(*words)).split("\0")[:-1])
        came: Counter[str | None] = Counter()
        for status in fields:
            old = next(fields) if status[0] == "R" else ""
            new = next(fields)
            inside = next((f for f in self.folders if new.startswith(f"{f}/")), None)
            if inside is not None:
                tail = new[len(inside) :]
                came[old[: -len(tail)] if old.endswith(tail) else None] += 1
        ((folder, count),) = came.most_common(1) or [(None, 0)]
        return folder if folder and 2 * count > came.total() else None

    def rewritten(self) -> Carried:
        """All commits as they are to be, in `made`; nothing is written."""
        done = Carried()
        commits = [*self.parents]
        found = self.history.objects.read(commits)
        trees, names = self._trees(commits), CommitNames(done.new)
        empty = Object("tree", b"")
        self.made.append(empty)
        for commit, there in zip(commits, found, strict=True):
            if there is None:
                raise GitFailed(f"git has lost the commit {commit}.")
            parents = list(dict.fromkeys(done.new[each] for each in self.parents[commit]))
            _, tree = trees.setdefault(commit, ("", self.history.objects.id(empty)))
            if self._says_nothing(commit, trees):
                done.new[commit] = parents[0]
                continue
            data, was_signed = made_anew(there.data, tree, parents, names)
            done.signed += was_signed
            self.made.append(Object("commit", data))
            done.new[commit] = self.history.objects.id(self.made[-1])
            names.add(commit)
        self._name(done)
        return done

    def _says_nothing(self, commit: str, trees: Mapping[str, tuple[str, str]]) -> bool:
        """Whether it touched a former name of the folder alone, when that was another's."""
        parents = self.parents[commit]
        return (
            len(self.folders) > 1
            and len(parents) == 1
            and trees[parents[0]] == trees[commit]
            and commit not in self.chain
        )

    def _trees(self, commits: Iterable[str]) -> dict[str, tuple[str, str]]:
        """The newest of the folder's names that each commit has, and its tree there."""
        asked = [(commit, folder) for commit in commits for folder in self.folders]
        data = "".join(f"{commit}:{folder}\n" for commit, folder in asked)
        words = ("cat-file", "--batch-check=%(objecttype) %(objectname)")
        out = text(self.git.run(*words, data=data.encode("utf-8", "surrogateescape")))
        trees: dict[str, tuple[str, str]] = {}
        for (commit, folder), row in zip(asked, out.splitlines(), strict=True):
            kind, _, id = row.partition(" ")
            if kind == "tree":
                trees.setdefault(commit, (folder, id))
        return trees

    def _name(self, done: Carried) -> None:
        """Say which refs the new repository gets."""
        head = self._touching(self.head) if self.head else None
        done.head = done.new[head] if head else None
        for ref, commit in self.branches.items():
            touching = self._touching(commit)
            if touching and not self._is_known(touching, head):
                done.refs[FROM + ref.removeprefix("refs/heads/")] = done.new[touching]
        waiting = Waiting(self.history).ref
        for ref, commit in self.kept.items():
            if ref == waiting:
                name = Waiting.ref_of()
            elif ref in (PAST, KEPT):
                name = ref
            else:  # of another work tree, or another store: kept, and taken over by nobody
                name = f"{KEEP}elsewhere/{ref.rpartition('/')[2]}"
            done.refs[name] = done.new[commit]

    def _is_known(self, commit: str, head: str | None) -> bool:
        return head is not None and self.history.is_part_of(commit, head)


class CommitNames:
    """What commits are called now: in a message, also by the first digits of their former ids."""

    def __init__(self, new: Mapping[str, str]) -> None:
        self.new = new
        self.old: list[str] = []

    def add(self, commit: str) -> None:
        self.old.insert(bisect_left(self.old, commit), commit)

    def anew(self, message: bytes) -> bytes:
        """The message with the ids of now."""
        said = _ID.sub(lambda found: self._now(found[0]), message)
        return _SHORT.sub(lambda found: found[1] + self._now(found[2]), said)

    def _now(self, id: bytes) -> bytes:
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
    return b"\n".join([*first, *rows]) + b"\n\n" + names.anew(message), signed


def _refs(out: bytes) -> dict[str, str]:
    rows = (row.partition(" ") for row in text(out).splitlines())
    return {ref: commit for commit, _, ref in rows}
