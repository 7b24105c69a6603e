"""One writer at a time: an advisory lock that dies with its process and names its holder.

Who waits is served in turn. The queue is a second lock, which only the next in line holds: the
kernel hands both over at once, in the order in which they were asked for.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

from mdmemory.errors import Busy, Unwritable
from mdmemory.files import name_refusals
from mdmemory.git.private_folder import open_file

_SILENCE = 1.0  # seconds of waiting that nobody is told of
_NAMED = re.compile(r"process (\d{1,10}): .+")
# The lock files that this line of work holds. Not one set for the process: another thread may
# rightly wait for a model meanwhile. A thread started with this context (asyncio.to_thread)
# inherits it.
_HELD: ContextVar[frozenset[tuple[int, int]]] = ContextVar("locks held", default=frozenset())


class Patience(NamedTuple):
    """How long a lock is waited for, in seconds, and who is told, once, that a wait takes long."""

    seconds: float = 5.0  # longer than any transaction; who is served in turn rarely needs it
    report: Callable[[str], None] = lambda _: None


USUAL = Patience()


@contextmanager
def hold_lock(path: Path, holder: str, patience: Patience = USUAL) -> Iterator[None]:
    """Hold the lock file `path` for the block; `holder` says to others who has it.

    Raises Busy, naming the holder, when our turn does not come in time, and RuntimeError at once
    where whoever asks holds this lock. flock, so that a process that dies leaves nothing behind.
    """
    handle = lock_file(path)
    about = os.fstat(handle)
    file = about.st_dev, about.st_ino
    if file in _HELD.get():
        os.close(handle)
        fault = f"{holder} takes the lock {path}, which it holds already."
        raise RuntimeError(f"A fault in mdmemory: {fault}")
    _take(handle, path, patience)  # closes it where it fails
    try:
        _say(handle, f"process {os.getpid()}: {holder}\n")
        _HELD.set(_HELD.get() | {file})
        try:
            yield
        finally:
            _HELD.set(_HELD.get() - {file})
            _say(handle, "")  # before the lock is free: no name outlives its holding
    finally:
        os.close(handle)


def lock_file(path: Path) -> int:
    """The file at `path`, opened to be locked; closing it gives the lock back."""
    with name_refusals(path):
        return open_file(path, os.O_RDWR | os.O_CREAT)  # a repository could plant a link here


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


_PAUSE = 0.05  # seconds between two tries


@contextmanager
def hold_turn(path: Path, patience: float, busy: str) -> Iterator[None]:
    """Have the block to oneself among all processes that name the file `path`.

    Raises Busy, which says `busy`, where another has it for more than `patience` seconds. A process
    that dies gives its turn back.
    """
    handle = lock_file(path)
    try:
        deadline = time.monotonic() + patience
        while not is_ours(handle):
            if time.monotonic() >= deadline:
                raise Busy(busy, "Wait for it to end.")
            time.sleep(_PAUSE)
        yield
    finally:
        os.close(handle)


def is_held() -> bool:
    """Whether whoever asks holds a lock, and so must not wait for a network or a model."""
    return bool(_HELD.get())


def _say(handle: int, text: str) -> None:
    with suppress(OSError):  # a full disk: then others learn less, and that is all
        os.ftruncate(handle, 0)
        os.pwrite(handle, text.encode(), 0)


def _read_holder(handle: int) -> str:
    """Who has the lock: what stands in the file, where that process lives. A killed one leaves
    its name until the next has put its own there."""
    line = os.pread(handle, 400, 0).decode("utf-8", "replace")
    match = _NAMED.fullmatch(line.removesuffix("\n"))
    if match is None or not line.endswith("\n"):
        return "another process"
    try:
        os.kill(int(match[1]), 0)
    except (ProcessLookupError, OverflowError):
        return "another process"
    except PermissionError:  # somebody else's, and alive
        pass
    return match[0]


def _take(handle: int, path: Path, patience: Patience) -> None:
    """Take the lock, as the first in the queue: who gives it back cannot take it again before
    those who wait, however quick it is. Closes `handle` where it fails."""
    try:
        queue = lock_file(path.with_name(f"{path.name}.queue"))
    except BaseException:
        os.close(handle)
        raise
    try:
        for each in (queue, handle):
            fcntl.flock(each, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(queue)
        return
    except BlockingIOError:
        pass
    except OSError as problem:
        os.close(queue)
        os.close(handle)
        raise _no_locks(path, problem) from problem
    turn, deadline = _Turn(queue, handle), time.monotonic() + patience.seconds
    try:
        has_come = turn.came.wait(min(patience.seconds, _SILENCE))
        if not has_come and patience.seconds > _SILENCE:
            patience.report(f"Waiting for {_read_holder(handle)}, which has the store's lock.")
            has_come = turn.came.wait(max(0.0, deadline - time.monotonic()))
        if not has_come:
            raise Busy(
                f"The store is in use: {_read_holder(handle)} has its lock, which did not come "
                f"free within {patience.seconds:.0f} s.",
                "Wait for it to end and run the command again.",
            )
        if turn.problem is not None:
            raise _no_locks(path, turn.problem)
    except BaseException:
        turn.give_up()
        raise


def _no_locks(path: Path, problem: OSError) -> Unwritable:
    return Unwritable(
        f"The file system of {path} has no locks ({problem.strerror}), and without one two "
        "writers would harm each other.",
        "Keep the store on a local disk.",
    )


class _Turn:
    """A place in the queue. A thread stands in it: a call that waits has no time limit."""

    def __init__(self, queue: int, handle: int) -> None:
        import threading  # most commands never wait

        self.problem: OSError | None = None
        self._queue, self._handle = queue, handle
        self._deciding = threading.Lock()
        self.came = threading.Event()
        self._is_given_up = False
        threading.Thread(target=self._wait, daemon=True).start()

    def _wait(self) -> None:
        try:
            fcntl.flock(self._queue, fcntl.LOCK_EX)
            if not self._is_given_up:
                fcntl.flock(self._handle, fcntl.LOCK_EX)
        except OSError as problem:
            self.problem = problem
        os.close(self._queue)
        with self._deciding:
            if self._is_given_up:
                os.close(self._handle)  # whoever is next has it at once
            self.came.set()

    def give_up(self) -> None:
        """Leave the queue, or give back what came in this very moment."""
        with self._deciding:
            self._is_given_up = True
            if self.came.is_set():
                os.close(self._handle)
