"""state.db may be lost, corrupt, newer, foreign or full: then work is repeated, and no more."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from pace import HUNG

from mdmemory.errors import NoState
from mdmemory.store import state as states
from mdmemory.store.state import State


def test_what_is_remembered_is_there_after_opening_again(tmp_path: Path) -> None:
    with State(tmp_path / "state.db") as state:
        state.set_watermark("ses_1", "msg_1")
        state.set_watermark("ses_1", "msg_2")
        state.record_pass("2026-06-01T00:00:00+00:00", "applied", {"a.md": "1"})
    with State(tmp_path / "state.db") as state:
        assert state.watermark("ses_1") == "msg_2"
        assert state.watermark("ses_2") is None
        last = state.last_pass()
        assert last is not None
        assert (last.outcome, last.digests) == ("applied", {"a.md": "1"})


@pytest.mark.parametrize("junk", [b"not a database, but long enough" * 40, b"SQLite format 3\0"])
def test_a_corrupt_file_is_moved_aside_with_a_word(tmp_path: Path, junk: bytes) -> None:
    (tmp_path / "state.db").write_bytes(junk)
    told: list[str] = []
    with State(tmp_path / "state.db", told.append) as state:
        assert state.last_pass() is None
        assert state.trouble is None
    assert "corrupt" in told[0]
    assert (tmp_path / "state.db.aside-1").read_bytes() == junk


def test_a_newer_file_is_moved_aside_and_kept(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "state.db")
    database.execute(f"PRAGMA application_id = {states.MARK}")
    database.execute("PRAGMA user_version = 999")
    database.close()
    before, told = (tmp_path / "state.db").read_bytes(), list[str]()
    with State(tmp_path / "state.db", told.append) as state:
        assert state.trouble is None
    assert "newer" in told[0]
    assert (tmp_path / "state.db.aside-1").read_bytes() == before


def test_an_older_file_is_migrated_step_by_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with State(tmp_path / "state.db") as state:
        state.set_watermark("ses", "msg")
    later = (*states.MIGRATIONS, "CREATE TABLE later (x); INSERT INTO later VALUES (1)")
    monkeypatch.setattr(states, "MIGRATIONS", later)
    with State(tmp_path / "state.db") as state:
        assert state.watermark("ses") == "msg"
        assert state.trouble is None
    with closing(sqlite3.connect(tmp_path / "state.db")) as database:
        assert database.execute("SELECT * FROM later").fetchall() == [(1,)]


# --- a file that is not ours ------------------------------------------------------------------


def foreign(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE theirs (x)")
    database.close()


def link(path: Path) -> None:
    foreign(path.with_name("app.db"))
    path.symlink_to("app.db")


def link_to_nothing(path: Path) -> None:
    path.symlink_to("fresh.db")


def second_name(path: Path) -> None:
    foreign(path.with_name("app.db"))
    path.hardlink_to(path.with_name("app.db"))


def linked_side(path: Path) -> None:
    State(path).__exit__()
    path.with_name("state.db-wal").symlink_to("elsewhere")


def linked_journal(path: Path) -> None:
    State(path).__exit__()
    path.with_name("state.db-journal").symlink_to("elsewhere")


def seen(folder: Path) -> dict[str, object]:
    """What lies there, byte for byte."""
    return {
        each.name: _bytes_or_print(each) for each in folder.iterdir() if each.name != ".gitignore"
    }


def _bytes_or_print(path: Path) -> object:
    """Bytes of a file; of anything else what tells it from another, which reading it leaves."""
    if path.is_file() and not path.is_symlink():
        return path.read_bytes()
    state = path.lstat()
    return state.st_mode, state.st_ino, state.st_size, state.st_mtime_ns


@pytest.mark.parametrize(
    "put",
    [foreign, link, link_to_nothing, second_name, linked_side, linked_journal, os.mkfifo, os.mkdir],
)
def test_what_is_not_ours_is_neither_followed_nor_changed(
    tmp_path: Path, put: Callable[[Path], None]
) -> None:
    put(tmp_path / "state.db")
    before, told = seen(tmp_path), list[str]()
    with State(tmp_path / "state.db", told.append) as state:
        state.set_watermark("ses", "msg")
        assert state.watermark("ses") == "msg"
        assert state.trouble is not None
    assert seen(tmp_path) == before
    assert len(told) == 1
    assert "going on without what is remembered there. Move it away: `mv " in told[0]


def test_two_connections_of_a_process_keep_their_file_from_a_third_in_another(
    tmp_path: Path,
) -> None:
    """A handle that is closed drops the locks of its process: whoever comes then would take itself
    for the last one, and remove the log that the first connection goes on writing to."""
    path = tmp_path / ".mdmemory" / "state.db"
    another = (
        "from pathlib import Path\nfrom mdmemory.store.state import State\n"
        f"with State(Path({str(path)!r})) as state:\n    assert state.watermark('ses') == 'first'\n"
    )
    with State(path) as first:
        first.set_watermark("ses", "first")
        with State(path) as second:
            assert second.watermark("ses") == "first"
        subprocess.run([sys.executable, "-c", another], check=True, timeout=HUNG)
        first.set_watermark("ses", "second")
        with State(path) as third:
            assert third.watermark("ses") == "second"
        assert first.trouble is None
    handles = Path("/proc/self/fd")
    if handles.exists():
        names = [os.path.realpath(each) for each in handles.iterdir()]
        assert not [name for name in names if name.startswith(str(tmp_path))]


def test_a_fresh_file_says_that_it_is_ours_whenever_its_process_ends(tmp_path: Path) -> None:
    with State(tmp_path / "state.db"):
        assert (tmp_path / "state.db").read_bytes()[68:72] == b"mdmS"


# --- a file that fails ------------------------------------------------------------------------


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    told: list[str] = []
    with State(tmp_path / "file" / "state.db", told.append) as state:
        assert state.last_pass() is None
    assert len(told) == 1


def test_a_disk_that_fills_up_in_the_middle_of_work_ends_nothing(tmp_path: Path) -> None:
    told: list[str] = []
    with State(tmp_path / "state.db", told.append) as state:
        state.set_watermark("ses", "msg")
        pages = state.rows("PRAGMA page_count")[0][0]
        state.rows(f"PRAGMA max_page_count = {pages}")  # what SQLite then says is "full"
        state.set_watermark("other", "x" * 100_000)
        assert state.watermark("ses") == "msg"
        state.set_watermark("third", "y" * 100_000)
        assert state.watermark("third") == "y" * 100_000
        with pytest.raises(NoState, match="no model is asked"):
            state.begin_call("2026-06-01", "extract", "a model", 10)
    assert [sentence.count("the disk is full") for sentence in told] == [1]


def test_a_defect_of_ours_is_not_taken_for_a_disk_that_fails(tmp_path: Path) -> None:
    with State(tmp_path / "state.db") as state:
        with pytest.raises(sqlite3.OperationalError):
            state.rows("SELECT no_such_column FROM watermark")
        with pytest.raises(sqlite3.OperationalError):
            state.change(("INSERT INTO no_such_table VALUES (1)", ()))
        assert state.trouble is None
