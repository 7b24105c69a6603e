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


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


def test_what_is_remembered_is_there_after_opening_again(path: Path) -> None:
    with State(path) as state:
        state.set_watermark("ses_1", "msg_1")
        state.set_watermark("ses_1", "msg_2")
        state.record_pass("2026-06-01T00:00:00+00:00", "applied", {"a.md": "1"})
    with State(path) as state:
        assert (state.watermark("ses_1"), state.watermark("ses_2")) == ("msg_2", None)
        assert state.last_pass()[1:3] == ("applied", {"a.md": "1"})


def put_newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA application_id = {states.MARK}")
        database.execute("PRAGMA user_version = 999")


@pytest.mark.parametrize(
    ("put", "word"),
    [
        (lambda path: path.write_bytes(b"not a database, but long enough" * 40), "corrupt"),
        (lambda path: path.write_bytes(b"SQLite format 3\0"), "corrupt"),
        (put_newer, "newer"),
    ],
)
def test_a_corrupt_or_newer_file_is_moved_aside_with_a_word_and_kept(
    path: Path, put: Callable[[Path], object], word: str
) -> None:
    put(path)
    before, told = path.read_bytes(), list[str]()
    with State(path, told.append) as state:
        assert state.last_pass() is None
        assert state.trouble is None
    assert word in told[0]
    assert path.with_name("state.db.aside-1").read_bytes() == before


def test_an_older_file_is_migrated_step_by_step(path: Path, monkeypatch: Patch) -> None:
    with State(path) as state:
        state.set_watermark("ses", "msg")
    later = (*states.MIGRATIONS, "CREATE TABLE later (x); INSERT INTO later VALUES (1)")
    monkeypatch.setattr(states, "MIGRATIONS", later)
    with State(path) as state:
        assert state.watermark("ses") == "msg"
        assert state.trouble is None
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT * FROM later").fetchall() == [(1,)]


def foreign(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE theirs (x)")
        database.commit()
    return path


def link_beside(path: Path, suffix: str) -> None:
    State(path).__exit__()
    path.with_name(path.name + suffix).symlink_to("elsewhere")


NOT_OURS: dict[str, Callable[[Path], object]] = {
    "another program's": foreign,
    "a link to that": lambda path: path.symlink_to(foreign(path.with_name("app.db")).name),
    "a link to nothing": lambda path: path.symlink_to("fresh.db"),
    "a second name": lambda path: path.hardlink_to(foreign(path.with_name("app.db"))),
    "a linked log": lambda path: link_beside(path, "-wal"),
    "a linked journal": lambda path: link_beside(path, "-journal"),
    "a pipe": os.mkfifo,
    "a folder": os.mkdir,
}


def seen(folder: Path) -> dict[str, object]:
    """What lies there, byte for byte; of what is no file, what tells it from another."""

    def look(path: Path) -> object:
        if path.is_file() and not path.is_symlink():
            return path.read_bytes()
        state = path.lstat()
        return state.st_mode, state.st_ino, state.st_size, state.st_mtime_ns

    return {each.name: look(each) for each in folder.iterdir() if each.name != ".gitignore"}


@pytest.mark.parametrize("put", NOT_OURS.values(), ids=NOT_OURS)
def test_what_is_not_ours_is_neither_followed_nor_changed(
    path: Path, put: Callable[[Path], object]
) -> None:
    put(path)
    before, told = seen(path.parent), list[str]()
    with State(path, told.append) as state:
        state.set_watermark("ses", "msg")
        assert state.watermark("ses") == "msg"
        assert state.trouble is not None
    assert seen(path.parent) == before
    (sentence,) = told
    assert "going on without what is remembered there. Move it away: `mv " in sentence


def test_two_connections_of_a_process_keep_their_file_from_a_third(tmp_path: Path) -> None:
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


def test_a_fresh_file_says_that_it_is_ours_whenever_its_process_ends(path: Path) -> None:
    with State(path):
        assert path.read_bytes()[68:72] == b"mdmS"


def test_a_place_that_cannot_be_written_is_one_sentence(path: Path) -> None:
    path.write_bytes(b"")
    told: list[str] = []
    with State(path / "state.db", told.append) as state:
        assert state.last_pass() is None
    assert len(told) == 1


def test_a_disk_that_fills_up_in_the_middle_of_work_ends_nothing(path: Path) -> None:
    told: list[str] = []
    with State(path, told.append) as state:
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


def test_a_defect_of_ours_is_not_taken_for_a_disk_that_fails(path: Path) -> None:
    with State(path) as state:
        with pytest.raises(sqlite3.OperationalError):
            state.rows("SELECT no_such_column FROM watermark")
        with pytest.raises(sqlite3.OperationalError):
            state.change(("INSERT INTO no_such_table VALUES (1)", ()))
        assert state.trouble is None


# In a process that lives on, a folder is looked at again when it changed, and only then.


@pytest.fixture
def watched(tmp_path: Path) -> Path:
    (store := tmp_path / "store").mkdir()
    (store / "user-tea.md").write_text("tea", encoding="utf-8")
    (store / "MEMORY.md").write_text("index", encoding="utf-8")
    return store


@pytest.fixture
def watching(watched: Path) -> Iterator[Path]:
    """The same while the process watches it."""
    if sys.platform != "linux":
        pytest.skip("Linux alone tells of changes")
    with sights.watch_folders():
        yield watched


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


@pytest.mark.parametrize("name", ["user-tea.md", "MEMORY.md"])
@pytest.mark.parametrize("how", CHANGES)
def test_no_change_of_a_watched_folder_is_missed(watching: Path, how: str, name: str) -> None:
    first = sighted(watching)
    assert sighted(watching) is first, "nothing changed"
    CHANGES[how](watching / name)
    if not watching.exists():
        watching.mkdir()
    second = sighted(watching)
    assert second is not first
    assert second.seal != first.seal
    assert sighted(watching) is second, "nothing changed again"
    (watching / "user-late.md").touch()
    assert "user-late.md" in sighted(watching).prints


def test_a_change_during_the_look_is_seen_by_the_next(watching: Path, monkeypatch: Patch) -> None:
    (watching / "user-milk.md").touch()
    others = sights.other_states

    def late(folder: Path) -> tuple[str, int]:
        (folder / "user-milk.md").unlink(missing_ok=True)
        return others(folder)

    monkeypatch.setattr(sights, "other_states", late)
    assert "user-milk.md" in sighted(watching).prints
    assert "user-milk.md" not in sighted(watching).prints


def test_threads_that_look_at_once_all_see_what_changed_before(watching: Path) -> None:
    def look(number: int) -> bool:
        (watching / f"user-{number}.md").touch()
        return f"user-{number}.md" in sighted(watching).prints

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(look, range(200)))
    assert len(sighted(watching).prints) == 201


