"""The store in git: what the trees hold, building commits, and reading what was done.

Builds commits in a private index and moves no ref and no file: that is the transaction's alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mdmemory.errors import GitFailed, NotFound, RepositoryState
from mdmemory.store.git import Repository

AUTHOR = ("mdmemory", "mdmemory@localhost")  # of commits that a model caused
ID_TRAILER = "Memory-Id"
FILES_TRAILER = "Memory-Files"  # one an op: the files it wrote, as a JSON list

_FIELDS = "%H%x1f%cI%x1f%s%x1f%b%x1e"


@dataclass(frozen=True, slots=True)
class Message:
    """What a commit says. `trailers` are written in the order given; `by_model` sets the author."""

    subject: str
    lines: Sequence[str] = ()
    trailers: Sequence[tuple[str, str]] = ()
    by_model: bool = False

    def text(self) -> str:
        """The whole message: subject, one line an op, trailers."""
        parts = [self.subject]
        if self.lines:
            parts.append("\n".join(self.lines))
        parts.append("\n".join(f"{name}: {value}" for name, value in self.trailers))
        return "\n\n".join(part for part in parts if part) + "\n"


KEEP = Message("memory: keep the files as they were", trailers=(("Memory-Op", "checkpoint"),))


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
    return f"m-{secrets.token_hex(4)}"


@dataclass(frozen=True, slots=True)
class Blob:
    """A file in a tree: its mode ("100644", "100755") and its object id."""

    mode: str
    id: str


@dataclass(frozen=True, slots=True)
class Staged:
    """A file in the person's index; `trusted` is False where git was told not to look at it."""

    blob: Blob
    trusted: bool


@dataclass(frozen=True, slots=True)
class Logged:
    """One commit of ours, read back from its trailers."""

    commit: str
    time: str  # ISO 8601 with offset
    subject: str
    ops: tuple[str, ...]
    trailers: tuple[tuple[str, str], ...]

    def get(self, name: str) -> str | None:
        """The value of a trailer, or None."""
        return next((value for key, value in self.trailers if key == name), None)

    def groups(self) -> list[list[str]]:
        """The files that each op wrote, op by op: what an undo takes back together."""
        return [json.loads(value) for key, value in self.trailers if key == FILES_TRAILER]


