"""The search database in PostgreSQL: a server's, with a schema of its own for each checkout.

One process writes at a time; readers never wait. Where the server fails, the one in SQLite serves.
The stems are ours, not those of a parser of the server, and are scored as SQLite does it: so both
databases find the same, whatever the server's language. Only letters and digits get into a literal.
"""

from __future__ import annotations

import math
import os
import re
import secrets
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TypeVar

from mdmemory.errors import Busy, MdmemoryError, Unwritable
from mdmemory.files import digest, read_regular, write_atomic
from mdmemory.search import database as databases
from mdmemory.search import ranking
from mdmemory.search.database import BrokenError, LockedError, Row, UnusableError
from mdmemory.search.postgres.server import PATIENT, Connected, translate_errors
from mdmemory.search.query import Term

T = TypeVar("T")

ID_FILE = "search.id"
SCANNED = 2_000  # chunks with the rarest words of a query, from which on no commoner ones are read
LOOKED = 5  # times as many chunks as are wanted are scored to the letter
SCHEMA_VERSION = 6  # raise it when a table, or what goes into it, takes another shape
# `vectors` was one in earlier versions
_NAMES = ("words", "vectors", "chunks", "files", "vocabulary", "totals", "meta")
# `vocabulary` and `totals` are kept along, under the writers' lock: bm25 asks for them, and
# counting millions of chunks for each question would be slow. Both may keep rows that say 0.
_TABLES = (
    "CREATE TABLE words (chunk bigint PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,"
    " length integer NOT NULL, stems tsvector NOT NULL)",
    "CREATE INDEX ON words USING gin (stems)",
    'CREATE TABLE vocabulary (word text COLLATE "C" PRIMARY KEY, held bigint NOT NULL)',
    "CREATE TABLE totals (source text PRIMARY KEY, chunks bigint NOT NULL, words bigint NOT NULL)",
)
LONGEST = 64  # characters of a word
LONGEST_FIELD = 100_000  # characters of a field; a tsvector has at most 1 MiB
# Where the words of each field begin, as positions are all that tells fields apart: so no phrase
# runs over from one to the next. A tsvector counts to 16,383; what lies behind stays unplaced.
_FIRST = (1, 1_000, 4_000, 15_000, 16_000)  # name, description, body, links, dates
_LAST = (*(first - 2 for first in _FIRST[1:]), 16_382)
_LABELS = "ABCDC"  # for the server's own rough rank, which picks what is looked at here
_NO_LINK = "ABC"  # the labels of all but the links
_LABEL_WEIGHTS = (0.02, 0.125, 0.375, 1.0)  # of D, C, B, A
_WEIGHTS = tuple(databases.WEIGHTS.values())
_LETTERS = re.compile(r"[^\W_]+")
_FREQUENT, _LONG = 1.2, 0.75  # k1 and b of bm25


@dataclass(frozen=True, slots=True)
class Server:
    """Where the database is: `checkout` is what tells one checkout from all others."""

    dsn: str = field(repr=False)
    checkout: str

    @property
    def schema(self) -> str:
        """The name of the schema there; it says nothing of the project."""
        return f"mdmemory_{digest(self.checkout.encode('utf-8', 'surrogateescape'))[:16]}"


def server_for(dsn: str, private: Path) -> Server:
    """The place on the server for the checkout whose `.mdmemory/` is `private`.

    An id that lies there tells it from those of others, and the path from copies of itself: what is
    in a database are the notes as they lie in one checkout, unpushed ones and sessions among them.
    """
    path = private / ID_FILE
    try:
        if not path.exists():
            with suppress(FileExistsError):  # another process was quicker
                write_atomic(path, f"{secrets.token_hex(8)}\n".encode(), replace=False)
        known = read_regular(path).decode("ascii", "replace").strip()
    except MdmemoryError:
        known = ""  # the path alone
    return Server(dsn, f"{known} {os.path.realpath(private)}")


