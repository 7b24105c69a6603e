"""What is remembered of all notes between two commands, as the file `.mdmemory/catalog`.

Derived: the file may be deleted at any moment, and anything odd in it makes it worthless, never
wrong. It is plain text, because it may have come with somebody else's repository.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple
from zlib import crc32

from mdmemory.errors import MdmemoryError
from mdmemory.files import read_regular, write_atomic, writing
from mdmemory.git.private_folder import opened
from mdmemory.note.note import Head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LAYOUT = 5  # raise it when the file, or what it remembers of a note, takes another shape
MAX_BYTES = 256 * 1024 * 1024

FILES, PRINTS, SECTIONS, NAMES, LINES, TRACES, HELD, BLOBS, STATUSES = range(9)
WIDTH = 9

_FIELDS = Head.__match_args__
FIELDS = str(_FIELDS)  # what a head has: under other fields nothing can be remembered
_VALUES = attrgetter(*_FIELDS)
_REINFORCED = _FIELDS.index("reinforced")
_TUPLES = tuple(map(_FIELDS.index, ("aliases", "cites", "problems")))
_BETWEEN, _WITHIN = "\x1f", "\x1e"
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\0": "\\0", _BETWEEN: "\\f"}
_SPECIAL = r"[\\\n\0\x1f]"
_ESCAPED = {escape[1]: character for character, escape in _ESCAPES.items()}


class Columns:
    """A list per property of all notes, sorted by file; a print tells a file's state.

    A column stays as it lies in the file until it is asked for, and is written back as it was if
    nobody put another in its place: most changes concern one or two. None is changed once made.
    """

    def __init__(self, columns: Sequence[list[str] | bytes]) -> None:
        self._raw = [column if isinstance(column, bytes) else None for column in columns]
        self._lists = [None if isinstance(column, bytes) else column for column in columns]
        self._cells: dict[int, list[bytes]] = {}

    def __getitem__(self, at: int) -> list[str]:
        known = self._lists[at]
        if known is None:
            known = (self._raw[at] or b"").decode("utf-8", "surrogatepass").split("\n")
            self._lists[at] = known
        return known

    def has(self, at: int, place: int, value: str) -> bool:
        """Whether a column says this of the note at `place`."""
        raw = self._raw[at]
        if raw is None or self._lists[at] is not None:
            return self[at][place] == value
        if at not in self._cells:
            self._cells[at] = raw.split(b"\n")  # a third of what reading it as text costs
        return self._cells[at][place] == encoded(value)

    def values(self, at: int) -> set[str]:
        """What a column says, each once."""
        raw = self._raw[at]
        if raw is None:
            return {*self[at]}
        return {value.decode("utf-8", "surrogatepass") for value in {*raw.split(b"\n")}}

    def replaced(self, columns: Mapping[int, list[str]]) -> Columns:
        """With these columns in their places."""
        fresh = Columns([])
        fresh._raw, fresh._lists, fresh._cells = [*self._raw], [*self._lists], {**self._cells}
        for at, column in columns.items():
            fresh._raw[at], fresh._lists[at] = None, column
        return fresh

    def in_order(self, places: Sequence[int]) -> Columns:
        """With the notes that stood at these places; -1 for one that is not known."""
        full = ([*self[at], ""] for at in range(len(self._raw)))
        return Columns([[column[place] for place in places] for column in full])

    def without_line_breaks(self) -> Columns:
        """Without the notes whose file holds one, as few do."""
        if self._raw[FILES] is not None or not any("\n" in file for file in self[FILES]):
            return self
        return self.in_order([at for at, file in enumerate(self[FILES]) if "\n" not in file])

    def packed(self) -> list[bytes]:
        """What `Columns` takes. A column for itself is quick to decode and to split: most are
        ASCII; the lines never are.
        """
        raws = enumerate(self._raw)
        return [encoded("\n".join(self[at])) if raw is None else raw for at, raw in raws]


class SavedCatalog(NamedTuple):
    """What the file holds. `others` is the word for the generated files at the last save, `tree`
    git's id of a folder of just these notes, as they stood then ("-": not known). `heads` are
    packed lines, of which the last about a file counts: they are many bytes that few commands need,
    so a change only adds to them.
    """

    others: str
    tree: str
    columns: Columns
    heads: bytes


NOTHING = SavedCatalog("-", "-", Columns([[] for _ in range(WIDTH)]), b"")


class _About(NamedTuple):
    """The first line: the words for all that was seen and for the generated files; the rest."""

    seal: str
    others: str
    tree: str
    size: int
    check: str


def _about(data: bytes, stamp: str) -> _About | None:
    """The first line; None when this is no catalog, or another's."""
    words = data.partition(b"\n")[0].decode("ascii", "replace").split(" ")
    if len(words) != 9 or words[:4] != ["mdmemory", "catalog", str(LAYOUT), stamp]:
        return None
    if not re.fullmatch("[0-9]{1,9}", words[7]):
        return None
    return _About(words[4], words[5], words[6], int(words[7]), words[8])


def sealed(cache: Path | None, stamp: str, seal: str) -> str | None:
    """The `tree` of the file, which was written when all was as `seal` says; None where it was
    not."""
    if cache is None:
        return None
    try:
        handle = opened(cache, os.O_RDONLY)
    except OSError:
        return None
    try:
        about = _about(os.read(handle, 512), stamp)
    except OSError:
        return None
    finally:
        os.close(handle)
    return about.tree if about is not None and about.seal == seal else None