class History:
    """The part of a repository that lies under `folder` (absolute, inside the work tree)."""

    def __init__(self, repository: Repository, folder: Path) -> None:
        self.repository = repository
        self.folder = folder
        inside = os.path.relpath(os.path.realpath(folder), os.path.realpath(repository.top))
        self.prefix = "" if inside == "." else inside.replace(os.sep, "/") + "/"

    # what there is

    def branch(self) -> str:
        """The full name of the branch that HEAD is on, such as refs/heads/main."""
        found = self.repository.ask("symbolic-ref", "-q", "HEAD")
        if found is None:
            raise RepositoryState("HEAD is detached.", "Switch to a branch: `git switch <branch>`.")
        return _text(found).strip()

    def head(self) -> str | None:
        """The commit of HEAD, or None on a branch without commits."""
        found = self.repository.ask("rev-parse", "-q", "--verify", "HEAD^{commit}")
        return None if found is None else _text(found).strip()

    def tree(self, commit: str | None, files: Iterable[str] | None = None) -> dict[str, Blob]:
        """The files directly in the folder (or just `files`, which may be deeper) at a commit."""
        if commit is None:
            return {}
        paths = [self.prefix] if files is None else [self.prefix + file for file in files]
        if paths == [""]:
            paths = []
        elif not paths:
            return {}
        out = self.repository.run("ls-tree", "-z", "--full-tree", commit, "--", *paths)
        found = {}
        for row in _text(out).split("\0")[:-1]:
            about, _, path = row.partition("\t")
            mode, kind, blob = about.split(" ")
            if kind == "blob" and path.startswith(self.prefix):
                found[path[len(self.prefix) :]] = Blob(mode, blob)
        return found

    def holds(self, folder: str) -> bool:
        """Whether the person's index has any file below `folder` (relative)."""
        return bool(self.repository.run("ls-files", "-z", "--", f"{self.prefix}{folder}/"))

    def staged(self, files: Iterable[str]) -> dict[str, Staged]:
        """What the person's index holds of these files."""
        paths = [self.prefix + file for file in files]
        if not paths:
            return {}
        out = self.repository.run("ls-files", "-s", "-v", "-z", "--full-name", "--", *paths)
        found = {}
        for row in _text(out).split("\0")[:-1]:
            about, _, path = row.partition("\t")
            tag, mode, blob, _stage = about.split(" ")
            # lower case: assume-unchanged; S: skip-worktree
            found[path[len(self.prefix) :]] = Staged(Blob(mode, blob), tag == "H")
        return found

    def ignored(self, files: Iterable[str]) -> set[str]:
        """Which of these files git is told to ignore."""
        paths = {self.prefix + file: file for file in files}
        if not paths:
            return set()
        data = "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
        # exit 1: none is; the paths come by stdin, and git refuses literal pathspecs here
        words = ("check-ignore", "--no-index", "-z", "--stdin")
        plain = {"GIT_LITERAL_PATHSPECS": "0"}
        out = self.repository.run(*words, data=data, extra=plain, fine=(0, 1))
        return {paths[path] for path in _text(out).split("\0")[:-1]}

    def read(self, commit: str, file: str) -> bytes | None:
        """The bytes of a file at a commit, or None when it was not there."""
        return self.repository.ask("cat-file", "blob", f"{commit}:{self.prefix}{file}")

    def blob_id(self, data: bytes) -> str:
        """The object id that git gives these bytes, computed without git."""
        return hashlib.new(
            self.repository.hash_name, b"blob %d\0" % len(data) + data, usedforsecurity=False
        ).hexdigest()

    # building

    def write_blobs(self, paths: Sequence[Path]) -> list[str]:
        """Put the bytes of these files into git, unfiltered; their object ids, in order."""
        if not paths:
            return []
        names = "".join(f"{_quoted(str(path))}\n" for path in paths)
        words = ("hash-object", "-w", "--no-filters", "--stdin-paths")
        out = self.repository.run(*words, data=names.encode("utf-8", "surrogateescape"))
        return _text(out).split()

    def build(
        self, parent: str | None, entries: Mapping[str, Blob | None], message: Message, index: Path
    ) -> str | None:
        """A commit on top of `parent` with these files set (None: removed); nothing refers to it.

        `index` is the name for a private index, which is removed again. None when the tree would
        be the parent's own.
        """
        private = {"GIT_INDEX_FILE": str(index)}
        git = self.repository
        try:
            if parent is not None:
                git.run("read-tree", parent, extra=private)
            self.set_entries(entries, index)
            tree = _text(git.run("write-tree", extra=private)).strip()
        finally:
            index.unlink(missing_ok=True)
        if parent is not None and tree == _text(git.run("rev-parse", f"{parent}^{{tree}}")).strip():
            return None
        words = ["commit-tree", tree, *(["-p", parent] if parent else [])]
        return self._commit(words, message)

    def set_entries(self, entries: Mapping[str, Blob | None], index: Path) -> None:
        """Set (None: remove) these files in the index file `index`, leaving all else in it alone."""
        nothing = "0" * (64 if self.repository.hash_name == "sha256" else 40)
        rows = []
        for file, blob in entries.items():
            about = f"{blob.mode} {blob.id}" if blob else f"0 {nothing}"
            rows.append(f"{about}\t{self.prefix}{file}\0")
        data = "".join(rows).encode("utf-8", "surrogateescape")
        private = {"GIT_INDEX_FILE": str(index)}
        self.repository.run("update-index", "-z", "--index-info", data=data, extra=private)

    def _commit(self, words: list[str], message: Message) -> str:
        text = message.text().encode("utf-8", "surrogateescape")
        ours = {
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in zip(("NAME", "EMAIL"), AUTHOR, strict=True)
        }
        try:
            out = self.repository.run(*words, data=text, extra=ours if message.by_model else None)
        except GitFailed:
            if message.by_model:
                raise
            # no identity configured: the note matters more than whose name stands there
            out = self.repository.run(*words, data=text, extra=ours)
        return _text(out).strip()

    # reading back

    def log(self, limit: int | None = None) -> list[Logged]:
        """Our commits that touch the folder, newest first: those that carry a Memory-Id."""
        if self.head() is None:
            return []
        words = ["log", f"--format={_FIELDS}", f"--grep=^{ID_TRAILER}: "]
        if limit is not None:
            words.append(f"-n{limit}")
        out = self.repository.run(*words, "--", *([self.prefix] if self.prefix else []))
        rows = _text(out).split("\x1e")[:-1]
        return [_logged(*row.strip("\n").split("\x1f", 3)) for row in rows]

    def reverted(self) -> set[str]:
        """Full ids of the commits that a later `git revert` took back."""
        if self.head() is None:
            return set()
        pattern = "This reverts commit "
        out = _text(self.repository.run("log", "--format=%b%x1e", f"--grep=^{pattern}"))
        return set(re.findall(rf"{pattern}([0-9a-f]{{40,64}})", out))

    def parent(self, commit: str) -> str | None:
        """The first parent of a commit, or None for a root commit."""
        found = self.repository.ask("rev-parse", "-q", "--verify", f"{commit}^1")
        return None if found is None else _text(found).strip()

    def changed(self, commit: str) -> list[str]:
        """The files in the folder that a commit touched."""
        words = ("diff-tree", "-r", "-z", "--name-only", "--no-commit-id", "--root", commit)
        paths = _text(self.repository.run(*words)).split("\0")[:-1]
        return [path[len(self.prefix) :] for path in paths if path.startswith(self.prefix)]

    def resolve(self, name: str) -> str:
        """The full id of a commit named by hash, branch or tag. Raises NotFound."""
        found = None
        if not name.startswith("-"):
            found = self.repository.ask("rev-parse", "-q", "--verify", f"{name}^{{commit}}")
        if found is None:
            raise NotFound(f"There is no commit or Memory-Id {name}.", "`mdmemory log` lists them.")
        return _text(found).strip()

    def diff(self, commit: str, colour: bool = False) -> str:
        """What a commit changed in the folder, as git shows it."""
        words = ["show", "--format=", "--no-ext-diff", "--no-textconv", "-M"]
        words.append("--color=always" if colour else "--color=never")
        out = self.repository.run(*words, commit, "--", *([self.prefix] if self.prefix else []))
        return out.decode("utf-8", "replace")


def _logged(commit: str, time: str, subject: str, body: str) -> Logged:
    paragraphs = body.strip("\n").split("\n\n")
    trailers = [
        (name, value)
        for name, colon, value in (line.partition(": ") for line in paragraphs[-1].splitlines())
        if colon
    ]
    ops = [line for part in paragraphs[:-1] for line in part.splitlines()]
    return Logged(commit, time, subject, tuple(ops), tuple(trailers))


def _quoted(path: str) -> str:
    # as git quotes paths, so that a line break in a folder's name stays one path
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _text(out: bytes) -> str:
    return out.decode("utf-8", "surrogateescape")
