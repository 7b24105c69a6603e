"""What is known of every note without reading it again, remembered in `.mdmemory/catalog`.

Derived: the file may be deleted at any moment, and anything odd in it makes it worthless, never
wrong. It is plain text, because it may have come with somebody else's repository.
"""

from __future__ import annotations

import hashlib
import os
import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from stat import S_ISREG
from types import MappingProxyType
from typing import Any, NamedTuple
from zlib import crc32

from mdmemory.errors import MdmemoryError, NoStore, NotFound, Unwritable
from mdmemory.files import read_regular, write_atomic
from mdmemory.note import Head, Note
from mdmemory.store import index
from mdmemory.store.retention import trace
from mdmemory.store.store import INDEX, LEDGER, OVERFLOW, is_note_name

LAYOUT = 1  # raise it when the file, or what it remembers of a note, takes another shape
RACY = 2_000_000_000  # ns; a file changed so recently may change again under the same time stamp
MAX_BYTES = 256 * 1024 * 1024

_FIELDS = Head.__match_args__
_VALUES = attrgetter(*_FIELDS)
_REINFORCED, _PROBLEMS = _FIELDS.index("reinforced"), _FIELDS.index("problems")
_BETWEEN, _WITHIN = "\x1f", "\x1e"
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\0": "\\0", _BETWEEN: "\\f"}
_SPECIAL = re.compile(r"[\\\n\0\x1f]")
_ESCAPED = {escape[1]: character for character, escape in _ESCAPES.items()}


@dataclass(frozen=True, slots=True)
class Row:
    """One note: its head, whether it is held back, and its escaped line of the index."""

    head: Head
    held: bool
    line: str


class _Columns(NamedTuple):
    """What is remembered, a list per property, sorted by file; a print tells a file's state."""

    files: list[str]
    prints: list[str]
    sections: list[str]
    names: list[str]
    lines: list[str]
    traces: list[str]
    held: list[str]


class _Memory(NamedTuple):
    """What the file holds. `heads` are packed lines, of which the last about a file counts: they
    are many bytes that few commands need, so a change only adds to them.
    """

    columns: _Columns
    heads: bytes


class _Sight(NamedTuple):
    """The folder at a glance: the notes, their states and the times (ns) of their last change."""

    files: list[str]
    prints: list[str]
    times: list[int]


class Catalog:
    """The heads of all notes; made by `load`. No note is read before it is asked for."""

    changed: bool
    """Whether anything may differ from the last `save`; if not, the index is up to date."""

    def __init__(
        self,
        folder: Path,
        cache: Path | None,
        read: Callable[[str], Note],
        is_secret: Callable[[str], bool],
        stamp: str,
    ) -> None:
        self._folder, self._cache, self._stamp = folder, cache, _word(stamp)
        self._read, self._is_secret = read, is_secret
        self._read_now: dict[str, Head] = {}
        # In this order: what changes after the clock was read is too young to be trusted, and
        # what changes after the look has another print the next time.
        self._clock = _clock(cache) if cache else 0
        self._sight, others = _look(folder)
        self.changed = not _is_sealed(cache, self._stamp, _seal(self._sight, others))

    @cached_property
    def rows(self) -> dict[str, Row]:
        """Every note by file, sorted by file."""
        known = self._columns
        triples = zip(self.heads(), known.held, known.lines, strict=True)
        return {head.file: Row(head, bool(held), line) for head, held, line in triples}

    def heads(self) -> list[Head]:
        """The heads of all notes, sorted by file."""
        files = self._columns.files
        known = {head.file: head for head in _all_unpacked(self._memory.heads)}
        known |= self._read_now
        return [known[file] for file in files]

    @property
    def held(self) -> frozenset[str]:
        """The files that are held back: they seem to hold a secret."""
        known = self._columns
        return frozenset(file for file, held in zip(known.files, known.held, strict=True) if held)

    def columns(self, replaced: Mapping[str, Note | None] = MappingProxyType({})) -> index.Columns:
        """What `index.arrange` needs, as it would be with these notes in place (None: gone)."""
        known = self._columns
        if replaced:
            news = {file: self._values(note) if note else None for file, note in replaced.items()}
            known = _with(known, news)
        return index.Columns(
            *(known.files, known.sections, known.names, known.lines, known.traces),
            held=len(known.held) - known.held.count(""),
        )

    def save(self) -> bool:
        """What the function of this name does."""
        if self._cache is None:
            return False
        others, changed = _others(self._folder)
        if not self.changed and _is_sealed(self._cache, self._stamp, _seal(self._sight, others)):
            return True
        limit = self._clock - RACY
        times = zip(self._sight.files, self._sight.times, strict=True)
        young = {file for file, time in times if time >= limit}
        seal = "-" if young or changed >= limit else _seal(self._sight, others)
        known = self._columns
        if young:
            # without its print a note is read again the next time
            pairs = zip(known.files, known.prints, strict=True)
            known = known._replace(prints=["" if f in young else p for f, p in pairs])
        memory = _Memory(known, self._all_heads())
        try:
            write_atomic(self._cache, _written(memory, self._stamp, seal), mode=0o600)
        except Unwritable:
            return False
        return True

    @cached_property
    def _memory(self) -> _Memory:
        return _remembered(self._cache, self._stamp)

    @cached_property
    def _columns(self) -> _Columns:
        """What is remembered of the files that look the same, and the others read anew."""
        known, (files, prints, _) = self._memory.columns, self._sight
        lists = list(known)
        if known.files != files:
            # -1: a note that is not known, the empty value at the end of each list
            places = {file: at for at, file in enumerate(known.files)}
            order = [places.get(file, -1) for file in files]
            lists = [[values[at] for at in order] for values in ([*part, ""] for part in known)]
        news = [at for at, seen in enumerate(prints) if lists[1][at] != seen]
        lists[:2] = files, prints
        gone: dict[str, None] = {}
        for at in news:
            try:
                note = self._read(files[at])
            except NotFound:
                gone[files[at]] = None  # removed between the look and the reading
                continue
            self._read_now[files[at]] = note.head
            for column, value in zip(lists[2:], self._values(note)[2:], strict=True):
                column[at] = value
        return _with(_Columns(*lists), gone) if gone else _Columns(*lists)

    def _values(self, note: Note) -> tuple[str, ...]:
        """A note as one value for each of _Columns; it has no print."""
        head, held = note.head, _is_held(note, self._is_secret)
        return (
            *(head.file, "", index.section(head, held), index.clean(head.name), index.line(head)),
            *(trace(head), "held" if held else ""),
        )

    def _all_heads(self) -> bytes:
        """The lines of heads that were known, then those of the notes read since."""
        lines = [_encoded(_packed(head)) for head in self._read_now.values()]
        known = self._memory.heads
        if known.count(b"\n") + len(lines) > 1.25 * len(self._columns.files) + 100:
            return b"\n".join([_encoded(_packed(head)) for head in self.heads()])
        return b"\n".join([known, *lines] if known else lines)


