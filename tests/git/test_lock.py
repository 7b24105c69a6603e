"""One writer at a time, and a dead one blocks nobody."""

import errno
import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pace import HUNG

from mdmemory.errors import Busy, Unwritable
from mdmemory.git import lock
from mdmemory.git.lock import Patience, hold_lock, is_held

Patch = pytest.MonkeyPatch


def hold(path: Path) -> subprocess.Popen[str]:
    """A process that holds the lock until it is killed."""
    code = (
        "import sys, time; from pathlib import Path; from mdmemory.git.lock import hold_lock\n"
        "with hold_lock(Path(sys.argv[1]), 'a long compaction'): print('held', flush=True); "
        "time.sleep(60)"
    )
    words = [sys.executable, "-P", "-c", code, str(path)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_writer_is_told_who_has_it_and_keeps_nobody_from_it(tmp_path: Path) -> None:
    with hold(tmp_path / "lock") as process:
        for patience in (0.2, 0.01):
            begun = time.monotonic()
            with pytest.raises(Busy) as told:
                hold_lock(tmp_path / "lock", "another", Patience(patience)).__enter__()
            assert time.monotonic() - begun >= patience
            assert f"process {process.pid}: a long compaction" in told.value.message
        process.kill()
    with hold_lock(tmp_path / "lock", "the next", Patience(HUNG)):
        assert is_held()


def test_a_killed_writer_blocks_nobody(tmp_path: Path) -> None:
    with hold(tmp_path / "lock") as process:
        process.kill()
        process.wait()
    left = (tmp_path / "lock").read_bytes()
    assert b"a long compaction" in left
    with hold_lock(tmp_path / "lock", "the next", Patience(0)):
        pass
    (tmp_path / "again").write_bytes(left)
    handle = taken(tmp_path / "again")
    with pytest.raises(Busy, match="another process"):  # who was killed is not named
        hold_lock(tmp_path / "again", "x", Patience(0)).__enter__()
    os.close(handle)


def test_a_long_wait_is_told_once_and_ends_with_the_lock(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(lock, "_SILENCE", 0.01)
    with hold(tmp_path / "lock") as process:
        told: list[str] = []

        def tell(sentence: str) -> None:
            told.append(sentence)
            process.kill()

        with hold_lock(tmp_path / "lock", "another", Patience(HUNG, tell)):
            assert is_held()
    (sentence,) = told
    assert f"process {process.pid}: a long compaction" in sentence


def taken(path: Path, how: int = 0) -> int:
    """The lock, taken by somebody who does not say who it is."""
    handle = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | how)
    except OSError:
        os.close(handle)
        raise
    return handle


def test_who_gave_the_lock_back_is_not_named(tmp_path: Path) -> None:
    with hold_lock(tmp_path / "lock", "one that is done"):
        pass
    handle = taken(tmp_path / "lock")
    with pytest.raises(Busy) as told, hold_lock(tmp_path / "lock", "another", Patience(0.1)):
        pass
    assert "one that is done" not in told.value.message
    assert "another process has its lock" in told.value.message
    os.close(handle)


def test_who_waits_is_served_in_turn(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from mdmemory.git.lock import Patience, hold_lock\n"
        "root, name = Path(sys.argv[1]), sys.argv[2]\n"
        "print('here', flush=True); sys.stdin.readline()\n"
        "for _ in range(20):\n"
        "    with hold_lock(root / 'lock', name, Patience(300)), open(root / 'log', 'a') as log:\n"
        "        log.write(name); [n * n for n in range(20_000)]\n"
    )
    words = [sys.executable, "-P", "-c", code, str(tmp_path)]
    started = [
        subprocess.Popen([*words, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for name in "abcd"
    ]
    for process in started:
        assert process.stdout.readline() == "here\n"
    for process in started:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in started:
        assert process.communicate(timeout=HUNG)[0] == ""
    log = (tmp_path / "log").read_text()
    # the first is done when each of the others has had turns, too: who gives the lock
    # back does not take it again at once
    first = min(log.rfind(name) for name in "abcd")
    assert all(log[:first].count(name) >= 3 for name in "abcd"), log


def test_the_lock_is_free_again_after_a_failure(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), hold_lock(tmp_path / "lock", "one"):
        assert 1 / (not is_held())
    assert not is_held()
    with hold_lock(tmp_path / "lock", "two", Patience(0)):
        pass


def test_who_takes_a_lock_that_it_holds_is_told_at_once_and_keeps_it(tmp_path: Path) -> None:
    with hold_lock(tmp_path / "lock", "one"), hold_lock(tmp_path / "other", "one"):
        begun = time.monotonic()
        path = tmp_path / ".." / tmp_path.name / "lock"
        with pytest.raises(RuntimeError, match=r"`mdmemory add` takes the lock .+lock, which"):
            hold_lock(path, "`mdmemory add`", Patience(HUNG)).__enter__()
        assert time.monotonic() - begun < HUNG / 2
        with pytest.raises(BlockingIOError):
            taken(tmp_path / "lock", fcntl.LOCK_NB)
    with hold_lock(tmp_path / "lock", "one", Patience(0)):
        pass


def test_another_thread_waits_for_the_lock(tmp_path: Path) -> None:
    with hold_lock(tmp_path / "lock", "one"), ThreadPoolExecutor(1) as threads:
        again = hold_lock(tmp_path / "lock", "x", Patience(0.01))
        waits = threads.submit(again.__enter__)
        with pytest.raises(Busy, match="one has its lock"):
            waits.result()


def test_a_link_in_the_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "lock").symlink_to(tmp_path / "precious")
    with pytest.raises(Unwritable), hold_lock(tmp_path / "lock", "one"):
        pass
    assert (tmp_path / "precious").read_text() == "mine"


def refusing(code: int) -> Callable[..., None]:
    def refuse(*words: object) -> None:
        raise OSError(code, os.strerror(code))

    return refuse


def test_a_file_system_without_locks_is_not_waited_for(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(fcntl, "flock", refusing(errno.ENOLCK))
    with pytest.raises(Unwritable, match="has no locks"), hold_lock(tmp_path / "lock", "one"):
        pass


def test_a_full_disk_does_not_keep_anybody_from_the_lock(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(os, "pwrite", refusing(errno.ENOSPC))
    with hold_lock(tmp_path / "lock", "one"):
        assert is_held()
