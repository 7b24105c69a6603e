"""Many processes write at once: each is served in its turn, and nothing of any is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from pace import FULL, HUNG

from mdmemory import Memory

sys.path.insert(0, str(Path(__file__).parent))
import duelist

PROCESSES, ROUNDS = (20, 6) if FULL else (5, 2)


def test_many_writers_are_all_served_and_no_edit_is_lost(
    repository: Path, git: Callable[..., str]
) -> None:
    memory = Memory.init(repository)[0]
    body = "\n".join(duelist.line(number, 0) for number in range(PROCESSES))
    memory.add(duelist.SHARED, type="project", description="What all write to", body=body)
    words = [sys.executable, "-P", duelist.__file__, str(repository)]
    started = [
        subprocess.Popen([*words, str(number), str(ROUNDS), "0"], stdout=subprocess.PIPE)
        for number in range(PROCESSES)
    ]
    told = [json.loads(process.communicate(timeout=HUNG)[0]) for process in started]
    assert [each["refused"] for each in told] == [[]] * PROCESSES
    notes = {note.note.head.name: note.note.body.strip() for note in memory.notes()}
    lines = notes.pop(duelist.SHARED).splitlines()
    assert lines == [duelist.line(number, ROUNDS) for number in range(PROCESSES)]
    assert set(notes.values()) == {"Edited."}
    assert len(notes) == PROCESSES * ROUNDS
    assert git(repository, "status", "--porcelain") == ""
    assert git(repository, "fsck", "--strict") == ""
    count = int(git(repository, "rev-list", "--count", "HEAD"))
    assert count >= 3 * PROCESSES * ROUNDS
