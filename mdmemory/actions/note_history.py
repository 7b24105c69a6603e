"""The life of one note: each text it had, across renames and merges, also when it is gone.

Reads commits and files, writes nothing. A commit made by hand counts as much as one of ours.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from mdmemory.actions.undo import find
from mdmemory.errors import NoGit, NotFound
from mdmemory.files import read_regular
from mdmemory.git.commits_of_store import History
from mdmemory.git.log import FILES_TRAILER, ID_TRAILER, Logged, read_with_files
from mdmemory.git.waiting import Waiting
from mdmemory.note.note import Note
from mdmemory.store.store import GENERATED, Store, decode, is_note_name
from mdmemory.store.writer import Writer

WORK_TREE, BY_HAND, REVERT = "work tree", "by hand", "revert"  # kinds, besides those of Memory-Op


@dataclass(frozen=True, slots=True)
class Step:
    """What a note said from `time` (ISO 8601) on; `text` None: it was removed.

    `commit` None is the work tree, as far as it is in no commit yet. `kind` is the Memory-Op of
    a commit of ours, else "by hand", "revert" or "work tree".
    """

    commit: str | None
    time: str | None
    file: str
    kind: str
    subject: str
    text: str | None


@dataclass(frozen=True, slots=True)
class _Commit:
    """A commit as far as notes go: `blobs` maps each it touched to its object id, None: removed.

    `came_from` maps a file to the files that it continues.
    """

    logged: Logged
    blobs: Mapping[str, str | None]
    came_from: Mapping[str, tuple[str, ...]]

    @property
    def is_by_hand(self) -> bool:
        return self.logged.get(FILES_TRAILER) is None


def life(history: History, store: Store, name: str) -> list[Step]:
    """The steps of the note that `name` means, newest first.

    A note that was merged or renamed is followed to what it became. Raises NotFound when no note
    of that name is or ever was there.
    """
    commits = _commits(history)
    file = _became(_named(history, store, commits, name), commits)
    names = {file}
    steps = _uncommitted(history, store, file, names)
    found: list[tuple[Step, str | None]] = []
    for commit in commits:
        for touched in sorted(names & commit.blobs.keys()):
            found.append((_step(commit, touched), commit.blobs[touched]))
        for later in names & commit.came_from.keys():
            names |= {*commit.came_from[later]}
            if commit.is_by_hand:  # renamed; a merge of ours may go on under a source's name
                names.discard(later)
    texts = _texts(history, [blob for _, blob in found if blob])
    return steps + [_told(step, texts.get(blob) if blob else None) for step, blob in found]


def renamed(history: History, store: Store, names: Sequence[str]) -> dict[str, Note]:
    """Of names that no note has now the note that had each last, if it lives on under another."""
    commits, found = _commits(history), {}
    for name in names:
        try:
            file = _became(_named(history, store, commits, name), commits)
            found[name] = store.read(file).note
        except NotFound:
            continue
    return found


def history_of(writer: Writer) -> History:
    """The history of a store whose index is up to date. Raises NoGit, or why git cannot be used."""
    writer.refresher.keep_fresh()
    if writer.history is None:
        raise writer.refusal() or NoGit("There is no git repository.")
    return writer.history


def log(history: History, limit: int | None = None) -> list[tuple[Logged, bool]]:
    """Our commits, newest first, each with whether it was undone since. Writes that wait to be
    committed stand first."""
    undone = history.undone()
    entries = [*waiting(history), *history.log(limit)]
    return [(entry, entry.commit in undone) for entry in entries[:limit]]


def waiting(history: History | None) -> list[Logged]:
    """The writes that wait to be committed, newest first, without those that only keep what a
    person had written."""
    entries = Waiting(history).log() if history else []
    return [entry for entry in entries if entry.get(ID_TRAILER)]


def diff(
    history: History, id: str | None, *, generated: bool, words: bool
) -> tuple[Logged | None, str]:
    """The commit `id` (None: our newest), and its changes; None and "" where there is none.

    `generated` and `words` as in `difference`. Raises NotFound when `id` names no commit.
    """
    entries = [*waiting(history), *history.log()]
    if id is None and not entries:
        return None, ""
    try:
        entry = find(history, entries, id) if id else entries[0]
    except NotFound:
        entry = commit_named(history, id or "")  # by hand: as good to look at
    return entry, difference(history, entry.commit, generated=generated, words=words)


def commit_named(history: History, id: str) -> Logged:
    """Any commit of the repository, ours or not. Raises NotFound when `id` names none."""
    return history.told([history.resolve(id)])[0]


def difference(
    history: History, commit: str, *, generated: bool = False, words: bool = False
) -> str:
    """What a commit changed in the store: a unified diff, or git's `--word-diff=porcelain`.

    The generated files are left out unless `generated`.
    """
    files = [f for f in history.changed(commit) if generated or f not in GENERATED]
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


# A word in any script: Latin as whole words, each other character by itself. Bytes, because git
# runs here in the C locale.
_WORD = b"[A-Za-z0-9_]+|[\xc2-\xf4][\x80-\xbf]+|[^[:space:]]".decode("utf-8", "surrogateescape")


# where a name leads


def _named(history: History, store: Store, commits: Sequence[_Commit], name: str) -> str:
    """The file that is called so now, or else the one that was called so last."""
    try:
        return store.find(name).file
    except NotFound:
        known = {note.note.head.name.casefold() for note in store.notes()}
        gone = [] if name.casefold() in known else _gone(store, commits)
        for file in gone:
            if name in (file, file.removesuffix(".md")):
                return file
        last = {file: _last_blob(file, commits) for file in gone}
        texts = _texts(history, filter(None, last.values()))
        for file, blob in last.items():
            if _name_in(texts.get(blob or ""), file) == name.casefold():
                return file
        raise


def _gone(store: Store, commits: Sequence[_Commit]) -> list[str]:
    """Every note there ever was and is no more, the latest first."""
    files = dict.fromkeys(file for commit in commits for file in commit.blobs)
    return [file for file in files if not os.path.lexists(store.folder / file)]


def _last_blob(file: str, commits: Sequence[_Commit]) -> str | None:
    return next((blob for c in commits if (blob := c.blobs.get(file))), None)


def _name_in(data: bytes | None, file: str) -> str | None:
    return None if data is None else decode(data, file).head.name.casefold()


def _became(file: str, commits: Sequence[_Commit]) -> str:
    """What a removed file went on as, if anything: the far end of its renames and merges."""
    at = next((at for at, commit in enumerate(commits) if file in commit.blobs), None)
    while at is not None and commits[at].blobs[file] is None:
        links = commits[at].came_from.items()
        later = next((later for later, sources in links if file in sources), None)
        if later is None:
            break
        file = later
        # only what came after: the same name may have served another note before
        newer = (n for n in range(at + 1) if file in commits[n].blobs)
        at = next(newer, None)
    return file


def _uncommitted(history: History, store: Store, file: str, names: set[str]) -> list[Step]:
    """The first step where the work tree is ahead of HEAD; adds to `names` a file renamed there."""
    path, head = store.folder / file, history.head()
    held = {f: blob.id for f, blob in history.tree(head).items() if is_note_name(f)}
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
        missing = (f for f in held if not os.path.lexists(store.folder / f))
        names |= {f for f in missing if held[f] == history.blob_id(data)}
    time = datetime.fromtimestamp(int(path.stat().st_mtime), UTC).isoformat()
    text = data.decode("utf-8", "replace")
    return [Step(None, time, file, WORK_TREE, "not committed", text)]


def _lf(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")


def _step(commit: _Commit, file: str) -> Step:
    logged = commit.logged
    kind = logged.get("Memory-Op") or (REVERT if logged.takes_back else BY_HAND)
    return Step(logged.commit, logged.time, file, kind, logged.subject, None)


def _told(step: Step, data: bytes | None) -> Step:
    text = None if data is None else data.decode("utf-8", "replace")
    return Step(step.commit, step.time, step.file, step.kind, step.subject, text)


# reading commits


def _commits(history: History) -> list[_Commit]:
    """All commits that touch a note, newest first."""
    if history.head() is None:
        return []
    inside = ["--", history.prefix] if history.prefix else []
    words = ("--full-history", "--date-order", "HEAD", *inside)
    logged = list(read_with_files(history.repository, *words))
    undone = history.undone()
    return [_commit(history, each, linked=each.commit not in undone) for each in logged]


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
    ours = logged.get(FILES_TRAILER) is not None
    came_from = _merges(logged, blobs) if ours else renames
    # a revert brings back a note with a past of its own, however like the text that it replaces
    return _Commit(logged, blobs, came_from if linked and not logged.takes_back else {})


def _is_note(history: History, path: str) -> bool:
    inside = path.removeprefix(history.prefix)
    return path.startswith(history.prefix) and "/" not in inside and is_note_name(inside)


def _merges(logged: Logged, blobs: Mapping[str, str | None]) -> dict[str, tuple[str, ...]]:
    """Of a compaction: the file each op wrote, and the files that were merged into it."""
    if logged.get("Memory-Op") != "compact":
        return {}
    found = {}
    for group in logged.groups():
        files = [file for file in group if file in blobs]
        written = [file for file in files if blobs[file] is not None]
        if len(written) == 1 and len(files) > 1:
            found[written[0]] = tuple(file for file in files if file not in written)
    return found


def _texts(history: History, blobs: Iterable[str]) -> dict[str, bytes]:
    """The bytes of these objects; what a partial clone lacks is left out."""
    wanted = list(dict.fromkeys(blobs))
    if not wanted:
        return {}
    data = "".join(f"{blob}\n" for blob in wanted).encode()
    out = history.repository.run("cat-file", "--batch", data=data)
    found, at = {}, 0
    for blob in wanted:
        end = out.index(b"\n", at)
        about = out[at:end].split(b" ")
        if about[-1] == b"missing":
            at = end + 1
            continue
        size = int(about[2])
        found[blob] = out[end + 1 : end + 1 + size]
        at = end + 2 + size
    return found
