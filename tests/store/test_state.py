"""state.db may be lost, corrupt or newer: then work is repeated, and nothing else happens."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from mdmemory.errors import Unwritable
from mdmemory.store import state as states
from mdmemory.store.state import State


def test_what_is_remembered_is_there_after_opening_again(tmp_path: Path) -> None:
    with State(tmp_path / "state.db") as state:
        state.set_watermark("ses_1", "msg_1")
        state.set_watermark("ses_1", "msg_2")
        state.add_uncommitted({"a.md": "1", "b.md": "2"})
        state.record_pass("2026-06-01T00:00:00+00:00", "applied", {"a.md": "1"})
    with State(tmp_path / "state.db") as state:
        assert state.watermark("ses_1") == "msg_2"
        assert state.watermark("ses_2") is None
        assert state.uncommitted() == {"a.md": "1", "b.md": "2"}
        last = state.last_pass()
        assert last is not None
        assert (last.outcome, last.digests) == ("applied", {"a.md": "1"})
        assert state.warnings == []


@pytest.mark.parametrize("junk", [b"not a database, but long enough" * 40, b"SQLite format 3\0"])
def test_a_corrupt_file_is_moved_aside_with_a_word(tmp_path: Path, junk: bytes) -> None:
    (tmp_path / "state.db").write_bytes(junk)
    with State(tmp_path / "state.db") as state:
        assert state.last_pass() is None
        assert "corrupt" in state.warnings[0]
    assert (tmp_path / "state.db.aside-1").read_bytes() == junk


def test_a_newer_file_is_moved_aside_and_kept(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "state.db")
    database.execute("PRAGMA user_version = 999")
    database.close()
    with State(tmp_path / "state.db") as state:
        assert "newer" in state.warnings[0]
    assert (tmp_path / "state.db.aside-1").exists()


def test_an_older_file_is_migrated_step_by_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with State(tmp_path / "state.db") as state:
        state.set_watermark("ses", "msg")
    later = (*states.MIGRATIONS, "CREATE TABLE later (x); INSERT INTO later VALUES (1)")
    monkeypatch.setattr(states, "MIGRATIONS", later)
    with State(tmp_path / "state.db") as state:
        assert state.watermark("ses") == "msg"
        assert state.warnings == []
    rows = sqlite3.connect(tmp_path / "state.db").execute("SELECT * FROM later").fetchall()
    assert rows == [(1,)]


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(Unwritable):
        State(tmp_path / "file" / "state.db")
