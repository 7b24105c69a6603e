"""Building commits of git's own trees, without an index. No ref and no file moves here: that is
the transaction's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mdmemory.errors import GitFailed
from mdmemory.git.commits_of_store import AUTHOR, History, Message, text
from mdmemory.git.objects import Object
from mdmemory.git.trees import Blob

Entries = Mapping[str, Blob | None]  # what a commit sets in the folder; None: removed


def build(
    history: History,
    parent: str | None,
    entries: Entries,
    message: Message,
    texts: Iterable[bytes] = (),
) -> str:
    """A commit on top of `parent` with these files set (None: removed); nothing refers to it.

    `texts` are the bytes of those blobs that git may not have yet; they go in with the trees.
    """
    paths = {history.prefix + file: blob for file, blob in entries.items()}
    tree, new = history.trees.edited(parent, paths)
    history.trees.objects.write([*(Object("blob", data) for data in texts), *new])
    return _commit(history, [tree, *(["-p", parent] if parent else [])], message)


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