def use_server(
    server: Server, stamp: str, job: Callable[[Postgres], T],
    otherwise: Callable[[], tuple[T, list[str]]] | None, *, anew: bool = False,
) -> tuple[T, list[str]]:  # fmt: skip
    """What `job` gives, done with the database on the server, and what there is to say about that.

    One that is broken is made anew. Where the server fails, `otherwise` is done, and its failure
    said; without it raises Busy or Unwritable. A job may so be done more than once.
    """
    sentences: list[str] = []
    for attempt in range(3):
        try:
            with closing(Postgres(server, stamp, anew=anew or attempt == 2)) as database:
                return job(database), sentences
        except BrokenError as problem:
            # once more as it is, for another process may just have made it anew
            failure: UnusableError = problem
            sentences = ["The search database on the server was broken: it is made anew."] * attempt
        except UnusableError as problem:
            failure = problem
            break
    sentence = f"The PostgreSQL server {failure}"
    if otherwise is not None:
        result, more = otherwise()
        return result, [f"{sentence}: .mdmemory/search.db serves.", *more]
    if isinstance(failure, LockedError):
        raise Busy(f"{sentence}.", "Try again in a moment.")
    raise Unwritable(f"{sentence}.", 'Check search.dsn, or set search.backend to "sqlite".')


