"""OpenCode's database is read while it is written to, and nothing is left behind in its folder."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mdmemory.errors import BadTranscript, NotFound
from mdmemory.transcripts import opencode
from mdmemory.transcripts.opencode import read_export
from mdmemory.transcripts.sources import read

Patch = pytest.MonkeyPatch
DATA = Path(__file__).parents[1] / "capture/data"
EXPORTS = ("work.json", "chinese.json", "damaged.json", "subagent.json", "own.json")


def fill(connection: sqlite3.Connection, export: Path) -> str:
    """Put a session into the tables as the client does; its id. The samples share some ids."""
    held = json.loads(export.read_bytes())
    info = held["info"]
    row = (info["id"], info.get("parentID"), info.get("title", ""), 1780304490000)
    values = "(?, 'p', ?, 'slug', '/repo', ?, '1', 0, ?, NULL)"
    connection.execute(f"INSERT INTO session VALUES {values}", row)
    for message in held["messages"]:
        about = message.get("info") if isinstance(message, dict) else None
        if not isinstance(about, dict) or not isinstance(about.get("id"), str):
            continue
        data = {key: value for key, value in about.items() if key not in ("id", "sessionID")}
        row = (about["id"], info["id"], json.dumps(data))
        connection.execute("INSERT OR IGNORE INTO message VALUES (?, ?, 0, 0, ?)", row)
        parts = message.get("parts")
        for number, part in enumerate(parts if isinstance(parts, list) else []):
            row = (f"{about['id']}-{number:03}", about["id"], info["id"], json.dumps(part))
            connection.execute("INSERT OR IGNORE INTO part VALUES (?, ?, ?, 0, 0, ?)", row)
    return str(info["id"])


def make(path: Path, *exports: str, journal: str = "WAL") -> list[str]:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.executescript((DATA / "opencode.sql").read_text(encoding="utf-8"))
        return [fill(connection, DATA / export) for export in exports]


def change(path: Path, *statements: str, **values: object) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement, values)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "opencode.db"


@pytest.fixture
def writer(path: Path) -> Iterator[sqlite3.Connection]:
    """The client at work: a connection that stays open, with pages that are only in the log."""
    make(path)
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as connection:
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        fill(connection, DATA / "work.json")
        yield connection


@pytest.mark.parametrize("name", EXPORTS)
def test_database_and_export_of_a_session_give_the_same_turns(path: Path, name: str) -> None:
    (session,) = make(path, name)
    assert read(path, session) == read_export((DATA / name).read_bytes())
    assert read(path) == read(path, session), "the only session needs no name"


def test_one_of_many_sessions_is_named(path: Path) -> None:
    make(path, "work.json", "chinese.json")
    with pytest.raises(BadTranscript, match="holds 2 sessions"):
        read(path)
    with pytest.raises(NotFound, match="no session ses_gone"):
        read(path, "ses_gone")
    with pytest.raises(BadTranscript, match="database, which holds many"):
        read(path.read_bytes())


def test_a_writer_in_a_change_neither_waits_nor_shows_it(
    path: Path, writer: sqlite3.Connection
) -> None:
    assert len(read(path).turns) == 8, "what is not yet moved into the file is read"
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("DELETE FROM part")
    assert len(read(path).turns) == 8
    writer.execute("COMMIT")
    assert read(path).turns == ()


def test_a_reader_holds_up_no_writer(path: Path, writer: sqlite3.Connection) -> None:
    def wanted(directory: str) -> bool:
        writer.execute("UPDATE session SET title = title || '!'")  # fails at once when locked
        return True

    ((_, transcript),) = opencode.list_sessions(path, wanted)
    assert not transcript.title.endswith("!"), "one reading sees one moment"


@pytest.mark.parametrize("journal", ["WAL", "DELETE"])
def test_a_database_at_rest_is_left_exactly_as_it_is(path: Path, journal: str) -> None:
    make(path, "work.json", journal=journal)
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    assert len(read(path).turns) == 8
    assert list(path.parent.iterdir()) == [path]
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_a_database_that_may_not_be_written_is_read(path: Path) -> None:
    make(path, "work.json")
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        assert len(read(path).turns) == 8
    finally:
        path.parent.chmod(0o700)


def test_a_writer_who_comes_while_it_is_read_is_noticed(path: Path, monkeypatch: Patch) -> None:
    make(path, "work.json")
    modes: list[str] = []
    ask = opencode._ask

    def slowly(path: Path, mode: str, question: Any) -> object:
        modes.append(mode)
        found = ask(path, mode, question)
        if len(modes) == 1:
            change(path, "UPDATE session SET title = 'new'")
        return found

    monkeypatch.setattr(opencode, "_ask", slowly)
    assert read(path).title == "new"
    assert modes == ["mode=ro&immutable=1", "mode=ro"]


def test_a_database_that_is_locked_is_one_sentence(path: Path, monkeypatch: Patch) -> None:
    make(path, "work.json", journal="DELETE")
    monkeypatch.setattr(opencode, "PATIENCE", 0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for begun in ("PRAGMA cache_size = 1", "BEGIN EXCLUSIVE", "UPDATE session SET title = 'x'"):
            connection.execute(begun)
        with pytest.raises(BadTranscript, match=r"^opencode.db is locked by another process\.$"):
            read(path)
        connection.execute("ROLLBACK")


@pytest.mark.parametrize(
    ("altered", "says"),
    [
        ("DROP TABLE part", "no such table: part"),
        ("DROP TABLE session", "no such table: session"),
        ("ALTER TABLE session RENAME COLUMN directory TO place", "no such column: directory"),
        ("ALTER TABLE message RENAME COLUMN data TO content", "no such column: data"),
    ],
)
def test_tables_of_another_version_are_one_sentence(path: Path, altered: str, says: str) -> None:
    make(path, "work.json")
    change(path, "PRAGMA foreign_keys = OFF", altered)
    with pytest.raises(BadTranscript, match=says) as refused:
        read(path)
    assert "opencode export" in refused.value.hint


def test_tables_that_grew_are_read(path: Path) -> None:
    make(path, "work.json")
    more = "ALTER TABLE session ADD COLUMN mood text", "CREATE TABLE session_message (id text)"
    change(path, *more)
    assert len(read(path).turns) == 8


@pytest.mark.parametrize(
    "data", ["", "{", "[]", "null", "3", b"\xff\xfe", '{"role": 7}', '{"role": "user"}', "[" * 9999]
)
def test_a_damaged_row_is_passed_over(path: Path, data: object) -> None:
    make(path, "work.json")
    more = "INSERT INTO message VALUES ('msg_011', 'ses_1a2b3c', 0, 0, :data)"
    change(path, more, "UPDATE part SET data = :data WHERE message_id = 'msg_001'", data=data)
    assert len(read(path).turns) == 7


def test_text_that_is_no_utf8_is_still_read(path: Path) -> None:
    make(path, "work.json")
    part = b'{"type": "text", "text": "remember: a \xff b"}'
    update = "UPDATE part SET data = CAST(:part AS TEXT) WHERE message_id = 'msg_001'"
    change(path, update, part=part)
    assert read(path).turns[0].text == "remember: a \ufffd b"


def test_damage_anywhere_in_the_file_is_a_sentence_or_fewer_turns(path: Path) -> None:
    make(path, "work.json")
    whole = path.read_bytes()
    sentences: list[str] = []
    for at in range(100, len(whole), 997):
        path.write_bytes(whole[:at] + b"\xa5" * 400 + whole[at + 400 :])
        try:
            assert len(read(path).turns) <= 8
        except (BadTranscript, NotFound) as refused:
            sentences.append(refused.message)
    assert sentences
    assert not any("\n" in sentence for sentence in sentences)
    for size in (16, 100, 4096, len(whole) - 4096):
        path.write_bytes(whole[:size])
        with pytest.raises((BadTranscript, NotFound)):
            read(path)
