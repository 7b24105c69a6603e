"""Starts processes one after the other, and tells what each cost with all that it started.

A process of its own, which stays small, because a process counts the memory of the one that it was
forked from. What outlives its parent becomes a child of this one (Linux), so that its costs count.
A line of JSON asks for a process, and a line answers; it loads only what that needs.
"""

import ctypes
import json
import os
import signal
import sys
import time

PR_SET_CHILD_SUBREAPER = 36


def cost(usage):
    """Seconds of CPU of a process that has ended, and of those that it has waited for."""
    return usage.ru_utime + usage.ru_stime


def children():
    """The numbers of the processes that are children of this one."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            return set(map(int, file.read().split()))
    except OSError:  # not Linux: what is left behind is not our child either
        return set()


def rest(linger, before):
    """The CPU of processes that were left behind, waited for up to `linger` seconds; what was
    there `before` is another's."""
    used, until = 0.0, time.monotonic() + linger
    while left := children() - before:
        pid, _, usage = os.wait4(-1, os.WNOHANG)
        if pid in left:
            used += cost(usage)
        elif not pid and time.monotonic() >= until:
            break
        elif not pid:
            time.sleep(0.005)
    return used


def run(asked):
    """Start a process, wait for its end, and tell its costs."""
    files = [
        (os.POSIX_SPAWN_OPEN, 0, asked["stdin"], os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, asked["stdout"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        (os.POSIX_SPAWN_OPEN, 2, asked["stderr"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
    ]
    os.chdir(asked["folder"])
    before = children()
    start = time.perf_counter()
    pid = os.posix_spawnp(
        asked["words"][0], asked["words"], asked["env"], file_actions=files, setpgroup=0
    )
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(pid, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, asked["limit"])
    _, status, usage = os.wait4(pid, 0)
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    wall = time.perf_counter() - start
    return {
        "code": os.waitstatus_to_exitcode(status),
        "wall": wall,
        "cpu": cost(usage),
        "left": rest(asked["linger"], before),
        "peak": usage.ru_maxrss / 1024,
    }


if sys.platform == "linux":
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
for line in sys.stdin:
    print(json.dumps(run(json.loads(line))), flush=True)
