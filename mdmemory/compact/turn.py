"""One pass at a time: a second would pay a model for the same answer.

This is not the store's lock: others write while a pass waits for a model.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mdmemory.errors import Busy
from mdmemory.store.lock import is_ours, lock_file

_PAUSE = 0.05  # seconds between two tries


@contextmanager
def turn(path: Path, patience: float) -> Iterator[None]:
    """Have the block to oneself among all processes that name the file `path`.

    Raises Busy where another has it for more than `patience` seconds. A process that dies gives
    its turn back.
    """
    handle = lock_file(path)
    try:
        deadline = time.monotonic() + patience
        while not is_ours(handle):
            if time.monotonic() >= deadline:
                raise Busy("Another compaction is under way.", "Wait for it to end.")
            time.sleep(_PAUSE)
        yield
    finally:
        os.close(handle)
