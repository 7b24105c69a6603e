"""The search database in SQLite: `.mdmemory/search.db`, or one in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar

from mdmemory.errors import Busy, MdmemoryError, Unwritable
from mdmemory.search import schema
from mdmemory.search.database import BrokenError, Document, LockedError, UnusableError
from mdmemory.search.query import Term
from mdmemory.search.sqlite_file import SQLiteFile
from mdmemory.search.tables import marks, numbers

T = TypeVar("T")


def use(
    path: Path | None, stamp: str, job: Callable[[SQLite], T], *, must: bool = False,
    anew: bool = False,
) -> tuple[T, list[str]]:  # fmt: skip
    """What `job` gives, done with the database at `path`, and what there is to say about that.

    A database that is broken is moved aside and made anew; where there can be none (or `path` is
    None), the job is done with one in memory, which it fills first. A job may so be done twice.
    With `must` only the file will do: raises Busy or Unwritable. `anew` empties it first.
    """
    said: list[str] = []
    for _ in range(2 if path else 0):
        assert path is not None
        try:
            with closing(SQLite(path, stamp, anew=anew)) as database:
                return job(database), said
        except BrokenError:
            aside = _move_aside(path)
            said.append(f"{path.name} was broken: it is made anew, and the old one is {aside}.")
        except UnusableError as problem:
            if must:
                raise _refusal(path, problem) from problem
            said.append(f"{path} {problem}: everything is read anew for this search.")
            break
    with closing(SQLite(None, stamp)) as database:
        return job(database), said


def _refusal(path: Path, problem: UnusableError) -> MdmemoryError:
    if isinstance(problem, LockedError):
        return Busy(f"{path} {problem}.", "Try again in a moment.")
    return Unwritable(f"{path} {problem}.", "Check the file and its folder.")


def _move_aside(path: Path) -> str:
    aside = path.with_name(f"{path.name}.aside")  # one is enough: there is nothing to save in it
    with suppress(OSError):
        os.replace(path, aside)
    for suffix in ("-wal", "-shm"):
        with suppress(OSError):
            os.unlink(f"{path}{suffix}")
    return aside.name


class SQLite(SQLiteFile):
    """A `Database`."""

    def put(self, documents: Sequence[Document]) -> None:
        with self._writing():
            self._touch()
            for document in documents:
                self._take_out(document.source, [document.file])
                row = (*document[:3], bytes.fromhex(document.digest), *document.about)
                query = f"INSERT INTO files VALUES (NULL{', ?' * len(row)})"
                self._add_chunks(self._run(query, row).lastrowid, document)

    def _add_chunks(self, file: int, document: Document) -> None:
        for number, chunk in enumerate(document.chunks, self._last(document.source) + 1):
            self._run("INSERT INTO chunks VALUES (?, ?, ?, ?, ?)", (number, file, *chunk))
            self._run(
                "INSERT INTO words (rowid, name, description, body, links, dates)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (number, *schema.fields(document.row(chunk))),
            )

    def _take_out(self, source: str, files: Sequence[str]) -> None:
        for file in files:
            found = self._rows("SELECT id FROM files WHERE source = ? AND file = ?", (source, file))
            chunks = self._rows("SELECT id FROM chunks WHERE file = ?", found[0]) if found else []
            self._run_many(
                "INSERT INTO words (words, rowid, name, description, body, links, dates)"
                " VALUES ('delete', ?, ?, ?, ?, ?, ?)",
                [(number, *schema.fields(row))
                 for number, row in self.rows([number for (number,) in chunks]).items()],
            )  # fmt: skip
            self._run_many("DELETE FROM files WHERE id = ?", found)

    def tidy(self) -> None:
        with self._writing():
            self._run("INSERT INTO words (words) VALUES ('optimize')")
        with self._reading():
            self._run("VACUUM")  # a third of the file is free pages by then

    # finding

    def held(self, term: Term, source: str) -> int:
        query = "SELECT count(*) FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
        with self._reading() as rows:
            return int(rows(query, (_said(term), *numbers(source)))[0][0])

    def holding(self, term: Term, source: str, limit: int) -> set[int]:
        query = "SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?"
        with self._reading() as rows:
            return {number for (number,) in rows(query, (_said(term), *numbers(source), limit))}

    def having(self, term: Term, among: Collection[int], *, head: bool = False) -> set[int]:
        # the plus sign has all chunks with the term read once, and not the table asked for each
        query = f"SELECT rowid FROM words WHERE words MATCH ? AND +rowid IN ({marks(among)})"
        where = "{name description}" if head else "- links"
        with self._reading() as rows:
            return {number for (number,) in rows(query, (f"{where} : {_said(term)}", *among))}

    def best(
        self, terms: Sequence[Term], phrases: Sequence[Term], source: str, limit: int
    ) -> dict[int, float]:
        match = " OR ".join(map(_said, (*terms, *phrases)))
        for phrase in phrases:
            match = f"({match}) AND {_said(phrase)}"
        query = (
            "SELECT rowid, -rank FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
            " ORDER BY rank, rowid LIMIT ?"
        )
        with self._reading() as rows:
            return dict(rows(query, (match, *numbers(source), limit)))

    def similar(self, word: str) -> tuple[str, ...]:
        from mdmemory.text.similarity import nearest

        query = "SELECT term FROM vocabulary WHERE term >= ? AND term < ?"
        with self._reading() as rows:
            # hardly anybody misspells the first letter, and it spares reading all the others
            known = [term for (term,) in rows(query, (word[0], chr(ord(word[0]) + 1)))]
        return nearest(word, known)


def _said(term: Term) -> str:
    """A term in the words of the full-text table: in quotes, so that nothing in it is syntax."""
    ways = [f'"{" ".join(way)}"' for way in term.ways]
    if term.prefix:
        ways[-1] += " *"
    return f"({' OR '.join(ways)})"