def load(
    folder: Path,
    cache: Path | None,
    read: Callable[[str], Note],
    is_secret: Callable[[str], bool],
    stamp: str = "",
) -> Catalog:
    """The catalog of the store `folder`, using and (by `save`) filling the file `cache`.

    `read` gives the note in a file and raises NotFound for one that is gone. `stamp` is whatever
    else the index depends on (version, settings): under another stamp nothing is remembered.
    Without a cache, or where it cannot be written, all notes are read each time. Raises NoStore
    when the folder cannot be listed.
    """
    return Catalog(folder, cache, read, is_secret, stamp)


def save(catalog: Catalog) -> bool:
    """Remember what was read. Call it after MEMORY.md and _MORE.md were written.

    False when it could not be kept, which costs the next command some time and nothing else.
    """
    return catalog.save()


def unchanged(folder: Path, cache: Path, stamp: str = "") -> bool:
    """Whether nothing differs from the last `save`. Reads no note and writes nothing."""
    return _is_sealed(cache, _word(stamp), _seal(*_look(folder)))


def row(note: Note, is_secret: Callable[[str], bool]) -> Row:
    """The row of a note that is not, or not yet, in the store."""
    return Row(note.head, _is_held(note, is_secret), index.line(note.head))


def _is_held(note: Note, is_secret: Callable[[str], bool]) -> bool:
    return note.head.secrets != "allowed" and is_secret(note.text)


def _look(folder: Path) -> tuple[_Sight, str]:
    """The notes in the folder, and the state of the other files that the index depends on."""
    sight = _Sight([], [], [])
    try:
        # relative to an open folder: the kernel then need not walk the path for each file
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as problem:
        message = f"The store {folder} cannot be listed: {problem.strerror}."
        raise NoStore(message, "Check the folder, or make one: `mdmemory init`.") from problem
    try:
        names = os.listdir(handle)
        for file in sorted(_utf8([name for name in names if is_note_name(name)])):
            try:
                status = os.stat(file, dir_fd=handle, follow_symlinks=False)
            except FileNotFoundError:
                continue  # removed since the listing
            if S_ISREG(status.st_mode):
                sight.files.append(file)
                sight.prints.append(_print(status))
                sight.times.append(status.st_ctime_ns)
    finally:
        os.close(handle)
    return sight, _others(folder)[0]


def _print(status: os.stat_result) -> str:
    # The change time too: unlike mtime and size it cannot be set, so nobody can forge a print.
    return f"{status.st_mtime_ns} {status.st_ctime_ns} {status.st_size} {status.st_ino}"


def _utf8(names: list[str]) -> list[str]:
    """Without the names that are no UTF-8: no note can be called by them."""
    try:
        "".join(names).encode()
    except UnicodeEncodeError:
        return [name for name in names if name.isprintable() or _is_utf8(name)]
    return names


def _is_utf8(name: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in name)


