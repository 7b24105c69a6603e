"""What git is told about the store: .gitattributes, .gitignore, and which filters touch notes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from mdmemory.errors import MdmemoryError
from mdmemory.files import digest, read_regular, write_atomic
from mdmemory.git.commits_of_store import History
from mdmemory.git.replacement import Change
from mdmemory.store.store import Store

RAW = "*.md -text"  # the bytes of a note are what was written, on every machine
# Generated text merges by keeping both sides: it is derived again at the next command anyway.
UNION = ("MEMORY.md merge=union", "_MORE.md merge=union", "_CONFLICTS.md merge=union")


def lines_added(path: Path, name: str, lines: Sequence[str]) -> list[Change]:
    """The change that adds the lines which the file `path` lacks; a person's own lines stay."""
    data = read_regular(path) if path.exists() else None
    text = (data or b"").decode("utf-8", "surrogateescape")
    missing = [line for line in lines if line not in text.splitlines()]
    if not missing:
        return []
    if text and not text.endswith("\n"):
        text += "\n"
    fresh = text + "".join(f"{line}\n" for line in missing)
    old = None if data is None else digest(data)
    return [Change(name, old, fresh.encode("utf-8", "surrogateescape"))]


def drop_lines(path: Path, lines: Collection[str]) -> None:
    """Take these lines out of a file; one that is empty then goes."""
    data = read_regular(path) if path.exists() else b""
    before = data.decode("utf-8", "surrogateescape").splitlines(keepends=True)
    after = [line for line in before if line.strip() not in lines]
    if not after:
        path.unlink(missing_ok=True)
    elif after != before:
        write_atomic(path, "".join(after).encode("utf-8", "surrogateescape"))


def missing_lines(history: History | None, store: Store) -> list[Change]:
    """What the store's .gitattributes lacks; RAW is left out where git converts line ends."""
    if history is None:
        return []
    path, raw = store.folder / ".gitattributes", same_bytes(history, store)
    return lines_added(path, path.name, [RAW, *UNION] if raw else UNION)


def same_bytes(history: History, store: Store) -> bool:
    """Whether git's blobs are the bytes on disk, for every tracked note that nobody has edited.

    `history` is that of the store's folder. Where they differ, git converts line ends at
    checkout, and `-text` would mark each of these notes as modified. Notes to which a content
    filter applies do not count: `filtered_by` names it, and git would run it to answer.
    """
    differing = []
    for file, index_entries in history.read_index(store.files()).items():
        if index_entries.closed:
            continue  # git does not look at it, so it cannot say whether it was edited
        try:
            data = read_regular(store.folder / file)
        except MdmemoryError:
            continue
        if history.blob_id(data) != index_entries.blob.id:
            differing.append(file)
    if not differing or filtered_by(history, differing):
        return True
    paths = [history.prefix + file for file in differing]
    words = ("diff-files", "--name-only", "-z", "--", *paths)
    modified = history.repository.run(*words).decode("utf-8", "surrogateescape").split("\0")
    return all(path in modified for path in paths)


def filtered_by(history: History, files: Sequence[str]) -> str:
    """The content filter or encoding that git applies to one of these files, or ""."""
    paths = [history.prefix + file for file in files]
    words = ("check-attr", "-z", "filter", "working-tree-encoding", "ident", "--", *paths)
    fields = history.repository.run(*words).decode("utf-8", "surrogateescape").split("\0")
    values = zip(fields[1::3], fields[2::3], strict=False)
    active = (pair for pair in values if pair[1] not in ("unspecified", "unset"))
    return next((f"{name}={value}" for name, value in active), "")
