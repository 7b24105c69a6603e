"""What the plugin's bridge costs: its start, its cheap calls, its memory, a request to remember.

`python tests/bench/hooks.py [NOTES]` prints a table; medians, in a store of NOTES (default 200).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from mdmemory import Memory
from mdmemory.hosts.by_message import ByMessage, Heard
from mdmemory.layers import Layers
from mdmemory.privacy import is_secret
from mdmemory.store.refresh import Refresher

ROUNDS = 300
SETTLE = 2.1  # seconds until a file's time stamp can be trusted


class Bridge:
    """A bridge, asked as the plugin asks it."""

    def __init__(self, project: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "mdmemory", "bridge"], cwd=project,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def ask(self, method: str, **params: Any) -> Any:
        """The result, waited for."""
        assert self.process.stdin
        assert self.process.stdout
        line = json.dumps({"id": 1, "method": method, "params": params})
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert "result" in answer, answer
        return answer["result"]

    def resident(self) -> float:
        """MB of memory (Linux)."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def end(self) -> None:
        """Close it as a host that goes."""
        self.process.communicate()


def milliseconds(work: Callable[[], object], rounds: int) -> float:
    """The median of so many runs."""
    took = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        took.append(time.perf_counter() - start)
    return median(took) * 1000


def python() -> None:
    """A Python that does nothing."""
    subprocess.run([sys.executable, "-P", "-c", "pass"], check=True)


def started(project: Path) -> None:
    """A bridge that is ready to answer."""
    bridge = Bridge(project)
    bridge.ask("system", session="ses_1")
    bridge.end()


def own_words(number: int) -> str:
    """Two words that no other note has both of."""
    syllables = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]
    here, there = number % 4_900, (number * 7 + 3) % 4_900
    return " ".join(f"{syllables[n // 70]}{syllables[n % 70]}x" for n in (here, there))


def looking(memory: Memory, rounds: int) -> tuple[float, float]:
    """Median and 95th percentile of what a message waits for its notes: milliseconds in the
    bridge's own process, the folder looked at already."""
    layers, recalling = Layers.open(memory.project.root, automatic=True), ByMessage()
    (refresher := Refresher(layers.main.project, is_secret)).keep_fresh()
    took, brought = [], 0
    with layers.main.state() as state:
        for number in range(-3, rounds):  # the first ones load what is needed
            text = f"Look at {own_words(abs(number) * 3)} in the worker, and why staging is slow."
            heard = Heard(f"ses_{number}", f"msg_{number}", text)
            start = time.perf_counter()
            brought += bool(recalling.text(layers, lambda: state, heard, [refresher]))
            took.append((time.perf_counter() - start) * 1000)
    assert brought > rounds // 2, "these messages need notes"
    return median(took[3:]), quantiles(took[3:], n=20)[-1]


def main(notes: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        for words in ("init -q", "config user.name x", "config user.email x@example.com"):
            subprocess.run(["git", "-C", folder, *words.split()], check=True)
        memory, _ = Memory.init(project)
        for number in range(notes):
            file = memory.project.store / f"user-fact-{number}.md"
            head = f"name: fact-{number}\ndescription: Fact {number}\nmetadata:\n  type: user"
            file.write_text(
                f"---\n{head}\n---\n\nIt is {number}, {own_words(number)}.\n", encoding="utf-8"
            )
        memory.index()
        time.sleep(SETTLE)
        memory.index()
        memory.freshen()
        p50, p95 = looking(memory, min(notes // 3, ROUNDS))
        print(f"looking for its notes   {p50:7.2f} ms, p95 {p95:.2f} ms (aim 25 at 10,000 notes)")
        bare = milliseconds(python, 15)
        print(f"start to first answer   {milliseconds(lambda: started(project), 15):7.1f} ms")
        print(f"  of it a bare Python   {bare:7.1f} ms")
        bridge = Bridge(project)
        turn = iter(range(10**9))

        def say(text: str) -> None:
            parts = [{"type": "text", "text": text}]
            bridge.ask("message", session="ses_1", message=f"msg_{next(turn)}", parts=parts)

        def system() -> None:
            bridge.ask("system", session="ses_1")

        say("hello")

        def use(tool: str, output: str, **args: Any) -> None:
            shown = {"tool": tool, "args": args, "output": output, "exit": 0}
            bridge.ask("tool", session="ses_1", **shown)

        def work_on(number: int) -> None:
            """A call as in a session at work: of ten two outputs are long."""
            file = f"src/module_{number % 7}.py"
            if number % 10 in (3, 8):
                use("bash", f"{number}\n{lines}", command="make test")
            elif number % 2:
                use("bash", "12 passed in 0.3s", command="pytest -q")
            else:
                use("edit" if number % 4 else "read", lines[:2_000], filePath=file)

        def bring() -> None:
            number = next(turn)
            parts = [{"type": "text", "text": f"Look at {own_words(number % notes)} in staging."}]
            bridge.ask("message", session=f"ses_{number}", message=f"msg_{number}", parts=parts)

        lines = "\n".join(f"src/module_{n}.py: line {n} of some output" for n in range(300))
        for what, work, rounds in (
            ("tool, a session at work", lambda: work_on(next(turn)), ROUNDS),
            ("tool, short output", lambda: use("bash", "ok", command=f"x {next(turn)}"), ROUNDS),
            ("tool, 300 lines", lambda: use("bash", lines, command="make all"), ROUNDS),
            ("tool, 300 other lines", lambda: use("bash", f"{next(turn)}\n{lines}"), ROUNDS),
            ("tool, a file read", lambda: use("read", lines, filePath=f"a/{next(turn) % 30}.py"),
             ROUNDS),
            ("system, nothing changed", system, ROUNDS),
            ("message, nothing asked", lambda: say("How do I list files?"), ROUNDS),
            ("message that brings one", bring, 50),
            ("turn of 1 + 3 steps", lambda: (say("And now?"), system(), system(), system()), 100),
            ("message that is stored", lambda: say(f"Remember that x{next(turn)} is fine."), 15),
        ):  # fmt: skip
            print(f"{what:<24}{milliseconds(work, rounds):7.2f} ms")
        print(f"resident                {bridge.resident():7.1f} MB")
        bridge.end()


if __name__ == "__main__":
    os.environ.pop("MDMEMORY_DISABLE", None)
    main(int(sys.argv[1]) if sys.argv[1:] else 200)
