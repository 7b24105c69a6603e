"""Where the lines of `debugging` go: standard error, or the file that MDMEMORY_DEBUG names."""

from __future__ import annotations

import logging
import os
import sys
import time

from mdmemory import debugging

_STDERR = ("1", "stderr")


def begin_logging(place: str = "1") -> None:
    """Log from now on: to standard error ("1"), or to the end of a file of this name.

    A file that cannot be opened is one sentence on standard error, and nothing is logged.
    """
    if debugging.logger:
        return
    handler = logging.StreamHandler()
    if place not in _STDERR:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:  # for this user alone: names of notes are the person's
            handle = os.open(os.path.expanduser(place), flags | os.O_NONBLOCK, 0o600)
        except OSError as problem:
            print(f"mdmemory: MDMEMORY_DEBUG: {problem.strerror}: {place}.", file=sys.stderr)
            return
        stream = open(handle, "a", encoding="utf-8", errors="replace")  # noqa: SIM115 - to the end
        handler.setStream(stream)
    lines = logging.Formatter("%(asctime)s mdmemory[%(process)d] %(message)s")
    lines.converter = time.gmtime
    lines.default_time_format, lines.default_msec_format = "%Y-%m-%dT%H:%M:%S", "%s.%03dZ"
    handler.setFormatter(lines)
    logger = logging.getLogger("mdmemory")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    debugging.logger = logger
