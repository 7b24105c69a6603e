"""How well notes are found: the written corpus, beside a plain full-text table in the same run."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from datetime import date
from typing import Protocol

import pytest
from search.corpus import notes, questions

from mdmemory.files import digest
from mdmemory.search.answer import answer
from mdmemory.search.notes import document
from mdmemory.search.sqlite import SQLite
from mdmemory.store.store import StoredNote, decode
from mdmemory.text.words import STOP


class Finder(Protocol):
    """The names of the notes for a question, best first."""

    def __call__(self, query: str) -> list[str]: ...


ANSWERABLE = ("natural", "known", "chinese")


@pytest.fixture(scope="module")
def ours() -> Iterator[Finder]:
    database = SQLite(None, "x")
    stored = [
        StoredNote(file, digest(text.encode()), decode(text.encode(), file))
        for file, text in notes().items()
    ]
    database.put([document(each, "", False) for each in stored])
    today = date(2026, 6, 12)

    def find(query: str) -> list[str]:
        found = answer(database, query, source="memory", k=5, today=today)
        assert all(0 <= hit.score <= 1 for hit in found.hits)
        return [hit.name for hit in found.hits]

    yield find
    database.close()


@pytest.fixture(scope="module")
def plain() -> Iterator[Finder]:
    """Any of the words that carry meaning, with porter, over the whole note."""
    database = sqlite3.connect(":memory:")
    database.execute(
        "CREATE VIRTUAL TABLE t USING fts5 (name UNINDEXED, text, tokenize = 'porter unicode61')"
    )
    for file, text in notes().items():
        name = file.partition("-")[2].removesuffix(".md")
        database.execute("INSERT INTO t VALUES (?, ?)", (name, text))

    def find(query: str) -> list[str]:
        words = [word for word in re.findall(r"\w+", query.lower()) if word not in STOP]
        match = " OR ".join(f'"{word}"' for word in words)
        rows = "SELECT name FROM t WHERE t MATCH ? ORDER BY rank LIMIT 5"
        return [name for (name,) in database.execute(rows, (match,))]

    yield find
    database.close()


def among_five(find: Finder, *kinds: str) -> float:
    rows = [row for kind in kinds for row in questions(kind)]
    return sum(bool(wanted & {*find(question)}) for question, wanted in rows) / len(rows)


def test_more_is_found_than_a_plain_table_finds(ours: Finder, plain: Finder) -> None:
    assert among_five(ours, *ANSWERABLE) >= among_five(plain, *ANSWERABLE) + 0.03
    assert among_five(ours, *ANSWERABLE) >= 0.95


def test_a_note_is_first_when_it_is_named(ours: Finder) -> None:
    for question, (name,) in questions("known"):
        assert ours(question)[0] == name


def test_chinese_is_found(ours: Finder) -> None:
    assert among_five(ours, "chinese") == 1