class Postgres(Connected):
    """A Database on a server."""

    def __init__(self, server: Server, stamp: str, *, anew: bool = False) -> None:
        super().__init__(server.dsn, server.schema)
        stamp = f"{SCHEMA_VERSION} {databases.SCHEMA_VERSION} {stamp}"
        try:
            with translate_errors():
                self._make(stamp, _NAMES, anew=anew)
        except BaseException:
            self.close()
            raise

    def _statements(self) -> Iterable[str]:
        shared = databases.shared_tables(number="bigint", bytes="bytea", keyed="")
        return [f"CREATE SCHEMA IF NOT EXISTS {self._place}", *shared, *_TABLES]

    def _stamp(self) -> str | None:
        table = self._rows("SELECT to_regclass('meta')")
        table = table[0][0] and self._rows("SELECT value FROM meta WHERE key = 'stamp'")
        return str(table[0][0]) if table else None

    def count(self, source: str) -> int:
        totals = self._rows("SELECT chunks FROM totals WHERE source = ?", (source,))
        return int(totals[0][0]) if totals else 0

    def _index_words(
        self, source: str, chunks: Mapping[int, Row], *, is_removal: bool = False
    ) -> None:
        texts = ((number, databases.row_fields(row)) for number, row in chunks.items())
        fields = {
            number: [[word[:LONGEST] for word in text[:LONGEST_FIELD].split()] for text in each]
            for number, each in texts
        }
        lengths = {number: sum(map(len, each)) for number, each in fields.items()}
        if not is_removal:  # the server itself takes them out, with the chunks
            rows = [(number, lengths[number], make_vector(each)) for number, each in fields.items()]
            self._run_many("INSERT INTO words VALUES (?, ?, ?)", rows)
        holders = Counter(word for each in fields.values() for word in {*chain(*each)})
        sign = -1 if is_removal else 1
        self._run(
            "INSERT INTO vocabulary AS v SELECT * FROM unnest(?::text[], ?::bigint[])"
            " ON CONFLICT (word) DO UPDATE SET held = v.held + excluded.held",
            ([*holders], [sign * number for number in holders.values()]),
        )
        self._run(
            "INSERT INTO totals AS t VALUES (?, ?, ?) ON CONFLICT (source) DO UPDATE"
            " SET chunks = t.chunks + excluded.chunks, words = t.words + excluded.words",
            (source, sign * len(chunks), sign * sum(lengths.values())),
        )

    def tidy(self) -> None:
        with self._writing():
            self._run("DELETE FROM vocabulary WHERE held <= 0")
        with self._translated():
            (before,) = self._rows("SHOW statement_timeout")[0]
            self._run("SET statement_timeout = 0")
            self._run("VACUUM (ANALYZE) files, chunks, words, vocabulary", seconds=PATIENT)
            self._run("SELECT set_config('statement_timeout', ?, false)", (before,))

    # finding: the server picks what is looked at, by its own rank; the scores are those of bm25, as
    # SQLite has it

    def held(self, term: Term, source: str) -> int:
        query = "SELECT count(*) FROM words WHERE stems @@ ?::tsquery AND chunk BETWEEN ? AND ?"
        return int(self._rows(query, (_any_of(term_phrases(term)), *self._range(source)))[0][0])

    def holding(self, term: Term, source: str, limit: int) -> set[int]:
        query = (
            "SELECT chunk FROM words WHERE stems @@ ?::tsquery AND chunk BETWEEN ? AND ? LIMIT ?"
        )
        values = (_any_of(term_phrases(term)), *self._range(source), limit)
        return {number for (number,) in self._rows(query, values)}

    def having(self, term: Term, among: Collection[int]) -> set[int]:
        # the offset has these few read, and not the index of all words
        query = (
            "SELECT chunk FROM (SELECT chunk, stems, ?::tsquery AS asked FROM words"
            " WHERE chunk = ANY (?) OFFSET 0) AS few WHERE stems @@ asked"
        )
        values = (_any_of(term_phrases(term), _NO_LINK), [*among])
        return {number for (number,) in self._rows(query, values)}

    def best(
        self, terms: Sequence[Term], phrases: Sequence[Term], source: str, limit: int
    ) -> dict[int, float]:
        spellings = [way for term in (*terms, *phrases) for way in term_phrases(term)]
        counts = self._count_holders([*dict.fromkeys(spellings)])
        needed = [[way for way in term_phrases(term) if way in counts] for term in phrases]
        if not counts or not all(needed):
            return {}
        chunks, words = map(int, self._rows("SELECT sum(chunks), sum(words) FROM totals")[0])
        # what a phrase counts, as FTS5 has it: never nothing
        rare = {
            each: max(1e-6, math.log((chunks - count + 0.5) / (count + 0.5)))
            for each, count in counts.items()
        }
        match = " & ".join(f"({_any_of(ways)})" for ways in needed) or _any_of(
            ranking.rarest_terms(((count, each) for each, count in counts.items()), SCANNED)
        )
        # by the server's own rank of each phrase, which knows no rarity
        rank = (
            "(SELECT sum(r * ts_rank(?::real[], stems, q))"
            " FROM unnest(?::text[]::tsquery[], ?::float8[]) AS a (q, r))"
        )
        candidates = self._rows(
            "SELECT chunk FROM words WHERE stems @@ ?::tsquery AND chunk BETWEEN ? AND ?"
            f" ORDER BY {rank} DESC, chunk LIMIT ?",
            (match, *self._range(source), [*_LABEL_WEIGHTS], [each.within() for each in rare],
             [*rare.values()], LOOKED * limit),
        )  # fmt: skip
        lengths, places = self._find_places([number for (number,) in candidates], [*counts])
        scores = {}
        for chunk, length in lengths.items():
            matches = [(rare[each], _phrase_frequency(each, places[chunk])) for each in counts]
            scores[chunk] = _score_bm25(matches, length, words / chunks)
        order = sorted(scores, key=lambda chunk: (-scores[chunk], chunk))
        return {chunk: scores[chunk] for chunk in order[:limit]}

    def _find_places(
        self, chunks: Sequence[int], phrases: Sequence[Phrase]
    ) -> tuple[dict[int, int], dict[int, dict[str, list[int]]]]:
        """The length of each chunk, and where in it the stems of these phrases stand."""
        rows = self._rows(
            "SELECT w.chunk, w.length, u.lexeme, u.positions FROM words w, unnest(w.stems) AS u"
            " WHERE w.chunk = ANY(?) AND (u.lexeme = ANY(?) OR u.lexeme ^@ ANY(?))",
            ([*chunks], [stem for each in phrases for stem in each.stems],
             [each.stems[-1] for each in phrases if each.prefix]),
        )  # fmt: skip
        lengths: dict[int, int] = {}
        places: dict[int, dict[str, list[int]]] = {}
        for chunk, length, word, at in rows:
            lengths[chunk] = length
            places.setdefault(chunk, {})[word] = at
        return lengths, places

    def _count_holders(self, phrases: Sequence[Phrase]) -> dict[Phrase, int]:
        """How many chunks of all hold each phrase; without those that none does."""
        words = [each for each in phrases if len(each.stems) == 1 and not each.prefix]
        query = "SELECT word, held FROM vocabulary WHERE word = ANY(?) AND held > 0"
        holders = dict(self._rows(query, ([each.stems[0] for each in words],)))
        counts = {each: int(holders.get(each.stems[0], 0)) for each in words}
        if others := [each for each in phrases if each not in counts]:
            query = (
                "SELECT (SELECT count(*) FROM words WHERE stems @@ q)"
                " FROM unnest(?::text[]::tsquery[]) WITH ORDINALITY AS a (q, at) ORDER BY at"
            )
            rows = self._rows(query, ([each.within() for each in others],))
            counts |= {each: int(count) for each, (count,) in zip(others, rows, strict=True)}
        return {each: count for each, count in counts.items() if count}

    def similar(self, word: str) -> tuple[str, ...]:
        from mdmemory.text.similarity import LONG, nearest_known

        slips = 2 if len(word) >= LONG else 1
        # hardly anybody misspells the first letter, and it spares reading all the others
        query = (
            "SELECT word FROM vocabulary WHERE word ^@ ? AND held > 0"
            " AND length(word) BETWEEN ? AND ?"
        )
        values = (word[:1], len(word) - slips, len(word) + slips)
        known = self._rows(query, values) if word else []
        return nearest_known(word, [term for (term,) in known])


