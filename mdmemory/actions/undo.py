"""Taking back commits of ours, op by op, without touching what was written since.

An op whose files still say what it left there goes back whole; any other stays and is named. To
take back many commits at once is one commit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from mdmemory.actions import leaving, replacing
from mdmemory.errors import MdmemoryError, NotFound
from mdmemory.files import digest, read_if_there, to_bytes, to_text
from mdmemory.git.commits_of_store import History, group_ops, subject
from mdmemory.git.log import ERASED_TRAILER, ID_TRAILER, UNDOES, Logged
from mdmemory.git.repositories import PATIENCE
from mdmemory.git.transaction import Change
from mdmemory.note.note import headline
from mdmemory.store import conflicts
from mdmemory.store.adopt import KIND as ADOPTED
from mdmemory.store.store import LEDGER, Store, decode_note, is_note_name
from mdmemory.store.writer import Group, Writer, Written

# kinds of commits that change no fact, or have a command of their own to take them back
NO_CHANGES = frozenset({"init", "move", "sync", "mend", "undo", "erase"})
_NAMED = 3  # facts of one commit that are named; of the others their number
# lines of a head that count how often a note was met again, which is no change of what it says
_COUNTERS = re.compile(rb"^[ \t]*(?:updated|reinforced|last_reinforced):[^\n]*\n", re.MULTILINE)

Contents = dict[str, bytes | None]  # the bytes of each file, None where there is none


class Undone(NamedTuple):
    """A commit that was taken back: `restored` files have their former bytes again, `kept` ones
    were changed since. `facts` says what it was about; `handmade` are files that somebody wrote by
    hand and that are no more in the folder."""

    undone: str
    written: Written
    restored: tuple[str, ...]
    kept: tuple[tuple[str, str], ...]
    facts: tuple[str, ...] = ()
    handmade: tuple[str, ...] = ()

    def told_handmade(self) -> str:
        """The sentence on the `handmade` files and how to get them back; "" where there is none."""
        sentence = (
            f"What you wrote yourself is gone from the folder: {', '.join(self.handmade)}. git "
            f"keeps it; to get it back: `mdmemory undo {self.written.id}`."
        )
        return sentence if self.handmade else ""


class Planned(NamedTuple):
    """A commit that an undo would take back, before it does: `kind` is its Memory-Op."""

    commit: str
    time: str
    kind: str
    facts: tuple[str, ...]


# Whether a person agrees to take these commits back.
Agree = Callable[[Sequence[Planned]], bool]


def undo_changes(
    writer: Writer, id: str | None = None, agree: Agree | None = None, *, session: str = ""
) -> list[Undone]:
    """Take back the commit `id` names (a Memory-Id or a commit; default: the newest change that is
    not undone, whatever it was), or all that one `session` wrote, in one commit; what became of
    each commit, the newest first. With `agree`, only after it said yes to what was found.

    Nobody is asked under the lock: after the answer the same commits are taken, whatever was
    written meanwhile. Raises NotFound when there is nothing to undo.
    """

    if agree is not None:
        from mdmemory.git.gitpython import open_history  # a person is asked, and no hook

        with writer.lock_store():  # what waits is committed by that
            history = open_history(writer.require_history(PATIENCE))
            plans = [_plan_undo(history, entry) for entry in _choose_commits(history, id, session)]
        if not agree(plans):
            raise MdmemoryError("Nothing was undone.", "`mdmemory log` lists the changes.")
    with writer.lock_store():
        history = writer.require_history(PATIENCE)
        if agree is None:
            return _take_back(writer, history, _choose_commits(history, id, session))
        entries = [each for plan in plans for each in _choose_commits(history, plan.commit)]
        return _take_back(writer, history, entries)


def newest_change(writer: Writer) -> Planned | None:
    """The change that a plain undo takes back; None where there is none, or no git."""
    with writer.lock_store():  # what waits is committed by that
        if writer.history is None:
            return None
        entry = _find_newest(writer.history)
        return None if entry is None else _plan_undo(writer.history, entry)


def knows_commit(writer: Writer, id: str) -> bool:
    """Whether a Memory-Id or a commit names a commit of ours in this store."""
    with writer.lock_store(), suppress(NotFound):
        return writer.history is not None and bool(find_commit(writer.history, id))
    return False


# --- which commit


def _choose_commits(history: History, id: str | None, session: str = "") -> list[Logged]:
    if session:
        gone, wrote = history.list_undone(), history.log_of("Memory-Session", session)
        if entries := [entry for entry in wrote if entry.commit not in gone]:
            return entries
        raise NotFound(
            f"The session {session} wrote nothing that could be undone.",
            "`mdmemory log --json` shows which session wrote what.",
        )
    if id is None:
        if (newest := _find_newest(history)) is not None:
            return [newest]
        raise NotFound(
            "There is nothing to undo: no change of a note.",
            "`mdmemory log` shows what was done; `mdmemory undo ID` takes back any of it.",
        )
    entry = find_commit(history, id)
    if entry.get("Memory-Op") == "init":
        raise NotFound(
            f"{id} began the store.", f"Take it back with `git revert {entry.commit[:10]}`."
        )
    if entry.get(ERASED_TRAILER) and not entry.groups():
        raise NotFound(
            f"{id} was about a note that was erased: there is nothing to bring back.",
            "`mdmemory log` shows what was done.",
        )
    if entry.commit in history.list_undone():
        raise NotFound(f"{id} is undone already.", "`mdmemory log` shows what was done.")
    return [entry]


def _find_newest(history: History) -> Logged | None:
    seen = 0
    # mostly the newest is the one; older ones may name very many notes, and take long to read
    for limit in (1, 30, None):
        commits = history.logged(limit)
        for entry, undone in commits[seen:]:
            files = [file for group in entry.groups() for file in group]
            is_dropped = entry.get("Memory-Op") == leaving.KIND  # what waited left the inbox
            is_change = entry.get("Memory-Op") not in NO_CHANGES
            # what an erased note leaves of a conflict is nothing to bring back
            known = () if entry.get(ERASED_TRAILER) else (LEDGER,)
            about_notes = any(is_note_name(file) or file in known for file in files)
            if not undone and (is_dropped or (about_notes and is_change)):
                return entry
        if limit is None or len(commits) < limit:
            break
        seen = len(commits)
    return None


def find_commit(history: History, id: str) -> Logged:
    """The commit of ours that a Memory-Id or a commit name means."""
    for entry in history.log_of(ID_TRAILER, id):
        return entry
    if (own := history.find_own(history.resolve(id))) is not None:
        return own
    raise NotFound(
        f"The commit {id} is not one of mdmemory's.", f"Take it back with `git revert {id}`."
    )


def _plan_undo(history: History, entry: Logged) -> Planned:
    kind = entry.get("Memory-Op") or ""
    return Planned(entry.commit, entry.time, kind, _facts_of(history, entry))


def _facts_of(history: History, entry: Logged) -> tuple[str, ...]:
    """The facts that a commit was about, one for each op: the first few, and how many more. Of a
    renaming the two names, for its fact stays; of what left the inbox its name."""
    if entry.get("Memory-Op") in ("rename", leaving.KIND):
        return (entry.subject.removeprefix("memory: "),)
    groups = entry.groups()
    files = [file for group in groups[:_NAMED] for file in group]
    after = history.read_many(entry.commit, files)
    before = history.read_many(history.parent(entry.commit), files)
    facts = []
    for group in groups[:_NAMED]:
        # of the note that it left, else the name of one it removed
        notes = [(file, texts) for texts in (after, before) for file in group if is_note_name(file)]
        for file, texts in notes:
            if (data := texts.get(file)) is not None:
                facts.append(headline(decode_note(data, file).head, gone=texts is before))
                break
    named = [*dict.fromkeys(filter(None, facts))] or [*entry.ops[:_NAMED]]
    more = [f"and {len(groups) - _NAMED} more"] if len(groups) > _NAMED else []
    return (*named, *more)


# --- taking it back


class _Back(NamedTuple):
    """What becomes of one commit: the files that go back, and those that stay, with the reason."""

    entry: Logged
    ops: list[list[str]]
    restored: list[str]
    kept: list[tuple[str, str]]


def _take_back(writer: Writer, history: History, entries: Sequence[Logged]) -> list[Undone]:
    """One commit that takes all of these back; the newest comes first, and goes first."""
    before: Contents = {}  # what the files hold now
    now: Contents = {}  # what they hold once the newer ones are taken back
    backs = [_back_of(history, entry, before, now) for entry in entries]
    facts = {back.entry.commit: _facts_of(history, back.entry) for back in backs}
    groups = []
    for files in group_ops(op for back in backs for op in back.ops):
        changes = []
        for file in [file for file in files if before[file] != now[file]]:
            old = before[file]
            changes.append(Change(file, None if old is None else digest(old), now[file]))
        if changes:
            groups.append(Group(f"undo {' '.join(files)}", tuple(changes)))
    written = Written()
    if groups:
        done, names = [back for back in backs if back.ops], list[str]()
        for back in done:  # of a note that goes only its name is said again
            gone = [f for f in back.restored if is_note_name(f) and now[f] is None]
            names += [file.removesuffix(".md") for file in gone] or facts[back.entry.commit]
        written = writer.write(
            subject("undo", names), groups, kind="undo", destructive=True,
            trailers=[(UNDOES, back.entry.commit) for back in done],
        )  # fmt: skip
    late, undone = dict(written.kept), list[Undone]()
    for entry, ops, back_files, kept in backs:
        restored = tuple(file for file in back_files if file not in late)
        stay = (*kept, *((file, late[file]) for file in back_files if file in late))
        is_adopted = entry.get("Memory-Op") == ADOPTED
        lost = tuple(file for file in restored if is_adopted and now[file] is None)
        how = written if ops else Written()
        undone.append(Undone(entry.commit, how, restored, stay, facts[entry.commit], lost))
    return undone


def _back_of(history: History, entry: Logged, before: Contents, now: Contents) -> _Back:
    back = _Back(entry, [], [], [])
    for files in entry.groups():
        fresh = _former_bytes(history, entry.commit, files, before, now)
        if isinstance(fresh, str):
            if again := _in_force_again(history, entry.commit, files, before, now):
                back.ops.append([*again])
                back.restored.extend(file for file in again if file != LEDGER)
                now |= again
            back.kept.extend((file, fresh) for file in files if file not in again)
        elif changed := {file: data for file, data in fresh.items() if data != now[file]}:
            back.ops.append(files)
            back.restored.extend(changed)
            now |= changed
    return back


def _former_bytes(
    history: History, commit: str, files: Sequence[str], before: Contents, now: Contents
) -> Contents | str:
    """The bytes that these files had before the commit, or why they cannot go back to them."""
    left = history.read_many(commit, files)
    read = history.read_many(history.parent(commit), files)
    former = {file: read.get(file) for file in files}
    for file in files:
        if problem := _read_file(history, file, before, now):
            return problem
        here, there = now[file], left.get(file)
        if here == there or _without_counters(here) == _without_counters(there):
            continue
        # of the ledger the lines of this change go, unless they were changed since
        texts = [to_text(data or b"") for data in (here, there, former[file])]
        ledger = conflicts.take_back(*texts) if file == LEDGER else None
        if ledger is None:
            return "it was changed since"
        former[file] = to_bytes(ledger)
    return former


# What a note with a mark has besides its text; the name in it follows that of its successor.
_SUCCESSOR = re.compile(rb"^[ \t]*superseded_by:[^\n]*\n", re.MULTILINE)


def _in_force_again(
    history: History, commit: str, files: Sequence[str], before: Contents, now: Contents
) -> Contents:
    """Of an op that cannot go back whole, since what replaced a note was changed: the notes that it
    replaced, without their marks, and the ledger, which flags them with what stands in their place.
    """
    left = history.read_many(commit, files)
    former = history.read_many(history.parent(commit), files)
    marked = {
        file: data for file in filter(is_note_name, files)
        if (data := former.get(file)) is not None
        and not _read_file(history, file, before, now) and now[file] is not None
        and _without_successor(now[file]) == _without_successor(left.get(file))
    }  # fmt: skip
    if not marked or _read_file(history, LEDGER, before, now):
        return {}
    gone = [file for file, data in now.items() if data is None]
    return {**replacing.in_force_again(Store(history.folder), marked, now[LEDGER], gone)}


def _read_file(history: History, file: str, before: Contents, now: Contents) -> str:
    """Read what a file holds, where that was not done yet; why it cannot be read, or ""."""
    if file not in now:
        try:
            before[file] = now[file] = read_if_there(history.folder / file)
        except MdmemoryError as problem:
            return problem.message
    return ""


def _without_successor(data: bytes | None) -> bytes | None:
    return None if data is None else _without_counters(_SUCCESSOR.sub(b"", data, count=1))


def _without_counters(data: bytes | None) -> bytes | None:
    """A note without its counters; they stand in the head, before the second fence."""
    if data is None or not data.startswith(b"---"):
        return data
    head, fence, rest = data.partition(b"\n---")
    return _COUNTERS.sub(b"", head + b"\n") + fence + rest
