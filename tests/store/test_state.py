"""state.db may be lost, corrupt, newer, foreign or full: then work is repeated, and no more."""

import os
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import pytest
from pace import HUNG

from mdmemory.errors import NoState, NoStore
from mdmemory.store import sights
from mdmemory.store import state as states
from mdmemory.store.sights import Sight
from mdmemory.store.state import State

Patch = pytest.MonkeyPatch


def test_what_is_remembered_is_there_after_opening_again(tmp_path: Path) -> None:
    with State(tmp_path / "state.db") as state:
        state.set_watermark("ses_1", "msg_1")
        state.set_watermark("ses_1", "msg_2")
        state.record_pass("2026-06-01T00:00:00+00:00", "applied", {"a.md": "1"})
    with State(tmp_path / "state.db") as state:
        assert state.watermark("ses_1") == "msg_2"
        assert state.watermark("ses_2") is None
        last = state.last_pass()
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


def test_an_older_file_is_migrated_step_by_step(tmp_path: Path, monkeypatch: Patch) -> None:
    with State(tmp_path / "state.db") as state:
        state.set_watermark("ses", "msg")
    later = (*states.MIGRATIONS, "CREATE TABLE later (x); INSERT INTO later VALUES (1)")
    monkeypatch.setattr(states, "MIGRATIONS", later)
    with State(tmp_path / "state.db") as state:
        assert state.watermark("ses") == "msg"
        assert state.trouble is None
    with closing(sqlite3.connect(tmp_path / "state.db")) as database:
        assert database.execute("SELECT * FROM later").fetchall() == [(1,)]


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


# In a process that lives on, a folder is looked at again when it changed, and only then.

linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux alone tells of changes")


@pytest.fixture
def _watching() -> Iterator[None]:
    with sights.watch_folders():
        yield


@pytest.fixture
def watched(tmp_path: Path) -> Path:
    (store := tmp_path / "store").mkdir()
    (store / "user-tea.md").write_text("tea", encoding="utf-8")
    (store / "MEMORY.md").write_text("index", encoding="utf-8")
    return store


def sighted(watched: Path) -> Sight:
    """What a command sees."""
    return sights.take_sight(watched, None)


def replaced(path: Path) -> None:
    (path.parent / "fresh").write_text("other", encoding="utf-8")
    os.replace(path.parent / "fresh", path)


def appended(path: Path) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write("!")


CHANGES: dict[str, Callable[[Path], object]] = {
    "written": lambda path: path.write_text("more", encoding="utf-8"),
    "appended to": appended,
    "replaced": replaced,
    "removed": lambda path: path.unlink(),
    "renamed": lambda path: path.rename(path.with_name("user-coffee.md")),
    "given another time": lambda path: os.utime(path, (1, 1)),
    "given other rights": lambda path: path.chmod(0o600),
    "joined by another": lambda path: path.with_name("user-milk.md").touch(),
    "taken along with its folder": lambda path: path.parent.rename(path.parent.with_name("old")),
}


@pytest.mark.usefixtures("_watching")
@linux
@pytest.mark.parametrize("name", ["user-tea.md", "MEMORY.md"])
@pytest.mark.parametrize("how", CHANGES)
def test_no_change_of_a_watched_folder_is_missed(watched: Path, how: str, name: str) -> None:
    first = sighted(watched)
    assert sighted(watched) is first, "nothing changed"
    CHANGES[how](watched / name)
    if not watched.exists():
        watched.mkdir()
    second = sighted(watched)
    assert second is not first
    assert second.seal != first.seal
    assert sighted(watched) is second, "nothing changed again"
    (watched / "user-late.md").touch()
    assert "user-late.md" in sighted(watched).files


@pytest.mark.usefixtures("_watching")
@linux
def test_what_changes_during_the_look_is_seen_by_the_next(
    watched: Path, monkeypatch: Patch
) -> None:
    (watched / "user-milk.md").touch()
    others = sights.other_states

    def late(watched: Path) -> tuple[str, int]:
        (watched / "user-milk.md").unlink(missing_ok=True)
        return others(watched)

    monkeypatch.setattr(sights, "other_states", late)
    assert "user-milk.md" in sighted(watched).files
    assert "user-milk.md" not in sighted(watched).files


@pytest.mark.usefixtures("_watching")
@linux
def test_threads_that_look_at_once_all_see_what_changed_before(watched: Path) -> None:
    def look(number: int) -> bool:
        (watched / f"user-{number}.md").touch()
        return f"user-{number}.md" in sighted(watched).files

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(look, range(200)))
    assert len(sighted(watched).files) == 201


