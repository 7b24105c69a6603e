"""Building commits in a private index. No ref and no file moves here: that is the transaction's."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from mdmemory.errors import GitFailed
from mdmemory.store.history import AUTHOR, Blob, History, Message, text

Entries = Mapping[str, Blob | None]  # what a commit sets in the folder; None: removed


def write_blobs(history: History, paths: Sequence[Path]) -> list[str]:
    """Put the bytes of these files into git, unfiltered; their object ids, in order."""
    if not paths:
        return []
    names = "".join(f"{_quoted(str(path))}\n" for path in paths)
    words = ("hash-object", "-w", "--no-filters", "--stdin-paths")
    out = history.repository.run(*words, data=names.encode("utf-8", "surrogateescape"))
    return text(out).split()


class IndexFile:
    """An index file of ours, used with no work tree in sight.

    Whoever writes an index has git compare the files that changed a moment ago, through whatever
    filter the repository names. In an empty folder there is nothing to compare.
    """

    def __init__(self, history: History, path: Path) -> None:
        self.history = history
        self.path = path

    def read(self, commit: str) -> None:
        """Fill it from a commit."""
        self._run("read-tree", commit)

    def set(self, entries: Entries) -> None:
        """Set (None: remove) these files, leaving all else alone."""
        nothing = "0" * (64 if self.history.repository.hash_name == "sha256" else 40)
        rows = []
        for file, blob in entries.items():
            about = f"{blob.mode} {blob.id}" if blob else f"0 {nothing}"
            rows.append(f"{about}\t{self.history.prefix}{file}\0")
        data = "".join(rows).encode("utf-8", "surrogateescape")
        self._run("update-index", "-z", "--index-info", data=data)

    def write_tree(self) -> str:
        """The id of the tree that it says."""
        # missing-ok: what the parent's tree names was there before us, or is not our loss
        return text(self._run("write-tree", "--missing-ok")).strip()

    def _run(self, *words: str, data: bytes = b"") -> bytes:
        nowhere = self.path.with_name(f"{secrets.token_hex(6)}.nowhere")
        nowhere.mkdir()
        places = {
            "GIT_DIR": str(self.history.repository.git_dir),
            "GIT_WORK_TREE": str(nowhere),
            "GIT_INDEX_FILE": str(self.path),
        }
        try:
            return self.history.repository.run(*words, data=data, folder=nowhere, extra=places)
        finally:
            nowhere.rmdir()


def build(
    history: History,
    parent: str | None,
    entries: Entries,
    message: Message,
    private: Path,
    staged: IndexFile | None = None,
) -> str:
    """A commit on top of `parent` with these files set (None: removed); nothing refers to it.

    `private` is the name for an index of our own, which is removed again; not needed where
    `staged`, a person's index with these files set, holds nothing else that is new.
    """
    tree = _tree_of(history, parent, entries, staged) if staged and parent else None
    if tree is None:
        index = IndexFile(history, private)
        try:
            if parent is not None:
                index.read(parent)
            index.set(entries)
            tree = index.write_tree()
        finally:
            private.unlink(missing_ok=True)
    return _commit(history, [tree, *(["-p", parent] if parent else [])], message)


def _tree_of(history: History, parent: str, entries: Entries, index: IndexFile) -> str | None:
    """The tree of an index, if our files alone are new in it: looked at, not inferred.

    Half the work of an index of our own in a large repository, and most people stage nothing.
    """
    try:
        tree = index.write_tree()
    except GitFailed:  # unmerged files elsewhere
        return None
    words = ("diff-tree", "-r", "-z", "--name-only", "--ignore-submodules=none", parent, tree)
    different = text(history.repository.run(*words)).split("\0")[:-1]
    return tree if {*different} <= {history.prefix + file for file in entries} else None


def _commit(history: History, words: Sequence[str], message: Message) -> str:
    data = message.text().encode("utf-8", "surrogateescape")
    ours = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in zip(("NAME", "EMAIL"), AUTHOR, strict=True)
    }
    git = history.repository
    try:
        extra = ours if message.by_model else None
        out = git.run("commit-tree", *words, data=data, extra=extra)
    except GitFailed:
        if message.by_model:
            raise
        # no identity configured: the note matters more than whose name stands there
        out = git.run("commit-tree", *words, data=data, extra=ours)
    return text(out).strip()


def _quoted(path: str) -> str:
    # as git quotes paths, so that a line break in a folder's name stays one path
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
