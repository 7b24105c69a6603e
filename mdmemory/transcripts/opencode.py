"""OpenCode's sessions: its database (SQLite, WAL), and the JSON of `opencode export`.

The database is read while the client writes, and never written. A reader holds no lock that a
writer waits for; where nobody writes, SQLite opens it as immutable and makes no files beside it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mdmemory.errors import BadTranscript, NotFound
from mdmemory.transcripts.turns import ROLES, Transcript, Turn, as_text, clean, is_id, is_ours

if TYPE_CHECKING:  # sqlite3 costs as much to load as the rest of us: only who reads one pays
    from sqlite3 import Connection

MAGIC = b"SQLite format 3\0"
PATIENCE = 2.0  # seconds to wait for a writer that keeps readers out, which OpenCode never does
LIST = "`mdmemory session` shows those of this project."
HINT = "Make one with `opencode export SESSION > transcript.json`."
_HINT = "`opencode export SESSION > transcript.json` gives the session itself."
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class OpenCodeSession:
    """A row of the table `session`; `time` is its last change, milliseconds since 1970."""

    id: str
    time: int
    parent: str
    directory: str
    title: str
    revert: str  # JSON: from where on the person took messages back


# --- the database


def list_sessions(
    path: Path, wanted: Callable[[str], bool], newest: int | None = None
) -> list[tuple[OpenCodeSession, Transcript]]:
    """The sessions whose directory is wanted, with their turns, without those of sub-agents and
    empty ones: the `newest`, or all. Raises BadTranscript where the database cannot be read.
    """

    def ask(database: Connection) -> list[tuple[OpenCodeSession, Transcript]]:
        rows = sorted(_select_rows(database, wanted), key=lambda row: (-row.time, row.id))
        pairs = ((row, build_transcript(*_export_rows(database, row))) for row in rows)
        return [*islice((pair for pair in pairs if pair[1].turns), newest)]

    return _read(path, ask)


def read_states(path: Path, wanted: Callable[[str], bool]) -> dict[str, str]:
    """A text for each of these sessions that differs after any change to it."""
    query = "SELECT count(*), max(time_updated) FROM part WHERE session_id = ?"

    def ask(database: Connection) -> dict[str, str]:
        return {
            row.id: " ".join(map(str, (row.time, *database.execute(query, (row.id,)).fetchone())))
            for row in _select_rows(database, wanted)
        }

    return _read(path, ask)


def find_session(path: Path, session: str) -> OpenCodeSession | None:
    """The row of a session; None where it is not in a database there. Raises BadTranscript."""
    if not path.is_file():
        return None
    return _read(path, lambda base: next((row for row in _list(base) if row.id == session), None))


def read_transcripts(path: Path, names: Collection[str]) -> list[tuple[str, Transcript]]:
    """The turns of these sessions; unknown ones are skipped."""

    def ask(database: Connection) -> list[tuple[str, Transcript]]:
        there = [row for row in _list(database) if row.id in names]
        return [(row.id, build_transcript(*_export_rows(database, row))) for row in there]

    return _read(path, ask)


def export(path: Path, session: str = "") -> bytes:
    """A session in the form of `opencode export`, without what has no text in it.

    An empty name stands for the only session there is. Raises NotFound, BadTranscript.
    """

    def ask(database: Connection) -> bytes:
        rows = {row.id: row for row in _list(database)}
        if not session and len(rows) != 1:
            raise BadTranscript(f"The database holds {len(rows)} sessions: name one.", LIST)
        row = rows.get(session) if session else next(iter(rows.values()))
        if row is None:
            raise NotFound(f"There is no session {session}.", LIST)
        info, messages = _export_rows(database, row)
        return json.dumps({"info": info, "messages": messages}).encode()

    return _read(path, ask)


def file_state(path: Path) -> str:
    """A text that differs after anybody wrote to the database; "" where there is no file."""
    states = []
    for each in (path, path.with_name(path.name + "-wal")):
        try:
            status = each.stat()
            states.append(f"{status.st_ino:x} {status.st_size:x} {status.st_mtime_ns:x}")
        except OSError:
            states.append("")
    return " ".join(states) if states[0] else ""


def _list(database: Connection) -> Iterator[OpenCodeSession]:
    columns = "id, time_updated, parent_id, directory, title"
    there = database.execute("SELECT name FROM pragma_table_info('session')")
    columns += ", revert" if ("revert",) in there else ", ''"  # older clients have none
    for id, time, *texts in database.execute(f"SELECT {columns} FROM session"):
        if isinstance(id, str) and is_id(id):
            yield OpenCodeSession(id, time if isinstance(time, int) else 0, *map(as_text, texts))


def _select_rows(database: Connection, wanted: Callable[[str], bool]) -> list[OpenCodeSession]:
    return [row for row in _list(database) if not row.parent and wanted(row.directory)]


def _export_rows(
    database: Connection, session: OpenCodeSession
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The two parts of an export. A row that is damaged is passed over."""
    messages: dict[str, dict[str, Any]] = {}
    query = "SELECT id, data FROM message WHERE session_id = ? ORDER BY id"
    for id, data in database.execute(query, (session.id,)):
        info = _parse_object(data)
        if info:
            messages[id] = {"info": {**info, "id": id}, "parts": []}
    # tool output, most of a session's bytes, has no key "text" (in a string its quote is escaped)
    query = (
        "SELECT message_id, data FROM part WHERE session_id = ? AND instr(data, '\"text\"') > 0"
        " ORDER BY id"
    )
    for message, data in database.execute(query, (session.id,)):
        part = _parse_object(data)
        if part and message in messages:
            messages[message]["parts"].append(part)
    info = {"id": session.id, "title": session.title, "parentID": session.parent}
    return {**info, "revert": _parse_object(session.revert)}, list(messages.values())


