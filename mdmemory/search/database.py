"""What a search database must do, whatever keeps it. Derived: it may be deleted at any moment.

A file is in it with all its chunks or not at all. Raises Unusable where it cannot go on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from mdmemory.search.chunks import Chunk
from mdmemory.search.query import Term

KEPT_QUERIES = 1_000  # vectors of queries; one has 1.5 to 6 kB
HELD = "held"  # the status of a file of which nothing is kept, not even its name


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
    session: str = ""  # in which it was written down; "" where that is not known
    days: str = ""  # all dates that its head has (`YYYY-MM-DD`), a space between two
    cites: str = ""  # what it cites in its project, one a line

    def row(self, chunk: Chunk) -> Row:
        """One of its chunks as it comes out."""
        return Row(self.source, self.file, *self.about, *chunk)

    @property
    def about(self) -> tuple[str, str, str, str, str, str, str, str, str]:
        """What is known of the file, in the order of a Row."""
        own = (self.name, self.title, self.description, self.date, self.status)
        return (*own, self.aliases, self.session, self.days, self.cites)


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
    session: str
    days: str
    cites: str
    start: int
    end: int
    text: str


def of_queries(model: str) -> str:
    """The name under which the vectors are kept that a model made of queries."""
    return f"queries of {model}"


class Database(Protocol):
    """Files and their chunks, by source; a chunk has a number, and those of a file follow each
    other. A vector is float32, little endian, of length 1; `model` names what made it."""

    @property
    def lasting(self) -> bool:
        """Whether what is put in is there for the next search, so that it may cost something."""

    def seal(self, source: str) -> str:
        """The state of the source that `set_seal` was last told of, or ""."""

    def set_seal(self, source: str, seal: str) -> None:
        """Remember that everything of the source is in, as of this state."""

    def touched(self) -> str:
        """A word that is another one after each change of the chunks or vectors."""

    def prints(self, source: str) -> dict[str, tuple[str, str]]:
        """Print and digest of each file."""

    def put(self, documents: Sequence[Document]) -> None:
        """Put these files in, or in the place of what was there of them; all or none."""

    def reprint(self, source: str, prints: Mapping[str, str]) -> None:
        """Give files whose bytes are the same the print of now."""

    def remove(self, source: str, files: Iterable[str]) -> None:
        """Take files out."""

    def tidy(self) -> None:
        """What is worth doing once after much was put in."""

    def count(self, source: str) -> int:
        """How many chunks there are."""

    def held(self, term: Term, source: str) -> int:
        """How many chunks hold a term."""

    def holding(self, term: Term, source: str, limit: int) -> set[int]:
        """The chunks that hold a term; not more than `limit`."""

    def having(self, term: Term, among: Collection[int], *, head: bool = False) -> set[int]:
        """Those of some chunks that hold a term, and not in a link alone; with `head` in the name
        or the description."""

    def best(
        self, terms: Sequence[Term], phrases: Sequence[Term], source: str, limit: int
    ) -> dict[int, float]:
        """The chunks that hold any of the terms and all of the phrases, the best first, with their
        raw scores: more is better, and only comparable within one query."""

    def similar(self, word: str) -> tuple[str, ...]:
        """Stems in the database that the stem `word` may be a misspelling of."""

    def rows(self, chunks: Collection[int]) -> dict[int, Row]:
        """These chunks."""

    def texts(self, source: str) -> Iterable[tuple[str, str, str]]:
        """File, description and text of each chunk; those of a file follow each other."""

    # vectors

    def without_vector(self, source: str, model: str) -> int:
        """How many chunks have no vector yet."""

    def next_without_vector(self, source: str, model: str, limit: int) -> dict[int, Row]:
        """The first of these chunks."""

    def known_texts(self, model: str, hashes: Collection[bytes]) -> set[bytes]:
        """Which of these texts, named by a hash, had their vector put in already."""

    def put_vectors(
        self, model: str, vectors: Mapping[bytes, bytes], chunks: Mapping[int, bytes]
    ) -> None:
        """Put in the vectors of texts (by hash), and which text each of these chunks has. A chunk
        that is gone by now is passed over."""

    def forget_vectors(self, model: str) -> None:
        """Drop the vectors of other models, and of texts that no chunk has any more."""

    def nearest(
        self, source: str, model: str, vector: bytes, limit: int, also: Collection[int] = ()
    ) -> tuple[dict[int, float], float]:
        """The cosines of the nearest chunks, best first, and then of those in `also`; and the least
        that any chunk of the source has."""

    def query_vector(self, model: str, hash: bytes) -> bytes | None:
        """The vector of a query that was asked before, named by a hash; None where it is not
        kept."""

    def keep_query(self, model: str, hash: bytes, vector: bytes) -> None:
        """Keep the vector of a query; when there are KEPT_QUERIES, the earlier ones go."""