def _others(folder: Path) -> tuple[str, int]:
    """The state of the index and the ledger, and when the newest of them changed (ns)."""
    prints, newest = [], 0
    for name in (INDEX, OVERFLOW, LEDGER):
        try:
            status = os.lstat(folder / name)
        except OSError:
            prints.append("-")
            continue
        prints.append(_print(status))
        newest = max(newest, status.st_ctime_ns)
    return "\n".join(prints), newest


def _seal(sight: _Sight, others: str) -> str:
    """One word for all that was seen. No file name holds a NUL."""
    everything = "\0".join([others, *sight.files, "", *sight.prints])
    return hashlib.sha256(everything.encode()).hexdigest()


def _word(stamp: str) -> str:
    return hashlib.sha256(f"{_FIELDS} {stamp}".encode()).hexdigest()[:16]


def _clock(cache: Path) -> int:
    """The file system's own idea of now (ns), or 0: its clock, not ours, stamps the notes."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        handle = os.open(cache, flags, 0o600)
    except OSError:
        return 0
    try:
        os.utime(handle)
        return os.fstat(handle).st_mtime_ns
    except OSError:
        return 0
    finally:
        os.close(handle)


def _written(memory: _Memory, stamp: str, seal: str) -> bytes:
    """The file: a line about the whole, then the columns with a NUL between, a line for a value.

    A column for itself is quick to decode and to split: most are ASCII, while the lines never are.
    """
    known = memory.columns
    if any("\n" in file for file in known.files):
        keep = [at for at, file in enumerate(known.files) if "\n" not in file]
        known = _Columns(*([column[at] for at in keep] for column in known))
    body = b"\0".join([*(_encoded("\n".join(column)) for column in known), memory.heads])
    size, check = len(known.files), crc32(body)
    return f"mdmemory catalog {LAYOUT} {stamp} {seal} {size} {check}\n".encode() + body


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _first_line(data: bytes, stamp: str) -> tuple[str, int, str] | None:
    """Seal, number of notes and checksum; None when this is no catalog, or another's."""
    words = data.partition(b"\n")[0].decode("ascii", "replace").split(" ")
    if len(words) != 7 or words[:4] != ["mdmemory", "catalog", str(LAYOUT), stamp]:
        return None
    return (words[4], int(words[5]), words[6]) if re.fullmatch("[0-9]{1,9}", words[5]) else None


def _is_sealed(cache: Path | None, stamp: str, seal: str) -> bool:
    if cache is None:
        return False
    try:
        handle = os.open(cache, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        first = _first_line(os.read(handle, 512), stamp)
    except OSError:
        return False
    finally:
        os.close(handle)
    return first is not None and first[0] == seal


def _remembered(cache: Path | None, stamp: str) -> _Memory:
    """What the file says; nothing when it is missing or odd in any way."""
    nothing = _Memory(_Columns(*([] for _ in _Columns._fields)), b"")
    try:
        data = read_regular(cache, MAX_BYTES) if cache else b""
    except MdmemoryError:
        return nothing
    first, body = _first_line(data, stamp), data.partition(b"\n")[2]
    if first is None or not first[1] or str(crc32(body)) != first[2]:
        return nothing
    *parts, heads = body.split(b"\0")
    columns = [part.decode("utf-8", "surrogatepass").split("\n") for part in parts]
    if len(columns) != len(nothing.columns) or any(len(column) != first[1] for column in columns):
        return nothing
    return _Memory(_Columns(*columns), heads)


def _with(known: _Columns, news: Mapping[str, Sequence[str] | None]) -> _Columns:
    """A copy with these notes in their places; None takes one out."""
    columns = _Columns(*(list(column) for column in known))
    for file, values in news.items():
        at = bisect_left(columns.files, file)
        there = columns.files[at : at + 1] == [file]
        for column, value in zip(columns, values or [""] * len(columns), strict=True):
            column[at : at + there] = [] if values is None else [value]
    return columns


def _packed(head: Head) -> str:
    """A head as one line of text."""
    values = list(_VALUES(head))
    values[_REINFORCED] = str(head.reinforced)
    values[_PROBLEMS] = _WITHIN.join(problem.replace(_WITHIN, " ") for problem in head.problems)
    text = _BETWEEN.join(values)
    if "\n" in text or "\0" in text or "\\" in text or text.count(_BETWEEN) >= len(values):
        text = _BETWEEN.join(_SPECIAL.sub(lambda m: _ESCAPES[m[0]], value) for value in values)
    return text


def _all_unpacked(lines: bytes) -> list[Head]:
    text = lines.decode("utf-8", "surrogatepass")
    return [_unpacked(line) for line in text.split("\n")] if text else []


def _unpacked(text: str) -> Head:
    values: list[Any] = text.split(_BETWEEN)
    if "\\" in text:
        values = [re.sub(r"\\(.)", lambda m: _ESCAPED[m[1]], value) for value in values]
    values[_REINFORCED] = int(values[_REINFORCED])
    values[_PROBLEMS] = tuple(values[_PROBLEMS].split(_WITHIN)) if values[_PROBLEMS] else ()
    return Head(*values)
