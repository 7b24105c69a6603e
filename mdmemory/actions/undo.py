"""Taking back one commit of ours, op by op, without touching what was written since.

An op whose files still say what it left there goes back whole; any other stays and is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mdmemory.errors import MdmemoryError, NoGit, NotFound
from mdmemory.files import digest, read_regular
from mdmemory.git.commits_of_store import History
from mdmemory.git.log import ID_TRAILER, UNDOES, Logged
from mdmemory.git.repositories import PATIENCE
from mdmemory.git.transaction import Change
from mdmemory.store.writer import Group, Writer, Written

BY_DEFAULT = ("compact", "extract", "store", "import", "edit", "remove", "confirm", "resolve")
# lines of a head that count how often a note was met again, which is no change of what it says
_COUNTERS = re.compile(rb"^[ \t]*(?:updated|reinforced|last_reinforced):[^\n]*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Undone:
    """`restored` files have their former bytes again; `kept` ones were changed since."""

    undone: str
    written: Written
    restored: tuple[str, ...]
    kept: tuple[tuple[str, str], ...]


def undo(writer: Writer, id: str | None = None) -> Undone:
    """Take back the commit `id` names (a Memory-Id or a commit; default: the newest that destroys).

    Raises NotFound when there is nothing to undo.
    """
    with writer.locked():
        refusal = writer.refusal(PATIENCE)
        if refusal or writer.history is None:
            raise refusal or NoGit("There is no git repository.")
        entry = _chosen(writer.history, id)
        groups, kept = [], []
        for files in entry.groups():
            changes = _back(writer.history, entry.commit, files)
            if isinstance(changes, str):
                kept += [(file, changes) for file in files]
            elif changes:
                groups.append(Group(f"undo {' '.join(files)}", tuple(changes)))
        if not groups:
            return Undone(entry.commit, Written(), (), tuple(kept))
        written = writer.write(
            f"memory: undo {entry.get(ID_TRAILER)}", groups, kind="undo", destructive=True,
            trailers=((UNDOES, entry.commit),),
        )  # fmt: skip
    late = {file for file, _ in written.kept}
    restored = [c.file for group in groups for c in group.changes if c.file not in late]
    return Undone(entry.commit, written, tuple(restored), (*kept, *written.kept))


def undo_session(writer: Writer, session: str) -> list[Undone]:
    """Take back all that one session wrote, commit by commit, the newest first.

    Raises NotFound when it wrote nothing that is not undone already.
    """
    if writer.history is None:
        raise writer.refusal() or NoGit("There is no git repository.")
    with writer.locked():  # what the session left waiting is committed by that
        log, gone = writer.history.log(), writer.history.undone()
    wrote = [
        entry.commit
        for entry in log
        if entry.get("Memory-Session") == session and entry.commit not in gone
    ]
    if not wrote:
        raise NotFound(
            f"The session {session} wrote nothing that could be undone.",
            "`mdmemory log --json` shows which session wrote what.",
        )
    return [undo(writer, commit) for commit in wrote]


def _chosen(history: History, id: str | None) -> Logged:
    gone = history.undone()
    if id is None:
        for entry in _newest_first(history):
            if entry.commit not in gone and entry.get("Memory-Op") in BY_DEFAULT:
                return entry
        raise NotFound(
            "There is nothing to undo: no compaction, capture, edit or removal.",
            "`mdmemory log` shows what was done; `mdmemory undo ID` takes back any of it.",
        )
    entry = find(history, history.log(), id)
    if entry.get("Memory-Op") == "init":
        raise NotFound(
            f"{id} began the store.", f"Take it back with `git revert {entry.commit[:10]}`."
        )
    if entry.commit in gone:
        raise NotFound(f"{id} is undone already.", "`mdmemory log` shows what was done.")
    return entry


def _newest_first(history: History) -> Iterator[Logged]:
    """Our commits. Mostly the newest is the one, and reading all of a long history takes long."""
    seen = 0
    for limit in (1, 10, 100, None):
        log = history.log(limit)
        yield from log[seen:]
        if limit is None or len(log) < limit:
            return
        seen = len(log)


def find(history: History, log: Sequence[Logged], id: str) -> Logged:
    """The commit of ours that a Memory-Id or a commit name means."""
    for entry in log:
        if entry.get(ID_TRAILER) == id:
            return entry
    commit = history.resolve(id)
    for entry in log:
        if entry.commit == commit:
            return entry
    raise NotFound(
        f"The commit {id} is not one of mdmemory's.", f"Take it back with `git revert {id}`."
    )


def _back(history: History, commit: str, files: Sequence[str]) -> list[Change] | str:
    """The changes that give these files the bytes they had before, or why that cannot be."""
    left = history.contents(commit, files)
    before = history.contents(history.parent(commit), files)
    changes = []
    for file in files:
        try:
            now = _bytes(history, file)
        except MdmemoryError as problem:
            return problem.message
        if _said(now) != _said(left.get(file)):
            return "it was changed since"
        if now != before.get(file):
            changes.append(Change(file, None if now is None else digest(now), before.get(file)))
    return changes


def _bytes(history: History, file: str) -> bytes | None:
    try:
        return read_regular(history.folder / file)
    except NotFound:
        return None


def _said(data: bytes | None) -> bytes | None:
    """A note without its counters; they stand in the head, before the second fence."""
    if data is None or not data.startswith(b"---"):
        return data
    head, fence, rest = data.partition(b"\n---")
    return _COUNTERS.sub(b"", head + b"\n") + fence + rest
