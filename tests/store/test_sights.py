"""In a process that lives on, a folder is looked at again when it changed, and only then."""

import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from mdmemory.errors import NoStore
from mdmemory.store import sights
from mdmemory.store.sights import Sight

linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux alone tells of changes")


@pytest.fixture
def _watching() -> Iterator[None]:
    with sights.watch_folders():
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (store := tmp_path / "store").mkdir()
    (store / "user-tea.md").write_text("tea", encoding="utf-8")
    (store / "MEMORY.md").write_text("index", encoding="utf-8")
    return store


def seen(folder: Path) -> Sight:
    """What a command sees."""
    return sights.take_sight(folder, None)


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
def test_no_change_of_a_watched_folder_is_missed(folder: Path, how: str, name: str) -> None:
    first = seen(folder)
    assert seen(folder) is first, "nothing changed"
    CHANGES[how](folder / name)
    if not folder.exists():
        folder.mkdir()
    second = seen(folder)
    assert second is not first
    assert second.seal != first.seal
    assert seen(folder) is second, "nothing changed again"
    (folder / "user-late.md").touch()
    assert "user-late.md" in seen(folder).files


@pytest.mark.usefixtures("_watching")
@linux
def test_what_changes_during_the_look_is_seen_by_the_next(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "user-milk.md").touch()
    others = sights.other_states

    def late(folder: Path) -> tuple[str, int]:
        (folder / "user-milk.md").unlink(missing_ok=True)
        return others(folder)

    monkeypatch.setattr(sights, "other_states", late)
    assert "user-milk.md" in seen(folder).files
    assert "user-milk.md" not in seen(folder).files


@pytest.mark.usefixtures("_watching")
@linux
def test_threads_that_look_at_once_all_see_what_changed_before(folder: Path) -> None:
    def look(number: int) -> bool:
        (folder / f"user-{number}.md").touch()
        return f"user-{number}.md" in seen(folder).files

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(look, range(200)))
    assert len(seen(folder).files) == 201


@pytest.mark.usefixtures("_watching")
@linux
def test_a_look_that_failed_forgets_nothing_that_was_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen(folder)
    (folder / "user-milk.md").touch()
    with monkeypatch.context() as patched:
        patched.setattr(os, "open", lambda *_: (_ for _ in ()).throw(OSError(5, "no luck")))
        with pytest.raises(NoStore):
            seen(folder)
    assert "user-milk.md" in seen(folder).files


@pytest.mark.usefixtures("_watching")
@linux
def test_what_is_none_of_ours_ends_nothing(folder: Path) -> None:
    first = seen(folder)
    (folder / "README.md").touch()
    (folder / "draft.txt").touch()
    assert seen(folder) is first


@pytest.mark.usefixtures("_watching")
@linux
def test_the_clock_goes_on_while_nothing_changes(folder: Path) -> None:
    private = folder.parent / "private"
    private.mkdir()
    first = sights.take_sight(folder, private / "catalog")
    before = first.clock
    time.sleep(0.02)  # a tick of the file system's clock
    assert sights.take_sight(folder, private / "catalog") is first
    assert first.clock > before


@pytest.mark.usefixtures("_watching")
@linux
def test_a_note_with_another_name_elsewhere_is_looked_at_each_time(folder: Path) -> None:
    os.link(folder / "user-tea.md", folder.parent / "elsewhere")
    first = seen(folder)
    (folder.parent / "elsewhere").write_text("longer than before", encoding="utf-8")
    assert seen(folder).seal != first.seal


@pytest.mark.usefixtures("_watching")
@linux
def test_what_was_seen_holds_for_some_minutes_at_most(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = seen(folder)
    monkeypatch.setattr(first, "_until", 0.0)
    assert seen(folder) is not first


@pytest.mark.usefixtures("_watching")
@pytest.mark.parametrize("kind", [0, 0x6969, 0x65735546, 0x01021997])  # NFS, FUSE, 9p
def test_a_folder_that_others_can_change_unseen_is_looked_at_each_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch, kind: int
) -> None:
    monkeypatch.setattr(sights, "_file_system", lambda *_: kind)
    assert seen(folder) is not seen(folder)


def test_a_command_watches_nothing(folder: Path) -> None:
    assert seen(folder) is not seen(folder)
    assert not sights._watches


@linux
def test_where_the_watching_ends_nothing_is_held_or_open(folder: Path) -> None:
    before = os.listdir("/proc/self/fd")
    with sights.watch_folders():
        seen(folder)
        assert seen(folder) is seen(folder)
    assert len(os.listdir("/proc/self/fd")) == len(before)
    assert seen(folder) is not seen(folder)


NAMES = ["user-a.md", "user-b.md", "user-ü.md", "MEMORY.md", "_MORE.md", ".hidden.md", "user-z.md"]


@pytest.mark.usefixtures("_watching")
@linux
@pytest.mark.parametrize("seed", range(5))
def test_what_is_seen_after_some_changes_is_what_a_look_at_all_sees(
    folder: Path, seed: int
) -> None:
    dice = random.Random(seed)
    seen(folder)
    for turn in range(60):
        if turn == 50 and (folder / "user-tea.md").exists():
            os.link(folder / "user-tea.md", folder / "user-twin.md")
        for _ in range(dice.choice((0, 1, 3))):
            path = folder / dice.choice(NAMES)
            change = dice.choice(
                (path.touch, *(partial(how, path) for how in [*CHANGES.values()][:-1]),
                 partial(path.mkdir, exist_ok=True), path.rmdir, partial(path.symlink_to, "tea"))
            )  # fmt: skip
            with suppress(OSError):
                change()
        sight = sights.take_sight(folder, None)
        whole = sights._see_folder(folder, 0)
        assert (sight.files, sight.prints, sight.times) == (whole.files, whole.prints, whole.times)
        assert sight.seal == whole.seal


@pytest.mark.usefixtures("_watching")
@linux
def test_only_what_changed_is_looked_at(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        (folder / f"user-{number}.md").touch()
    seen(folder)
    files, before = [], sights._note_stat
    monkeypatch.setattr(
        sights, "_note_stat", lambda at, file: files.append(file) or before(at, file)
    )
    (folder / "user-7.md").write_text("other", encoding="utf-8")
    replaced(folder / "user-9.md")
    assert len(sights.take_sight(folder, None).files) == 21
    assert sorted(files) == ["user-7.md", "user-9.md"]
    monkeypatch.setattr(sights, "MANY", 1)
    replaced(folder / "user-3.md")
    sights.take_sight(folder, None)
    assert len(files) == 2 + 21, "after many changes all are looked at"
