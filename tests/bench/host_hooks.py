"""What an event of Claude Code, Codex or Gemini CLI costs: CPU of the hook and of its bridge.

`python tests/bench/host_hooks.py [NOTES]` prints a table, in a store of NOTES (default 200). Linux
only: the time of another process is read by its clock. Ends with 1 where a limit is passed.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from mdmemory import Layers, Memory
from mdmemory.hosts import launcher
from mdmemory.hosts.bridge import place, starting

ROUNDS = 30
TOGETHER, ALONE = 100.0, 250.0  # milliseconds that an event may cost with a bridge, and without
COMMAND = launcher.line("hook claude")
Cost = tuple[float, float]  # milliseconds of CPU: the hook, the bridge


def children() -> float:
    """Milliseconds of CPU that our ended children have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


def of_process(pid: int) -> float:
    """Milliseconds of CPU that a process and its ended children have used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    ended = (int(fields[13]) + int(fields[14])) * 1000 / os.sysconf("SC_CLK_TCK")
    return time.clock_gettime((~pid << 3) | 2) * 1000 + ended


class World:
    """A person with a project of some notes, and the launcher that their clients start."""

    def __init__(self, folder: Path, notes: int) -> None:
        self.project, self.home = folder / "project", folder / "home"
        self.project.mkdir()
        os.environ["HOME"] = str(self.home)  # where the map and the settings are looked for
        self.environment = {**os.environ}
        for words in ("init -q", "config user.name x", "config user.email x@example.com"):
            subprocess.run(["git", "-C", self.project, *words.split()], check=True)
        memory, _ = Memory.init(self.project)
        for number in range(notes):
            head = f"name: fact-{number}\ndescription: Fact {number} holds for module {number}"
            (memory.project.store / f"project-fact-{number}.md").write_text(
                f"---\n{head}\nmetadata:\n  type: project\n---\n\nIt is number {number}.\n",
                encoding="utf-8",
            )
        memory.index()
        launcher.install(self.environment)
        self.entry = place.MapEntry(self.environment, str(self.project), "")
        self._turn = 0

    def hook(self, name: str, **more: Any) -> float:
        """Milliseconds of CPU of one hook, without the bridge."""
        self._turn += 1
        told = {
            "hook_event_name": name, "session_id": f"s{self._turn // 5}", "cwd": str(self.project),
            "transcript_path": str(self.home / "none.jsonl"), **more,
        }  # fmt: skip
        before = children()
        subprocess.run(
            ["sh", "-c", COMMAND], cwd=self.project, env=self.environment, check=True,
            input=json.dumps(told).encode(), stdout=subprocess.DEVNULL,
        )  # fmt: skip
        return children() - before

    def bridge(self) -> int:
        """The number of the process that the map names, started where there is none."""
        self.hook("SessionStart", source="startup")
        end = time.monotonic() + 30
        while True:
            try:
                with Connection(self.entry.socket()) as connection:
                    return connection.pid()
            except OSError:
                assert time.monotonic() < end, "no bridge came"
                time.sleep(0.05)

    def keep_bridges_off(self) -> None:
        """Let it look as if a bridge had just failed to start."""
        shutil.rmtree(self.entry.folder, ignore_errors=True)
        Path(self.entry.folder).mkdir(parents=True)
        Path(starting.mark(self.entry)).touch()


class Connection:
    """A connection to a bridge."""

    def __init__(self, path: str) -> None:
        self._socket = place.connected(path, 5.0)

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def pid(self) -> int:
        """The process at the other end."""
        import socket

        said: bytes = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        return int.from_bytes(said[:4], sys.byteorder)


def events(world: World) -> Mapping[str, Callable[[], float]]:
    """The events of a session, by what they are."""
    turn = iter(range(10**6))

    def said(text: str) -> Callable[[], float]:
        return lambda: world.hook("UserPromptSubmit", prompt=text.format(next(turn)))

    return {
        "session start": lambda: world.hook("SessionStart", source="startup"),
        "prompt": said("How do I list the files of folder {}?"),
        "prompt that brings notes": said("What holds for fact {} and its module?"),
        "prompt that is kept": said("Remember that service x{0} listens on port 8{0}0."),
        "stop": lambda: world.hook("Stop", last_assistant_message="Done."),
        "session end": lambda: world.hook("SessionEnd", reason="other"),
    }


def told(what: str, costs: list[Cost], limit: float, bare: float) -> bool:
    """Print a row; whether it is within its limit."""
    sums = [hook + bridge for hook, bridge in costs]
    worst = quantiles(sums, n=20)[-1]
    hook, bridge = (median(each) for each in zip(*costs, strict=True))
    print(
        f"  {what:<26}{hook:7.1f}{bridge:8.1f}{median(sums):8.1f}{worst:8.1f}"
        f"{median(sums) / bare:7.1f} x  {'' if worst <= limit else f'over {limit:.0f}'}"
    )
    return worst <= limit


def main(notes: int) -> int:
    """Measure and print."""
    fine = True
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        world = World(Path(folder), notes)
        before = children()
        for _ in range(ROUNDS):
            subprocess.run([sys.executable, "-c", "pass"], check=True)
        bare = (children() - before) / ROUNDS
        print(f"milliseconds of CPU; a bare Python {bare:.1f}")
        print(f"  {'':<26}{'hook':>7}{'bridge':>8}{'both':>8}{'p95':>8}{'':>7}")
        print("with a bridge")
        pid = world.bridge()
        for what, do in events(world).items():
            costs: list[Cost] = []
            for number in range(-2, ROUNDS):  # the first ones load what is needed
                start = of_process(pid)
                hook = do()
                time.sleep(0.02)  # what it does behind the answer
                if number >= 0:
                    costs.append((hook, of_process(pid) - start))
            fine &= told(what, costs, TOGETHER, bare)
        assert world.bridge() == pid, "it was the same all the time"
        os.kill(pid, signal.SIGKILL)  # told to end, it would start the readings that wait
        print("without")
        for what, do in events(world).items():
            costs = []
            for _ in range(ROUNDS):
                world.keep_bridges_off()
                costs.append((do(), 0.0))
            fine &= told(what, costs, ALONE, bare)
            Layers.open(world.project).write_wishes()  # else the next events write thirty of them
        print("starting one")
        costs = []
        for _ in range(5):
            shutil.rmtree(world.entry.folder)
            hook = world.hook("SessionStart", source="startup")
            world.bridge()
            with Connection(world.entry.socket()) as connection:
                pid = connection.pid()
            costs.append((hook, of_process(pid)))
            os.kill(pid, signal.SIGKILL)
        fine &= told("session start", [(hook, 0.0) for hook, _ in costs], TOGETHER, bare)
        print(f"  the bridge's own start {median(each for _, each in costs):.0f}")
    return 0 if fine else 1


if __name__ == "__main__":
    for name in [each for each in os.environ if each.startswith(("MDMEMORY_", "XDG_"))]:
        del os.environ[name]
    if sys.platform != "linux":
        sys.exit("This is measured on Linux only.")
    sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else 200))
