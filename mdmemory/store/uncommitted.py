"""Writes that do not commit: nobody typed them in a person's repository, git is not ready or not
there.

First git has the bytes that they replace, behind a ref, or without git `.mdmemory/aside/`; then the
files change. The next command that may makes one commit of what still stands as they left it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from mdmemory.errors import MdmemoryError
from mdmemory.files import name_refusals, read_if_there, read_regular, write_atomic
from mdmemory.git.commits_of_store import (
    KEEP,
    PARTS,
    History,
    Message,
    group_ops,
    memory_trailers,
    subject,
)
from mdmemory.git.journal import Journals
from mdmemory.git.log import ID_TRAILER
from mdmemory.git.objects import Blob
from mdmemory.git.private_folder import make_folder
from mdmemory.git.replacement import verify
from mdmemory.git.transaction import Change, Transactions, prove
from mdmemory.store import adopt
from mdmemory.store.refresh import Refresher

KIND = "commit"  # the Memory-Op of such a commit
_SESSION = "Memory-Session"


def write(
    history: History, changes: Sequence[Change], derived: Sequence[Change], message: Message
) -> tuple[bool, Sequence[tuple[str, str]]]:
    """Change the files and no branch; whether git has something new by it, and what files were
    kept, and why.

    The caller holds the lock. Raises NoteChanged, RepositoryState for a file that git is told not
    to see; then nothing has happened.
    """
    transactions = Transactions(history)
    before: dict[str, bytes | None] = {}
    for change in changes:
        verify(history.folder, change)
        before[change.file] = read_if_there(history.folder / change.file)
    # what was read is what is kept; a file that is another since is not replaced below
    transactions.require_seen([*before])
    with history.objects.open():
        was = _keep_commit(transactions, before, KEEP)
        now = _keep_commit(transactions, {change.file: change.new for change in changes}, message)
    return now != was, [*transactions.apply_uncommitted([*changes, *derived], before).items()]


def _keep_commit(
    transactions: Transactions, files: Mapping[str, bytes | None], message: Message
) -> str:
    """The commit behind the ref that has the files so (None: no such file), made and proved."""
    history, before = transactions.history, transactions.history.kept.tip()
    tree, there = history.read_tree(history.head(), files), history.read_tree(before, files)
    entries = {
        file: None if data is None else Blob(transactions.mode(file, tree), history.blob_id(data))
        for file, data in files.items()
    }
    if before is not None and all(there.get(file) == blob for file, blob in entries.items()):
        return before
    texts = [data for data in files.values() if data is not None]
    made = history.build(before, entries, message, texts)
    ids = {file: blob.id for file, blob in entries.items() if blob}
    prove(history, made, ids, ids)
    history.kept.move(made, before)
    return made


def commit_kept(
    refresher: Refresher, history: History, tell: Callable[[str], None],
    index: Callable[[Sequence[Change]], list[Change]],
) -> None:  # fmt: skip
    """Commit what stands as such writes left it; `tell` hears what was, and what was not.

    `index` gives the index that belongs to changes. The caller holds the lock, and nothing is in
    the way of a commit.
    """
    transactions, left = Transactions(history), history.kept.read_left()
    if not left:
        return
    entries = history.kept.list_entries()
    now: dict[str, bytes | None] = {}
    for file in left:
        with suppress(MdmemoryError):  # a link, a folder: no write of ours left that
            now[file] = read_if_there(history.folder / file)
    ids = {file: None if data is None else history.blob_id(data) for file, data in now.items()}
    there = {file: blob.id for file, blob in history.read_tree(history.head(), left).items()}
    ours = {file: blob.id if blob else None for file, blob in left.items()}
    back = [file for file, id in ids.items() if id != ours[file] and id == there.get(file)]
    differing = [file for file, id in ids.items() if id == ours[file] and id != there.get(file)]
    unseen = transactions.list_unseen(differing)
    chosen = {file: now[file] for file in differing if file not in unseen}
    if chosen:
        seen = adopt.look_at_folder(refresher, history).found
        derived, apart = adopt.index_without(transactions, seen, index)
        facts = [entry.subject.removeprefix("memory: ") for entry in entries]
        groups = group_ops(files for entry in reversed(entries) for files in entry.groups())
        groups = [files for each in groups if (files := [f for f in each if f in chosen])]
        more = [(PARTS, " ".join(str(entry.get(ID_TRAILER)) for entry in entries))]
        sessions = {entry.get(_SESSION) for entry in entries}
        more += [(_SESSION, name) for name in sessions if name and len(sessions) == 1]
        lines = [line for entry in reversed(entries) for line in entry.ops]
        message = Message(subject("", facts), lines, memory_trailers(KIND, more, groups=groups))
        base = transactions.checkpoint((), KEEP)
        transactions.apply(derived, base, message, others=chosen | apart)
        tell(f"Committed now, as it was waiting: {message.subject}")
    tip = history.kept.tip()
    history.kept.settle()
    if back:
        tell(
            f"Not committed, as it was removed or put back since: {', '.join(sorted(back))}. What "
            f"was written there stays in git: `git show {str(tip)[:10]}` and the commits before it."
        )


# --- without git


def write_plainly(
    folder: Path, private: Path, changes: Sequence[Change]
) -> tuple[tuple[str, str], ...]:
    """Make the changes in a store, with a journal in `private` (`.mdmemory/`) instead of commits;
    what was kept instead, and why. Nothing is removed here.

    Raises NoteChanged when a file is not what its change says, before anything is written.
    """
    for change in changes:
        verify(folder, change)
    aside, journals = private / "aside", Journals(private, folder)
    for change in changes:
        if change.old is not None:
            with name_refusals(aside):
                make_folder(aside)
            former = read_regular(folder / change.file)
            write_atomic(aside / f"{change.file}.{change.old[:12]}", former)
    if not changes:
        return ()
    # part of every name that the write makes
    journal = journals.begin(folder, changes, os.urandom(6).hex())
    return tuple(journals.finish(folder, journal).items())
