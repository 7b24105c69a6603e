"""`.mdmemory/bridge.log`: the errors of hooks. Its size is bounded, and it holds no secrets."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from mdmemory.config import person
from mdmemory.errors import MdmemoryError
from mdmemory.git import private_folder
from mdmemory.store.project import Project

_T = TypeVar("_T")

NAME = "bridge.log"
MAX_BYTES = 128 * 1024
# What is no trouble, behind the time: a message that went without notes lacks nothing for long.
_NOTICES = (
    "The store of this project is /", "Your own store is /",
    "message: The search took longer than", "message: An earlier search is still at work.",
    "Written now, as it was asked for earlier", "What was asked for earlier is known already.",
    "The project was known again:",
)  # fmt: skip
_RECENT = 7 * 86_400  # seconds; `doctor` shows no older errors


class Log:
    """A line for each error. A line that is among the last 16 is not repeated."""

    def __init__(self) -> None:
        self.file = person.state_folder() / NAME  # until the store is known
        self._recent: deque[str] = deque(maxlen=16)

    def belongs_to(self, project: Project) -> None:
        """Write to the log of this project from now on."""
        with suppress(MdmemoryError):  # read-only, or behind a link: the person's own log stays
            self.file = project.prepare_private() / NAME

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
