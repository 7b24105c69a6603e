"""What was done to the notes: the log, the changes of one commit, and the history of one note.

Only reads. A commit that a person made by hand counts as much as one of ours.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import NamedTuple

from mdmemory.actions.undo import find_commit
from mdmemory.errors import NotFound
from mdmemory.files import read_regular
from mdmemory.git.commits_of_store import History
from mdmemory.git.log import FILES_TRAILER, ID_TRAILER, Logged, Touched, read_with_files
from mdmemory.note.note import Note
from mdmemory.store.adopt import KIND as ADOPTED
from mdmemory.store.store import GENERATED, Store, decode_note, is_note_name
from mdmemory.store.writer import Writer

WORK_TREE, BY_HAND, REVERT = "work tree", "by hand", "revert"  # kinds, besides those of Memory-Op


class Step(NamedTuple):
    """The text of a note in `file` from a commit on (None: the note was removed), and whether the
    commit was undone since.

    `logged` has no commit for changes in the work tree that are in none yet, and no time where the
    file is gone.
    """

    logged: Logged
    file: str
    text: str | None
    undone: bool = False

    @property
    def kind(self) -> str:
        """What made the commit: see `kind_of`."""
        return kind_of(self.logged)


class TextChange(NamedTuple):
    """What a commit did to a file: its text before and after. `mark` is new, removed, "was NAME"
    or ""."""

    file: str
    mark: str
    before: str
    after: str
    prefix: str = ""  # of the store in its repository

    def patch(self) -> str:
        """The same as a unified diff, for `git apply`."""
        from difflib import unified_diff

        one, other = (text.splitlines(keepends=True) for text in (self.before, self.after))
        old = self.prefix + (self.mark.removeprefix("was ") if " " in self.mark else self.file)
        new = self.prefix + self.file
        head = f"diff --git a/{old} b/{new}\n"
        head += f"rename from {old}\nrename to {new}\n" if old != new else ""
        modes = {"new": "new file mode 100644\n", "removed": "deleted file mode 100644\n"}
        head += modes.get(self.mark, "")
        old = "/dev/null" if self.mark == "new" else f"a/{old}"
        new = "/dev/null" if self.mark == "removed" else f"b/{new}"
        return head + "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in unified_diff(one, other, old, new)
        )


def kind_of(logged: Logged) -> str:
    """What made a commit: its Memory-Op, else "by hand", "revert" or "work tree"."""
    if not logged.commit:
        return WORK_TREE
    return logged.get("Memory-Op") or (REVERT if logged.takes_back else BY_HAND)


class _Commit(NamedTuple):
    """A commit and the notes it changed: `blobs` has the object id of each (None: removed).

    `came_from` maps a file to the files that were renamed to it or merged into it.
    """

    logged: Logged
    blobs: Mapping[str, str | None]
    came_from: Mapping[str, tuple[str, ...]]
    undone: bool


def trace_life(history: History, store: Store, name: str) -> list[Step]:
    """The steps of the note that `name` means, newest first.

    A note that was merged or renamed is followed to what it became. Raises NotFound when no note
    of that name is or ever was there.
    """
    named = _find_named(history, store, name)
    known, names = set[str](), {named}
    while not names <= known:  # it had these names, too, and what happened under them counts
        known |= names
        commits = _list_commits(history, known)
        steps, changes = _life_of(history, store, named, commits, names)
    texts = _read_texts(history, (commit.blobs[file] for commit, file in changes))
    for commit, file in changes:
        data = texts.get(commit.blobs[file] or "")
        text = None if data is None else data.decode("utf-8", "replace")
        steps.append(Step(commit.logged, file, text, commit.undone))
    return steps


def _life_of(
    history: History, store: Store, named: str, commits: Sequence[_Commit], names_seen: set[str]
) -> tuple[list[Step], list[tuple[_Commit, str]]]:
    """The step in the work tree, if any, and the changes that these commits made to what the file
    `named` is or was. All names of it that are met on the way join `names_seen`."""
    file = _final_file(named, commits, names_seen)
    files = {file}
    steps = _uncommitted_steps(history, store, file, files)
    names_seen |= files
    changes: list[tuple[_Commit, str]] = []
    for commit in commits:
        changes += [(commit, file) for file in sorted(files & commit.blobs.keys())]
        for later in files & commit.came_from.keys():
            files |= {*commit.came_from[later]}
            names_seen |= files
            # renamed; a merge of ours may go on under a source's name
            if _is_by_hand(commit.logged):
                files.discard(later)
    return steps, changes


def renamed_notes(history: History, store: Store, names: Sequence[str]) -> dict[str, Note]:
    """The notes that had these names before a rename or a merge, by the old name.

    A name whose note is gone is left out.
    """
    commits, notes = _list_commits(history), {}
    for name in names:
        if before := _named_before(history, store, commits, name):
            with suppress(NotFound):
                notes[name] = store.read(_final_file(before, commits)).note
    return notes


def history_of(writer: Writer, fresh: bool, shown: bool) -> History:
    """The history of a store, to be `shown` to a person or not; its index is first brought up to
    date, if `fresh`. Raises NoGit, or why git cannot be used."""
    if fresh:
        writer.refresher.current()
    return (history_shown(writer) if shown else writer.history) or writer.require_history()


def history_shown(writer: Writer) -> History | None:
    """The history of a store as GitPython reads it, which takes long to load: what answers a hook
    or goes on by itself asks git directly."""
    if writer.automatic or writer.history is None:
        return writer.history
    from mdmemory.git.gitpython import open_history

    return open_history(writer.history)


def log_writes(history: History, limit: int | None = None) -> list[tuple[Logged, bool]]:
    """Our commits, newest first, each with whether it was undone since. Writes that wait to be
    committed stand first."""
    late = waiting_writes(history)
    undone = history.list_undone() if late else set()
    return [*((entry, entry.commit in undone) for entry in late), *history.logged(limit)][:limit]


def waiting_writes(history: History | None) -> list[Logged]:
    """The writes that wait to be committed, newest first."""
    return history.kept.list_entries() if history else []


def find_change(history: History, id: str) -> Logged:
    """The commit that `id` names, which may be made by hand. Raises NotFound."""
    late = waiting_writes(history)
    for entry in late:
        if id in (entry.get(ID_TRAILER), entry.commit):
            return entry
    with suppress(NotFound):
        return find_commit(history, id)
    commit = history.resolve(id)
    entries = (entry for entry in late if entry.commit == commit)
    return next(entries, None) or history.load_commits([commit])[0]


def file_changes(
    history: History, commits: Sequence[str], files: Collection[str] | None = None,
    most: int | None = None,
) -> dict[str, list[TextChange]]:  # fmt: skip
    """What each of these commits did to the store, or to some of its files, but for the index: the
    first `most` of them. Of a merge it is what its first parent had not."""
    data = "".join(f"{commit}\n" for commit in commits).encode()
    given = ("--no-walk=unsorted", "--stdin")
    read = read_with_files(
        history.repository, *given, inside=history.inside, is_whole=False, data=data
    )
    touched: dict[str, list[tuple[str, str, Touched]]] = {}
    for entry in read:
        rows = []
        for each in entry.files:
            now, old = (
                (path or "").removeprefix(history.prefix) for path in (each.path, each.old_path)
            )
            is_wanted = files is None or now in files or old in files
            if is_wanted and {now, old}.isdisjoint(GENERATED):
                rows.append((now, old, each))
        touched[entry.commit] = rows[:most]
    ids = (id for rows in touched.values() for *_, each in rows for id in (each.before, each.blob))
    texts = _read_texts(history, ids)
    changes: dict[str, list[TextChange]] = {commit: [] for commit in touched}
    for commit, rows in touched.items():
        for now, old, each in rows:
            mark = f"was {old}" if old else {"A": "new", "D": "removed"}.get(each.status[0], "")
            before, after = (
                texts.get(blob or "", b"").decode("utf-8", "replace")
                for blob in (each.before, each.blob)
            )
            changes[commit].append(TextChange(now, mark, before, after, history.prefix))
    return changes


# where a name leads


def _find_named(history: History, store: Store, name: str) -> str:
    """The file of the note with this name, or else of the last note that had it."""
    try:
        return store.find(name).file
    except NotFound:
        known = {note.note.head.name.casefold() for note in store.notes()}
        before = None
        if name.casefold() not in known:
            before = _named_before(history, store, _list_commits(history), name)
        if before is None:
            raise
        return before


def _named_before(
    history: History, store: Store, commits: Sequence[_Commit], name: str
) -> str | None:
    """The file, gone by now, of the last note that had this name; None where none had it."""
    gone = [  # the last removed first
        file
        for file in dict.fromkeys(file for commit in commits for file in commit.blobs)
        if not os.path.lexists(store.folder / file)
    ]
    for file in gone:
        if name in (file, file.removesuffix(".md")):
            return file
    last = {file: next(filter(None, (c.blobs.get(file) for c in commits)), "") for file in gone}
    texts = _read_texts(history, last.values())
    notes = ((f, decode_note(texts[blob], f)) for f, blob in last.items() if blob in texts)
    called = (f for f, note in notes if note.head.name.casefold() == name.casefold())
    return next(called, None)


def _final_file(file: str, commits: Sequence[_Commit], names_seen: set[str] | None = None) -> str:
    """The file at the end of all renames and merges of a removed file; `file` where it has none.
    Those on the way join `names_seen`."""
    names_seen = {file} if names_seen is None else names_seen
    at = next((at for at, commit in enumerate(commits) if file in commit.blobs), None)
    while at is not None and commits[at].blobs[file] is None:
        links = commits[at].came_from.items()
        later = next((later for later, sources in links if file in sources), None)
        if later is None:
            break
        names_seen.add(later)
        file = later
        # only later commits: an earlier note may have had the same name
        newer = (n for n in range(at + 1) if file in commits[n].blobs)
        at = next(newer, None)
    return file


def _uncommitted_steps(history: History, store: Store, file: str, names: set[str]) -> list[Step]:
    """The step for uncommitted changes, if any. The former name of a renamed file joins `names`."""
    path, head = store.folder / file, history.head()
    blob_ids = {f: blob.id for f, blob in history.read_tree(head, [file]).items()}
    committed = _read_texts(history, [blob_ids[file]])[blob_ids[file]] if file in blob_ids else None
    try:
        data = read_regular(path)
    except NotFound:
        if committed is None:
            return []
        return [Step(Logged("", "", "removed, not committed"), file, None)]
    # git may keep other line ends than the work tree has: that is no step in a note's life
    lines = b"\r\n", b"\n"
    if committed is not None and data.replace(*lines) == committed.replace(*lines):
        return []
    if committed is None:
        blob_ids = {f: blob.id for f, blob in history.read_tree(head).items() if is_note_name(f)}
        missing = (f for f in blob_ids if not os.path.lexists(store.folder / f))
        names |= {f for f in missing if blob_ids[f] == history.blob_id(data)}
    time = datetime.fromtimestamp(int(path.stat().st_mtime), UTC).isoformat()
    return [Step(Logged("", time, "not committed"), file, data.decode("utf-8", "replace"))]


# reading commits


def _list_commits(history: History, files: Collection[str] | None = None) -> Sequence[_Commit]:
    """All commits that touch a note, or only those that touch one of these; newest first, each with
    all that it did to notes: its renames, too."""
    if (head := history.head()) is None:
        return []
    paths = history.inside if files is None else [history.prefix + file for file in sorted(files)]
    words = ("--full-history", "--date-order", head, "--", *paths)
    logged = [*read_with_files(history.repository, *words, inside=history.inside)]
    undone = history.list_undone()
    return [_read_commit(history, each, each.commit in undone) for each in logged]


def _read_commit(history: History, logged: Logged, undone: bool) -> _Commit:
    blobs: dict[str, str | None] = {}
    renames: dict[str, tuple[str, ...]] = {}
    for touched in logged.files:
        file, old_path = touched.path.removeprefix(history.prefix), touched.old_path
        if old_path and touched.status.startswith("R") and _is_note(history, old_path):
            old_file = old_path.removeprefix(history.prefix)
            blobs[old_file] = None
            if _is_note(history, touched.path):
                renames[file] = (old_file,)
        if _is_note(history, touched.path):
            blobs[file] = touched.blob
    came_from = renames if _is_by_hand(logged) else _merged_files(logged, blobs)
    # a revert brings back a note with a past of its own, however like the text that it replaces
    is_linked = not undone and not logged.takes_back
    return _Commit(logged, blobs, came_from if is_linked else {}, undone)


def _is_by_hand(logged: Logged) -> bool:
    """Whether a hand did what the commit says, whoever committed it."""
    return logged.get(FILES_TRAILER) is None or logged.get("Memory-Op") == ADOPTED


def _is_note(history: History, path: str) -> bool:
    inside = path.removeprefix(history.prefix)
    return path.startswith(history.prefix) and "/" not in inside and is_note_name(inside)


def _merged_files(logged: Logged, blobs: Mapping[str, str | None]) -> dict[str, tuple[str, ...]]:
    """Of a compaction or a renaming: the file each op wrote, and the files that became it."""
    if logged.get("Memory-Op") not in ("compact", "rename"):
        return {}
    merges = {}
    for group in logged.groups():
        files = [file for file in group if file in blobs]
        written = [file for file in files if blobs[file] is not None]
        if len(written) == 1 and len(files) > 1:
            merges[written[0]] = tuple(file for file in files if file not in written)
    return merges


def _read_texts(history: History, blobs: Iterable[str | None]) -> dict[str, bytes]:
    """The bytes of these objects; those that a partial clone lacks are left out."""
    ids = list(dict.fromkeys(filter(None, blobs)))
    return {id: each.data for id, each in zip(ids, history.objects.read(ids), strict=True) if each}