def _parse_object(data: object) -> Mapping[str, Any]:
    try:
        value = json.loads(data) if isinstance(data, str | bytes) else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _read(path: Path, ask: Callable[[Connection], _T]) -> _T:
    import sqlite3

    before = file_state(path)

    def is_at_rest() -> bool:
        # while somebody writes, files of their own lie beside the database
        beside = (path.with_name(path.name + suffix) for suffix in ("-wal", "-journal"))
        is_written = any(file.exists() and file.stat().st_size > 0 for file in beside)
        return not is_written and file_state(path) == before

    try:
        if is_at_rest():
            try:
                answer = _ask(path, "mode=ro&immutable=1", ask)
            except sqlite3.Error:
                if is_at_rest():
                    raise
            else:
                if is_at_rest():
                    return answer
            # a writer came meanwhile: the answer may be half old and half new
        return _ask(path, "mode=ro", ask)
    except (sqlite3.Error, OSError) as problem:
        raise BadTranscript(_explain_error(path, problem), _HINT) from problem


def _ask(path: Path, mode: str, ask: Callable[[Connection], _T]) -> _T:
    import sqlite3

    address = f"{path.absolute().as_uri()}?{mode}"
    with closing(sqlite3.connect(address, timeout=PATIENCE, uri=True)) as database:
        database.text_factory = lambda data: data.decode("utf-8", "replace")
        database.execute("BEGIN")  # one moment for all queries
        return ask(database)


def _explain_error(path: Path, problem: Exception) -> str:
    reason = str(problem)
    if "locked" in reason or "busy" in reason:
        return f"{path.name} is locked by another process."
    if "no such" in reason:
        return f"{path.name} has a form that this version does not know ({reason})."
    if "not a database" in reason or "malformed" in reason:
        return f"{path.name} is damaged ({reason})."
    return f"{path.name} cannot be read ({reason})."


# --- an export


