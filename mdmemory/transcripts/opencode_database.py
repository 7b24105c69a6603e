"""OpenCode's database, opencode.db (SQLite, WAL): read while the client writes, never written.

A reader holds no lock that a writer waits for. Where nobody writes, the database is opened as
immutable, so that not even SQLite's own side files appear beside it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mdmemory.errors import BadTranscript, NotFound
from mdmemory.transcripts.opencode_export import transcript
from mdmemory.transcripts.turns import Transcript, as_text, is_id

if TYPE_CHECKING:  # sqlite3 costs as much to load as the rest of us: only who reads one pays
    from sqlite3 import Connection

MAGIC = b"SQLite format 3\0"
PATIENCE = 2.0  # seconds to wait for a writer that keeps readers out, which OpenCode never does
LIST = "`mdmemory session list` shows those of this project."
_HINT = "`opencode export SESSION > transcript.json` gives the session itself."
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Row:
    """A session as the table lists it; `time` is its last change, milliseconds since 1970."""

    id: str
    parent: str
    directory: str
    time: int


def sessions(path: Path, wanted: Callable[[str], bool]) -> list[tuple[Row, Transcript]]:
    """The sessions whose directory is wanted, each with its turns; not those that another session
    started. Raises BadTranscript, in one sentence, where the database cannot be read."""

    def ask(database: Connection) -> list[tuple[Row, Transcript]]:
        rows = [row for row in _rows(database) if not row.parent and wanted(row.directory)]
        return [(row, transcript(*_exported(database, row.id))) for row in rows]

    return _read(path, ask)


def states(path: Path, wanted: Callable[[str], bool]) -> dict[str, str]:
    """The same sessions, each with a text that is another one where anything of it changed."""
    query = "SELECT count(*), max(time_updated) FROM part WHERE session_id = ?"

    def ask(database: Connection) -> dict[str, str]:
        rows = [row for row in _rows(database) if not row.parent and wanted(row.directory)]
        return {
            row.id: " ".join(map(str, (row.time, *database.execute(query, (row.id,)).fetchone())))
            for row in rows
        }

    return _read(path, ask)


def titles(path: Path, wanted: Callable[[str], bool]) -> list[tuple[str, str]]:
    """Id and title of the same sessions, the newest first; no turn is read."""

    def ask(database: Connection) -> list[tuple[str, str]]:
        found = [row for row in _rows(database) if not row.parent and wanted(row.directory)]
        named = dict(database.execute("SELECT id, title FROM session"))
        newest = sorted(found, key=lambda row: (-row.time, row.id))
        return [(row.id, as_text(named.get(row.id))) for row in newest]

    return _read(path, ask)


def transcripts(path: Path, names: Collection[str]) -> list[tuple[str, Transcript]]:
    """The turns of these sessions; one that is gone is left out."""

    def ask(database: Connection) -> list[tuple[str, Transcript]]:
        there = [row.id for row in _rows(database) if row.id in names]
        return [(name, transcript(*_exported(database, name))) for name in there]

    return _read(path, ask)


def file_state(path: Path) -> str:
    """A text that is the same again only where nobody wrote since; "" where there is no file."""
    found = []
    for each in (path, path.with_name(path.name + "-wal")):
        try:
            status = each.stat()
            found.append(f"{status.st_ino:x} {status.st_size:x} {status.st_mtime_ns:x}")
        except OSError:
            found.append("")
    return " ".join(found) if found[0] else ""


def export(path: Path, session: str = "") -> bytes:
    """A session in the form of `opencode export`, without what has no text in it.

    An empty name stands for the only session there is. Raises NotFound, BadTranscript.
    """

    def ask(database: Connection) -> bytes:
        names = [row.id for row in _rows(database)]
        if not session and len(names) != 1:
            raise BadTranscript(
                f"The database holds {len(names)} sessions, and none was named.", LIST
            )
        if session and session not in names:
            raise NotFound(f"There is no session {session}.", LIST)
        info, messages = _exported(database, session or names[0])
        return json.dumps({"info": info, "messages": messages}).encode()

    return _read(path, ask)


def _rows(database: Connection) -> Iterator[Row]:
    found = database.execute("SELECT id, parent_id, directory, time_updated FROM session")
    for id, parent, directory, time in found:
        if isinstance(id, str) and is_id(id):
            changed = time if isinstance(time, int) else 0
            yield Row(id, as_text(parent), as_text(directory), changed)


def _exported(database: Connection, session: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The two parts of an export. A row that is damaged is passed over."""
    (title, parent) = database.execute(
        "SELECT title, parent_id FROM session WHERE id = ?", (session,)
    ).fetchone()
    messages: dict[str, dict[str, Any]] = {}
    query = "SELECT id, data FROM message WHERE session_id = ? ORDER BY id"
    for id, data in database.execute(query, (session,)):
        info = _object(data)
        if info:
            messages[id] = {"info": {**info, "id": id}, "parts": []}
    # tool output, most of a session's bytes, has no key "text" (in a string its quote is escaped)
    query = (
        "SELECT message_id, data FROM part WHERE session_id = ? AND instr(data, '\"text\"') > 0"
        " ORDER BY id"
    )
    for message, data in database.execute(query, (session,)):
        part = _object(data)
        if part and message in messages:
            messages[message]["parts"].append(part)
    info = {"id": session, "title": as_text(title), "parentID": as_text(parent)}
    return info, list(messages.values())


def _object(data: object) -> Mapping[str, Any]:
    try:
        value = json.loads(data) if isinstance(data, str | bytes) else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


# --- opening ---------------------------------------------------------------------------------


def _read(path: Path, ask: Callable[[Connection], _T]) -> _T:
    import sqlite3

    try:
        before = _state(path)
        if not before.is_written:
            try:
                found = _ask(path, "mode=ro&immutable=1", ask)
            except sqlite3.Error:
                if _state(path) == before:
                    raise
            else:
                if _state(path) == before:
                    return found
            # a writer came meanwhile: what was read may be half old and half new
        return _ask(path, "mode=ro", ask)
    except (sqlite3.Error, OSError) as problem:
        raise BadTranscript(_sentence(path, problem), _HINT) from problem


def _ask(path: Path, mode: str, ask: Callable[[Connection], _T]) -> _T:
    import sqlite3

    address = f"{path.absolute().as_uri()}?{mode}"
    with closing(sqlite3.connect(address, timeout=PATIENCE, uri=True)) as database:
        database.text_factory = lambda data: data.decode("utf-8", "replace")
        database.execute("BEGIN")  # one moment for all queries
        return ask(database)


@dataclass(frozen=True, slots=True)
class _State:
    """What changes when somebody writes: the file, and the files of a writer beside it."""

    file: tuple[int, int, int]
    is_written: bool


def _state(path: Path) -> _State:
    status = path.stat()
    beside = [path.with_name(path.name + suffix) for suffix in ("-wal", "-journal")]
    return _State(
        (status.st_ino, status.st_size, status.st_mtime_ns),
        any(file.exists() and file.stat().st_size > 0 for file in beside),
    )


def _sentence(path: Path, problem: Exception) -> str:
    said = str(problem)
    if "locked" in said or "busy" in said:
        return f"{path.name} is locked by another process."
    if "no such" in said:
        return f"{path.name} has a form that this version does not know ({said})."
    if "not a database" in said or "malformed" in said:
        return f"{path.name} is damaged ({said})."
    return f"{path.name} cannot be read ({said})."
