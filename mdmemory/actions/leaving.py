"""What waited in the inbox and leaves it, on a person's word: as one commit where the inbox is in
one, so that an undo puts it back."""

from __future__ import annotations

from pathlib import Path

from mdmemory.files import digest, name_refusals, read_regular, write_atomic
from mdmemory.git.private_folder import make_folder
from mdmemory.git.transaction import Change
from mdmemory.store.project import INBOX
from mdmemory.store.writer import Group, Writer, Written

KIND = "drop"  # the Memory-Op of such a commit


def leaving_changes(writer: Writer, path: Path) -> list[Change]:
    """What takes this file out of a committed inbox, for the commit of what came of it; none where
    the inbox is in no commit. The caller holds the lock."""
    if writer.history is None or writer.refusal() is not None:
        return []
    file, head = f"{INBOX}/{path.name}", writer.history.head()
    if not is_in_commits(writer, path) or not writer.history.read_tree(head, [file]):
        return []
    return [Change(file, digest(read_regular(path)), None)]


def is_in_commits(writer: Writer, path: Path) -> bool:
    """Whether a file of this inbox is committed by the store's next write."""
    return writer.is_own and path.parent == writer.project.store / INBOX


def take_out(writer: Writer, path: Path, subject: str) -> Written:
    """Take a file out of the inbox. Where that is no commit, its text is kept in
    `.mdmemory/aside/`. Raises NotFound where it is gone already."""
    with writer.lock_store():
        writer.commit_inbox()
        if changes := leaving_changes(writer, path):
            group = Group(f"drop {changes[0].file}", tuple(changes))
            return writer.write(subject, [group], kind=KIND, destructive=True)
        data = read_regular(path)
        aside = writer.project.prepare_private() / "aside"
        with name_refusals(aside):
            make_folder(aside)
        write_atomic(aside / f"{path.name}.{digest(data)[:12]}", data, mode=0o600)
        path.unlink(missing_ok=True)
    return Written()
