"""One pass at a time: a second would pay a model for the same answer.

This is not the store's lock: others write while a pass waits for a model.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mdmemory.errors import Busy
from mdmemory.files import writing

_PAUSE = 0.05  # seconds between two tries


@contextmanager
def turn(path: Path, patience: float) -> Iterator[None]:
    """Have the block to oneself among all processes that name the file `path`.

    Raises Busy where another has it for more than `patience` seconds. A process that dies gives
    its turn back.
    """
    with writing(path):
        # O_NOFOLLOW: a repository could plant a link here
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        deadline = time.monotonic() + patience
        while not _is_mine(handle):
            if time.monotonic() >= deadline:
                raise Busy("Another compaction is under way.", "Wait for it to end.")
            time.sleep(_PAUSE)
        yield
    finally:
        os.close(handle)


def _is_mine(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks: the store's own lock will say so in words
        return True
    return True
