"""Work that nobody waits for: processes that outlive the host, one at a time in a store.

Who is replaced sees so by itself, in a file: no process is ever signalled from here, and none
stays for longer than an hour.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from mdmemory.errors import Busy
from mdmemory.files import digest, write_atomic, writing
from mdmemory.git.lock import is_ours, lock_file
from mdmemory.git.private_folder import subfolder
from mdmemory.hosts.opencode import bridge_log
from mdmemory.store.project import Project

LIFE = 3600  # seconds from the end of its waiting; models take one or two minutes
_LOOK = 1.0  # seconds between two looks for a newer process
_WAITING, _TURN = "waiting", "background"
_OLD = 86_400  # seconds; what a killed process left is swept up then


class Starter:
    """Starts `mdmemory` processes that nobody waits for; each says what fails in the file `log`.

    `command` tells how mdmemory is started.
    """

    def __init__(self, command: Callable[[], Sequence[str]], folder: Path) -> None:
        self._command, self._folder = command, folder
        self._running: list[subprocess.Popen[bytes]] = []

    def __call__(self, words: Sequence[str], log: Path, held: Sequence[int] = ()) -> None:
        """Start `mdmemory WORDS` in a session of its own, so that no signal to ours reaches it.

        It keeps the open files `held`, and with them their locks, for as long as it lives.
        """
        # asked for how they ended: otherwise each would stay a zombie as long as we live
        self._running = [each for each in self._running if each.poll() is None]
        with writing(log):
            errors = bridge_log.opened(log)
        try:
            self._running.append(subprocess.Popen(
                [*self._command(), *words], cwd=self._folder, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True, pass_fds=held,
            ))  # fmt: skip
        finally:
            os.close(errors)

    def alone(self, project: Project, words: Sequence[str], log: Path) -> bool:
        """The same with the background of the store to itself; False where that is taken."""
        handle = _open(project)
        try:
            if not is_ours(handle):
                return False
            self(words, log, (handle,))
            return True
        finally:
            os.close(handle)


@contextmanager
def quiet(project: Project, session: str, seconds: float) -> Iterator[bool]:
    """Wait until `session` has been quiet for so long, then have the background to oneself.

    Gives False, at once, when a newer process waits for the same session. Ends this process an
    hour after its waiting, and raises Busy when others took all that time.
    """
    file = _claim(project, session)
    mark = file.read_bytes()
    left = seconds
    while left > 0:
        time.sleep(min(_LOOK, left))
        left -= _LOOK
        if _other(file, mark):
            yield False
            return
    with _limited(), background(project, LIFE):
        is_newest = not _other(file, mark)  # the others' turns may have been long
        if is_newest:
            file.unlink(missing_ok=True)
        yield is_newest


@contextmanager
def background(project: Project, patience: float = 0.0) -> Iterator[None]:
    """Have the background work of a store to oneself: one model is asked at a time.

    Raises Busy where another process has it for more than `patience` seconds.
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


def _claim(project: Project, session: str) -> Path:
    """Take the place of whoever waits for this session; the file that says so."""
    folder = project.prepare_private() / _WAITING
    with writing(folder):
        subfolder(folder)
    _sweep(folder)
    file = folder / digest(session.encode("utf-8"))[:16]
    write_atomic(file, os.urandom(8).hex().encode("ascii"), mode=0o600)
    return file


def _other(file: Path, mark: bytes) -> bool:
    """Whether a newer process waits. A file that is gone tells of none: then we go on."""
    try:
        return file.read_bytes() != mark
    except OSError:
        return False


def _sweep(folder: Path) -> None:
    for file in folder.iterdir():
        try:
            if time.time() - file.stat().st_mtime > _OLD:
                file.unlink()
        except OSError:  # another process was quicker
            continue


def _open(project: Project) -> int:
    return lock_file(project.prepare_private() / _TURN)


@contextmanager
def _limited() -> Iterator[None]:
    """End this process after LIFE, by an exception: a model's own process is ended with it."""

    def end(*_: object) -> None:
        raise SystemExit("mdmemory: background work took more than an hour and was ended.")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(LIFE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
