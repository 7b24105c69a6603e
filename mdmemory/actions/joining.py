"""Two histories of one store become one: what a person's machines wrote apart from each other.

Only computes, from three trees of git; the writer makes it happen. No conflict is left to anybody:
where both sides wrote the same lines, both texts stay, as two notes that are flagged.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path, PurePosixPath

from mdmemory.actions.editing import join_notes, three_way
from mdmemory.config.table import PROJECT_FILE
from mdmemory.errors import BadNote, BadSetting, RepositoryState
from mdmemory.git.commits_of_store import History
from mdmemory.git.objects import Blob
from mdmemory.git.replacement import MARK, OPEN_MARK
from mdmemory.note import editing
from mdmemory.note import note as notes_format
from mdmemory.note.frontmatter import join_items
from mdmemory.note.limits import ALIASES, MAX_NAME_BYTES
from mdmemory.note.note import Note
from mdmemory.store import home, note_links
from mdmemory.store.store import GENERATED, LEDGER, decode_note, is_note_name

WHY = "Two machines wrote this apart from each other, and both texts were kept"
_LISTS = (LEDGER, ".gitattributes", ".gitignore")  # of which both sides' lines count
_EARLIER, _LATER, _LARGER = ("created",), ("updated", "last_reinforced"), ("reinforced",)
_OURS = ("session", "turn")  # where the same fact was said twice, one place is enough
_QUIET = (*_EARLIER, *_LATER, *_LARGER, *_OURS)
_FILES = ("100644", "100755")  # modes; anything else is a link or a submodule
_FORBIDDEN = (".git", ".mdmemory")  # names that no remote may put into a work tree
_LONGEST_STEM = 200  # bytes of a file's name; file systems take 255

Tree = Mapping[str, Blob]


@dataclass
class Joined:
    """What has to change here for both sides to be in: of each path its bytes (None: removed).

    `doubled` are pairs of files: this side's text, and the name that the other's text got. `said`
    are sentences on what a person may want to look at.
    """

    texts: dict[str, bytes | None] = field(default_factory=dict)
    doubled: list[tuple[str, str]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


def join_trees(history: History, base: str | None, ours: str | None, theirs: str) -> Joined:
    """What the commit `theirs` brings to `ours`, both gone apart at `base` (None: never one).

    Generated files are left out: they are made again. Raises RepositoryState for what has no place
    among notes, such as a link.
    """
    with history.objects.open():
        return _Joining(history, base, ours, theirs).result()


def lines_of_both(base: bytes | None, ours: bytes, theirs: bytes) -> bytes:
    """A list of lines with what each side added, without what the other removed."""
    before, mine, other = ((text or b"").split(b"\n") for text in (base, ours, theirs))
    gone = {line for line in before if line.strip()} - set(other)
    lines = [line for line in mine if line not in gone]
    new = [line for line in other if line.strip() and line not in {*before, *mine}]
    if lines and not lines[-1]:
        lines.pop()
    return b"\n".join([*lines, *new, b""])


def settings_of_both(base: bytes | None, ours: bytes, theirs: bytes) -> bytes | None:
    """The store's mdmemory.toml with what both machines know of its project; None where other
    settings were changed on both sides, or it cannot be read."""
    try:
        known = [home.parse_known(text, Path()) for text in (ours, theirs)]
    except BadSetting:
        return None
    before, mine, other = (home.without_project(text or b"") for text in (base, ours, theirs))
    rest = mine if other in (mine, before) else other if mine == before else None
    entries = [entry for entry in known if entry]
    if rest is None or not entries:
        return rest and rest + b"\n"
    return home.write(entries[0].with_all_of(entries[-1]), rest)


def both_in_one(base: Note | None, ours: Note, theirs: Note) -> str | None:
    """A note with what both sides changed in it; None where they wrote the same lines.

    Dates and counts of themselves never differ: the later date counts, and the larger number.
    """
    texts = [base and base.text, ours.text, theirs.text]
    with suppress(BadNote):
        texts = _without_quiet_differences(base, ours, theirs)
    before, mine, other = texts
    if mine == other or before == other:
        return mine
    if before == mine:
        return other
    if before is None:
        return None
    return join_notes(before, mine or "", other or "", ours.head.file)


def _without_quiet_differences(base: Note | None, ours: Note, theirs: Note) -> list[str | None]:
    wanted: dict[str, str | None] = {}
    for key in _QUIET:
        one, other = (str(getattr(note.head, key) or "") for note in (ours, theirs))
        if one == other:
            continue
        if not one or not other or key in _OURS:
            value = one or other
        elif key in _LARGER:
            value = max(one, other, key=int)
        else:
            value = min(one, other) if key in _EARLIER else max(one, other)
        wanted[f"metadata.{key}"] = value
    return [
        editing.edit(note, set=wanted).text if note and wanted else note and note.text
        for note in (base, ours, theirs)
    ]


class _Joining:
    """Three trees, path by path."""

    def __init__(self, history: History, base: str | None, ours: str | None, theirs: str) -> None:
        self._history = history
        self._base, self._ours, self._theirs = map(history.read_all, (base, ours, theirs))
        self._taken = {path.casefold() for path in (*self._ours, *self._theirs)}
        self._joined = Joined()

    def result(self) -> Joined:
        late, trees = [], (self._base, self._ours, self._theirs)
        for path in sorted(self._ours.keys() | self._theirs.keys()):
            before, mine, other = (tree.get(path) for tree in trees)
            if other in (mine, before) or path in GENERATED:
                continue
            names = {name.casefold() for name in path.split("/")}
            is_plain = all(blob.mode in _FILES for blob in (mine, other) if blob)
            if not is_plain or names & {*_FORBIDDEN, "..", ""} or MARK in path or OPEN_MARK in path:
                raise RepositoryState(
                    f"The other side's {path} is no file that a store can hold; nothing was "
                    "merged.",
                    "Remove it there (links, submodules and .mdmemory have no place in a store).",
                )
            if mine == before:
                self._joined.texts[path] = self._blob_bytes(other)
            elif before and not (mine and other):
                late.append((path, before, mine, other))
            else:
                self._join_path(path, before, mine, other)
        for row in late:
            self._removed_and_changed(*row)
        return self._joined

    def _join_path(
        self, path: str, before: Blob | None, mine: Blob | None, other: Blob | None
    ) -> None:
        """Both sides changed what stands at this path, each in its own way."""
        base, ours, theirs = (self._blob_bytes(blob) for blob in (before, mine, other))
        assert ours is not None
        assert theirs is not None
        if path in _LISTS:
            merged: bytes | None = lines_of_both(base, ours, theirs)
        elif path == PROJECT_FILE:
            merged = settings_of_both(base, ours, theirs)
            if merged is None:
                self._joined.said.append(
                    f"{path} differs between the machines, and this one's settings stay: "
                    "`git log -p` of the store shows the other's."
                )
                return
        else:
            merged = _unite_texts(path, base, ours, theirs)
        if merged is None:
            self._keep_double(path, theirs)
        elif merged != ours:
            self._joined.texts[path] = merged

    def _removed_and_changed(
        self, path: str, before: Blob, mine: Blob | None, other: Blob | None
    ) -> None:
        """One side removed or renamed what the other changed: its change is not lost."""
        joined, base = self._joined, self._blob_bytes(before) or b""
        changed = self._blob_bytes(mine or other) or b""
        if "/" not in path and is_note_name(path):
            old, new = decode_note(base, path), decode_note(changed, path)
            with suppress(BadNote):
                _, one, another = _without_quiet_differences(None, old, new)
                if old.text and new.text and one == another:  # the same, but for dates
                    if mine:
                        joined.texts[path] = None
                    return
        if successor := self._find_successor(path, self._theirs if mine else self._ours):
            file, text = successor
            united = _unite_texts(path, base, text, changed)
            if united is not None:
                joined.texts[file] = united
                joined.texts[path] = None
                return
            joined.doubled.append((file, path))
        else:
            joined.said.append(
                f"{path} was removed on one machine and changed on the other: it stays, as changed."
            )
        if mine is None:
            joined.texts[path] = changed

    def _find_successor(self, path: str, tree: Tree) -> tuple[str, bytes] | None:
        """The new note that took this one's name over, by a rename or a merge; with its text."""
        if "/" in path or not is_note_name(path):
            return None
        for file, blob in tree.items():
            if file in self._base or "/" in file or not is_note_name(file):
                continue
            text = self._joined.texts.get(file) or self._blob_bytes(blob) or b""
            if note_links.fold_name(path) in note_links.note_names(decode_note(text, file)):
                return file, text
        return None

    def _keep_double(self, path: str, theirs: bytes) -> None:
        """Keep the other side's text under a name of its own."""
        pure = PurePosixPath(path)
        start = pure.stem.encode("utf-8", "surrogateescape")[:_LONGEST_STEM]
        stem = start.decode("utf-8", "ignore")
        for number in count(2):  # `tea-2.md` for tea.md
            second = str(pure.with_name(f"{stem}-{number}{pure.suffix}"))
            if second.casefold() not in self._taken:
                break
            if self._theirs.get(second) == self._theirs[path]:
                return  # it has been kept already
        self._taken.add(second.casefold())
        is_note = "/" not in path and is_note_name(path)
        self._joined.texts[second] = _number_note(theirs, path, number) if is_note else theirs
        self._joined.doubled.append((path, second))

    def _blob_bytes(self, blob: Blob | None) -> bytes | None:
        if blob is None:
            return None
        (data,) = self._history.objects.read([blob.id])
        if data is None:
            raise RepositoryState(f"git lacks the object {blob.id[:12]}.", "Run `git fetch`.")
        return data.data


