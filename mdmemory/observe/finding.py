"""Observations found by a question: the same words, dates and ranking that notes are found by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from mdmemory.files import digest
from mdmemory.observe import shelf
from mdmemory.observe.observation import Observation
from mdmemory.search import schema, sqlite
from mdmemory.search.answer import Weights, answer
from mdmemory.search.chunks import Chunk
from mdmemory.search.database import Document
from mdmemory.search.found import MEMORY, Found
from mdmemory.search.sqlite import SQLite
from mdmemory.store.state import State

SOURCE = "observations"
FILE = "observations.db"  # beside state.db; derived, and made anew where it is missing


def find(
    state: State, query: str, *, k: int, today: date, weights: Weights | None = None
) -> Found:
    """The best observations for a query. A hit's `file` is its number, as `#12`; its lines are
    those of the observation as it is recalled."""
    if not shelf.count(state):
        return Found("keyword", ())

    def job(database: SQLite) -> Found:
        _update(database, shelf.newest(state, shelf.KEPT))
        return answer(
            database, query, source=MEMORY, k=k, today=today, weights=weights or Weights()
        )

    found, said = sqlite.use(state.path.with_name(FILE), schema.stamp(SOURCE), job)
    hits = tuple(replace(hit, source=SOURCE) for hit in found.hits)
    return replace(found, hits=hits, said=(*said, *found.said))


def forget(state: State) -> None:
    """Take out of the database what is no longer kept."""
    path = state.path.with_name(FILE)
    if path.exists():
        kept = shelf.newest(state, shelf.KEPT)
        sqlite.use(path, schema.stamp(SOURCE), lambda database: _update(database, kept))


def _update(database: SQLite, observations: Sequence[Observation]) -> None:
    """An observation never changes; but after a loss of state.db numbers are given anew."""
    documents = [_document(each) for each in observations]
    known = {file: digest for file, (_, digest) in database.prints(MEMORY).items()}
    fresh = [each for each in documents if known.get(each.file) != each.digest]
    gone = known.keys() - {each.file for each in documents}
    if fresh:
        database.put(fresh)
    if gone:
        database.remove(MEMORY, gone)


def _document(each: Observation) -> Document:
    text = each.text
    return Document(
        MEMORY, f"#{each.id}", "", digest(text.encode("utf-8")), f"#{each.id}", each.draft.title,
        " ".join(each.draft.concepts), each.at[:10], "",
        (Chunk(1, 1 + text.count("\n"), text),),
    )  # fmt: skip
