"""What search databases do alike, in SQL that SQLite and PostgreSQL both read: files, chunks, seals
and vectors. How words are found is each one's own. Derived: it may be deleted at any moment.

A file is in it with all its chunks or not at all. In a query `?` stands for a value.
"""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from mdmemory.search.chunks import Chunk
from mdmemory.search.query import Term
from mdmemory.search.results import MEMORY, SESSIONS, SOURCES
from mdmemory.text import dates
from mdmemory.text.search_words import index_text, rule_of
from mdmemory.version import VERSION

if TYPE_CHECKING:  # 60 ms, and only who has vectors needs it
    from collections.abc import Callable

    import numpy

    Matrix = numpy.ndarray[Any, numpy.dtype[numpy.float32]]
    Numbers = numpy.ndarray[Any, numpy.dtype[numpy.int64]]


WIDTH = 4  # bytes of a number of a vector
KEPT_QUERIES = 1_000  # vectors of queries; one has 1.5 to 6 kB
HELD = "held"  # the status of a file of which nothing is kept, not even its name
SCHEMA_VERSION = 13  # raise it when a table, or what goes into it, takes another shape
RANGE = 1 << 40  # numbers of chunks that one source has, so that a search can keep to it
BATCH = 200  # files that go in together, so that neither memory nor the lock is held for long
_TOGETHER = 50  # files that are taken out at once: those of sessions have many chunks

# A vector belongs to a text, by the hash of it, not to a chunk: embeddings cost money, and outlive
# all other tables when these take another shape, in which case all is made anew, and nothing
# migrated.
_TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL){keyed}",
    "CREATE TABLE files (id {number} PRIMARY KEY, source TEXT NOT NULL, file TEXT NOT NULL,"
    " print TEXT NOT NULL, digest {bytes} NOT NULL, name TEXT NOT NULL, title TEXT NOT NULL,"
    " description TEXT NOT NULL, date TEXT NOT NULL, status TEXT NOT NULL, aliases TEXT NOT NULL,"
    " days TEXT NOT NULL, cites TEXT NOT NULL, UNIQUE (source, file))",
    "CREATE TABLE chunks (id {number} PRIMARY KEY, file {number} NOT NULL REFERENCES files (id)"
    ' ON DELETE CASCADE, start INTEGER NOT NULL, "end" INTEGER NOT NULL, text TEXT NOT NULL,'
    " hash {bytes} NOT NULL)",
    "CREATE INDEX chunks_of_a_file ON chunks (file)",
    "CREATE TABLE IF NOT EXISTS embeddings (hash {bytes} NOT NULL, model TEXT NOT NULL,"
    " vector {bytes} NOT NULL, PRIMARY KEY (hash, model))",
)
_ROW = (
    "c.id, f.source, f.file, f.name, f.title, f.description, f.date, f.status, f.aliases,"
    ' f.days, f.cites, c.start, c."end", c.text FROM chunks c JOIN files f ON c.file = f.id'
)
_WITHOUT_VECTOR = (
    "c.id BETWEEN ? AND ? AND NOT EXISTS"
    " (SELECT 1 FROM embeddings e WHERE e.hash = c.hash AND e.model = ?)"
)
# name over description over body; a link says that another note is the answer
WEIGHTS = {"name": 3.0, "description": 2.0, "body": 1.0, "links": 0.05, "dates": 0.5}
# All that the contents depend on beside the files and how they are cut: callers add the latter.
STAMP = f"{SCHEMA_VERSION} {VERSION} {unicodedata.unidata_version} " + ",".join(
    map(str, WEIGHTS.values())
)
_LINK = re.compile(r"\[\[([^\[\]\n|]{1,200})(?:\|[^\[\]\n]*)?\]\]")


class UnusableError(Exception):
    """The database cannot be read or written here; the text says why, as `is read-only`."""


class BrokenError(UnusableError):
    """What is in the database cannot be trusted: it has to be made anew."""


class LockedError(UnusableError):
    """Another process writes, and goes on writing; reading is possible all the same."""


class Document(NamedTuple):
    """One file as it is put in. `print` tells its state on disk, `digest` its bytes."""

    source: str
    file: str
    print: str
    digest: str
    name: str = ""
    title: str = ""
    description: str = ""
    date: str = ""
    status: str = ""
    chunks: Sequence[Chunk] = ()
    aliases: str = ""  # other names, one a line
    days: str = ""  # all dates that its head has (`YYYY-MM-DD`), a space between two
    cites: str = ""  # what it cites in its project, one a line

    def row(self, chunk: Chunk) -> Row:
        """One of its chunks as it comes out."""
        return Row(self.source, self.file, *self.about, *chunk)

    @property
    def about(self) -> tuple[str, str, str, str, str, str, str, str]:
        """What is known of the file, in the order of a Row."""
        own = (self.name, self.title, self.description, self.date, self.status)
        return (*own, self.aliases, self.days, self.cites)