def read_export(data: bytes) -> Transcript:
    """The turns of an export; a message or part with a wrong shape is skipped.

    Synthetic and ignored parts, tool output, reasoning, compaction and what the person took back
    give no turns; sub-agents' and mdmemory's own sessions have none. Raises BadTranscript for
    anything else.
    """
    try:
        text = data.decode("utf-8-sig")
        value: object = json.loads(text)
    except UnicodeDecodeError as error:
        raise BadTranscript("The transcript is not UTF-8 text.", HINT) from error
    except json.JSONDecodeError as error:
        if text.lstrip().startswith("{") and error.pos >= len(text.rstrip()) - 1:
            raise BadTranscript("The transcript is cut off before its end.", HINT) from error
        if text.lstrip().startswith("{") and error.msg.startswith("Unterminated string"):
            raise BadTranscript("The transcript is cut off in a string.", HINT) from error
        where = f"line {error.lineno}: {error.msg}"
        raise BadTranscript(f"The transcript is not JSON ({where}).", HINT) from error
    except (RecursionError, ValueError) as error:
        raise BadTranscript("The transcript is JSON that cannot be read.", HINT) from error
    if isinstance(value, dict):
        info, messages = value.get("info"), value.get("messages")
        if isinstance(info, dict) and isinstance(messages, list):
            return build_transcript(info, messages)
    raise BadTranscript("The transcript has no `info` and `messages`.", HINT)


def build_transcript(info: Mapping[str, object], messages: Sequence[object]) -> Transcript:
    """The turns of a session, given as an export's two parts. Raises BadTranscript without id."""
    session = as_text(info.get("id"))
    if not is_id(session):
        raise BadTranscript("The transcript names no session (info.id).", HINT)
    title, parent = as_text(info.get("title")), as_text(info.get("parentID"))
    if parent or is_ours(title):
        return Transcript(session, title, parent, ())
    # the time in an id has 36 bits of milliseconds and begins anew every two years
    pairs = sorted(filter(None, map(_turn, messages)), key=lambda pair: (pair[0].time, pair[0].id))
    # time and id of the first message that the person took back. They may take them up again:
    # until the next message the client keeps them
    revert = info.get("revert")
    revert, end = revert if isinstance(revert, dict) else {}, None
    for each in messages if revert else ():
        first = each.get("info") if isinstance(each, dict) else None
        if isinstance(first, dict) and first.get("id") == revert.get("messageID"):
            # of a message that is taken back in part, the words before stay
            end = _time_of(first.get("time")), f"{first['id']}{'~' if 'partID' in revert else ''}"
            break
    current = [pair for pair in pairs if end is None or (pair[0].time, pair[0].id) < end]
    turns = tuple(turn for turn, is_summary in current if not is_summary)
    return Transcript(
        session, title, parent, turns, tuple(turn for turn, is_summary in current if is_summary),
        {turn.id: len(turns) for turn, _ in pairs[len(current) :]},
    )  # fmt: skip


def _turn(message: object) -> tuple[Turn, bool] | None:
    """The turn of a message, and whether it is a compaction's summary; None if nobody speaks."""
    if not isinstance(message, dict):
        return None
    info, parts = message.get("info"), message.get("parts")
    if not isinstance(info, dict) or not isinstance(parts, list):
        return None
    name, role = as_text(info.get("id")), info.get("role")
    if not is_id(name) or not isinstance(role, str) or role not in ROLES:
        return None
    spoken = "\n\n".join(filter(None, map(_read_spoken, parts)))
    text = clean(_unquote(spoken) if role == "user" else spoken)
    # On a user's message `summary` is an object of diffs: only `true` marks a compaction.
    is_summary = info.get("summary") is True or info.get("mode") == "compaction"
    return (Turn(name, role, text, _time_of(info.get("time"))), is_summary) if text else None


def _read_spoken(part: object) -> str:
    if not isinstance(part, dict) or part.get("type") != "text":
        return ""
    if part.get("synthetic") or part.get("ignored"):
        return ""
    metadata = part.get("metadata")
    if isinstance(metadata, dict) and metadata.get("compaction_continue"):
        return ""
    return as_text(part.get("text"))


def _time_of(time: object) -> int:
    created = time.get("created") if isinstance(time, dict) else None
    return created if isinstance(created, int) and not isinstance(created, bool) else 0


def _unquote(text: str) -> str:
    """What was typed: `opencode run "two words"` hands its argument on with the quotes."""
    typed = text.strip()
    if len(typed) > 1 and typed[0] == typed[-1] == '"' and not re.search(r'(?<!\\)"', typed[1:-1]):
        return typed[1:-1].replace('\\"', '"')
    return text
