"""Starts a bridge for a folder as a process of its own, which outlives the hook that started it.

A mark beside the map's entry says when it was last tried: many clients that start together start
one, and what fails is not tried at every event.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from mdmemory.hosts.background import Process, Starter
from mdmemory.hosts.bridge.place import MapEntry
from mdmemory.hosts.bridge_log import Log

SOON = 5.0  # seconds that a bridge may need to start; until then another is only waited for
LATER = 300.0  # seconds until what failed is tried again
_LOOK = 0.02  # seconds between two looks for it


def start_mark(entry: MapEntry) -> str:
    """The file whose time says when a bridge for the folder was last started; gone once it ran."""
    return f"{entry.file}.starting"


def start_bridge(entry: MapEntry, folder: str, rest: float) -> Process | None:
    """Start a bridge for `folder`, unless that was tried in the last `rest` seconds.

    Raises OSError where the map cannot be written: then nobody would find the bridge.
    """
    if not sys.executable or not _is_first(entry, rest):
        return None
    # -P: modules are not searched in the current folder
    starter = Starter(lambda: [sys.executable, "-P", "-m", "mdmemory"], Path(folder))
    return starter(["bridge", "--listen"], Log().file)


def wait_briefly(started: Process | None, is_late: Callable[[], bool]) -> bool:
    """Wait a moment for a bridge; False once it is late, or ended, so that none will come."""
    if is_late() or (started is not None and started.poll() is not None):
        return False
    time.sleep(_LOOK)
    return True


def _is_first(entry: MapEntry, rest: float) -> bool:
    os.makedirs(entry.folder, mode=0o700, exist_ok=True)
    path = start_mark(entry)
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        with suppress(FileNotFoundError):
            # a clock that was turned back leaves marks of the future: they are old, too
            if 0 <= time.time() - os.stat(path).st_mtime < rest:
                return False
            os.utime(path)
    return True
