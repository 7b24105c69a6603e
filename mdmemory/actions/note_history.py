"""What was done to the notes: the log, the changes of one commit, and the history of one note.

Only reads. A commit that a person made by hand counts as much as one of ours.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime

from mdmemory.actions.undo import find
from mdmemory.errors import NoGit, NotFound
from mdmemory.files import read_regular
from mdmemory.git.commits_of_store import History
from mdmemory.git.log import FILES_TRAILER, ID_TRAILER, Logged, read_with_files
from mdmemory.git.waiting import Waiting
from mdmemory.note.note import Note
from mdmemory.records import dataclass
from mdmemory.store.adopt import KIND as ADOPTED
from mdmemory.store.store import GENERATED, Store, decode, is_note_name
from mdmemory.store.writer import Writer

WORK_TREE, BY_HAND, REVERT = "work tree", "by hand", "revert"  # kinds, besides those of Memory-Op


@dataclass(frozen=True, slots=True)
class Step:
    """The text of a note from `time` (ISO 8601) on; None: the note was removed.

    `commit` is None for changes in the work tree that no commit has yet. `kind` is the Memory-Op
    of a commit of ours, else "by hand", "revert" or "work tree".
    """

    commit: str | None
    time: str | None
    file: str
    kind: str
    subject: str
    text: str | None


@dataclass(frozen=True, slots=True)
class _Commit:
    """A commit and the notes it changed: `blobs` has the object id of each (None: removed).

    `came_from` maps a file to the files that were renamed to it or merged into it.
    """

    logged: Logged
    blobs: Mapping[str, str | None]
    came_from: Mapping[str, tuple[str, ...]]

    @property
    def is_by_hand(self) -> bool:
        return _is_by_hand(self.logged)


def life(history: History, store: Store, name: str) -> list[Step]:
    """The steps of the note that `name` means, newest first.

    A note that was merged or renamed is followed to what it became. Raises NotFound when no note
    of that name is or ever was there.
    """
    named = _named(history, store, name)
    is_first = not _is_asked_again(history)
    known, met = set[str](), {named}
    while not met <= known:  # it had these names, too, and what happened under them counts
        known |= met
        commits = _commits(history, known if is_first else None)
        steps, changes = _life(history, store, named, commits, met)
    texts = _texts(history, (commit.blobs[file] for commit, file in changes))
    return steps + [_step(commit, file, texts) for commit, file in changes]


def _life(
    history: History, store: Store, named: str, commits: Sequence[_Commit], met: set[str]
) -> tuple[list[Step], list[tuple[_Commit, str]]]:
    """The step in the work tree, if any, and the changes that these commits made to what the file
    `named` is or was. All names of it that are met on the way join `met`."""
    file = _became(named, commits, met)
    files = {file}
    steps = _uncommitted(history, store, file, files)
    met |= files
    changes: list[tuple[_Commit, str]] = []
    for commit in commits:
        changes += [(commit, file) for file in sorted(files & commit.blobs.keys())]
        for later in files & commit.came_from.keys():
            files |= {*commit.came_from[later]}
            met |= files
            if commit.is_by_hand:  # renamed; a merge of ours may go on under a source's name
                files.discard(later)
    return steps, changes


def renamed(history: History, store: Store, names: Sequence[str]) -> dict[str, Note]:
    """The notes that had these names before a rename or a merge, by the old name.

    A name whose note is gone is left out.
    """
    commits, notes = _commits(history), {}
    for name in names:
        before = _named_before(history, store, commits, name)
        if before is None:
            continue
        try:
            notes[name] = store.read(_became(before, commits)).note
        except NotFound:
            continue
    return notes


def history_of(writer: Writer, *, fresh: bool = True) -> History:
    """The history of a store, whose index is first brought up to date, if `fresh`. Raises NoGit, or
    why git cannot be used."""
    if fresh:
        writer.refresher.keep_fresh()
    if writer.history is None:
        raise writer.refusal() or NoGit("There is no git repository.")
    return writer.history


def log(history: History, limit: int | None = None) -> list[tuple[Logged, bool]]:
    """Our commits, newest first, each with whether it was undone since. Writes that wait to be
    committed stand first."""
    late = waiting(history)
    undone = history.undone() if late else set()
    return [*((entry, entry.commit in undone) for entry in late), *history.logged(limit)][:limit]


def waiting(history: History | None) -> list[Logged]:
    """The writes that wait to be committed, newest first, without those that only keep what a
    person had written."""
    entries = Waiting(history).log() if history else []
    return [entry for entry in entries if entry.get(ID_TRAILER)]


def diff(
    history: History, id: str | None, *, generated: bool, words: bool, most: int | None = None
) -> tuple[Logged | None, str]:
    """The commit `id` (None: our newest), and its changes; None and "" where there is none.

    `generated`, `words` and `most` as in `difference`. Raises NotFound when `id` names no commit.
    """
    entries = [*waiting(history), *history.log(1)] if id is None else []
    if id is None and not entries:
        return None, ""
    entry = change(history, id) if id else entries[0]
    return entry, difference(history, entry.commit, generated=generated, words=words, most=most)


def change(history: History, id: str) -> Logged:
    """The commit that `id` names, which may be made by hand. Raises NotFound."""
    late = waiting(history)
    for entry in late:
        if id in (entry.get(ID_TRAILER), entry.commit):
            return entry
    try:
        return find(history, id)
    except NotFound:
        commit = history.resolve(id)
        return next((e for e in late if e.commit == commit), None) or history.told([commit])[0]


def difference(
    history: History, commit: str, *, generated: bool = False, words: bool = False,
    most: int | None = None,
) -> str:  # fmt: skip
    """The changes of a commit in the store, as a unified diff or `--word-diff=porcelain`.

    MEMORY.md and _MORE.md are left out unless `generated`; of the files only the first `most`.
    """
    files = [f for f in history.changed(commit) if generated or f not in GENERATED][:most]
    if not files:
        return ""
    how = ["diff-tree", "-p", "--cc", "--root", "--no-commit-id", "--color=never"]
    how += ["--no-ext-diff", "--no-textconv", "-M"]
    if words:
        how += ["--word-diff=porcelain", f"--word-diff-regex={_WORD}", "--no-prefix", "--relative"]
        out = history.repository.run(*how, commit, "--", *files, folder=history.folder)
    else:
        out = history.repository.run(*how, commit, "--", *(history.prefix + f for f in files))
    return out.decode("utf-8", "replace")


# Latin words, and each other character by itself. Bytes, because git runs in the C locale.
_WORD = b"[A-Za-z0-9_]+|[\xc2-\xf4][\x80-\xbf]+|[^[:space:]]".decode("utf-8", "surrogateescape")


# where a name leads


def _named(history: History, store: Store, name: str) -> str:
    """The file of the note with this name, or else of the last note that had it."""
    try:
        return store.find(name).file
    except NotFound:
        known = {note.note.head.name.casefold() for note in store.notes()}
        before = None
        if name.casefold() not in known:
            before = _named_before(history, store, _commits(history), name)
        if before is None:
            raise
        return before


def _named_before(
    history: History, store: Store, commits: Sequence[_Commit], name: str
) -> str | None:
    """The file, gone by now, of the last note that had this name; None where none had it."""
    gone = _gone(store, commits)
    for file in gone:
        if name in (file, file.removesuffix(".md")):
            return file
    last = {file: _last_blob(file, commits) for file in gone}
    texts = _texts(history, last.values())
    called = (f for f, b in last.items() if _name_in(texts.get(b or ""), f) == name.casefold())
    return next(called, None)


def _gone(store: Store, commits: Sequence[_Commit]) -> list[str]:
    """The files of all removed notes, the last removed first."""
    files = dict.fromkeys(file for commit in commits for file in commit.blobs)
    return [file for file in files if not os.path.lexists(store.folder / file)]


def _last_blob(file: str, commits: Sequence[_Commit]) -> str | None:
    return next((blob for c in commits if (blob := c.blobs.get(file))), None)


def _name_in(data: bytes | None, file: str) -> str | None:
    return None if data is None else decode(data, file).head.name.casefold()


def _became(file: str, commits: Sequence[_Commit], met: set[str] | None = None) -> str:
    """The file at the end of all renames and merges of a removed file; `file` where it has none.
    Those on the way join `met`."""
    met = {file} if met is None else met
    at = next((at for at, commit in enumerate(commits) if file in commit.blobs), None)
    while at is not None and commits[at].blobs[file] is None:
        links = commits[at].came_from.items()
        later = next((later for later, sources in links if file in sources), None)
        if later is None:
            break
        met.add(later)
        file = later
        # only later commits: an earlier note may have had the same name
        newer = (n for n in range(at + 1) if file in commits[n].blobs)
        at = next(newer, None)
    return file


def _uncommitted(history: History, store: Store, file: str, names: set[str]) -> list[Step]:
    """The step for uncommitted changes, if any. The former name of a renamed file joins `names`."""
    path, head = store.folder / file, history.head()
    held = {f: blob.id for f, blob in history.tree(head, [file]).items()}
    committed = _texts(history, [held[file]])[held[file]] if file in held else None
    try:
        data = read_regular(path)
    except NotFound:
        if committed is None:
            return []
        return [Step(None, None, file, WORK_TREE, "removed, not committed", None)]
    # git may keep other line ends than the work tree has: that is no step in a note's life
    if committed is not None and _lf(data) == _lf(committed):
        return []
    if committed is None:
        held = {f: blob.id for f, blob in history.tree(head).items() if is_note_name(f)}
        missing = (f for f in held if not os.path.lexists(store.folder / f))
        names |= {f for f in missing if held[f] == history.blob_id(data)}
    time = datetime.fromtimestamp(int(path.stat().st_mtime), UTC).isoformat()
    text = data.decode("utf-8", "replace")
    return [Step(None, time, file, WORK_TREE, "not committed", text)]


def _lf(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")


def _step(commit: _Commit, file: str, texts: Mapping[str, bytes]) -> Step:
    logged = commit.logged
    kind = logged.get("Memory-Op") or (REVERT if logged.takes_back else BY_HAND)
    data = texts.get(commit.blobs[file] or "")
    text = None if data is None else data.decode("utf-8", "replace")
    return Step(logged.commit, logged.time, file, kind, logged.subject, text)


# reading commits


def _commits(history: History, files: Collection[str] | None = None) -> Sequence[_Commit]:
    """All commits that touch a note, or only those that touch one of these; newest first."""
    if (head := history.head()) is None:
        return []
    if files is not None:
        return _read(history, head, [history.prefix + file for file in sorted(files)])
    place = _place(history, head)
    if not _READ.get(place):
        while len(_READ) >= _MOST_READ:
            del _READ[next(iter(_READ))]
        _READ[place] = _read(history, head, [history.prefix] if history.prefix else [])
    return _READ[place]


def _read(history: History, head: str, paths: Sequence[str]) -> Sequence[_Commit]:
    """The commits that touch these paths, each with all that it did to notes: its renames, too."""
    words = ("--full-history", "--date-order", head, "--", *paths)
    inside = [history.prefix] if history.prefix else []
    logged = list(read_with_files(history.repository, *words, inside=inside))
    undone = history.undone()
    return tuple(_commit(history, each, linked=each.commit not in undone) for each in logged)


# What was read of the commits up to one of them, which never changes; () where only the life of one
# note was asked for, which needs few. A process that goes on, as the pages in a browser do, asks
# for one after the other.
_READ: dict[tuple[str, str, str], Sequence[_Commit]] = {}
_MOST_READ = 4


def _place(history: History, head: str) -> tuple[str, str, str]:
    return str(history.repository.common_dir), history.prefix, head


def _is_asked_again(history: History) -> bool:
    """Whether this process was asked before for the life of a note, as of the present commit."""
    place = _place(history, history.head() or "")
    if place in _READ:
        return True
    while len(_READ) >= _MOST_READ:
        del _READ[next(iter(_READ))]
    _READ[place] = ()
    return False


def _commit(history: History, logged: Logged, linked: bool) -> _Commit:
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
    came_from = renames if _is_by_hand(logged) else _merges(logged, blobs)
    # a revert brings back a note with a past of its own, however like the text that it replaces
    return _Commit(logged, blobs, came_from if linked and not logged.takes_back else {})


def _is_by_hand(logged: Logged) -> bool:
    """Whether a hand did what the commit says, whoever committed it."""
    return logged.get(FILES_TRAILER) is None or logged.get("Memory-Op") == ADOPTED


def _is_note(history: History, path: str) -> bool:
    inside = path.removeprefix(history.prefix)
    return path.startswith(history.prefix) and "/" not in inside and is_note_name(inside)


def _merges(logged: Logged, blobs: Mapping[str, str | None]) -> dict[str, tuple[str, ...]]:
    """Of a compaction or a renaming: the file each op wrote, and the files that became it."""
    if logged.get("Memory-Op") not in ("compact", "rename"):
        return {}
    found = {}
    for group in logged.groups():
        files = [file for file in group if file in blobs]
        written = [file for file in files if blobs[file] is not None]
        if len(written) == 1 and len(files) > 1:
            found[written[0]] = tuple(file for file in files if file not in written)
    return found


def _texts(history: History, blobs: Iterable[str | None]) -> dict[str, bytes]:
    """The bytes of these objects; those that a partial clone lacks are left out."""
    ids = list(dict.fromkeys(filter(None, blobs)))
    objects = history.objects.read(ids)
    return {id: each.data for id, each in zip(ids, objects, strict=True) if each}
