"""What is known of every note without reading it again: a row for each in `.mdmemory/catalog`.

Derived: the file may be deleted at any moment. What a row says holds for a file that looks as its
print says. Whatever was changed, forged or lost in between is read anew, and its row put at once.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from mdmemory.errors import NotFound
from mdmemory.note.note import UNREADABLE, Head, Note
from mdmemory.store import database_file, index, sights, strangers
from mdmemory.store.store import StoredNote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MARK = int.from_bytes(b"mdmD", "big")  # our application_id; with other tables another one
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
    CREATE TABLE seen (seal TEXT NOT NULL, others TEXT NOT NULL, tree TEXT NOT NULL);
    INSERT INTO seen VALUES ('-', '-', '');
    """,
)
_FIELDS = Head.__match_args__
_VALUES = attrgetter(*_FIELDS)
_TUPLES = tuple(map(_FIELDS.index, ("aliases", "cites", "problems")))
SECRET = "held"  # why a note is on hold: it seems to hold one
# of what waits, none: a commit may have come to hold it
_PRINTS = f"SELECT file, CASE WHEN held IN ('', '{SECRET}') THEN print ELSE '' END FROM note"
_SHOWN = ("file", "section", "name", "line", "trace", "held", "status")  # what the index depends on
_shown_of = attrgetter(*_SHOWN)
_IN_ORDER = f"SELECT {', '.join(_SHOWN)} FROM note ORDER BY file"


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
_REMEMBER = "UPDATE seen SET seal = ?, others = ?, tree = ?"
_FAILURES = (sqlite3.Error, TypeError, ValueError, LookupError)  # of a file, or its rows
_PUT = f"INSERT OR REPLACE INTO note ({', '.join(CatalogRow._fields)}) VALUES ({'?, ' * 9}?)"


