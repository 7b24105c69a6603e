"""What is known of every note without reading it again; `remembered` keeps it between commands.

Whatever was changed, forged or lost in between: a file that does not look exactly as it did is
read anew.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from mdmemory.errors import NotFound, Unwritable
from mdmemory.note.note import UNREADABLE, Head, Note
from mdmemory.store import index, remembered, sights, strangers
from mdmemory.store.remembered import (
    BLOBS,
    FILES,
    HELD,
    LINES,
    NAMES,
    PRINTS,
    SECTIONS,
    STATUSES,
    TRACES,
    WIDTH,
    Columns,
    SavedCatalog,
)

Values = tuple[str, ...]  # of a note, one for each column


SECRET = "held"  # why a note is on hold: it seems to hold one
RACY = 2_000_000_000  # ns; a file changed so recently may change again under the same time stamp


class Catalog:
    """The heads of all notes of a store. No note is read before it is asked for."""

    changed: bool
    """Whether anything may differ from the last `save`; if not, the index is up to date."""
    tree: str
    """Git's id of a folder of just these notes as they are; "" where none is known. It holds where
    nothing `changed`."""
    has_learned: bool
    """Whether more is known since the last `save` of files that stayed as they are."""

    def __init__(
        self,
        folder: Path,
        cache: Path | None,
        read: Callable[[str], Note],
        is_secret: Callable[[str], bool],
        stamp: str = "",
        waiting: Callable[[Mapping[str, Note]], Mapping[str, str]] = lambda _: {},
    ) -> None:
        """The catalog of the store `folder`, using and (by `save`) filling the file `cache`.

        `read` gives the note in a file and raises NotFound for one that is gone. `stamp` is
        whatever else the index depends on (version, settings): under another stamp nothing is
        remembered. `waiting` tells which of these notes wait for a person, and why. Without a
        cache, or where it cannot be written, all notes are read each time. Raises NoStore when the
        folder cannot be listed.
        """
        self._folder, self._cache = folder, cache
        self._stamp = _short(f"{remembered.FIELDS} {stamp}")
        self._read, self._is_secret, self._waiting = read, is_secret, waiting
        self._read_now: dict[str, Head] = {}
        self._held: frozenset[str] = frozenset()
        self._heads: list[Head] = []
        self._heads_of: Columns | None = None
        self._held_of: Columns | None = None
        for is_again in (False, True):
            self._sight = sights.take(folder, cache)
            tree = remembered.sealed(cache, self._stamp, self._sight.seal)
            self.changed = tree is None
            # held, and no longer what is remembered: it is looked at again
            if not self.changed or is_again or not sights.drop(self._sight):
                break
        self.tree = tree or ""
        if not self.changed:
            sights.keep(self._sight)
        self.has_learned = False
        self._is_ahead = False  # of what was seen of the files: some were written since

    @property
    def is_index_known(self) -> bool:
        """Whether the index says what the notes say: since the last `save` nothing that it shows
        changed, and neither did it."""
        if not self.changed:
            return True
        same = self._columns[1]
        return same and not self._is_ahead and self._memory.others == _short(self._sight.others)

    @property
    def files(self) -> Sequence[str]:
        """The files of all notes, sorted."""
        return self._known[FILES] if self.changed else self._sight.files

    @property
    def names(self) -> Sequence[str]:
        """The names of all notes in the order of their files, without what could not be seen."""
        return self._known[NAMES]

    def heads(self) -> Sequence[Head]:
        """The heads of all notes, sorted by file."""
        known = self._known
        if self._heads_of is not known:  # a command may ask again
            heads = {head.file: head for head in remembered.unpack(self._memory.heads)}
            heads |= self._read_now
            self._heads, self._heads_of = [heads[file] for file in known[FILES]], known
        return self._heads

    def heads_of(self, files: Collection[str]) -> list[Head]:
        """The heads of those of these files that are notes, sorted by file."""
        known = self._known[FILES]
        places = ((file, bisect_left(known, file)) for file in sorted(files))
        there = [file for file, at in places if known[at : at + 1] == [file]]
        heads = {head.file: head for head in remembered.of_files(self._memory.heads, there)}
        heads |= self._read_now
        return [heads[file] for file in there]

    def with_status(self, status: str) -> list[str]:
        """The files of all notes of a status that is one line, not "", sorted."""
        if status not in self._known.values(STATUSES):
            return []
        pairs = zip(self._known[FILES], self._known[STATUSES], strict=True)
        return [file for file, each in pairs if each == status]

    def listable(self) -> dict[str, str]:
        """The notes that may be in the index, by file, sorted, each with its `index.trace`."""
        known = self._known
        rows = zip(known[FILES], known[SECTIONS], known[STATUSES], known[TRACES], strict=True)
        return {
            file: trace for file, section, status, trace in rows if section and status != UNREADABLE
        }

    def citing(self) -> list[Head]:
        """The heads of all notes that cite something, sorted by file."""
        self._known  # noqa: B018 - what changed is read now
        files = remembered.citing(self._memory.heads)
        files |= {file for file, head in self._read_now.items() if head.cites}
        return [head for head in self.heads_of(files) if head.cites]

    def holding(self, text: str) -> list[str]:
        """The files of all notes that may hold this text in their heads, sorted."""
        self._known  # noqa: B018 - what changed is read now
        lines = (self._memory.heads, remembered.pack(self._read_now.values()))
        found = {head.file for part in lines for head in remembered.holding(part, text)}
        return sorted(found.intersection(self.files))

    @property
    def held(self) -> frozenset[str]:
        """The files that are on hold: they seem to hold a secret, or wait for a person."""
        # all is as it was at this sight, which a process that lives on may have for long
        if not self.changed and self._sight.held is not None:
            return self._sight.held
        known = self._known
        if self._held_of is not known:  # a caller may ask again for every note
            pairs = zip(known[FILES], known[HELD], strict=True)
            self._held = frozenset(file for file, held in pairs if held)
            self._held_of = known
        if not self.changed:
            self._sight.held = self._held
        return self._held

    @property
    def waiting(self) -> dict[str, str]:
        """The files that wait for a person, and why: a word of `strangers.WHY`."""
        if not self.changed:  # with one that waits, nothing is sealed
            return {}
        pairs = zip(self._known[FILES], self._known[HELD], strict=True)
        return {file: why for file, why in pairs if why not in ("", SECRET)}

    def accept(self, files: Iterable[str]) -> None:
        """Know that these files wait no more: a commit is about to hold them."""
        fresh = {file: self._values(self._read(file)) for file in files if file in self.waiting}
        self._known = _with(self._known, fresh)
        self.changed = True

    def look(self) -> sights.Sight:
        """The folder as it was seen when this was made, or (after a write) as it is now."""
        return sights.take(self._folder, self._cache) if self._is_ahead else self._sight

    @property
    def clock(self) -> int:
        """The file system's own now (ns) when the folder was looked at, or 0."""
        return self._sight.clock

    def changed_at(self) -> dict[str, int]:
        """When each file last changed (ns), by the file system's clock."""
        return dict(zip(self._sight.files, self._sight.times, strict=True))

    def uncertain(self, blobs: Mapping[str, str]) -> list[str]:
        """The files of which it is not known that they hold what `blobs` says, by git's ids."""
        known = zip(self._known[FILES], self._known[BLOBS], strict=True)
        return [file for file, blob in known if not blob or blobs.get(file) != blob]

    def know(self, blobs: Mapping[str, str]) -> None:
        """Know of these files what git calls the bytes that they had when they were read."""
        if blobs:
            pairs = zip(self._known[FILES], self._known[BLOBS], strict=True)
            column = [blobs.get(file, blob) for file, blob in pairs]
            self._known = self._known.replaced({BLOBS: column})
            self.changed = self.has_learned = True

    def foreseen(self, replaced: Mapping[str, Note | None]) -> Columns:
        """What will be known of all notes with these in place (None: gone)."""
        values = {file: self._values(note) if note else None for file, note in replaced.items()}
        return _with(self._known, values)

    def columns(self, foreseen: Columns | None = None) -> index.IndexColumns:
        """What `index.arrange` needs, now or as it is foreseen."""
        known = self._known if foreseen is None else foreseen
        sections = known[SECTIONS]
        if copies := strangers.copies(known[FILES], known[NAMES]):
            pairs = zip(known[FILES], sections, strict=True)
            sections = ["" if file in copies else section for file, section in pairs]
        return index.IndexColumns(
            known[FILES], sections, known[NAMES], known[LINES], known[TRACES],
            held=len(known[HELD]) - known[HELD].count(""),
        )  # fmt: skip

    def take(self, replaced: Mapping[str, Note | None], foreseen: Columns) -> None:
        """Know these notes as they were just written (None: gone), by what `foreseen` gave for
        them. Until they are seen to have settled, the next command reads them all the same."""
        self._known = foreseen
        self._read_now |= {file: note.head for file, note in replaced.items() if note}
        self.changed, self._is_ahead, self.tree = True, True, ""

    def save(self) -> bool:
        """Remember what was read; call it after MEMORY.md and _MORE.md were written.

        False if the cache could not be written: the next command then reads all notes again.
        """
        has_learned, self.has_learned = self.has_learned, False
        if self._cache is None:
            return False
        others, newest = sights.others(self._folder)
        seal = sights.seal(self._sight, others)
        is_same = not self.changed and not has_learned
        if is_same and remembered.sealed(self._cache, self._stamp, seal) is not None:
            return True
        limit = self._sight.clock - RACY
        times = zip(self._sight.files, self._sight.times, strict=True)
        young = [file for file, time in times if time >= limit]
        is_settled = newest < limit
        # what waits is looked at again by each command: a commit may have come to hold it
        is_settled = is_settled and not self.waiting
        is_sealed = is_settled and not young and not self._is_ahead
        memory = SavedCatalog(
            _short(others) if is_settled else "-",
            self.tree or "-",
            _unprinted(self._known, young) if young else self._known,
            self._all_heads(),
        )
        try:
            remembered.put(self._cache, memory, self._stamp, seal if is_sealed else "-")
        except Unwritable:
            return False
        return True

    @cached_property
    def _memory(self) -> SavedCatalog:
        return remembered.read(self._cache, self._stamp)

    @cached_property
    def _known(self) -> Columns:
        return self._columns[0]

    @cached_property
    def _columns(self) -> tuple[Columns, bool]:
        """What is remembered of the files that look the same, and the others read anew; and
        whether that is, but for the prints, what was remembered."""
        known, files, prints = self._memory.columns, self._sight.files, self._sight.prints
        same = known[FILES] == files
        if same and not self.changed:
            return known, True  # the seal tells so of all prints
        if not same:
            places = {file: at for at, file in enumerate(known[FILES])}
            known = known.in_order([places.get(file, -1) for file in files])
            known = known.replaced({FILES: files})
        seen = zip(prints, known[PRINTS], strict=True)
        news = {at for at, (now, before) in enumerate(seen) if now != before}
        if known.values(HELD) - {"", SECRET}:
            news |= {at for at, why in enumerate(known[HELD]) if why not in ("", SECRET)}
        fresh, gone = self._read_again(sorted(news))
        found = known.replaced({PRINTS: prints})
        if fresh:
            blobs = list(known[BLOBS])
            for at in fresh:
                blobs[at] = ""
            found = found.replaced({BLOBS: blobs})
        for column in (SECTIONS, NAMES, LINES, TRACES, HELD, STATUSES):
            if not all(found.has(column, at, values[column]) for at, values in fresh.items()):
                same, copy = False, list(found[column])
                for at, values in fresh.items():
                    copy[at] = values[column]
                found = found.replaced({column: copy})
        return (_with(found, gone), False) if gone else (found, same)

    def _read_again(self, places: Sequence[int]) -> tuple[dict[int, Values], dict[str, None]]:
        """The values of the notes at these places by place, and the files that are gone."""
        fresh: dict[int, Values] = {}
        gone: dict[str, None] = {}
        notes: dict[str, Note] = {}
        for at in places:
            file = self._sight.files[at]
            try:
                note = self._read(file)
            except NotFound:
                gone[file] = None  # removed between the look and the reading
                continue
            self._read_now[file] = note.head
            fresh[at] = self._values(note)
            if not fresh[at][HELD]:
                notes[file] = note
        waiting = self._waiting(notes) if notes else {}
        for at, values in fresh.items():
            if why := waiting.get(values[FILES]):
                fresh[at] = self._values(notes[values[FILES]], why)
        return fresh, gone

    def _values(self, note: Note, held: str = "") -> Values:
        """A note as one value for each column; it has no print. `held` says why it waits."""
        head, held = note.head, SECRET if is_held(note, self._is_secret) else held
        return (
            *(head.file, "", index.section(head, bool(held)), index.clean(head.name)),
            *(index.line(head), index.trace(head), held, ""),
            head.status if "\n" not in head.status and "\0" not in head.status else "",
        )

    def _all_heads(self) -> bytes:
        """The lines of heads that were known, then those of the notes read since."""
        known = self._memory.heads
        if known.count(b"\n") + len(self._read_now) > 1.25 * len(self._known[FILES]) + 100:
            return remembered.pack(self.heads())
        parts = (known, remembered.pack(self._read_now.values()))
        return b"\n".join(part for part in parts if part)


