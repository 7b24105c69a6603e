"""A lock that somebody else holds."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Context
from pathlib import Path

from mdmemory.git.lock import hold_lock


@contextmanager
def held_by_another(path: Path) -> Iterator[None]:
    """Hold the lock file for the block, as another line of work of this process does."""
    lock, context = hold_lock(path, "another"), Context()
    context.run(lock.__enter__)
    try:
        yield
    finally:
        context.run(lock.__exit__, None, None, None)
