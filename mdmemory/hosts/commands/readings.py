"""Sessions that wait to be read: each once it has been idle for a while, by a process of its own.

A bridge keeps the time, so that a turn costs no process. Where it ends before, the process is
started at once, and waits itself; where it is killed, the next bridge finds what waited in a folder
beside the store's state.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mdmemory.errors import MdmemoryError
from mdmemory.files import digest, name_refusals, read_regular, write_atomic
from mdmemory.git.private_folder import make_folder

FOLDER = "readings"
_END, _SIZE = ".json", 10_000  # bytes of one file
Start = Callable[[float], None]  # starts a process that reads the session after so many seconds


@dataclass(frozen=True, slots=True)
class _Reading:
    due: float
    start: Start
    file: Path


class Readings:
    """The sessions of one bridge. `clock` gives seconds that only grow."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._waiting: dict[str, _Reading] = {}

    def put(
        self, session: str, seconds: float, start: Start, *, private: Path, folder: Path
    ) -> None:
        """Have a session read `seconds` from now, and not before: it went on. It runs in `folder`;
        `private` is the store's `.mdmemory`. Without a place for it only this process knows."""
        file = private / FOLDER / f"{digest(session.encode('utf-8'))[:16]}{_END}"
        if session not in self._waiting:
            record = json.dumps({"session": session, "folder": str(folder)})
            with suppress(MdmemoryError):
                with name_refusals(file.parent):
                    make_folder(file.parent)
                write_atomic(file, record.encode("ascii"), mode=0o600)
        self._waiting[session] = _Reading(self._clock() + seconds, start, file)

    def look(self) -> float | None:
        """Start what is due; the seconds until the next is, None where none waits."""
        now = self._clock()
        for session, reading in [*self._waiting.items()]:
            if reading.due <= now:
                self._begin_reading(session, 0.0)
        return min((each.due - now for each in self._waiting.values()), default=None)

    def close(self) -> None:
        """Start all that wait, each for the time that is left."""
        now = self._clock()
        for session, reading in [*self._waiting.items()]:
            self._begin_reading(session, max(0.0, reading.due - now))

    def _begin_reading(self, session: str, seconds: float) -> None:
        reading = self._waiting.pop(session)
        reading.start(seconds)
        with suppress(OSError):
            reading.file.unlink()


def waiting_sessions(private: Path) -> Iterator[tuple[str, Path]]:
    """The sessions that a killed bridge left, and the folders in which they ran."""
    try:
        names = sorted(name for name in os.listdir(private / FOLDER) if name.endswith(_END))
    except OSError:
        return
    for name in names:
        with suppress(MdmemoryError, ValueError, LookupError, TypeError):
            record = json.loads(read_regular(private / FOLDER / name, _SIZE))
            yield str(record["session"]), Path(str(record["folder"]))
