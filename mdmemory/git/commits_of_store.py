"""The store in git: what its trees and a person's index hold, and what was done.

Only reads.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from mdmemory.config.table import PROJECT_FILE
from mdmemory.errors import GitFailed, MdmemoryError, NotFound, RepositoryState
from mdmemory.files import digest, read_if_there, to_bytes, to_text
from mdmemory.git import log, repositories
from mdmemory.git.log import FILES_TRAILER, ID_TRAILER, Logged
from mdmemory.git.objects import Blob as Blob
from mdmemory.git.objects import Entries, Object, Objects
from mdmemory.git.persons_git import BY_US, Signer
from mdmemory.git.repositories import Repository, is_ancestor
from mdmemory.unseen import in_one_line

_KEPT = "refs/mdmemory/keep/"  # what stands here no branch may hold, and nobody may lose
PARTS = "Memory-Parts"  # the ids of the writes that one commit brought into a branch
WAITS = "It is kept in git, and the next mdmemory command that you type commits it."
# without these git forgets which commit came first where others lie between
_LINKED = ("--parents", "--full-history")
MANY = 200  # files; from here on a whole folder is listed, not each name on a command line

_HIDDEN = "is marked assume-unchanged or skip-worktree in git"
_CLOSED = {"H": "", "M": "is in the middle of a merge in git"}  # by the tag of `git ls-files -v`


class Message(NamedTuple):
    """What a commit says. `trailers` are written in the order given; `by_model` sets the author."""

    subject: str
    lines: Sequence[str] = ()
    trailers: Sequence[tuple[str, str]] = ()
    by_model: bool = False

    def text(self) -> str:
        """The whole message: subject, one line an op (or more), trailers. Whatever the parts hold,
        git takes it, and no part reads as another."""
        rows = [in_one_line(row) for line in self.lines for row in line.split("\n")]
        named = [in_one_line(f"{name}: {value}") for name, value in self.trailers]
        parts = [in_one_line(self.subject), "\n".join(filter(None, rows)), "\n".join(named)]
        return "\n\n".join(part for part in parts if part) + "\n"


KEEP = Message("memory: keep the files as they were", trailers=(("Memory-Op", "checkpoint"),))
_SUBJECT = 72  # characters


def subject(verb: str, facts: Sequence[str]) -> str:
    """The subject of a commit: what was done, to which fact, and to how many more."""
    more = f" and {len(facts) - 1} more" if len(facts) > 1 else ""
    line = " ".join(filter(None, ("memory:", verb, *facts[:1])))
    room = _SUBJECT - len(more)
    return (line if len(line) <= room else f"{line[: room - 1].rstrip()}…") + more


def memory_trailers(
    kind: str,
    more: Sequence[tuple[str, str]] = (),
    *,
    groups: Sequence[Sequence[str]] = (),
    id: str = "",
) -> tuple[tuple[str, str], ...]:
    """The trailers by which a commit is known as ours; `groups` are the files of each op."""
    files = [(FILES_TRAILER, json.dumps(list(group))) for group in groups]
    return ((ID_TRAILER, id or new_id()), ("Memory-Op", kind), *more, *files)


def new_id() -> str:
    """A Memory-Id."""
    return f"m-{os.urandom(4).hex()}"


def group_ops(ops: Iterable[Sequence[str]]) -> list[list[str]]:
    """The files of all ops; those of ops that have one in common stand and fall together."""
    groups: list[list[str]] = []
    for op in ops:
        overlapping = [group for group in groups if not set(group).isdisjoint(op)]
        groups = [group for group in groups if group not in overlapping]
        groups.append([*dict.fromkeys([file for group in overlapping for file in group] + [*op])])
    return groups


class Keeping:
    """What stands behind the ref of one folder in one work tree: texts that a write replaced, and
    writes that no branch has yet. Whoever moves it holds the store's lock.

    Such a write changes the files alone. Before it does, two commits go behind the ref: the files
    as they were, and as they are to be. Later one commit in the branch names such writes; what the
    ref has stays, so that an undo takes back each of them by itself.
    """

    def __init__(self, repository: Repository, prefix: str, objects: Objects) -> None:
        self._repository, self._prefix, self._objects = repository, prefix, objects
        is_linked = repository.git_dir != repository.common_dir
        worktree = repository.git_dir.name if is_linked else ""
        name = digest(to_bytes(f"{worktree}\0{prefix}"))[:12]
        self._written, self._settled = f"{_KEPT}written/{name}", f"{_KEPT}settled/{name}"

    def tip(self) -> str | None:
        """The newest commit behind the ref; None where there was never anything."""
        return repositories.read_tip(self._repository, self._written)

    def move(self, commit: str, before: str | None) -> None:
        """Put `commit`, which stands on `before`, behind the ref."""
        self._move(self._written, commit, before)

    def list_entries(self) -> list[Logged]:
        """The writes that no branch has yet, newest first."""
        tip, settled = self.tip(), repositories.read_tip(self._repository, self._settled)
        if tip is None or tip == settled:
            return []
        words = (*log.OURS, tip, *([f"^{settled}"] if settled else []), "--")
        return [entry._replace(waits=True) for entry in log.read(self._repository, *words)]

    def read_left(self) -> dict[str, Blob | None]:
        """What these writes left of each file."""
        files = {file for entry in self.list_entries() for ops in entry.groups() for file in ops}
        tip = self.tip()
        if tip is None or not files:
            return {}
        there = self._objects.find_files(tip, (self._prefix + file for file in files))
        return {file: there.get(self._prefix + file) for file in files}

    def settle(self) -> None:
        """Nothing waits any more: all of it is in a branch, or others than these by now."""
        if (tip := self.tip()) is not None:
            self._move(self._settled, tip, repositories.read_tip(self._repository, self._settled))

    def list_parts(self, entry: Logged) -> list[Logged]:
        """The writes that a commit brought into a branch, newest first; itself where it is another
        commit, or they stand in another clone."""
        ids = (entry.get(PARTS) or "").split()
        parts = [each for each in self.read_all() if each.get(ID_TRAILER) in ids] if ids else []
        return parts if parts and len(parts) == len(ids) else [entry]

    def read_all(self) -> list[Logged]:
        """All writes behind the ref, newest first."""
        tip = self.tip()
        return [*log.read(self._repository, *log.OURS, tip, "--")] if tip else []

    def _move(self, ref: str, commit: str, before: str | None) -> None:
        words = ("update-ref", "-m", "mdmemory", ref, commit, before or "0" * len(commit))
        self._repository.run(*words)


class Staged(NamedTuple):
    """A file in the person's index; `closed` says why we may not set it, "" where we may: then git
    looks at it, and its absence from the disk says something."""

    blob: Blob
    closed: str


class History:
    """The part of a repository that lies under `folder` (absolute, inside the work tree)."""

    def __init__(self, repository: Repository, folder: Path) -> None:
        self.repository = repository
        self.folder = folder
        inside = os.path.relpath(os.path.realpath(folder), os.path.realpath(repository.top))
        self.prefix = "" if inside == "." else inside.replace(os.sep, "/") + "/"
        self.inside = [self.prefix] if self.prefix else []  # as paths of a git command
        self.objects = Objects(repository)
        self.signer: Signer | None = None
        self.kept = Keeping(repository, self.prefix, self.objects)

    def find_lost(self) -> RepositoryState | None:
        """What to say of a folder that had a repository of its own, and has it no more: the one
        around it was told to ignore it, and its commits are not for these files."""
        parts = self.prefix.split("/")[:-1]
        if not parts:
            return None
        try:
            excludes = read_if_there(self.repository.common_dir / "info" / "exclude") or b""
        except MdmemoryError:
            return None
        lines = {line.rstrip("/") for line in to_text(excludes).splitlines()}
        above = ["/" + "/".join(parts[:count]) for count in range(1, len(parts) + 1)]
        if not lines.intersection(above) or self.has_files("."):
            return None
        return RepositoryState(
            f"The git repository of {self.folder} is gone; {self.repository.top} ignores the "
            "folder, and gets no commit of it.",
            f"Restore {self.folder / '.git'} from a copy, or begin a new history: "
            f"`git init {self.folder}`.",
        )

    # what there is

    def branch(self) -> str:
        """The full name of the branch that HEAD is on, such as refs/heads/main.

        Raises RepositoryState when HEAD is detached.
        """
        branch = repositories.read_branch(self.repository)
        if branch is None:
            raise RepositoryState("HEAD is detached.", "Switch to a branch: `git switch <branch>`.")
        return branch

    def head(self) -> str | None:
        """The commit of HEAD, or None on a branch without commits."""
        return repositories.read_head(self.repository) or None

    def find_commit(self, name: str) -> str | None:
        """The full id of the commit that a ref or a hash names, or None."""
        return repositories.find_commit(self.repository, name)

    def read_tree(self, commit: str | None, files: Iterable[str] | None = None) -> dict[str, Blob]:
        """The files directly in the folder (or just `files`, which may be deeper) at a commit."""
        if commit is None:
            return {}
        if files is None:
            return self.objects.files(commit, self.prefix.rstrip("/"))
        blobs = self.objects.find_files(commit, (self.prefix + file for file in files))
        return {path[len(self.prefix) :]: blob for path, blob in blobs.items()}

    def list_differing(self, commit: str | None, ids: Mapping[str, str]) -> list[str]:
        """Those of the files that are not there at a commit with these object ids."""
        there = self.read_tree(commit, ids)
        return [file for file, id in ids.items() if file not in there or there[file].id != id]

    def read_all(self, commit: str | None) -> dict[str, Blob]:
        """All that the whole tree of a commit holds, by its path from the top; links and submodules
        too."""
        if commit is None:
            return {}
        out = self.repository.run("ls-tree", "-r", "-z", "--full-tree", commit)
        split = (row.partition("\t") for row in to_text(out).split("\0")[:-1])
        return {path: Blob(about.split(" ")[0], about.split(" ")[2]) for about, _, path in split}

    def ids(self, commit: str | None) -> dict[str, str]:
        """The object ids of the files directly in the folder at a commit."""
        return {} if commit is None else self.objects.ids(commit, self.prefix.rstrip("/"))

    def has_files(self, folder: str) -> bool:
        """Whether the person's index has any file below `folder` (relative)."""
        return bool(self.repository.run("ls-files", "-z", "--", f"{self.prefix}{folder}/"))

    def list_refs_with(self, folder: str) -> list[str]:
        """The branches (a remote's too) and tags that have anything below `folder` (relative)."""
        words = ("for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes", "refs/tags")
        names = to_text(self.repository.run(*words)).splitlines()
        queries = "".join(f"{name}:{self.prefix}{folder}\n" for name in names)
        data = to_bytes(queries)
        out = self.repository.run("cat-file", "--batch-check=%(objecttype)", data=data)
        kinds = to_text(out).splitlines()
        return [n for n, kind in zip(names, kinds, strict=True) if not kind.endswith("missing")]

    def holds_other_work(self, commit: str | None = None) -> bool:
        """Whether a commit (or HEAD) has anything at its top that belongs to no store of notes."""
        commit = commit or self.head()
        if commit is None:
            return False
        words = ("ls-tree", "-z", "--name-only", "--full-tree", commit)
        names = to_text(self.repository.run(*words)).split("\0")[:-1]
        ours = [PROJECT_FILE, *(name for name in names if name.endswith(".md") or name[0] == ".")]
        return bool({*names} - {*ours})

    def read_index(self, files: Iterable[str]) -> dict[str, Staged]:
        """What the person's index holds of these files."""
        rows = {}
        for row, file in self._list_rows(set(files), "-s"):
            tag, mode, blob, _stage = row.partition("\t")[0].split(" ")
            rows[file] = Staged(Blob(mode, blob), _CLOSED.get(tag, _HIDDEN))
        return rows

    def list_closed(self, files: Iterable[str]) -> dict[str, str]:
        """`Staged.closed` of these files, where the index holds them: for many, in less time."""
        return {file: _CLOSED.get(row[0], _HIDDEN) for row, file in self._list_rows(set(files))}

    def _list_rows(self, wanted: Collection[str], *options: str) -> Iterator[tuple[str, str]]:
        """The rows of the index, and the files that they are about."""
        if not wanted:
            return
        paths = self.inside
        if len(wanted) < MANY or any("/" in file for file in wanted):
            paths = sorted(self.prefix + file for file in wanted)
        words = ("ls-files", "-v", *options, "-z", "--full-name", "--", *paths)
        # the path begins after the tab, or where only a tag stands before it, after a space
        start = len(self.prefix) + (0 if options else len("H "))
        for row in to_text(self.repository.run(*words)).split("\0")[:-1]:
            file = row.partition("\t")[2][start:] if options else row[start:]
            if file in wanted:
                yield row, file

    def list_ignored(self, files: Iterable[str]) -> set[str]:
        """Which of these files git is told to ignore."""
        # ./ for a name at the top that would read as a pathspec
        paths = {f"./{self.prefix}{file}": file for file in files}
        if not paths:
            return set()
        data = to_bytes("".join(f"{path}\0" for path in paths))
        # exit 1: none is; the paths come by stdin, and git refuses literal pathspecs here
        words = ("check-ignore", "--no-index", "-z", "--stdin")
        plain = {"GIT_LITERAL_PATHSPECS": "0"}
        out = self.repository.run(*words, data=data, extra=plain, fine=(0, 1))
        return {paths[path] for path in to_text(out).split("\0")[:-1]}

    def read(self, commit: str, file: str) -> bytes | None:
        """The bytes of a file at a commit, or None when it was not there."""
        return self.read_many(commit, [file]).get(file)

    def read_many(self, commit: str | None, files: Iterable[str]) -> dict[str, bytes]:
        """The bytes of those of the files that were there at a commit."""
        with self.objects.open():
            tree = self.read_tree(commit, files)
            blobs = self.objects.read([blob.id for blob in tree.values()])
        for file, blob in zip(tree, blobs, strict=True):
            if blob is None:  # a failure, and not the same as no file
                raise GitFailed(f"git has lost the text of {file} at {commit}.")
        return {file: blob.data for file, blob in zip(tree, blobs, strict=True) if blob}

    def blob_id(self, data: bytes) -> str:
        """The object id that git gives these bytes, computed without git."""
        return self.objects.hash(Object("blob", data))

    # building a commit

    def build(
        self, parent: str | None, entries: Entries, message: Message, texts: Iterable[bytes] = (),
        joins: str | None = None,
    ) -> str:  # fmt: skip
        """The id of a commit on top of `parent` with these files set; nothing refers to it.

        `texts` are the bytes of those blobs that git may not have yet; they go in with the trees.
        `joins` is a second parent, whose files count for nothing here.
        """
        paths = {self.prefix + file: blob for file, blob in entries.items()}
        tree, new = self.objects.edit_root(parent, paths)
        self.objects.write([*(Object("blob", data) for data in texts), *new])
        parents = [each for each in (parent, joins) if each]
        words = [tree, *(word for each in parents for word in ("-p", each))]
        data = to_bytes(message.text())
        extra = BY_US if message.by_model else {}
        if self.signer:
            # who signs is the committer, whoever the author is
            author = {name: value for name, value in extra.items() if "_AUTHOR_" in name}
            if (out := self.signer.commit_tree(words, data, author)) is not None:
                return to_text(out).strip()
        try:
            out = self.repository.run("commit-tree", *words, data=data, extra=extra)
        except GitFailed:
            if extra:
                raise
            # no identity configured: the note matters more than whose name stands there
            out = self.repository.run("commit-tree", *words, data=data, extra=BY_US)
        return to_text(out).strip()

    # reading back

    def logged(self, limit: int | None = None) -> list[tuple[Logged, bool]]:
        """Our commits that touch the folder, newest first: those that carry a Memory-Id, each with
        whether it was undone since. In place of one that brought several writes into the branch
        stand those."""
        if self.head() is None:
            return []
        # with paths git looks at all in any case, and orders what it has by date
        some = [(f"-n{2 * limit}",)] if limit and not self.inside else []
        for how in (*some, ("--date-order",)):
            words = (*_LINKED, *how, "HEAD", "--", *self.inside)
            read = [*log.read(self.repository, *words)]
            ours = [entry for entry in read if entry.get(ID_TRAILER)]
            enough = limit and (len(ours) >= limit or len(read) < 2 * limit)
            if enough and not any(entry.is_merge for entry in read):
                break
        undone = self.list_undone(read)
        return [
            (part, entry.commit in undone or part.commit in undone)
            for entry in ours
            for part in self.kept.list_parts(entry)
        ][:limit]

    def log_of(self, trailer: str, value: str | None = None) -> list[Logged]:
        """Those that have this trailer, whatever it says or with this value: in a long history they
        are found in a tenth of the time that `log` takes. Writes that no branch has are among
        them."""
        read = ((entry, entry.get(trailer)) for entry in self.kept.read_all())
        waiting = [each for each, text in read if text is not None and value in (None, text)]
        if self.head() is None:
            return waiting
        entries = log.list_with_trailer(self.repository, self.inside, trailer, value)
        known = {entry.commit for entry in waiting}  # a commit of several of them says nothing more
        parts = {e.commit: {part.commit for part in self.kept.list_parts(e)} for e in entries}
        return [*waiting, *(entry for entry in entries if not parts[entry.commit] <= known)]

    def find_own(self, commit: str) -> Logged | None:
        """The commit, where it is one that `log` lists."""
        words = ("--no-walk", *log.OURS, commit, "--", *self.inside)
        entry = next(log.read(self.repository, *words), None)
        head = self.head()
        return entry if entry and head and is_ancestor(self.repository, commit, head) else None

    def load_commits(self, commits: Sequence[str]) -> list[Logged]:
        """These commits, in the order given."""
        words = ("--no-walk=unsorted", *commits, "--")
        return [*log.read(self.repository, *words)] if commits else []

    def list_undone(self, by: Sequence[Logged] | None = None) -> set[str]:
        """Full ids of the commits that an undo or a `git revert` took back and nothing restored; of
        those that may have done so only these, if given, the newest first."""
        if by is None:
            if self.head() is None:
                return set()
            # children first: whether a revert stands is known before what it took back
            words = ("--topo-order", *log.TAKING_BACK, "HEAD", "--")
            by = [*log.read(self.repository, *words)]
        length = len(self.blob_id(b""))
        short = {id for each in by for id in each.takes_back if len(id) < length}
        full = {id: self.find_commit(id) or id for id in sorted(short)}
        pairs = ((each.commit, [full.get(id, id) for id in each.takes_back]) for each in by)
        return log.taken_back(pairs)

    def parent(self, commit: str) -> str | None:
        """The first parent of a commit, or None for a root commit."""
        head = self.objects.read_commit(commit).partition(b"\n\n")[0]
        parents = [row for row in head.split(b"\n") if row.startswith(b"parent ")]
        return parents[0].split()[1].decode() if parents else None

    def resolve(self, name: str) -> str:
        """The full id of a commit named by hash, branch or tag. Raises NotFound."""
        commit = None if name.startswith("-") else self.find_commit(name)
        if commit is None:
            what = name[:120]  # may be all that someone pasted
            raise NotFound(f"There is no change {what}.", "`mdmemory log` lists them.")
        return commit
