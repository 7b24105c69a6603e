"""One writer at a time: an advisory lock that dies with its process and names its holder."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from mdmemory.errors import Busy, Unwritable
from mdmemory.files import writing
from mdmemory.store.private import opened

PATIENCE = 5.0  # seconds: longer than any transaction, shorter than a person's patience
_PAUSE = 0.02  # seconds between two tries
# How many locks this line of work holds. Not one count for the process: another thread may rightly
# wait for a model meanwhile. A thread started with this context (asyncio.to_thread) inherits it.
_HELD: ContextVar[int] = ContextVar("locks held", default=0)


@contextmanager
def locked(path: Path, holder: str, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock file `path` for the block; `holder` says to others who has it.

    Raises Busy, naming the holder, when it is not free within `patience` seconds. flock, so that
    a process that dies leaves nothing behind.
    """
    handle = lock_file(path)
    try:
        _take(handle, path, patience)
        with suppress(OSError):  # a full disk: then others learn less, and that is all
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"process {os.getpid()}: {holder}\n".encode(), 0)
        _HELD.set(_HELD.get() + 1)
        try:
            yield
        finally:
            _HELD.set(_HELD.get() - 1)
    finally:
        os.close(handle)


def lock_file(path: Path) -> int:
    """The file at `path`, opened to be locked; closing it gives the lock back."""
    with writing(path):
        return opened(path, os.O_RDWR | os.O_CREAT)  # a repository could plant a link here


def is_ours(handle: int) -> bool:
    """Whether the lock is ours now, without waiting. For taking turns, not for writing: a file
    system without locks counts as free, and the store's own lock says so in words."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def is_held() -> bool:
    """Whether whoever asks holds a lock, and so must not wait for a network or a model."""
    return _HELD.get() > 0


def _take(handle: int, path: Path, patience: float) -> None:
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError as problem:
            if time.monotonic() >= deadline:
                holder = os.pread(handle, 200, 0).decode("utf-8", "replace").strip()
                raise Busy(
                    f"The store is in use: {holder or 'another process'} has kept its lock for "
                    f"more than {patience:.0f} s.",
                    "Wait for it to end and run the command again.",
                ) from problem
        except OSError as problem:
            raise Unwritable(
                f"The file system of {path} has no locks ({problem.strerror}), and without one two "
                "writers would harm each other.",
                "Keep the store on a local disk.",
            ) from problem
        time.sleep(_PAUSE)