def is_held(note: Note, is_secret: Callable[[str], bool]) -> bool:
    """Whether a note is on hold: it seems to hold a secret, and no person allowed that."""
    return note.head.secrets != "allowed" and is_secret(note.text)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _unprinted(known: Columns, files: Sequence[str]) -> Columns:
    """Without the prints of these notes: they are read again the next time."""
    prints, all_files = list(known[PRINTS]), known[FILES]
    for file in files:
        at = bisect_left(all_files, file)
        if all_files[at : at + 1] == [file]:
            prints[at] = ""
    return known.replaced({PRINTS: prints})


def _changed(known: Columns, news: Mapping[str, Sequence[str] | None]) -> Columns | None:
    """A copy with these values of notes that are known; None where a note comes or goes. A column
    that says the same already stays as it lies in the file."""
    places: dict[int, Sequence[str]] = {}
    for file, values in news.items():
        at = bisect_left(known[FILES], file)
        if values is None or known[FILES][at : at + 1] != [file]:
            return None
        places[at] = values
    fresh: dict[int, list[str]] = {}
    for column in range(WIDTH):
        if not all(known.has(column, at, values[column]) for at, values in places.items()):
            fresh[column] = [*known[column]]
            for at, values in places.items():
                fresh[column][at] = values[column]
    return known.replaced(fresh)


def _with(known: Columns, news: Mapping[str, Sequence[str] | None]) -> Columns:
    """A copy with these notes in their places; None takes one out."""
    if (changed := _changed(known, news)) is not None:
        return changed
    columns = [list(known[at]) for at in range(WIDTH)]
    for file, values in news.items():
        at = bisect_left(columns[FILES], file)
        there = columns[FILES][at : at + 1] == [file]
        for column, value in zip(columns, values or [""] * len(columns), strict=True):
            column[at : at + there] = [] if values is None else [value]
    return Columns(columns)