def read(cache: Path | None, stamp: str) -> SavedCatalog:
    """What the file says; NOTHING when it is missing or odd in any way."""
    try:
        data = read_regular(cache, MAX_BYTES) if cache else b""
    except MdmemoryError:
        return NOTHING
    about, start = _about(data[:512], stamp), data.find(b"\n") + 1
    if about is None or not about.size or str(crc32(memoryview(data)[start:])) != about.check:
        return NOTHING
    parts = []
    while (end := data.find(b"\0", start)) >= 0:  # one by one: no second copy of the whole
        parts.append(data[start:end])
        start = end + 1
    if len(parts) != WIDTH or any(part.count(b"\n") + 1 != about.size for part in parts):
        return NOTHING
    return SavedCatalog(about.others, about.tree, Columns(parts), data[start:])


def put(cache: Path, memory: SavedCatalog, stamp: str, seal: str) -> None:
    """Write the file: a line about the whole, then the columns and the heads, a NUL between.

    Raises Unwritable.

    In place, and not synced, which costs a tenth of another file put in its place: what a reader
    sees of it meanwhile, or a crash leaves, fails its checksum, and costs one reading of the notes.
    """
    columns = memory.columns.without_line_breaks()
    body = b"\0".join([*columns.packed(), memory.heads])
    words = (LAYOUT, stamp, seal, memory.others, memory.tree)
    about = (*words, len(columns[FILES]), crc32(body))
    parts = (f"mdmemory catalog {' '.join(map(str, about))}\n".encode(), body)
    try:
        handle = opened(cache, os.O_WRONLY | os.O_CREAT)
    except OSError:
        write_atomic(cache, b"".join(parts), mode=0o600)  # a link, a pipe: replaced, if it can be
        return
    with writing(cache), open(handle, "wb", buffering=0):
        status = os.fstat(handle)
        if S_ISREG(status.st_mode) and status.st_nlink == 1:
            os.truncate(handle, os.writev(handle, parts))
            return
    write_atomic(cache, b"".join(parts), mode=0o600)  # another name of the file lies elsewhere


# heads


def pack(heads: Iterable[Head]) -> bytes:
    """Heads as lines."""
    return b"\n".join([encoded(packed(head)) for head in heads])


def unpack(lines: bytes) -> list[Head]:
    """What `pack` made lines of."""
    text = lines.decode("utf-8", "surrogatepass")
    return [unpacked(line) for line in text.split("\n")] if text else []


def holding(lines: bytes, text: str) -> list[Head]:
    """Of what `pack` made lines of, the heads that hold this text somewhere: the others are not
    unpacked, which costs a hundred times as much as the search."""
    wanted, found = encoded(re.sub(_SPECIAL, _escape, text)), []
    at = lines.find(wanted)
    while at >= 0:
        start, end = lines.rfind(b"\n", 0, at) + 1, lines.find(b"\n", at)
        end = len(lines) if end < 0 else end
        found += unpack(lines[start:end])
        at = lines.find(wanted, end + 1)
    return found


def of_files(lines: bytes, files: Iterable[str]) -> list[Head]:
    """Of what `pack` made lines of, the last head of each of these files that has one."""
    wanted, between = {encoded(re.sub(_SPECIAL, _escape, file)) for file in files}, b"\x1f"
    rows = ((line.partition(between)[0], line) for line in lines.split(b"\n"))
    found = {file: line for file, line in rows if file in wanted and line}
    return unpack(b"\n".join(found.values()))


def citing(lines: bytes) -> set[str]:
    """Of what `pack` made lines of, the files of all heads, also former ones, that cite."""
    between, after = _BETWEEN.encode(), len(_FIELDS) - _FIELDS.index("cites")
    found = [each for each in lines.split(b"\n") if each and each.rsplit(between, after)[1]]
    return {head.file for head in unpack(b"\n".join(found))}


def packed(head: Head) -> str:
    """A head as one line of text."""
    values = list(_VALUES(head))
    values[_REINFORCED] = str(head.reinforced)
    for at in _TUPLES:
        values[at] = _WITHIN.join(part.replace(_WITHIN, " ") for part in values[at])
    text = _BETWEEN.join(values)
    if "\n" in text or "\0" in text or "\\" in text or text.count(_BETWEEN) >= len(values):
        text = _BETWEEN.join(re.sub(_SPECIAL, _escape, value) for value in values)
    return text


def unpacked(text: str) -> Head:
    """The head that `packed` made this of."""
    values: list[Any] = text.split(_BETWEEN)
    if "\\" in text:
        values = [re.sub(r"\\(.)", lambda m: _ESCAPED[m[1]], value) for value in values]
    values[_REINFORCED] = int(values[_REINFORCED])
    for at in _TUPLES:
        values[at] = tuple(values[at].split(_WITHIN)) if values[at] else ()
    return Head(*values)


def encoded(text: str) -> bytes:
    """As it lies in the file; half a surrogate pair, which a hand-made note may hold, survives."""
    return text.encode("utf-8", "surrogatepass")


def _escape(match: re.Match[str]) -> str:
    return _ESCAPES[match[0]]
