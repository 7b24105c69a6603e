"""Processes in the background, which outlive the host, one at a time in a store; and their log.

A process that was replaced by a newer one sees so in a file: no process is ever signalled from
here, and none lives longer than an hour.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from mdmemory.config import person
from mdmemory.errors import Busy, MdmemoryError
from mdmemory.files import digest, name_refusals, write_atomic
from mdmemory.git import private_folder
from mdmemory.git.lock import is_ours, lock_file
from mdmemory.git.private_folder import make_folder
from mdmemory.store.project import Project

if TYPE_CHECKING:
    from mdmemory.memory import Memory

LIFE = 3600  # seconds that a process may work; models take one or two minutes
FIRST_LOOK = 1.0  # seconds after the start until a compaction that is due begins
LATER = 600.0  # seconds to the next look where one failed
_LOOK = 1.0  # seconds between two looks for a newer process
_WAITING, _TURN = "waiting", "background"
_OLD = 86_400  # seconds until a killed process's file is removed
Process = subprocess.Popen[bytes]

NAME = "bridge.log"
MAX_BYTES = 128 * 1024
# What is no trouble, behind the time: a message that went without notes lacks nothing for long,
# and `claude mcp list` leaves no session.
_NOTICES = (
    "The store of this project is /", "Your own store is /",
    "message: The search took longer than", "message: An earlier search is still at work.",
    "Written now, as it was asked for earlier", "What was asked for earlier is known already.",
    "The project was known again:", "There is no session ",
)  # fmt: skip
_RECENT = 7 * 86_400  # seconds; `doctor` shows no older errors

_T = TypeVar("_T")


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
            errors = open_log(log)
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
        handle = lock_file(project.prepare_private() / _TURN)
        try:
            if not is_ours(handle):
                return False
            self(words, log, (handle,))
            return True
        finally:
            os.close(handle)


def start_compactions(open_layers: Callable[[], Memory], start: Starter, log: Log) -> float:
    """Start a compaction in each store where one is due; the seconds until it is looked for
    again."""
    try:
        layers = open_layers()
        for memory in layers.there():
            words = ["--store", str(memory.project.root)] if memory is not layers.main else []
            start.alone(memory.project, [*words, "compact", "--if-due"], log.file)
        return layers.settings.whole("compact.poll_ms") / 1000
    except MdmemoryError as problem:
        log.failure("compact", problem)
        return LATER


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
    handle = lock_file(project.prepare_private() / _TURN)
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


# --- `.mdmemory/bridge.log`: the errors of hooks. Its size is bounded, and it holds no secrets.


class Log:
    """A line for each error. A line that is among the last 16 is not repeated."""

    def __init__(self) -> None:
        self._project: Project | None = None
        self._recent: deque[str] = deque(maxlen=16)

    def belongs_to(self, project: Project) -> None:
        """Write to the log of this project from now on."""
        self._project = project

    @property
    def file(self) -> Path:
        """Where it lies: beside the store, or where that is not known or writes nothing (it is
        read-only, or behind a link), the person's own."""
        with suppress(MdmemoryError):
            if self._project is not None:
                return self._project.prepare_private() / NAME
        return person.state_folder() / NAME

    def failure(self, method: str, problem: Exception) -> None:
        """Log an error of `method`. Of an unexpected one only its type and place: its message may
        repeat the text of a note."""
        if isinstance(problem, MdmemoryError):
            self.say(f"{method}: {problem.sentences}")
            return
        at = problem.__traceback__
        while at is not None and at.tb_next is not None:
            at = at.tb_next
        place = f"{Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno}" if at else "?"
        self.say(f"{method}: unexpected {type(problem).__name__} at {place}.")

    def try_work(self, method: str, work: Callable[[], _T]) -> _T | None:
        """The result of `work`, or None where it fails: the rest of the answer is still good."""
        try:
            return work()
        except Exception as problem:  # noqa: BLE001 - it is logged
            self.failure(method, problem)
            return None

    def say(self, sentence: str) -> None:
        """Log a sentence, redacted. A log that cannot be written is no reason to fail."""
        from mdmemory.privacy.redaction import redact  # only where something went wrong

        line = " ".join(redact(sentence)[0].split())
        if line in self._recent:
            return
        self._recent.append(line)
        with suppress(OSError):
            handle = open_log(self.file)
            try:
                stamp = person.now().strftime("%Y-%m-%dT%H:%M:%SZ")
                os.write(handle, f"{stamp} {line}\n".encode())
            finally:
                os.close(handle)


def recent_errors(project: Project) -> list[str]:
    """One sentence on the errors of the last seven days; [] without any."""
    file = project.private / NAME
    try:
        with os.fdopen(private_folder.open_file(file, os.O_RDONLY), encoding="utf-8",
                       errors="replace") as log:  # fmt: skip
            if person.now().timestamp() - os.fstat(log.fileno()).st_mtime > _RECENT:
                return []
            lines = log.read().split("\n")
    except OSError:
        return []
    # a line of ours stands behind its time, one of another process behind its name
    errors = [
        line
        for line in lines
        if line.strip()
        and not line[21:].startswith(_NOTICES)
        and not line.removeprefix("mdmemory: ").startswith(_NOTICES)
    ]
    if not errors:
        return []
    return [
        f"A hook, a plugin or a process in the background had trouble; the last: "
        f"{errors[-1][:300]} More is in {file}; delete it once that is mended."
    ]


def open_log(file: Path) -> int:
    """The descriptor of a log, opened to append; a log that is too long is cut to its newer half.

    Raises OSError, also for a symbolic link.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    handle = private_folder.open_file(file, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    size = os.fstat(handle).st_size
    if size > MAX_BYTES:
        tail = os.pread(handle, MAX_BYTES // 2, size - MAX_BYTES // 2).partition(b"\n")[2]
        os.ftruncate(handle, 0)  # in place: other processes have it open
        os.write(handle, tail)
    return handle
