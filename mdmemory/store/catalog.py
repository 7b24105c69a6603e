"""What is known of every note without reading it again: a row for each in `.mdmemory/catalog`.

Derived: the file may be deleted at any moment. What a row says holds for a file that looks as its
print says. Whatever was changed, forged or lost in between is read anew.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from mdmemory.errors import NoState, NotFound
from mdmemory.note.note import UNREADABLE, Head, Note
from mdmemory.store import database_file, index, sights, strangers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MARK = int.from_bytes(b"mdmC", "big")  # our application_id
MIGRATIONS = (
    """
    CREATE TABLE note (
        file TEXT PRIMARY KEY, print TEXT NOT NULL, section TEXT NOT NULL, name TEXT NOT NULL,
        line TEXT NOT NULL, trace TEXT NOT NULL, held TEXT NOT NULL, status TEXT NOT NULL,
        cites TEXT NOT NULL, head TEXT NOT NULL, blob TEXT NOT NULL DEFAULT ''
    ) WITHOUT ROWID;
    CREATE INDEX note_held ON note (file, held) WHERE held <> '';
    CREATE INDEX note_status ON note (file, status) WHERE status <> '';
    CREATE INDEX note_cites ON note (file, cites) WHERE cites <> '';
    CREATE TABLE seen (
        stamp TEXT NOT NULL, turn INTEGER NOT NULL, seal TEXT NOT NULL, others TEXT NOT NULL,
        tree TEXT NOT NULL
    );
    """,
)
_FIELDS = Head.__match_args__
_VALUES = attrgetter(*_FIELDS)
_TUPLES = tuple(map(_FIELDS.index, ("aliases", "cites", "problems")))
SECRET = "held"  # why a note is on hold: it seems to hold one
_MANY = 200  # notes from which on one pass over all costs less than a question for each
# of what waits, none: a commit may have come to hold it
_PRINTS = f"file, CASE WHEN held IN ('', '{SECRET}') THEN print ELSE '' END"
_SHOWN = ("file", "section", "name", "line", "trace", "held", "status")  # what the index depends on


class CatalogRow(NamedTuple):
    """A note as it is remembered. `print` tells the state of its file ("": it is read again),
    `held` why it is on hold, `cites` whether it cites anything; `head` is its head as JSON. What
    the index takes of it are `section`, `name`, `line` and `trace`."""

    file: str
    print: str
    section: str
    name: str
    line: str
    trace: str
    held: str
    status: str
    cites: str
    head: str


Rows = Mapping[str, CatalogRow | None]  # by file; None where no note is left
NOTHING: Rows = MappingProxyType({})
_PUT = f"INSERT OR REPLACE INTO note ({', '.join(CatalogRow._fields)}) VALUES ({'?, ' * 9}?)"


class SavedState(NamedTuple):
    """What all notes were when the rows were saved. `seal` is the word for all files ("-": some may
    have changed unseen), `others` that for the generated ones, `tree` git's id of a folder of just
    these notes ("": not known)."""

    seal: str = "-"
    others: str = "-"
    tree: str = ""


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
        self._folder, self._cache, self._path = folder, cache, cache
        self._stamp = _short_digest(f"{_FIELDS} {stamp}")
        self._read, self._is_secret, self._waiting = read, is_secret, waiting
        self._seen, self._turn = SavedState(), 0
        try:
            self._database = self._open_database()
        except NoState:
            self._drop_file(is_damaged=False)
        except sqlite3.Error as problem:
            self._drop_file(database_file.is_damage(problem))
        self._sight = sights.take_sight(folder, cache)
        self.changed = self._seen.seal != self._sight.seal
        self.tree = "" if self.changed else self._seen.tree
        self.has_learned = False
        self._is_ahead = False  # of what was seen of the files: some were written since
        self._all_heads: list[Head] | None = None
        self._unsaved: dict[str, CatalogRow | None] = {}
        self._blobs: dict[str, str] = {}  # git's ids that were learned, by file

    def __del__(self) -> None:
        """Close the file with whoever asked last: a connection holds itself in a circle."""
        self._database.close()

    def _open_database(self) -> sqlite3.Connection:
        if self._path is None:
            return database_file.in_memory(MIGRATIONS)
        database = database_file.connect_file(self._path, MARK, MIGRATIONS, None)
        for pragma in ("synchronous = NORMAL", "secure_delete = ON"):
            database.execute(f"PRAGMA {pragma}")
        query = "SELECT turn, seal, others, tree FROM seen WHERE stamp = ?"
        if row := database.execute(query, (self._stamp,)).fetchone():
            self._turn, self._seen = row[0], SavedState(*row[1:])
            return database
        # what was remembered under another stamp goes
        with database_file.write_transaction(database):
            database.execute("DELETE FROM note")
            database.execute("DELETE FROM seen")
            database.execute("INSERT INTO seen VALUES (?, 0, ?, ?, ?)", (self._stamp, *self._seen))
        return database

    def _drop_file(self, is_damaged: bool) -> None:
        """Go on without the file, which is removed where it is damaged."""
        if self._path is not None and is_damaged:
            with suppress(NoState):
                database_file.remove_database(self._path)
        self._path, self._seen = None, SavedState()
        self._database = database_file.in_memory(MIGRATIONS)

    @property
    def seal(self) -> str:
        """One line that stands for all notes as they are, or "" while that is not sure."""
        return "" if self.changed else f"{self._stamp} {self._sight.seal}"

    @property
    def is_index_known(self) -> bool:
        """Whether the index says what the notes say: since the last `save` nothing that it shows
        changed, and neither did it."""
        if not self.changed:
            return True
        if self._is_ahead or self._seen.others != _short_digest(self._sight.others):
            return False
        known, news = self._some_columns(_SHOWN, [*self._read_news]), self._read_news
        shown = attrgetter(*_SHOWN)
        return all(row and known.get(file) == shown(row) for file, row in news.items())

    @cached_property
    def files(self) -> Sequence[str]:
        """The files of all notes, sorted."""
        if not (news := self._read_news):
            return self._sight.files
        files = sorted({*self._sight.files, *news})
        return [file for file in files if news.get(file, ()) is not None]

    @property
    def names(self) -> Sequence[str]:
        """The names of all notes in the order of their files, without what could not be seen."""
        return [name for _, name in self._read_columns(("file", "name"))]

    def heads(self) -> Sequence[Head]:
        """The heads of all notes, sorted by file."""
        if self._all_heads is None:
            self._all_heads = self._unpack_heads()
        return self._all_heads

    def heads_of(self, files: Collection[str]) -> list[Head]:
        """The heads of those of these files that are notes, sorted by file."""
        return self._unpack_heads(sorted({*self.files}.intersection(files)))

    def _unpack_heads(self, files: Sequence[str] | None = None) -> list[Head]:
        try:
            return unpack_heads(self._read_columns(("file", "head"), files))
        except (TypeError, ValueError, LookupError):  # no head as JSON
            self._begin_anew(is_damaged=True)
            return unpack_heads(self._read_columns(("file", "head"), files))

    def with_status(self, status: str) -> list[str]:
        """The files of all notes of a status that is one line, not "", sorted."""
        rows = self._filled_column("status").items()
        return sorted(file for file, each in rows if each == status)

    def listable(self) -> dict[str, str]:
        """The notes that may be in the index, by file, sorted, each with its `index.trace_of`."""
        rows = self._read_columns(("file", "section", "status", "trace"))
        return {file: trace for file, at, status, trace in rows if at and status != UNREADABLE}

    def citing(self) -> list[Head]:
        """The heads of all notes that cite something, sorted by file."""
        return self.heads_of(self._filled_column("cites"))

    def holding(self, text: str) -> list[str]:
        """The files of all notes that may hold this text in their heads, sorted."""
        wanted = json.dumps(text)[1:-1]
        holding = {file for (file,) in self._query_rows("file", "WHERE instr(head, ?)", (wanted,))}
        holding -= self._read_news.keys()
        holding |= {file for file, row in self._read_news.items() if row and wanted in row.head}
        return sorted(holding.intersection(self.files))

    @cached_property
    def held(self) -> frozenset[str]:
        """The files that are on hold: they seem to hold a secret, or wait for a person."""
        return frozenset(self._filled_column("held"))

    @property
    def waiting(self) -> dict[str, str]:
        """The files that wait for a person, and why: a word of `strangers.WHY`."""
        if not self.changed:  # with one that waits, nothing is sealed
            return {}
        return {file: why for file, why in self._filled_column("held").items() if why != SECRET}

    def accept(self, files: Iterable[str]) -> None:
        """Know that these files wait no more: a commit is about to hold them."""
        waiting = self.waiting.keys() & {*files}
        self._learn_rows({file: self._note_row(self._read(file)) for file in waiting})
        self.changed = True

    def look(self) -> sights.Sight:
        """The folder as it was seen when this was made, or (after a write) as it is now."""
        return sights.take_sight(self._folder, self._cache) if self._is_ahead else self._sight

    @property
    def clock(self) -> int:
        """The file system's own now (ns) when the folder was looked at, or 0."""
        return self._sight.clock

    def changed_at(self) -> dict[str, int]:
        """When each file last changed (ns), by the file system's clock."""
        return dict(zip(self._sight.files, self._sight.times, strict=True))

    def uncertain_files(self, blobs: Mapping[str, str]) -> list[str]:
        """The files of which it is not known that they hold what `blobs` says, by git's ids."""
        known = dict(self._query_rows("file, blob"))
        self._read_news  # noqa: B018 - what changed is read now
        known |= dict.fromkeys(self._unsaved, "") | self._blobs
        return [f for f in self.files if not known.get(f) or blobs.get(f) != known[f]]

    def know_blobs(self, blobs: Mapping[str, str]) -> None:
        """Know of these files what git calls the bytes that they had when they were read."""
        if blobs:
            self._blobs |= blobs
            self.changed = self.has_learned = True

    def foresee_rows(self, replaced: Mapping[str, Note | None]) -> Rows:
        """What will be known of these notes once they are in place (None: gone)."""
        return {file: self._note_row(note) if note else None for file, note in replaced.items()}

    def columns(self, coming: Rows = NOTHING) -> index.IndexColumns:
        """What `index.arrange_index` needs, now or with what is `foresee_rows`."""
        names_of = ("file", "section", "name", "line", "trace", "held")
        rows = self._read_columns(names_of, coming=coming)
        files, sections, names, lines, traces, held = ([row[at] for row in rows] for at in range(6))
        if copies := strangers.sync_copies(files, names):
            pairs = zip(files, sections, strict=True)
            sections = ["" if file in copies else section for file, section in pairs]
        held_count = len(held) - held.count("")
        return index.IndexColumns(files, sections, names, lines, traces, held_count)

    def take(self, rows: Rows) -> None:
        """Know these notes as they were just written, which `foresee_rows` gave. Until they are
        seen to have settled, the next command reads them all the same."""
        self._learn_rows(rows)
        self.changed, self._is_ahead, self.tree = True, True, ""

    def save(self) -> bool:
        """Remember what was read; call it after MEMORY.md and _MORE.md were written.

        False if the cache could not be written: the next command then reads all notes again.
        """
        has_learned, self.has_learned = self.has_learned, False
        others, newest = sights.other_states(self._folder)
        self._read_news  # noqa: B018 - what changed is read now
        if not self.changed and not has_learned and others == self._sight.others:
            return self._cache is not None
        young = self._sight.young_files
        # what waits is looked at again by each command: a commit may have come to hold it
        is_settled = newest < self._sight.clock - sights.RACY and not self.waiting
        is_sealed = is_settled and not young and not self._is_ahead
        seen = SavedState(
            self._sight.seal_with(others) if is_sealed else "-",
            _short_digest(others) if is_settled else "-",
            self.tree,
        )
        looked = ((file, self._unsaved.get(file)) for file in young)
        rows = self._unsaved | {file: row._replace(print="") for file, row in looked if row}
        if self._path is None:
            return False
        gone = [(file,) for file, row in rows.items() if row is None]
        ids = [(id, file) for file, id in self._blobs.items()]
        try:
            with database_file.write_transaction(self._database) as database:
                query = "SELECT turn FROM seen WHERE stamp = ?"
                ((turn,),) = database.execute(query, (self._stamp,)).fetchall()
                # where another process saved meanwhile, it speaks of other rows
                self._seen = seen if turn == self._turn else SavedState()
                self._turn = turn + 1
                database.executemany("DELETE FROM note WHERE file = ?", gone)
                database.executemany(_PUT, filter(None, rows.values()))
                database.executemany("UPDATE note SET blob = ? WHERE file = ?", ids)
                put = "UPDATE seen SET turn = ?, seal = ?, others = ?, tree = ?"
                database.execute(put, (self._turn, *self._seen))
        except (sqlite3.Error, ValueError):  # or another stamp's by now
            return False
        self._unsaved, self._blobs = {}, {}
        return True

    @cached_property
    def _read_news(self) -> dict[str, CatalogRow | None]:
        """The notes that do not look as remembered, read now; of those that may wait, all."""
        if not self.changed:
            return {}
        known = dict(self._query_rows(_PRINTS))
        now = zip(self._sight.files, self._sight.prints, strict=True)
        news = self._read_again([file for file, print in now if known.get(file) != print])
        news |= dict.fromkeys(known.keys() - {*self._sight.files})
        self._unsaved = dict(news)
        return news

    def _learn_rows(self, rows: Rows) -> None:
        """Know these rows from now on."""
        self._read_news.update(rows)
        self._unsaved.update(rows)
        self._blobs = {file: id for file, id in self._blobs.items() if file not in rows}
        self._forget("files", "held")

    def _query_rows(self, columns: str, where: str = "", values: Sequence[str] = ()) -> list[Any]:
        """What is remembered of all notes, or of those `where` something holds. Ask for it before
        the news: where it cannot be read, all notes are news."""
        query = f"SELECT {columns} FROM note {where}"
        try:
            return self._database.execute(query, values).fetchall()
        except sqlite3.Error as problem:
            self._begin_anew(database_file.is_damage(problem))
            return []

    def _begin_anew(self, is_damaged: bool) -> None:
        """Look again, and remember nothing."""
        self._drop_file(is_damaged)
        self._sight = self.look()
        self.changed, self.tree, self._is_ahead = True, "", False
        self._forget("_read_news", "files", "held")

    def _forget(self, *names: str) -> None:
        self._all_heads = None
        for name in names:
            self.__dict__.pop(name, None)

    def _some_columns(
        self, columns: Sequence[str], files: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """These columns, of which the first is the file, as they are remembered, by file."""
        names = ", ".join(columns)
        if files is None or len(files) > _MANY:
            return {row[0]: row for row in self._query_rows(names)}
        rows = (self._query_rows(names, "WHERE file = ?", (file,)) for file in files)
        return {row[0]: row for some in rows for row in some}

    def _read_columns(
        self, columns: Sequence[str], files: Sequence[str] | None = None,
        coming: Rows = NOTHING,
    ) -> list[Any]:  # fmt: skip
        """These columns of all notes, or of these files, in the order of the files, with what is
        `coming`."""
        known = self._some_columns(columns, files)
        news = {**self._read_news, **coming}
        if files is None:
            files = sorted({*self.files, *coming})
        if missing := [file for file in files if file not in known and file not in news]:
            self._learn_rows(self._read_again(missing))  # another process forgot them
            news = {**self._read_news, **coming}
        values = attrgetter(*columns)
        known |= {file: values(row) for file, row in news.items() if row}
        return [known[file] for file in files if news.get(file, ()) is not None]

    def _filled_column(self, column: str) -> dict[str, str]:
        """What a column says of the notes of which it says anything, by file."""
        filled = dict(self._query_rows(f"file, {column}", f"WHERE {column} <> ''"))
        for file, row in self._read_news.items():
            filled.pop(file, None)
            if row and (value := getattr(row, column)):
                filled[file] = value
        return filled

    def _read_again(self, files: Sequence[str]) -> dict[str, CatalogRow | None]:
        """The rows of these files, None for those that are gone."""
        prints = dict(zip(self._sight.files, self._sight.prints, strict=True)) if files else {}
        rows: dict[str, CatalogRow | None] = {}
        notes: dict[str, Note] = {}
        for file in files:
            try:
                note = self._read(file)
            except NotFound:
                rows[file] = None  # removed between the look and the reading
                continue
            rows[file] = row = self._note_row(note, prints.get(file, ""))
            if not row.held:
                notes[file] = note
        for file, why in self._waiting(notes).items():
            rows[file] = self._note_row(notes[file], prints.get(file, ""), why)
        return rows

    def _note_row(self, note: Note, print: str = "", hold_reason: str = "") -> CatalogRow:
        """A note as it is remembered. `hold_reason` says why it waits."""
        head, hold_reason = note.head, SECRET if is_held(note, self._is_secret) else hold_reason
        return CatalogRow(
            head.file,
            print,
            index.section_of(head, bool(hold_reason)),
            index.clean_line(head.name),
            index.note_line(head),
            index.trace_of(head),
            hold_reason,
            head.status if head.status.isprintable() else "",
            "cites" if head.cites else "",
            json.dumps(_VALUES(head)),
        )


def is_held(note: Note, is_secret: Callable[[str], bool]) -> bool:
    """Whether a note is on hold: it seems to hold a secret, and no person allowed that."""
    return note.head.secrets != "allowed" and is_secret(note.text)


def _short_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def unpack_heads(rows: Iterable[tuple[str, str]]) -> list[Head]:
    """The heads whose values these are as JSON, each behind its file."""
    heads = []
    for values in json.loads(f"[{','.join(text for _, text in rows)}]"):
        for at in _TUPLES:
            values[at] = tuple(values[at])
        heads.append(Head(*values))
    return heads
