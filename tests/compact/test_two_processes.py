"""Two processes of which both would compact: one does, the other says so and leaves."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pace import HUNG

from mdmemory import Memory

# A pass whose planner says that it was asked, and answers when it is told to.
SLOW = """
import sys
from datetime import UTC, datetime
from mdmemory import Memory
from mdmemory.compact.offline import Offline
from mdmemory.compact.runner import Compactor

class Slow(Offline):
    def propose(self, notes, *, conflicts):
        print("asked", flush=True)
        sys.stdin.readline()
        return super().propose(notes, conflicts=conflicts)

memory = Memory.open(".")
print(Compactor(memory._writer(), Slow(), str, datetime.now(UTC)).run(if_due=True).outcome)
"""


def command(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-P", "-m", "mdmemory", "compact", "--if-due", *words]
    return subprocess.run(line, cwd=root, capture_output=True, text=True, timeout=HUNG, check=False)


@pytest.mark.slow
def test_while_one_process_compacts_the_other_says_so_and_leaves(
    repository: Path, git: Callable[..., str]
) -> None:
    memory, _ = Memory.init(repository)
    for name in ("tea", "more-tea"):
        memory.add(name, type="user", description="Drinks tea", body=f"Drinks tea{name[4:5]}.")
    (memory.project.store / "user-twin.md").write_bytes(
        (memory.project.store / "user-tea.md").read_bytes().replace(b"name: tea", b"name: twin")
    )
    with subprocess.Popen(
        [sys.executable, "-P", "-c", SLOW], cwd=repository, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as slow:  # fmt: skip
        assert slow.stdout
        assert slow.stdout.readline() == "asked\n"
        before = git(repository, "rev-parse", "HEAD")
        other, told = command(repository, "--json"), command(repository)
        assert (other.returncode, json.loads(other.stdout)["outcome"]) == (0, "busy")
        assert (told.returncode, told.stderr) == (0, "")
        assert told.stdout == "Another process is writing; nothing changed.\n"
        assert git(repository, "rev-parse", "HEAD") == before
        assert slow.communicate("go on\n", timeout=HUNG)[0] == "applied\n"
    assert git(repository, "log", "-1", "--format=%s").startswith("memory: merge 2 notes: ")
    assert command(repository).stdout == "No compaction is due.\n"
    assert git(repository, "status", "--porcelain") == ""
