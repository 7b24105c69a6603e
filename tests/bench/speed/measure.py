"""What a step costs: a process with all that it starts, a call in this process, a request to one
that lives on.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

STARTER = Path(__file__).with_name("starter.py")
LIMIT = 900.0  # seconds of a command
LINGER = 10.0  # seconds that a process which was left behind has to end in


class FailedError(Exception):
    """A command did not end as it should."""


@dataclass(frozen=True)
class Cost:
    """`cpu` and `wall` in seconds, of the whole tree of processes; `peak` in MB, of the largest of
    them (0: not known)."""

    cpu: float
    wall: float
    peak: float = 0.0
    waited: float = 0.0  # of one that lives on: seconds of CPU of the thread that answers

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.cpu + other.cpu, self.wall + other.wall, max(self.peak, other.peak))


Step = Callable[[], Cost]
NOTHING = Cost(0.0, 0.0)


class Starter:
    """Runs commands by the process that measures them."""

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self._folder, self._env = folder, dict(env)
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", STARTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True,
        )  # fmt: skip

    def run(
        self, folder: Path, *words: str, said: str = "", codes: Container[int] = (0,),
        linger: float = LINGER, limit: float = LIMIT,
    ) -> Cost:  # fmt: skip
        """What a command costs; `said` is its standard input. Raises FailedError where its exit
        code is none of `codes`, so that no figure is that of a refusal; after `limit` seconds it is
        killed."""
        stdin = self._folder / "stdin"
        stdin.write_text(said, encoding="utf-8")
        errors = self._folder / "stderr"
        asked = {
            "words": words, "env": self._env, "folder": str(folder), "linger": linger,
            "limit": limit,
            "stdin": str(stdin), "stdout": os.devnull, "stderr": str(errors),
        }  # fmt: skip
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        told = json.loads(self._process.stdout.readline())
        if told["code"] not in codes:
            last = errors.read_text("utf-8", "replace").strip()[-300:]
            raise FailedError(f"`{' '.join(words)[:80]}` ended with {told['code']}: {last}")
        return Cost(told["cpu"] + told["left"], told["wall"], told["peak"])

    def __enter__(self) -> Starter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        self._process.communicate()


def inside(work: Callable[[], object]) -> Step:
    """A step in this process; the git that it starts counts, too."""

    def step() -> Cost:
        gc.collect()
        start, wall = used(), time.perf_counter()
        work()
        return Cost(used() - start, time.perf_counter() - wall)

    return step


def used() -> float:
    """Seconds of CPU of this process and of its ended children."""
    each = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in each)


def of_process(pid: int) -> float:
    """Seconds of CPU that a living process and its ended children have used (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    ended = (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
    return time.clock_gettime((~pid << 3) | 2) + ended


def of_thread(pid: int) -> float:
    """Seconds of CPU that the first thread of a living process has used (Linux)."""
    told = Path(f"/proc/{pid}/task/{pid}/schedstat").read_text(encoding="ascii")
    return int(told.split()[0]) / 1e9


def peak_of(pid: int) -> float:
    """The most memory in MB that a living process has held (Linux)."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


class Talking:
    """A process that is asked by lines of JSON, and answers each with one."""

    def __init__(self, words: Sequence[str], folder: Path, env: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            words, cwd=folder, env=dict(env), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.pid = self._process.pid

    def ask(self, message: Mapping[str, Any]) -> Any:
        """The result in the answer that has the same id; other lines are passed over."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        while True:
            line = self._process.stdout.readline()
            if not line:
                raise FailedError(f"the process ended at {str(message)[:80]}")
            answer = json.loads(line)
            if answer.get("id") == message["id"]:
                break
        if "result" not in answer or answer["result"].get("isError"):
            raise FailedError(f"{str(message)[:80]}: {str(answer)[:300]}")
        return answer["result"]

    def step(self, ask: Callable[[], object]) -> Cost:
        """What it costs that process, and those that it starts, to answer."""
        start, thread, wall = of_process(self.pid), of_thread(self.pid), time.perf_counter()
        ask()
        wall = time.perf_counter() - wall
        used, waited = of_process(self.pid) - start, of_thread(self.pid) - thread
        return Cost(used, wall, peak_of(self.pid), waited)

    def end(self) -> None:
        """Close its input, and wait."""
        self._process.communicate()


def started(begin: Callable[[], Talking]) -> Cost:
    """What a process costs from nothing to the answers that `begin` waits for; then it is ended."""
    start = time.perf_counter()
    talking = begin()
    wall = time.perf_counter() - start
    cost = Cost(of_process(talking.pid), wall, peak_of(talking.pid))
    talking.end()
    return cost
