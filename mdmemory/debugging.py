"""Lines on what mdmemory does, for whoever asks with --verbose or MDMEMORY_DEBUG.

Commands of git, files written and calls of models, with durations and sizes: never the text of a
note, a message or an answer. Costs nothing where nobody asks: `logging` is not even loaded.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from logging import Logger

logger: Logger | None = None  # set by the command line where a person asks


def log_line(message: str, *values: object) -> None:
    """Log a line, if a person asked; `values` stand in the places of `message` that % marks.

    Where much is written, the caller looks at `logger` first.
    """
    if logger:
        logger.debug(message, *values)


@contextmanager
def timed_block(message: str, *values: object) -> Iterator[None]:
    """Log a line with the duration of the block, and the kind of the error that ended it."""
    begun, problem = time.monotonic(), ""
    try:
        yield
    except BaseException as error:
        problem = f", {type(error).__name__}"
        raise
    finally:
        log_line(f"{message}: %.0f ms%s", *values, (time.monotonic() - begun) * 1000, problem)
