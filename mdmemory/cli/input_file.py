"""Reading a file named on the command line; links and pipes are allowed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mdmemory.errors import MdmemoryError, NotFound

MAX_INPUT = 256 * 1024 * 1024  # bytes; a transcript of months
_PART = 1 << 20


def read(name: str) -> bytes:
    """The bytes of the file `name`, or of standard input for "-".

    Raises NotFound or MdmemoryError, each with what to do.
    """
    if name == "-":
        return sys.stdin.buffer.read(MAX_INPUT)
    try:
        data = _read_whole(Path(name).expanduser())
    except FileNotFoundError as problem:
        raise NotFound(f"No such file: {name}.", "Check the path.") from problem
    except OSError as problem:
        why = f"{name} cannot be read: {problem.strerror}."
        raise MdmemoryError(why, "Name a file, or - for standard input.") from problem
    if len(data) > MAX_INPUT:
        raise MdmemoryError(f"{name} has more than {MAX_INPUT} bytes.", "Split it into parts.")
    return data


def _read_whole(path: Path) -> bytes:
    # opened so, a pipe that nobody writes to is empty, where it would otherwise wait for ever
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb", buffering=0) as file:
        first = file.read(_PART)
        if first == b"":
            return first
        os.set_blocking(handle, True)
        parts = [first or b""]  # None: the writer is there, and has not written yet
        while sum(map(len, parts)) <= MAX_INPUT and (part := file.read(_PART)):
            parts.append(part)
        return b"".join(parts)
