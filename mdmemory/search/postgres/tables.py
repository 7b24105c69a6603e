"""The tables of the search database in PostgreSQL: a schema of its own for each project.

Nothing is migrated: another version, and all but `embeddings` is made anew.
"""

from __future__ import annotations

from mdmemory.search import schema

SCHEMA_VERSION = 1  # raise it when a table, or what goes into it, takes another shape

NAMES = ("vectors", "chunks", "files", "vocabulary", "totals", "meta")
OUTLIVING = ("embeddings",)  # cost money: dropped only when all is made anew

# `vocabulary` and `totals` are kept along, under the writers' lock: bm25 asks for them, and
# counting millions of chunks for each question would be slow. Both may keep rows that say 0.
TABLES = (
    "CREATE TABLE meta (key text PRIMARY KEY, value text NOT NULL)",
    "CREATE TABLE files (id bigint PRIMARY KEY, source text NOT NULL, file text NOT NULL,"
    " print text NOT NULL, digest bytea NOT NULL, name text NOT NULL, title text NOT NULL,"
    " description text NOT NULL, date text NOT NULL, status text NOT NULL, UNIQUE (source, file))",
    "CREATE TABLE chunks (id bigint PRIMARY KEY, file bigint NOT NULL REFERENCES files (id)"
    ' ON DELETE CASCADE, source text NOT NULL, start integer NOT NULL, "end" integer NOT NULL,'
    " text text NOT NULL, length integer NOT NULL, words tsvector NOT NULL)",
    "CREATE INDEX ON chunks (file)",
    "CREATE INDEX ON chunks USING gin (words)",
    'CREATE TABLE vocabulary (word text COLLATE "C" PRIMARY KEY, held bigint NOT NULL)',
    "CREATE TABLE totals (source text PRIMARY KEY, chunks bigint NOT NULL, words bigint NOT NULL)",
    "CREATE TABLE IF NOT EXISTS embeddings (hash bytea NOT NULL, model text NOT NULL,"
    " vector {vector} NOT NULL, PRIMARY KEY (hash, model))",
    "CREATE TABLE vectors (chunk bigint NOT NULL REFERENCES chunks (id) ON DELETE CASCADE,"
    " model text NOT NULL, hash bytea NOT NULL, PRIMARY KEY (chunk, model))",
    "CREATE INDEX ON vectors (hash)",
)


def statements(vector: str) -> list[str]:
    """What makes an empty database; `vector` is the type of vectors."""
    return [statement.replace("{vector}", vector) for statement in TABLES]


def stamp(of_all: str) -> str:
    """All that the contents depend on beside the files."""
    return f"{SCHEMA_VERSION} {schema.SCHEMA_VERSION} {of_all}"