@pytest.mark.usefixtures("_watching")
@linux
def test_a_look_that_failed_forgets_nothing_that_was_told(
    watched: Path, monkeypatch: Patch
) -> None:
    sighted(watched)
    (watched / "user-milk.md").touch()
    with monkeypatch.context() as patched:
        patched.setattr(os, "open", lambda *_: (_ for _ in ()).throw(OSError(5, "no luck")))
        with pytest.raises(NoStore):
            sighted(watched)
    assert "user-milk.md" in sighted(watched).files


@pytest.mark.usefixtures("_watching")
@linux
def test_what_is_none_of_ours_ends_nothing(watched: Path) -> None:
    first = sighted(watched)
    (watched / "README.md").touch()
    (watched / "draft.txt").touch()
    assert sighted(watched) is first


@pytest.mark.usefixtures("_watching")
@linux
def test_the_clock_goes_on_while_nothing_changes(watched: Path) -> None:
    private = watched.parent / "private"
    private.mkdir()
    first = sights.take_sight(watched, private / "catalog")
    before = first.clock
    time.sleep(0.02)  # a tick of the file system's clock
    assert sights.take_sight(watched, private / "catalog") is first
    assert first.clock > before


@pytest.mark.usefixtures("_watching")
@linux
def test_a_note_with_another_name_elsewhere_is_looked_at_each_time(watched: Path) -> None:
    os.link(watched / "user-tea.md", watched.parent / "elsewhere")
    first = sighted(watched)
    (watched.parent / "elsewhere").write_text("longer than before", encoding="utf-8")
    assert sighted(watched).seal != first.seal


@pytest.mark.usefixtures("_watching")
@linux
def test_what_was_seen_holds_for_some_minutes_at_most(watched: Path, monkeypatch: Patch) -> None:
    first = sighted(watched)
    monkeypatch.setattr(first, "_until", 0.0)
    assert sighted(watched) is not first


@pytest.mark.usefixtures("_watching")
@pytest.mark.parametrize("kind", [0, 0x6969, 0x65735546, 0x01021997])  # NFS, FUSE, 9p
def test_a_folder_that_others_can_change_unseen_is_looked_at_each_time(
    watched: Path, monkeypatch: Patch, kind: int
) -> None:
    monkeypatch.setattr(sights, "_file_system", lambda *_: kind)
    assert sighted(watched) is not sighted(watched)


def test_a_command_watches_nothing(watched: Path) -> None:
    assert sighted(watched) is not sighted(watched)
    assert not sights._watches


@linux
def test_where_the_watching_ends_nothing_is_held_or_open(watched: Path) -> None:
    before = os.listdir("/proc/self/fd")
    with sights.watch_folders():
        sighted(watched)
        assert sighted(watched) is sighted(watched)
    assert len(os.listdir("/proc/self/fd")) == len(before)
    assert sighted(watched) is not sighted(watched)


NAMES = ["user-a.md", "user-b.md", "user-ü.md", "MEMORY.md", "_MORE.md", ".hidden.md", "user-z.md"]


@pytest.mark.usefixtures("_watching")
@linux
@pytest.mark.parametrize("seed", range(5))
def test_what_is_seen_after_some_changes_is_what_a_look_at_all_sees(
    watched: Path, seed: int
) -> None:
    dice = random.Random(seed)
    sighted(watched)
    for turn in range(60):
        if turn == 50 and (watched / "user-tea.md").exists():
            os.link(watched / "user-tea.md", watched / "user-twin.md")
        for _ in range(dice.choice((0, 1, 3))):
            path = watched / dice.choice(NAMES)
            change = dice.choice(
                (path.touch, *(partial(how, path) for how in [*CHANGES.values()][:-1]),
                 partial(path.mkdir, exist_ok=True), path.rmdir, partial(path.symlink_to, "tea"))
            )  # fmt: skip
            with suppress(OSError):
                change()
        sight = sights.take_sight(watched, None)
        whole = sights._see_folder(watched, 0)
        assert (sight.files, sight.prints, sight.times) == (whole.files, whole.prints, whole.times)
        assert sight.seal == whole.seal


@pytest.mark.usefixtures("_watching")
@linux
def test_only_what_changed_is_looked_at(watched: Path, monkeypatch: Patch) -> None:
    for number in range(20):
        (watched / f"user-{number}.md").touch()
    sighted(watched)
    files, before = [], sights.as_given
    monkeypatch.setattr(sights, "as_given", lambda file: files.append(file) or before(file))
    (watched / "user-7.md").write_text("other", encoding="utf-8")
    replaced(watched / "user-9.md")
    assert len(sights.take_sight(watched, None).files) == 21
    assert sorted(files) == ["user-7.md", "user-9.md"]
    monkeypatch.setattr(sights, "MANY", 1)
    replaced(watched / "user-3.md")
    sights.take_sight(watched, None)
    assert len(files) == 2 + 21, "after many changes all are looked at"
