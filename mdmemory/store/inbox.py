"""`.inbox/` in the folder of a store: what was said, or stood in a source, and is no note yet.

One markdown file each, for its owner only (0600). In a store with a repository of its own they are
committed, so that they reach every clone; in somebody's repository git ignores them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from mdmemory.errors import MdmemoryError, RepositoryState
from mdmemory.files import list_names, name_refusals, read_regular, write_atomic
from mdmemory.store.project import INBOX

TYPE_CHECKING = False
if TYPE_CHECKING:  # a hook that keeps a wish commits nothing
    from mdmemory.git.commits_of_store import History

MOST = 400  # files of one kind that are looked at
END = ".md"
_IGNORED = b"*\n"


def prepare_inbox(folder: Path) -> None:
    """Make an inbox that git ignores and only its owner reads (0700). Raises RepositoryState where
    something else has its name, and Unwritable."""
    if os.path.lexists(folder) and (folder.is_symlink() or not folder.is_dir()):
        raise RepositoryState(
            f"{folder} is no folder, and nothing is kept through links.",
            f"Move it away: `mv {folder} {folder}.away`.",
        )
    with name_refusals(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        ignore = folder / ".gitignore"
        if not os.path.lexists(ignore):
            write_atomic(ignore, _IGNORED, mode=0o600)


def inbox_files(folder: Path, begin: str) -> list[Path]:
    """The files of an inbox whose names begin so, sorted, without reading them."""
    names = [] if folder.is_symlink() else sorted(list_names(folder))
    fit = (name for name in names if name.startswith(begin) and name.endswith(END))
    return [folder / name for name in fit][:MOST]


def commit_inbox(history: History, is_secret: Callable[[str], bool]) -> None:
    """Commit what came into the inbox of a store with a repository of its own, and what went.

    The caller holds the store's lock. Raises whatever a commit raises.
    """
    from mdmemory.git.commits_of_store import Message
    from mdmemory.git.transaction import Transactions

    folder, head = history.folder / INBOX, history.head()
    known = history.objects.files(head, INBOX) if head else {}
    gone = [name for name in known if not os.path.lexists(folder / name)]
    fresh = []
    for path in inbox_files(folder, ""):
        with suppress(MdmemoryError):
            data, there = read_regular(path), known.get(path.name)
            if there is None or there.id != history.blob_id(data):
                fresh += [] if is_secret(data.decode("utf-8", "replace")) else [path.name]
    if not fresh and not gone:
        return
    stop_ignoring(folder)
    transactions = Transactions(history)
    fresh, gone = ([f"{INBOX}/{name}" for name in names] for names in (fresh, gone))
    hidden = transactions.list_unseen([*fresh, *gone])
    seen, removed = ([f for f in names if f not in hidden] for names in (fresh, gone))
    counts = {"to look at": len(seen), "settled": len(removed)}
    about = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    message = Message(f"memory: inbox, {about}", trailers=(("Memory-Op", "inbox"),))
    transactions.checkpoint([], message, gone=removed, others=seen)


def stop_ignoring(folder: Path) -> None:
    """Take our own `.gitignore` away; a person's stays."""
    ignore = folder / ".gitignore"
    with suppress(MdmemoryError, OSError):
        if read_regular(ignore, len(_IGNORED) + 1) == _IGNORED:
            ignore.unlink()
