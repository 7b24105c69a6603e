"""Which process a client is: what hooks and MCP servers are started by. Loads nothing.

A process is `PID:START`: a number is given again, and so its start (from /proc) stands beside it.
"""

from __future__ import annotations

import os

_MOST = 4  # processes above a hook that may be the client: a shell, a wrapper, the client itself
_START = 22  # the field of /proc/PID/stat


def of_parent() -> str:
    """The process that started this one."""
    return _read_process(os.getppid())[0]


def list_ancestors() -> str:
    """The processes above this one, the nearest first, with blanks between; of one that ended in
    the meantime, none above it."""
    names: list[str] = []
    pid = os.getppid()
    while pid > 1 and len(names) < _MOST:
        name, pid = _read_process(pid)
        names.append(name)
    return " ".join(names)


def _read_process(pid: int) -> tuple[str, int]:
    """The name of a process and its parent, 0 where there is no /proc."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            # behind its own name, which may hold anything
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        fields = []
    start = fields[_START - 3] if len(fields) > _START - 3 else ""
    return f"{pid}:{start}", int(fields[1]) if len(fields) > 1 and fields[1].isdigit() else 0