class SavedState(NamedTuple):
    """What all notes were when that was saved. `seal` is the word for all files ("-": some may have
    changed unseen), `others` that for the generated ones ("-": they may say something else than
    the notes), `tree` git's id of a folder of just these notes ("": not known)."""

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
    sight: sights.Sight
    """The folder as it was seen when this was made."""

    def __init__(
        self,
        folder: Path,
        cache: Path | None,
        read: Callable[[str], StoredNote],
        is_secret: Callable[[str], bool],
        stamp: str = "",
        waiting: Callable[[Mapping[str, Note]], Mapping[str, str]] = lambda _: {},
    ) -> None:
        """The catalog of the store `folder`, using and filling the file `cache`.

        `read` gives the note in a file and raises NotFound for one that is gone. `stamp` is
        whatever else the index depends on (version, settings): what was remembered under another
        stamp is read again. `waiting` tells which of these notes wait for a person, and why.
        Without a cache, or where it cannot be written, all notes are read each time. Raises NoStore
        when the folder cannot be listed.
        """
        self._folder, self._cache = folder, cache
        self._stamp = _short_digest(f"{_FIELDS} {stamp}")
        self._read, self._is_secret, self._waiting = read, is_secret, waiting
        self._accepted: set[str] = set()  # what waits no more: a commit is about to hold it
        # by another process: an index that was made speaks of other rows
        self._is_overtaken = False
        self._database = database_file.DatabaseFile(cache, MARK, MIGRATIONS)
        self._look_anew()

    def _look_anew(self) -> None:
        """See the folder as it is, and what was saved of it."""
        try:
            self._version, self._seen = self._read_state()
        except _FAILURES as problem:
            self._database.leave_file(problem)
            self._version, self._seen = self._read_state()
        self.sight = sights.take_sight(self._folder, self._cache)
        seal = f"{self._stamp} {self.sight.seal}"
        self.changed = bool(self._accepted) or self._seen.seal != seal
        self.tree = "" if self.changed else self._seen.tree
        self._is_known = not self.changed  # whether the rows are what was seen
        self._is_ahead = False  # of what was seen of the files: some were written since
        self._answers: dict[str, Any] = {}  # what was asked of the rows as they are

    def _read_state(self) -> tuple[int, SavedState]:
        """A number that is another one as soon as somebody else has written into the file, and what
        was saved."""
        database = self._database.connection
        version: int = database.execute("PRAGMA data_version").fetchone()[0]
        return version, SavedState(*database.execute("SELECT * FROM seen").fetchone())

    def _ask(self, act: Callable[[sqlite3.Connection], Any]) -> Any:
        """What `act` makes of the rows, once they are what was seen of the notes; it is done again
        where another process wrote meanwhile, and without the file where that fails."""
        while True:
            try:
                if not self._is_known:
                    self._bring_rows()
                    self._is_known = True
                answer = act(self._database.connection)
                if self._read_state()[0] == self._version:
                    return answer
            except _FAILURES as problem:
                self._database.leave_file(problem)
            self._look_anew()
            self.changed, self.tree, self._is_overtaken, self._is_known = True, "", True, False

    def _query_rows(self, query: str, values: Sequence[str] = ()) -> list[Any]:
        rows: list[Any] = self._ask(lambda database: database.execute(query, values).fetchall())
        return rows

    def _bring_rows(self) -> None:
        """Read the notes that do not look as remembered; of those that may wait, all."""
        # the state of each file; "" for one that may change again unseen, or is accepted
        prints = {
            file: f"{self._stamp} {print}" if print and file not in self._accepted else ""
            for file, print in self.sight.trusted_prints().items()
        }
        known = dict(self._database.connection.execute(_PRINTS))
        stale = {file: now for file, now in prints.items() if not now or known.get(file) != now}
        self._put_rows({**self._read_again(stale), **dict.fromkeys(known.keys() - prints.keys())})

    def _put_rows(self, rows: Rows) -> None:
        """Know these rows from now on."""
        if not rows:
            return
        with database_file.write_transaction(self._database.connection) as database:
            seen = self._read_state()[1]._replace(seal="-", tree="")
            if seen.others != "-":  # does the index still say what they say?
                query = f"SELECT {', '.join(_SHOWN)} FROM note WHERE file = ?"
                before = [database.execute(query, (file,)).fetchone() for file in rows]
                if before != [row and _shown_of(row) for row in rows.values()]:
                    seen = seen._replace(others="-")
            gone = [(file,) for file, row in rows.items() if row is None]
            database.executemany("DELETE FROM note WHERE file = ?", gone)
            database.executemany(_PUT, filter(None, rows.values()))
            database.execute(_REMEMBER, seen)
        self._seen, self._answers = seen, {}

    @property
    def seal(self) -> str:
        """One line that stands for all notes as they are, or "" while that is not sure."""
        return "" if self.changed else f"{self._stamp} {self.sight.seal}"

    @property
    def is_index_known(self) -> bool:
        """Whether the index says what the notes say: since the last `save` nothing that it shows
        changed, and neither did it."""
        if not self.changed:
            return True
        self._query_rows("SELECT 1")  # once the rows are what was seen
        is_older = self._is_ahead or self._is_overtaken
        return not is_older and self._seen.others == _short_digest(self.sight.others)

    @property
    def files(self) -> Sequence[str]:
        """The files of all notes, sorted."""
        if not self.changed:
            return [*self.sight.prints]
        if "files" not in self._answers:
            rows = self._query_rows("SELECT file FROM note ORDER BY file")
            self._answers["files"] = [file for (file,) in rows]
        files: list[str] = self._answers["files"]
        return files

    @property
    def names(self) -> dict[str, str]:
        """The names of all notes by their files, sorted, without what could not be seen."""
        return dict(self._query_rows("SELECT file, name FROM note ORDER BY file"))

    def heads(self) -> Sequence[Head]:
        """The heads of all notes, sorted by file."""
        if "heads" not in self._answers:
            self._answers["heads"] = self._unpack_heads()
        heads: list[Head] = self._answers["heads"]
        return heads

    def heads_of(self, files: Collection[str]) -> list[Head]:
        """The heads of those of these files that are notes, sorted by file."""
        where = "WHERE file IN (SELECT value FROM json_each(?))"
        return self._unpack_heads(where, (json.dumps([*files]),))

    def _unpack_heads(self, where: str = "", values: Sequence[str] = ()) -> list[Head]:
        query = f"SELECT file, head FROM note {where} ORDER BY file"
        heads: list[Head] = self._ask(
            lambda database: unpack_heads(database.execute(query, values))
        )
        return heads

    def with_status(self, status: str) -> list[str]:
        """The files of all notes of a status that is one line, not "", sorted."""
        rows = self._filled_column("status").items()
        return [file for file, each in rows if each == status]

    def listable(self) -> dict[str, str]:
        """The notes that may be in the index, by file, sorted, each with its `index.trace_of`."""
        where = f"WHERE section <> '' AND status <> '{UNREADABLE}'"
        return dict(self._query_rows(f"SELECT file, trace FROM note {where} ORDER BY file"))

    def citing(self) -> list[Head]:
        """The heads of all notes that cite something, sorted by file."""
        return self._unpack_heads("WHERE cites <> ''")

    def holding(self, text: str) -> list[str]:
        """The files of all notes that may hold this text in their heads, sorted."""
        query, wanted = "SELECT file FROM note WHERE instr(head, ?) ORDER BY file", json.dumps(text)
        return [file for (file,) in self._query_rows(query, (wanted[1:-1],))]

    @property
    def held(self) -> frozenset[str]:
        """The files that are on hold: they seem to hold a secret, or wait for a person."""
        return frozenset(self._filled_column("held"))

    def _filled_column(self, column: str) -> dict[str, str]:
        """What a column says of the notes of which it says anything, by file, sorted."""
        if column not in self._answers:
            where = f"WHERE {column} <> '' ORDER BY file"
            rows = self._query_rows(f"SELECT file, {column} FROM note {where}")
            self._answers[column] = dict(rows)
        filled: dict[str, str] = self._answers[column]
        return filled

    @property
    def waiting(self) -> dict[str, str]:
        """The files that wait for a person, and why: a word of `strangers.WHY`."""
        if not self.changed:  # with one that waits, nothing is sealed
            return {}
        return {file: why for file, why in self._filled_column("held").items() if why != SECRET}

    def accept(self, files: Iterable[str]) -> None:
        """Know that these files wait no more: a commit is about to hold them."""
        self._accepted |= self.waiting.keys() & {*files}
        self.changed, self._is_known, self._answers = True, False, {}

    def look(self) -> sights.Sight:
        """The folder as it was seen when this was made, or (after a write) as it is now."""
        return sights.take_sight(self._folder, self._cache) if self._is_ahead else self.sight

    def uncertain_files(self, blobs: Mapping[str, str]) -> list[str]:
        """The files of which it is not known that they hold what `blobs` says, by git's ids."""
        known = self._query_rows("SELECT file, blob FROM note ORDER BY file")
        return [file for file, blob in known if not blob or blobs.get(file) != blob]

    def know_blobs(self, blobs: Mapping[str, str]) -> None:
        """Know of these files what git calls the bytes that they had when they were read."""
        if blobs:
            ids = "FROM json_each(?) AS given WHERE note.file = given.key"
            self._query_rows(f"UPDATE note SET blob = given.value {ids}", (json.dumps({**blobs}),))

    def know_tree(self, tree: str) -> None:
        """Know what git calls a folder of just these notes; for the next command, if they are still
        as they were saved."""
        self.tree = tree
        query, values = "UPDATE seen SET tree = ? WHERE seal = ?", (tree, self._seen.seal)
        if self._seen.seal != "-":
            self._query_rows(query, values)

    def foresee_rows(self, replaced: Mapping[str, Note | None]) -> Rows:
        """What will be known of these notes once they are in place (None: gone)."""
        return {file: self._note_row(note) if note else None for file, note in replaced.items()}

    def columns(self, coming: Rows = NOTHING) -> index.IndexColumns:
        """What `index.arrange_index` needs, now or with what is `foresee_rows`."""
        rows = self._query_rows(_IN_ORDER)
        if coming:
            rows = [row for row in rows if row[0] not in coming]
            rows = sorted([*rows, *map(_shown_of, filter(None, coming.values()))])
        files, sections, names, lines, traces, held, _ = (
            [row[at] for row in rows] for at in range(7)
        )
        if copies := strangers.sync_copies(dict(zip(files, names, strict=True))):
            pairs = zip(files, sections, strict=True)
            sections = ["" if file in copies else section for file, section in pairs]
        held_count = len(held) - held.count("")
        return index.IndexColumns(files, sections, names, lines, traces, held_count)

    def take(self, rows: Rows) -> None:
        """Know these notes as they were just written, which `foresee_rows` gave. Until they are
        seen to have settled, the next command reads them all the same."""
        self._ask(lambda _: self._put_rows(rows))
        self.changed, self._is_ahead, self.tree = True, True, ""

    def save(self) -> bool:
        """Remember that all is as it was seen; call it after MEMORY.md and _MORE.md were written.

        False if the cache could not be written: the next command then reads all notes again.
        """
        others, newest = sights.other_states(self._folder)
        if not self.changed and others == self.sight.others:
            return self._cache is not None
        # what waits is looked at again by each command: a commit may have come to hold it
        is_settled = not self.waiting and newest < self.sight.clock - sights.RACY
        is_sealed = is_settled and all(self.sight.trusted_prints().values()) and not self._is_ahead
        seen = SavedState(
            f"{self._stamp} {self.sight.seal_with(others)}" if is_sealed else "-",
            _short_digest(others) if is_settled else "-",
            self.tree,
        )
        if not self._database.lasts:
            return False
        try:
            with database_file.write_transaction(self._database.connection) as database:
                if self._is_overtaken or self._read_state()[0] != self._version:
                    seen = SavedState()
                database.execute(_REMEMBER, seen)
        except sqlite3.Error:
            return False
        self._seen = seen
        return True

    def _read_again(self, prints: Mapping[str, str]) -> dict[str, CatalogRow | None]:
        """The rows of these files, each with its state now; None for those that are gone."""
        rows: dict[str, CatalogRow | None] = {}
        notes: dict[str, Note] = {}
        for file in prints:
            try:
                note = self._read(file).note
            except NotFound:
                rows[file] = None  # removed between the look and the reading
                continue
            rows[file] = row = self._note_row(note, prints[file])
            if not row.held and file not in self._accepted:
                notes[file] = note
        for file, why in self._waiting(notes).items():
            rows[file] = self._note_row(notes[file], prints[file], why)
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
