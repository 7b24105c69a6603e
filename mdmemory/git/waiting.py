"""What was written by itself into a store that lies in a person's own repository, and waits.

Their branch is theirs to move. Such a write stands in the work tree, and beside the branches as
commits under a ref of ours: every byte that it replaced, and the commits that are to be. The next
command that a person types takes them over (see `replay`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from mdmemory.files import digest
from mdmemory.git import repositories
from mdmemory.git.commits_of_store import AUTHOR, History
from mdmemory.git.log import Logged
from mdmemory.git.objects import Blob, Object
from mdmemory.records import dataclass, replace

KEEP = "refs/mdmemory/keep/"  # what stands here no branch may hold, and nobody may lose
PAST = f"{KEEP}past"  # chains that were not taken over byte for byte, all behind one commit

WAITS = "It is kept in git, and the next mdmemory command that you type commits it."

_BEGINS = "memory: what follows waits for a command of yours, which commits it\n"
_NOTHING = "memory: nothing waits\n"
_KEPT = "memory: texts that no branch took over\n"


@dataclass(frozen=True, slots=True)
class WaitingCommit:
    """A commit to be: `data` as git has it, and of each file what stood there before and after."""

    commit: str
    data: bytes
    changed: dict[str, tuple[Blob | None, Blob | None]]


# What a commit says never changes: a process that lives on reads each once.
_seen: dict[tuple[str, str], WaitingCommit] = {}
_MOST = 1_000  # commits


class Waiting:
    """The chain of one folder in one work tree. The caller who changes it holds the store's lock.

    A chain begins at a commit that says so, made on what HEAD was; the ref is never deleted,
    because a git that is killed while it deletes one leaves a lock on all packed refs.
    """

    def __init__(self, history: History) -> None:
        self.history = history
        repository = history.repository
        linked = repository.git_dir != repository.common_dir
        self.ref = self.ref_of(repository.git_dir.name if linked else "", history.prefix)

    @staticmethod
    def ref_of(worktree: str = "", prefix: str = "") -> str:
        """The ref of the folder `prefix` in a linked work tree, or in the main one ("")."""
        about = f"{worktree}\0{prefix}".encode("utf-8", "surrogateescape")
        return f"{KEEP}waiting/{digest(about)[:12]}"

    def tip(self) -> str | None:
        """What the ref names; None where there was never anything."""
        return repositories.tip(self.history.repository, self.ref)

    def is_empty(self) -> bool:
        """Whether nothing waits, as far as can be told without reading it."""
        return self.tip() in (None, self._nothing_id)

    def base(self) -> str:
        """The commit that the next one stands on; nothing refers to it yet where it is new."""
        tip, objects = self.tip(), self.history.objects
        if tip is not None and tip != self._nothing_id and not self._begins(tip):
            return tip
        head = self.history.head()
        empty = Object("tree", b"")
        tree = objects.root(head) if head else objects.id(empty)
        begin = _commit(tree, [head] if head else [], _BEGINS)
        objects.write([begin, *([] if head else [empty])])
        return objects.id(begin)

    def steps(self) -> list[WaitingCommit]:
        """The commits to be, the oldest first."""
        with self.history.objects.open():
            return [self._step(commit, parent) for commit, parent in self._chain()][::-1]

    def log(self) -> list[Logged]:
        """What waits, the newest first, as a log of a branch would have it."""
        told = self.history.told([commit for commit, _ in self._chain()])
        return [replace(entry, waits=True) for entry in told]

    def _chain(self) -> list[tuple[str, str]]:
        """The commits to be, the newest first, each with its parent."""
        found: list[tuple[str, str]] = []
        commit = self.tip()
        if commit == self._nothing_id:
            return found
        with self.history.objects.open():
            while commit is not None and not self._begins(commit):
                parent = self.history.parent(commit)
                if parent is not None:
                    found.append((commit, parent))
                commit = parent
        return found

    def _begins(self, commit: str) -> bool:
        return self.history.objects.commit(commit).endswith(f"\n\n{_BEGINS}".encode())

    def end(self, tip: str, whole: bool) -> None:
        """Nothing waits any more. Unless all of it went into a branch, `whole`, it stays kept."""
        if not whole:
            self._keep(tip)
        nothing = [self._nothing, Object("tree", b"")]
        self.history.objects.write(nothing)
        self._move(self.ref, self._nothing_id, tip)

    def _keep(self, tip: str) -> None:
        past = repositories.tip(self.history.repository, PAST)
        if past is not None and self.history.is_part_of(tip, past):
            return  # a process was killed when it had just done this
        parents = [*([past] if past else []), tip]
        kept = _commit(self.history.objects.root(tip), parents, _KEPT)
        self.history.objects.write([kept])
        self._move(PAST, self.history.objects.id(kept), past)

    def _move(self, ref: str, commit: str, before: str | None) -> None:
        words = ("update-ref", "-m", "mdmemory", ref, commit, before or "0" * len(commit))
        self.history.repository.run(*words)

    def _step(self, commit: str, parent: str) -> WaitingCommit:
        name = (commit, self.history.prefix)
        if name not in _seen:
            objects = self.history.objects
            changed = objects.changed(parent, commit, self.history.prefix.rstrip("/"))
            while len(_seen) >= _MOST:
                del _seen[next(iter(_seen))]
            _seen[name] = WaitingCommit(commit, objects.commit(commit), changed)
        return _seen[name]

    @cached_property
    def _nothing(self) -> Object:
        return _commit(self.history.objects.id(Object("tree", b"")), [], _NOTHING)

    @cached_property
    def _nothing_id(self) -> str:
        return self.history.objects.id(self._nothing)


def _commit(tree: str, parents: Sequence[str], message: str) -> Object:
    """A commit of ours without a time: the same again gets the same id."""
    who = f"{AUTHOR[0]} <{AUTHOR[1]}> 0 +0000"
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    lines += [f"author {who}", f"committer {who}", "", message]
    return Object("commit", "\n".join(lines).encode())