class Row(NamedTuple):
    """One chunk as it comes out, with what is known of its file."""

    source: str
    file: str
    name: str
    title: str
    description: str
    date: str
    status: str
    aliases: str
    days: str
    cites: str
    start: int
    end: int
    text: str


def vector_text(row: Row) -> str:
    """What the vector of a chunk is made from: its text, and what it belongs to."""
    about = f"{row.name}: {row.description}" if row.source == MEMORY else row.title
    text = row.text if row.text != row.description else ""
    return f"{about}\n{text}".encode("utf-8", "replace").decode().strip()


def row_fields(row: Row) -> tuple[str, ...]:
    """The words of a chunk, a text for each key of WEIGHTS. Always the same."""
    text, links = unlink_text(row.text)
    # a session's title stands for all its turns, and must not outweigh what one of them says
    is_turn = row.source == SESSIONS
    description, more = unlink_text(row.title if is_turn else row.description)
    head = "" if is_turn else f"{row.name} {row.title} {row.aliases}".rstrip()
    known = (row.date, *row.days.split())
    when = dates.date_words(f"{head}\n{row.description}\n{row.text}", known)
    rule = rule_of(f"{row.description}\n{row.text}")
    written = (index_text(each, rule) for each in (head, description, text, f"{links} {more}"))
    return (*written, index_text(when))


def unlink_text(text: str) -> tuple[str, str]:
    """A text without the names in its [[links]], and these names: a link to a note must not make
    a text a better answer than that note."""
    if "[[" not in text:
        return text, ""
    names = " ".join(match[1] for match in _LINK.finditer(text))
    return _LINK.sub(" ", text), names


def pack_vectors(vectors: Sequence[Sequence[float]], count: int) -> list[bytes]:
    """Vectors as they are kept. Raises ValueError, in words, unless there are `count` of them, all
    of one length, of finite numbers and not all zero."""
    import numpy

    if len(vectors) != count:
        raise ValueError(f"{len(vectors)} vectors for {count} texts")
    wanted = len(vectors[0]) if vectors else 0
    if wrong := [len(each) for each in vectors if len(each) != wanted]:
        raise ValueError(f"a vector of {wrong[0]} numbers instead of {wanted}")
    try:
        matrix = numpy.array(vectors, dtype="<f8")
    except (TypeError, ValueError, OverflowError):
        raise ValueError("something else than numbers") from None
    with numpy.errstate(over="ignore", invalid="ignore"):
        length = numpy.sqrt((matrix * matrix).sum(axis=1, keepdims=True))
    if not (numpy.isfinite(length) & (length > 0)).all():
        raise ValueError("a vector without a direction")
    return [row.tobytes() for row in (matrix / length).astype("<f4")]


class Space(NamedTuple):
    """All vectors of a source; `chunks` has the number of each row, in ascending order."""

    chunks: Numbers
    rows: Matrix

    def nearest(
        self, vector: bytes, limit: int, also: Collection[int] = ()
    ) -> tuple[dict[int, float], float]:
        """See Database.nearest."""
        import numpy

        if not len(self.chunks):
            return {}, 0.0
        cosines = self.rows @ numpy.frombuffer(vector, dtype="<f4")
        top = numpy.arange(len(cosines))
        if limit < len(cosines):
            top = numpy.argpartition(-cosines, limit)[:limit]
        top = top[numpy.lexsort((top, -cosines[top]))]
        others = numpy.flatnonzero(numpy.isin(self.chunks, [*also]))
        nearest = {int(self.chunks[at]): float(cosines[at]) for at in (*top, *others)}
        return nearest, float(cosines.min())


def make_space(chunks: Sequence[int], data: bytes | bytearray, dimensions: int) -> Space:
    """The vectors in `data`, one after the other."""
    import numpy

    rows = numpy.frombuffer(data, dtype="<f4").reshape(-1, dimensions or 1)
    return Space(numpy.array(chunks, dtype=numpy.int64), rows)


_kept: dict[str, tuple[Hashable, Space]] = {}


