"""One writer at a time, and a dead one blocks nobody."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mdmemory.errors import Busy, Unwritable
from mdmemory.store.lock import is_held, locked


def hold(path: Path) -> subprocess.Popen[str]:
    """A process that holds the lock until it is killed."""
    code = (
        "import sys, time; from pathlib import Path; from mdmemory.store.lock import locked\n"
        "with locked(Path(sys.argv[1]), 'a long compaction'): print('held', flush=True); "
        "time.sleep(60)"
    )
    words = [sys.executable, "-P", "-c", code, str(path)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_writer_waits_and_is_told_who_has_it(tmp_path: Path) -> None:
    with hold(tmp_path / "lock") as process:
        begun = time.monotonic()
        with pytest.raises(Busy) as told, locked(tmp_path / "lock", "another", patience=0.2):
            pass
        assert time.monotonic() - begun >= 0.2
        assert f"process {process.pid}: a long compaction" in told.value.message
        process.kill()


def test_a_killed_writer_blocks_nobody(tmp_path: Path) -> None:
    with hold(tmp_path / "lock") as process:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    with locked(tmp_path / "lock", "the next", patience=0):
        pass


def test_the_lock_is_free_again_after_a_failure(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), locked(tmp_path / "lock", "one"):
        assert 1 / (not is_held())
    assert not is_held()
    with locked(tmp_path / "lock", "two", patience=0):
        pass


def test_a_link_in_the_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "lock").symlink_to(tmp_path / "precious")
    with pytest.raises(Unwritable), locked(tmp_path / "lock", "one"):
        pass
    assert (tmp_path / "precious").read_text() == "mine"


def test_a_file_system_without_locks_is_named_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(handle: int, how: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(Unwritable, match="has no locks"), locked(tmp_path / "lock", "one"):
        pass


def test_a_full_disk_does_not_keep_anybody_from_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int, data: bytes, offset: int) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwrite", full)
    with locked(tmp_path / "lock", "one"):
        assert is_held()
