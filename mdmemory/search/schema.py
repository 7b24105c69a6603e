"""The tables of a search database, and how a file's words are laid out in the full-text one.

Nothing is migrated: another SCHEMA_VERSION, and the database is made anew.
"""

from __future__ import annotations

import re
import unicodedata

from mdmemory.search.database import Row
from mdmemory.search.results import SESSIONS
from mdmemory.text import dates
from mdmemory.text.search_words import index_text, rule_of
from mdmemory.version import VERSION

SCHEMA_VERSION = 10  # raise it when a table, or what goes into it, takes another shape

# The words go in as stems: the table only has to find the spaces between them.
_TOKENIZE = "content = '', tokenize = 'unicode61 remove_diacritics 0'"
# `words` keeps no text of its own: a row is taken out by giving it the very words that went in,
# which `row_fields` makes again from the other two tables. A vector belongs to a text, not to a
# chunk: embeddings cost money, and outlive all other tables when these take another shape.
SHARED = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL){keyed}",
    "CREATE TABLE files (id {number} PRIMARY KEY, source TEXT NOT NULL, file TEXT NOT NULL,"
    " print TEXT NOT NULL, digest {bytes} NOT NULL, name TEXT NOT NULL, title TEXT NOT NULL,"
    " description TEXT NOT NULL, date TEXT NOT NULL, status TEXT NOT NULL, aliases TEXT NOT NULL,"
    " session TEXT NOT NULL, days TEXT NOT NULL, cites TEXT NOT NULL, UNIQUE (source, file))",
    "CREATE TABLE chunks (id {number} PRIMARY KEY, file {number} NOT NULL REFERENCES files (id)"
    ' ON DELETE CASCADE, start INTEGER NOT NULL, "end" INTEGER NOT NULL, text TEXT NOT NULL)',
    "CREATE INDEX chunks_of_a_file ON chunks (file)",
    "CREATE TABLE vectors (chunk {number} NOT NULL REFERENCES chunks (id) ON DELETE CASCADE,"
    " model TEXT NOT NULL, hash {bytes} NOT NULL, PRIMARY KEY (chunk, model)){keyed}",
    "CREATE TABLE IF NOT EXISTS embeddings (hash {bytes} NOT NULL, model TEXT NOT NULL,"
    " vector {bytes} NOT NULL, PRIMARY KEY (hash, model)){keyed}",
)
OWN = (
    f"CREATE VIRTUAL TABLE words USING fts5 (name, description, body, links, dates, {_TOKENIZE})",
    "INSERT INTO words (words, rank) VALUES ('rank', 'bm25({weights})')",
    "CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row)",
)
NAMES = ("vocabulary", "words", "vectors", "chunks", "files", "meta")
OUTLIVING = ("embeddings",)  # dropped only when all is made anew
# name over description over body; a link says that another note is the answer
WEIGHTS = {"name": 3.0, "description": 2.0, "body": 1.0, "links": 0.05, "dates": 0.5}
_LINK = re.compile(r"\[\[([^\[\]\n|]{1,200})(?:\|[^\[\]\n]*)?\]\]")


def shared_tables(**words: str) -> list[str]:
    """What makes the tables that every database has, by its words for a `number` and for `bytes`,
    and for a table that lies in the order of its key (`keyed`)."""
    return [each.format(**words) for each in SHARED]


def make_statements() -> list[str]:
    """What makes an empty database in SQLite."""
    own = [each.format(weights=", ".join(map(str, WEIGHTS.values()))) for each in OWN]
    return [*shared_tables(number="INTEGER", bytes="BLOB", keyed=" WITHOUT ROWID"), *own]


# All that the contents depend on beside the files and how they are cut: callers add the latter.
STAMP = f"{SCHEMA_VERSION} {VERSION} {unicodedata.unidata_version} " + ",".join(
    map(str, WEIGHTS.values())
)


def row_fields(row: Row) -> tuple[str, ...]:
    """The words of a chunk, a text for each column of the full-text table. Always the same."""
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
