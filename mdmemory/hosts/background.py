"""Processes in the background: they outlive the host, and one at a time works in a store.

A process that was replaced by a newer one sees so in a file: no process is ever signalled from
here, and none lives longer than an hour.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mdmemory.errors import Busy
from mdmemory.files import digest, name_refusals, write_atomic
from mdmemory.git.lock import is_ours, lock_file
from mdmemory.git.private_folder import make_folder
from mdmemory.hosts import bridge_log
from mdmemory.store.project import Project

if TYPE_CHECKING:
    from mdmemory.layers import Layers

LIFE = 3600  # seconds that a process may work; models take one or two minutes
_LOOK = 1.0  # seconds between two looks for a newer process
_WAITING, _TURN = "waiting", "background"
_OLD = 86_400  # seconds until a killed process's file is removed
Process = subprocess.Popen[bytes]


class Starter:
    """Starts `mdmemory` processes in `folder`. `command` gives the words that start mdmemory."""

    def __init__(self, command: Callable[[], Sequence[str]], folder: Path) -> None:
        self._command, self._folder = command, folder
        self._running: list[Process] = []

    def __call__(self, words: Sequence[str], log: Path, handles: Sequence[int] = ()) -> Process:
        """Start `mdmemory WORDS`, with its errors in the file `log` where that can be written.

        It runs in a session of its own, so that no signal to ours reaches it, and keeps the open
        files `handles` with their locks.
        """
        # `poll` frees the ended ones, which would else stay zombies
        self._running = [each for each in self._running if each.poll() is None]
        try:
            errors = bridge_log.open_log(log)
        except OSError:
            errors = os.open(os.devnull, os.O_WRONLY)
        try:
            process = subprocess.Popen(
                [*self._command(), *words], cwd=self._folder, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True, pass_fds=handles,
            )  # fmt: skip
        finally:
            os.close(errors)
        self._running.append(process)
        return process

    def alone(self, project: Project, words: Sequence[str], log: Path) -> bool:
        """Start it as the only process in the background of a store; False if there is one."""
        handle = _open(project)
        try:
            if not is_ours(handle):
                return False
            self(words, log, (handle,))
            return True
        finally:
            os.close(handle)


def start_compactions(layers: Layers, start: Starter, log: Path) -> float:
    """Start a compaction in each store where one is due; the seconds until it is looked for again.
    Raises MdmemoryError."""
    for memory in layers.there():
        words = ["--store", str(memory.project.root)] if memory is not layers.main else []
        start.alone(memory.project, [*words, "compact", "--if-due"], log)
    return layers.settings.whole("compact.poll_ms") / 1000


@contextmanager
def wait_quiet(project: Project, session: str, seconds: float) -> Iterator[bool]:
    """Wait until `session` has been quiet for `seconds`, then take the background of the store.

    Yields False, at once, when a newer process waits for the same session. Ends this process after
    an hour of work, and raises Busy when others had the background all that time.
    """
    file = _claim_wait(project, session)
    mark = file.read_bytes()
    left = seconds
    while left > 0:
        time.sleep(min(_LOOK, left))
        left -= _LOOK
        if _is_replaced(file, mark):
            yield False
            return
    with _limit_life(), hold_background(project, LIFE):
        is_newest = not _is_replaced(file, mark)  # others may have worked for long
        if is_newest:
            file.unlink(missing_ok=True)
        yield is_newest


@contextmanager
def hold_background(project: Project, patience: float = 0.0) -> Iterator[None]:
    """Be the only process in the background of a store: one model is asked at a time.

    Raises Busy when another process is there for more than `patience` seconds.
    """
    handle = _open(project)
    try:
        while not is_ours(handle):
            if patience <= 0:
                raise Busy("Another process reads or compacts in the background.", "Wait for it.")
            time.sleep(_LOOK)
            patience -= _LOOK
        yield
    finally:
        os.close(handle)


def _claim_wait(project: Project, session: str) -> Path:
    """Replace the process that waits for this session; the file that names the newest one."""
    folder = project.prepare_private() / _WAITING
    with name_refusals(folder):
        make_folder(folder)
    for old in folder.iterdir():
        with suppress(OSError):  # another process was quicker
            if time.time() - old.stat().st_mtime > _OLD:
                old.unlink()
    file = folder / digest(session.encode("utf-8"))[:16]
    write_atomic(file, os.urandom(8).hex().encode("ascii"), mode=0o600)
    return file


def _is_replaced(file: Path, mark: bytes) -> bool:
    """Whether a newer process waits; not where the file was removed."""
    try:
        return file.read_bytes() != mark
    except OSError:
        return False


def _open(project: Project) -> int:
    return lock_file(project.prepare_private() / _TURN)


@contextmanager
def _limit_life() -> Iterator[None]:
    """End this process after LIFE by an exception, which ends a model's own process too."""

    def end_process(*_: object) -> None:
        raise SystemExit("mdmemory: background work took more than an hour and was ended.")

    before = signal.signal(signal.SIGALRM, end_process)
    signal.alarm(LIFE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
