"""One file from old to new: whatever stands where, nothing that is not ours to drop is dropped."""

import itertools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mdmemory.errors import MdmemoryError, NoteChanged
from mdmemory.files import digest
from mdmemory.git import replacement
from mdmemory.git.journal import Journal, Journals
from mdmemory.git.replacement import Change, Move

Patch = pytest.MonkeyPatch


OLD, NEW, MINE, LATE = b"old\n", b"new\n", b"by hand\n", b"late\n"
WAYS = {
    "replace": Change("x.md", digest(OLD), NEW),
    "add": Change("x.md", None, NEW),
    "remove": Change("x.md", digest(OLD), None),
    "derived": Change("x.md", None, NEW, derived=True),
    "derived, removed": Change("x.md", None, None, derived=True),
}
STANDS: dict[str, Callable[[Path], object]] = {
    "nothing": lambda path: None,
    "old": lambda path: path.write_bytes(OLD),
    "new": lambda path: path.write_bytes(NEW),
    "mine": lambda path: path.write_bytes(MINE),
    "folder": lambda path: path.mkdir(),
    "link": lambda path: path.symlink_to("elsewhere"),
    "pipe": os.mkfifo,
}


@pytest.fixture(params=["exchanged", "renamed"], autouse=True)
def exchanges(request: pytest.FixtureRequest, monkeypatch: Patch) -> bool:
    """With the system's own step of letting two files change places, and without."""
    if request.param == "renamed":
        monkeypatch.setattr(replacement, "exchange_files", lambda *_: False)
    return bool(request.param == "exchanged" and sys.platform == "linux")


def planned(folder: Path, change: Change, *, fresh: bool = True) -> Move:
    (move,) = replacement.plan_moves([change], "0123456789ab")
    if fresh:
        replacement.write_fresh(folder, [change], [move])
    return move


def look(folder: Path) -> dict[str, object]:
    """Everything in the folder: bytes of files, the kind of anything else."""
    return {
        path.name: path.read_bytes() if path.is_file() and not path.is_symlink()
        else os.lstat(path).st_mode
        for path in folder.iterdir()
    }  # fmt: skip


def finish(folder: Path, move: Move) -> dict[str, str]:
    return dict(Journals(folder, folder).finish(folder, Journal("", str(folder), [move])))


@pytest.mark.parametrize("way", WAYS)
def test_undisturbed_it_is_done_and_leaves_nothing_behind(way: str, tmp_path: Path) -> None:
    change = WAYS[way]
    if change.old or change.derived:
        (tmp_path / "x.md").write_bytes(OLD)
    move = planned(tmp_path, change)
    assert finish(tmp_path, move) == {}
    assert look(tmp_path) == ({} if change.new is None else {"x.md": NEW})


@pytest.mark.parametrize("way", ["replace", "add", "remove"])
@pytest.mark.parametrize("stands", STANDS)
def test_from_any_state_a_crash_can_leave_nobodys_bytes_are_lost(
    way: str, stands: str, tmp_path: Path
) -> None:
    for number, (aside, fresh, end) in enumerate(
        itertools.product(
            (None, OLD, LATE), (True, False, OLD, LATE), (finish, replacement.retract)
        )
    ):
        if isinstance(fresh, bytes) and (way != "replace" or aside):
            continue
        folder = tmp_path / str(number)
        folder.mkdir()
        move = planned(folder, WAYS[way], fresh=bool(fresh))
        STANDS[stands](folder / "x.md")
        if isinstance(fresh, bytes):  # the two have changed places, and nobody has looked yet
            (folder / move.fresh).write_bytes(fresh)
        if aside:
            (folder / move.aside).write_bytes(aside)
        before = look(folder)
        precious = {value for value in before.values() if value not in (OLD, NEW, b"")}
        end(folder, move)
        after = look(folder)
        assert precious <= {*after.values()}, (before, after)
        assert move.fresh not in after
        if before.get("x.md") in precious:
            assert after["x.md"] == before["x.md"], "a person's file has moved"
        if end is replacement.retract and OLD in before.values():
            assert OLD in after.values(), "the old bytes are given back when a move is given up"
        end(folder, move)
        assert look(folder) == after, "a second time is idle"


def test_a_note_that_is_replaced_is_there_at_every_moment(
    tmp_path: Path, exchanges: bool, monkeypatch: Patch
) -> None:
    if not exchanges:
        pytest.skip("without that step a note is absent for a moment")
    path, seen = tmp_path / "x.md", []
    path.write_bytes(OLD)
    move = planned(tmp_path, WAYS["replace"])

    def looking(real: Any) -> Any:
        def looked(*words: object) -> object:
            seen.append(path.exists())
            return real(*words)

        return looked

    with monkeypatch.context() as patch:
        for name in ("rename", "link", "unlink"):
            patch.setattr(os, name, looking(getattr(os, name)))
        patch.setattr(replacement, "exchange_files", looking(replacement.exchange_files))
        assert finish(tmp_path, move) == {}
    assert len(seen) >= 2
    assert all(seen)
    assert look(tmp_path) == {"x.md": NEW}