def read_kept(place: str, state: Hashable, read: Callable[[], Space]) -> Space:
    """What `read` gives, which is the same again for a place in the same state: a process that
    goes on asking reads its vectors once."""
    if place not in _kept or _kept[place][0] != state:
        _kept.pop(place, None)  # the old ones first: two may not fit
        if len(_kept) >= 4:
            _kept.clear()
        _kept[place] = (state, read())
    return _kept[place][1]


def shared_tables(**words: str) -> list[str]:
    """What makes the tables that every database has, by its words for a `number` and for `bytes`,
    and for a table that lies in the order of its key (`keyed`)."""
    return [each.format(**words) for each in _TABLES]


def _of_queries(model: str) -> str:
    """The name under which the vectors are kept that a model made of queries."""
    return f"queries of {model}"


class Database(ABC):
    """Files and their chunks, by source; a chunk has a number, and those of a file follow each
    other. A vector is float32, little endian, of length 1; `model` names what made it.

    `lasting`: what is put in is there for the next search, so that it may cost something. `_place`
    tells this database from all others; "" for one that is not kept. Raises UnusableError where it
    cannot go on.
    """

    lasting: bool
    _place: str

    # what each has of its own

    @abstractmethod
    def count(self, source: str) -> int:
        """How many chunks there are."""

    @abstractmethod
    def tidy(self) -> None:
        """What is worth doing once after much was put in."""

    @abstractmethod
    def held(self, term: Term, source: str) -> int:
        """How many chunks hold a term."""

    @abstractmethod
    def holding(self, term: Term, source: str, limit: int) -> set[int]:
        """The chunks that hold a term; not more than `limit`."""

    @abstractmethod
    def having(self, term: Term, among: Collection[int]) -> set[int]:
        """Those of some chunks that hold a term, and not in a link alone."""

    @abstractmethod
    def best(
        self, terms: Sequence[Term], phrases: Sequence[Term], source: str, limit: int
    ) -> dict[int, float]:
        """The chunks that hold any of the terms and all of the phrases, the best first, with their
        raw scores: more is better, and only comparable within one query."""

    @abstractmethod
    def similar(self, word: str) -> tuple[str, ...]:
        """Stems in the database that the stem `word` may be a misspelling of."""

    @abstractmethod
    def _run(self, query: str, values: Sequence[object] = ()) -> Any:
        """A cursor with what comes of a query."""

    @abstractmethod
    def _run_many(self, query: str, rows: Iterable[Sequence[object]]) -> None:
        """Run a query for each of these rows."""

    @abstractmethod
    def _translated(self) -> AbstractContextManager[object]:
        """What the database complains of in this block comes in our words."""

    @abstractmethod
    def _writing(self) -> AbstractContextManager[object]:
        """While this lasts nobody else writes, and all is written or nothing."""

    @abstractmethod
    def _index_words(
        self, source: str, chunks: Mapping[int, Row], *, is_removal: bool = False
    ) -> None:
        """Put the words of some chunks in, or take them out again."""

    @abstractmethod
    def _stamp(self) -> str | None:
        """The stamp of the tables, None where there are none."""

    @abstractmethod
    def _statements(self) -> Iterable[str]:
        """What makes the tables."""

    # what is in

    @staticmethod
    def _range(source: str) -> tuple[int, int]:
        """The least and the greatest number that a chunk of a source may have."""
        low = SOURCES.index(source) * RANGE + 1
        return low, low + RANGE - 2

    @staticmethod
    def _marks(values: Collection[object]) -> str:
        """A `?` for each value."""
        return ", ".join("?" * len(values))

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        with self._translated():
            rows: list[Any] = self._run(query, values).fetchall()
        return rows

    def _make(self, stamp: str, names: Sequence[str], *, anew: bool) -> None:
        """Make the tables where they are missing or of another stamp, in place of those that are
        named; the embeddings go only where all is made `anew`."""
        if self._stamp() == stamp and not anew:
            return
        with self._writing():
            if self._stamp() == stamp and not anew:
                return  # another process was quicker
            # dropped, not deleted as a file: another process may have it open
            for name in (*names, *(("embeddings",) if anew else ())):
                self._run(f"DROP TABLE IF EXISTS {name}")
            for statement in self._statements():
                self._run(statement)
            self._run("INSERT INTO meta VALUES ('stamp', ?)", (stamp,))

    def _remember_value(self, key: str, value: str) -> None:
        query = "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE"
        self._run(f"{query} SET value = excluded.value", (key, value))

    def _recall_value(self, key: str) -> str:
        rows = self._rows("SELECT value FROM meta WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else ""

    def _touch_tables(self) -> None:
        """Say that the chunks or vectors are others now."""
        self._remember_value("touched", os.urandom(8).hex())

    def touched(self) -> str:
        """A word that is another one after each change of the chunks or vectors."""
        return self._recall_value("touched")

    def seal(self, source: str) -> str:
        """The state of the source that `set_seal` was last told of, or ""."""
        return self._recall_value(f"seal {source}")

    def set_seal(self, source: str, seal: str) -> None:
        """Remember that everything of the source is in, as of this state."""
        with self._writing():
            self._remember_value(f"seal {source}", seal)

    def prints(self, source: str) -> dict[str, tuple[str, str]]:
        """Print and digest of each file."""
        rows = self._rows("SELECT file, print, digest FROM files WHERE source = ?", (source,))
        return {file: (print, digest.hex()) for file, print, digest in rows}

    def follow(
        self, source: str, now: Mapping[str, str],
        make: Callable[[Mapping[str, str]], Iterable[Document]],
        report: Callable[[int, int, str], None], what: str, together: int = BATCH,
    ) -> list[str]:  # fmt: skip
        """Bring a source up to date with the files of `now`, each with its print ("": it is made
        each time); the files that were different. `make` gives the documents of some, which it gets
        with the digests that are known of them ("": none): none of what cannot be read now."""
        known = self.prints(source)
        different = [file for file in known if file not in now]
        if different:
            self.remove(source, different)
        stale = [
            file for file, print in now.items() if not print or known.get(file, ("",))[0] != print
        ]
        for at in range(0, len(stale), together):
            report(at, len(stale), what)
            documents, same = [], {}
            some = {file: known.get(file, ("", "")) for file in stale[at : at + together]}
            for each in make({file: digest for file, (_, digest) in some.items()}):
                print, digest = some[each.file]
                if digest != each.digest:
                    documents.append(each)
                elif print != each.print:
                    same[each.file] = each.print
            if documents:
                self.put(documents)
            if same:
                self.reprint(source, same)
            different += [each.file for each in documents]
        return different

    def reprint(self, source: str, prints: Mapping[str, str]) -> None:
        """Give files whose bytes are the same the print of now."""
        values = [(print, source, file) for file, print in prints.items()]
        with self._writing():
            self._run_many("UPDATE files SET print = ? WHERE source = ? AND file = ?", values)

    def put(self, documents: Sequence[Document]) -> None:
        """Put these files in, or in the place of what was there of them; all or none."""
        latest = {(each.source, each.file): each for each in documents}
        with self._writing():
            self._touch_tables()
            for source in dict.fromkeys(source for source, _ in latest):
                some = [each for each in latest.values() if each.source == source]
                self._take_out(source, [each.file for each in some])
                self._put_in(source, some)

    def _put_in(self, source: str, documents: Sequence[Document]) -> None:
        first = int(self._rows("SELECT coalesce(max(id), 0) + 1 FROM files")[0][0])
        numbers = count(self._last_number(source) + 1)
        files: list[tuple[object, ...]] = []
        chunks: list[tuple[object, ...]] = []
        rows: dict[int, Row] = {}
        for file, each in enumerate(documents, first):
            files.append((file, *each[:3], bytes.fromhex(each.digest), *each.about))
            for chunk, number in zip(each.chunks, numbers, strict=False):
                rows[number] = each.row(chunk)
                hash = hashlib.sha256(vector_text(rows[number]).encode()).digest()
                chunks.append((number, file, *chunk, hash))
        for table, values in (("files", files), ("chunks", chunks)):
            if values:
                self._run_many(f"INSERT INTO {table} VALUES ({self._marks(values[0])})", values)
        self._index_words(source, rows)

    def remove(self, source: str, files: Iterable[str]) -> None:
        """Take files out."""
        with self._writing():
            self._touch_tables()
            self._take_out(source, [*files])

    def _take_out(self, source: str, files: Sequence[str]) -> None:
        for at in range(0, len(files), _TOGETHER):
            some = files[at : at + _TOGETHER]
            where = f"source = ? AND file IN ({self._marks(some)})"
            query = f"SELECT {_ROW} WHERE c.file IN (SELECT id FROM files WHERE {where})"
            rows = {number: Row(*row) for number, *row in self._rows(query, (source, *some))}
            self._index_words(source, rows, is_removal=True)
            self._run(f"DELETE FROM files WHERE {where}", (source, *some))

    def _last_number(self, source: str) -> int:
        """The number of the last chunk of a source."""
        low, high = self._range(source)
        query = "SELECT coalesce(max(id), ?) FROM chunks WHERE id BETWEEN ? AND ?"
        return int(self._rows(query, (low - 1, low, high))[0][0])

    def rows(self, chunks: Collection[int]) -> dict[int, Row]:
        """These chunks."""
        if not chunks:
            return {}
        rows = self._rows(f"SELECT {_ROW} WHERE c.id IN ({self._marks(chunks)})", [*chunks])
        return {number: Row(*row) for number, *row in rows}

    def texts(self, source: str) -> Iterable[tuple[str, str, str]]:
        """File, description and text of each chunk; those of a file follow each other."""
        query = (
            "SELECT f.file, f.description, c.text FROM chunks c JOIN files f ON c.file = f.id"
            " WHERE c.id BETWEEN ? AND ? ORDER BY c.id"
        )
        with self._translated():  # one after the other: all of them are much
            yield from self._run(query, self._range(source))

    # vectors

    def without_vector(self, source: str, model: str) -> int:
        """How many texts have no vector yet."""
        query = f"SELECT count(DISTINCT c.hash) FROM chunks c WHERE {_WITHOUT_VECTOR}"
        return int(self._rows(query, (*self._range(source), model))[0][0])

    def next_without_vector(self, source: str, model: str, limit: int) -> dict[bytes, Row]:
        """The first of these texts, each by its hash with a chunk that has it."""
        query = f"SELECT c.hash, {_ROW} AND {_WITHOUT_VECTOR} ORDER BY c.id LIMIT ?"
        rows = self._rows(query, (*self._range(source), model, limit))
        return {bytes(hash): Row(*row) for hash, _, *row in rows}

    def put_vectors(self, model: str, vectors: Mapping[bytes, bytes]) -> None:
        """Put in the vectors of texts, by hash."""
        with self._writing():
            self._touch_tables()
            self._put_embeddings(model, vectors)

    def _put_embeddings(self, model: str, vectors: Mapping[bytes, bytes]) -> None:
        self._run_many(
            "INSERT INTO embeddings VALUES (?, ?, ?)"
            " ON CONFLICT (hash, model) DO UPDATE SET vector = excluded.vector",
            [(hash, model, vector) for hash, vector in vectors.items()],
        )

    def forget_vectors(self, model: str) -> None:
        """Drop the vectors of other models, and of texts that no chunk has any more."""
        query = (
            "DELETE FROM embeddings WHERE model <> ?"
            " AND (model <> ? OR hash NOT IN (SELECT hash FROM chunks))"
        )
        with self._writing():
            self._run(query, (_of_queries(model), model))

    def query_vector(self, model: str, hash: bytes) -> bytes | None:
        """The vector of a query that was asked before, named by a hash; None where it is not
        kept."""
        query = "SELECT vector FROM embeddings WHERE hash = ? AND model = ?"
        rows = self._rows(query, (hash, _of_queries(model)))
        return bytes(rows[0][0]) if rows else None

    def keep_query(self, model: str, hash: bytes, vector: bytes) -> None:
        """Keep the vector of a query; when there are KEPT_QUERIES, the earlier ones go."""
        kept_as = (_of_queries(model),)
        with self._writing():
            count = self._rows("SELECT count(*) FROM embeddings WHERE model = ?", kept_as)[0][0]
            if count >= KEPT_QUERIES:
                self._run("DELETE FROM embeddings WHERE model = ?", kept_as)
            self._put_embeddings(*kept_as, {hash: vector})

    def nearest(
        self, source: str, model: str, vector: bytes, limit: int, also: Collection[int] = ()
    ) -> tuple[dict[int, float], float]:
        """The cosines of the nearest chunks, best first, and then of those in `also`; and the least
        that any chunk of the source has."""

        def read_space() -> Space:
            query = (
                "SELECT c.id, e.vector FROM chunks c JOIN embeddings e"
                " ON e.hash = c.hash AND e.model = ?"
                " WHERE c.id BETWEEN ? AND ? AND length(e.vector) = ? ORDER BY c.id"
            )
            chunks, data = [], bytearray()
            for chunk, blob in self._run(query, (model, *self._range(source), len(vector))):
                chunks.append(chunk)
                data += blob
            return make_space(chunks, data, len(vector) // WIDTH)

        with self._translated():
            state = self.touched()
            if not self._place or not state:
                return read_space().nearest(vector, limit, also)
            of = (state, model, len(vector))
            space = read_kept(f"{self._place} {source}", of, read_space)
        return space.nearest(vector, limit, also)