# --- words as PostgreSQL keeps them (a tsvector) and is asked for them (a tsquery), and bm25. Pure


@dataclass(frozen=True, slots=True)
class Phrase:
    """Stems that stand side by side; `prefix`: the last may go on."""

    stems: tuple[str, ...]
    prefix: bool = False

    def within(self, labels: str = "") -> str:
        """As a part of a tsquery, in all fields or those with these labels alone."""
        words = [f"'{stem}':{labels}" for stem in self.stems]
        words[-1] += "*" if self.prefix else ""
        return f"({' <-> '.join(word.removesuffix(':') for word in words)})"


def term_phrases(term: Term) -> list[Phrase]:
    """The spellings of a term; one without a letter or digit is none."""
    ways = [tuple(word[:LONGEST] for word in _LETTERS.findall(" ".join(way))) for way in term.ways]
    last = len(ways) - 1
    return [Phrase(way, term.prefix and at == last) for at, way in enumerate(ways) if way]


def _any_of(spellings: Iterable[Phrase], labels: str = "") -> str:
    """A tsquery for whatever holds one of these, in fields with these labels alone."""
    return " | ".join(phrase.within(labels) for phrase in spellings)


def make_vector(fields: Sequence[Sequence[str]]) -> str:
    """The stems of each field, with their places, as the text of a tsvector."""
    places: dict[str, list[str]] = {}
    for words, first, last, label in zip(fields, _FIRST, _LAST, _LABELS, strict=True):
        for at, word in enumerate(words, first):
            places.setdefault(word, []).append(f"{min(at, last)}{label}")
    return " ".join(f"'{word}':{','.join(at)}" for word, at in places.items())


def _phrase_frequency(phrase: Phrase, places: Mapping[str, Sequence[int]]) -> float:
    """How often a chunk has a phrase, each time by the weight of the field that it stands in."""
    *before, last = phrase.stems
    ends = set(places.get(last, ()))
    if phrase.prefix:
        ends = {at for word, those in places.items() if word.startswith(last) for at in those}
    for back, word in enumerate(reversed(before), 1):
        ends &= {at + back for at in places.get(word, ())}
    return sum(_WEIGHTS[bisect_right(_FIRST, at) - 1] for at in ends)


def _score_bm25(matches: Iterable[tuple[float, float]], length: int, average: float) -> float:
    """The score of a chunk of `length` words, from the rarity and frequency of what it has."""
    usual = _FREQUENT * (1 - _LONG + _LONG * length / (average or 1))
    return sum(rare * often * (_FREQUENT + 1) / (often + usual) for rare, often in matches if often)
