"""Which process a client is: what hooks and MCP servers are started by. Loads nothing.

A process is `PID:START`: a number is given again, and so its start (from /proc) stands beside it.
"""

from __future__ import annotations

import os

_MOST = 4  # processes above a hook that may be the client: a shell, a wrapper, the client itself
_START = 22  # the field of /proc/PID/stat


def of_parent() -> str:
    """The process that started this one."""
    return _name_process(os.getppid())


def list_ancestors() -> str:
    """The processes above this one, the nearest first, with blanks between; of one that ended in
    the meantime, none above it."""
    names: list[str] = []
    pid = os.getppid()
    while pid > 1 and len(names) < _MOST:
        names.append(_name_process(pid))
        pid = _find_parent(pid)
    return " ".join(names)


def _name_process(pid: int) -> str:
    fields = _read_fields(pid)
    return f"{pid}:{fields[_START - 3] if len(fields) > _START - 3 else ''}"


def _find_parent(pid: int) -> int:
    fields = _read_fields(pid)
    return int(fields[1]) if len(fields) > 1 and fields[1].isdigit() else 0


def _read_fields(pid: int) -> list[str]:
    """The fields of a process behind its name, which may hold anything; [] where there is no
    /proc."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return []