def test_a_look_that_failed_forgets_nothing_told(watching: Path, monkeypatch: Patch) -> None:
    sighted(watching)
    (watching / "user-milk.md").touch()
    with monkeypatch.context() as patched:
        patched.setattr(os, "open", lambda *_: (_ for _ in ()).throw(OSError(5, "no luck")))
        with pytest.raises(NoStore):
            sighted(watching)
    assert "user-milk.md" in sighted(watching).prints


def test_the_clock_goes_on_while_nothing_of_ours_changes(watching: Path) -> None:
    private = watching.parent / "private"
    private.mkdir()
    first = sights.take_sight(watching, private / "catalog")
    before = first.clock
    (watching / "README.md").touch()
    (watching / "draft.txt").touch()
    time.sleep(0.02)  # a tick of the file system's clock
    assert sights.take_sight(watching, private / "catalog") is first
    assert first.clock > before


def test_a_note_with_another_name_elsewhere_is_looked_at_each_time(watching: Path) -> None:
    os.link(watching / "user-tea.md", watching.parent / "elsewhere")
    first = sighted(watching)
    (watching.parent / "elsewhere").write_text("longer than before", encoding="utf-8")
    assert sighted(watching).seal != first.seal


def test_what_was_seen_holds_for_some_minutes_at_most(watching: Path, monkeypatch: Patch) -> None:
    first = sighted(watching)
    monkeypatch.setattr(first, "_until", 0.0)
    assert sighted(watching) is not first


@pytest.mark.parametrize("kind", [0, 0x6969, 0x65735546, 0x01021997])  # NFS, FUSE, 9p
def test_a_folder_that_others_can_change_unseen_is_looked_at_each_time(
    watching: Path, monkeypatch: Patch, kind: int
) -> None:
    monkeypatch.setattr(sights, "_file_system", lambda *_: kind)
    assert sighted(watching) is not sighted(watching)


def test_a_command_watches_nothing_and_where_watching_ends_nothing_is_open(watched: Path) -> None:
    assert sighted(watched) is not sighted(watched)
    assert not sights._watches
    if sys.platform != "linux":
        pytest.skip("Linux alone tells of changes")
    before = os.listdir("/proc/self/fd")
    with sights.watch_folders():
        sighted(watched)
        assert sighted(watched) is sighted(watched)
    assert len(os.listdir("/proc/self/fd")) == len(before)
    assert sighted(watched) is not sighted(watched)


NAMES = ["user-a.md", "user-b.md", "user-ü.md", "MEMORY.md", "_MORE.md", ".hidden.md", "user-z.md"]


@pytest.mark.parametrize("seed", range(5))
def test_what_is_seen_after_changes_is_what_a_whole_look_sees(watching: Path, seed: int) -> None:
    dice = random.Random(seed)
    sighted(watching)
    for turn in range(60):
        if turn == 50 and (watching / "user-tea.md").exists():
            os.link(watching / "user-tea.md", watching / "user-twin.md")
        for _ in range(dice.choice((0, 1, 3))):
            path = watching / dice.choice(NAMES)
            change = dice.choice(
                (path.touch, *(partial(how, path) for how in [*CHANGES.values()][:-1]),
                 partial(path.mkdir, exist_ok=True), path.rmdir, partial(path.symlink_to, "tea"))
            )  # fmt: skip
            with suppress(OSError):
                change()
        sight = sights.take_sight(watching, None)
        whole = sights._see_folder(watching, 0)
        assert ([*sight.prints.items()], sight.times) == ([*whole.prints.items()], whole.times)
        assert sight.seal == whole.seal


def test_only_what_changed_is_looked_at(watching: Path, monkeypatch: Patch) -> None:
    for number in range(20):
        (watching / f"user-{number}.md").touch()
    sighted(watching)
    files, before = [], sights.as_given
    monkeypatch.setattr(sights, "as_given", lambda file: files.append(file) or before(file))
    (watching / "user-7.md").write_text("other", encoding="utf-8")
    replaced(watching / "user-9.md")
    assert len(sights.take_sight(watching, None).prints) == 21
    assert sorted(files) == ["user-7.md", "user-9.md"]
    monkeypatch.setattr(sights, "MANY", 1)
    replaced(watching / "user-3.md")
    sights.take_sight(watching, None)
    assert len(files) == 2 + 21, "after many changes all are looked at"
