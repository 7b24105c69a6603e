"""Building commits in a private index. No ref and no file moves here: that is the transaction's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from mdmemory.errors import GitFailed
from mdmemory.store.history import AUTHOR, Blob, History, Message, text


def write_blobs(history: History, paths: Sequence[Path]) -> list[str]:
    """Put the bytes of these files into git, unfiltered; their object ids, in order."""
    if not paths:
        return []
    names = "".join(f"{_quoted(str(path))}\n" for path in paths)
    words = ("hash-object", "-w", "--no-filters", "--stdin-paths")
    out = history.repository.run(*words, data=names.encode("utf-8", "surrogateescape"))
    return text(out).split()


def build(
    history: History,
    parent: str | None,
    entries: Mapping[str, Blob | None],
    message: Message,
    index: Path,
) -> str:
    """A commit on top of `parent` with these files set (None: removed); nothing refers to it.

    `index` is the name for a private index, which is removed again.
    """
    private = {"GIT_INDEX_FILE": str(index)}
    git = history.repository
    try:
        if parent is not None:
            git.run("read-tree", parent, extra=private)
        set_entries(history, entries, index)
        # missing-ok: what the parent's tree names was there before us, or is not our loss
        tree = text(git.run("write-tree", "--missing-ok", extra=private)).strip()
    finally:
        index.unlink(missing_ok=True)
    return _commit(history, [tree, *(["-p", parent] if parent else [])], message)


def set_entries(history: History, entries: Mapping[str, Blob | None], index: Path) -> None:
    """Set (None: remove) these files in the index file `index`, leaving all else in it alone."""
    nothing = "0" * (64 if history.repository.hash_name == "sha256" else 40)
    rows = []
    for file, blob in entries.items():
        about = f"{blob.mode} {blob.id}" if blob else f"0 {nothing}"
        rows.append(f"{about}\t{history.prefix}{file}\0")
    data = "".join(rows).encode("utf-8", "surrogateescape")
    private = {"GIT_INDEX_FILE": str(index)}
    history.repository.run("update-index", "-z", "--index-info", data=data, extra=private)


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