def _unite_texts(path: str, base: bytes | None, ours: bytes, theirs: bytes) -> bytes | None:
    """Both sides' changes in one text; None where there is no such text."""
    try:
        before = None if base is None else base.decode("utf-8")
        mine, other = ours.decode("utf-8"), theirs.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if "/" not in path and is_note_name(path):
        known = None if base is None else decode_note(base, path)
        united = both_in_one(known, decode_note(ours, path), decode_note(theirs, path))
    else:
        united = None if before is None else three_way(before, mine, other)
    return None if united is None else united.encode("utf-8")


def _number_note(data: bytes, file: str, number: int) -> bytes:
    """The note with its number in its name; as it is where it cannot be edited."""
    end = f"-{number}"
    note = decode_note(data, file)
    room = note.head.name.encode("utf-8")[: MAX_NAME_BYTES - len(end)]
    name = room.decode("utf-8", "ignore").rstrip("-") + end
    if "name" not in notes_format.read_fields(note):
        return data  # without a name of its own it has its file's
    try:
        text = editing.edit(note, set={"name": name}).text
    except BadNote:
        return data
    # as in the notes that we write: the name alone among the aliases
    before, after = (f"\n{ALIASES}: [{join_items([each])}]" for each in (note.head.name, name))
    if note.head.aliases == (note.head.name,):
        text = text.replace(before, after, 1)
    return text.encode("utf-8")