def test_a_removed_note_is_not_resurrected(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_bytes(OLD)
    move = planned(tmp_path, WAYS["replace"])
    (tmp_path / "x.md").unlink()
    assert finish(tmp_path, move) == {"x.md": replacement.GONE}
    assert look(tmp_path) == {}


def test_text_that_comes_back_after_we_are_done_is_a_persons(tmp_path: Path) -> None:
    for way in ("replace", "remove"):
        (tmp_path / "x.md").write_bytes(OLD)
        move = planned(tmp_path, WAYS[way])
        assert finish(tmp_path, move) == {}
        # `git checkout HEAD~1 -- x.md`, before the journal goes
        (tmp_path / "x.md").write_bytes(OLD)
        assert finish(tmp_path, move) == {"x.md": replacement.CHANGED}
        assert look(tmp_path) == {"x.md": OLD}


def test_an_editor_that_saves_just_before_we_put_the_file_aside_has_it_back(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    path = tmp_path / "x.md"
    rename, exchange = os.rename, replacement.exchange_files

    def saved(old: Path, new: Path) -> None:
        if old == path:
            path.write_bytes(MINE)
        rename(old, new)

    def saved_first(one: Path, other: Path) -> bool:
        if not (tmp_path / move.aside).exists():
            path.write_bytes(MINE)
        return bool(exchange(one, other))

    for way in ("replace", "remove"):
        path.write_bytes(OLD)
        move = planned(tmp_path, WAYS[way])
        with monkeypatch.context() as patch:
            patch.setattr(os, "rename", saved)
            patch.setattr(replacement, "exchange_files", saved_first)
            assert finish(tmp_path, move) == {"x.md": replacement.CHANGED}
        assert look(tmp_path) == {"x.md": MINE}


@pytest.mark.parametrize("way", ["replace", "remove"])
def test_an_editor_that_had_the_old_file_open_keeps_what_it_saves(way: str, tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    path.write_bytes(OLD)
    move = planned(tmp_path, WAYS[way])
    with path.open("r+b") as editor:
        replacement.install_all(tmp_path, [move])
        editor.write(LATE)
    told = replacement.settle(tmp_path, move)
    if way == "replace":
        assert look(tmp_path) == {"x.md": NEW, move.aside: LATE}
        assert move.aside in told
    else:  # where it stood it is back
        assert look(tmp_path) == {"x.md": LATE}
        assert told == replacement.CHANGED


def test_permissions_stay_what_they_were(tmp_path: Path) -> None:
    for mode in (0o600, 0o640, 0o755):
        (tmp_path / "x.md").write_bytes(OLD)
        (tmp_path / "x.md").chmod(mode)
        finish(tmp_path, planned(tmp_path, WAYS["replace"]))
        assert (tmp_path / "x.md").stat().st_mode & 0o777 == mode


def test_a_derived_file_never_takes_the_place_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "x.md").mkdir()
    assert finish(tmp_path, planned(tmp_path, WAYS["derived"])) == {"x.md": replacement.TAKEN}
    assert (tmp_path / "x.md").is_dir()


@pytest.mark.parametrize("stands", ["nothing", "new", "mine", "folder", "link", "pipe"])
def test_a_change_of_what_is_not_there_is_refused(stands: str, tmp_path: Path) -> None:
    STANDS[stands](tmp_path / "x.md")
    with pytest.raises(NoteChanged, match=r"x\.md (is gone|has changed)"):
        replacement.verify(tmp_path, WAYS["replace"])
    if stands != "nothing":
        with pytest.raises(NoteChanged, match="exists already"):
            replacement.verify(tmp_path, WAYS["add"])


def test_what_a_dead_process_prepared_is_swept_and_nothing_else(tmp_path: Path) -> None:
    planned(tmp_path, WAYS["add"])
    kept = {f"{replacement.MARK}1-0.old": LATE, "x.md": MINE, ".mdmemory-tx": MINE, "y.new": MINE}
    for name, data in kept.items():
        (tmp_path / name).write_bytes(data)
    replacement.sweep_fresh(tmp_path)
    assert look(tmp_path) == kept


def test_a_full_disk_is_one_sentence_and_the_next_start_goes_on(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    def full(*words: object) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "x.md").write_bytes(OLD)
    move = planned(tmp_path, WAYS["replace"])
    with monkeypatch.context() as patch:
        for name in ("link", "rename"):
            patch.setattr(os, name, full)
        with pytest.raises(MdmemoryError, match="not every file could follow"):
            finish(tmp_path, move)
    assert finish(tmp_path, move) == {}
    assert look(tmp_path) == {"x.md": NEW}
