"""Many processes write at once: each is served in its turn, and nothing of any is lost."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from pace import FULL, HUNG

from mdmemory import Memory

PROCESSES, ROUNDS = (20, 6) if FULL else (5, 2)
SHARED = "shared"
# in each round it adds a note, edits that note, and edits its own line of the note that all share
DUELIST = """
import sys
from mdmemory import Memory
from mdmemory.git.lock import Patience
root, number, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
for at in range(rounds):
    memory = Memory.open(root, holder=f"duelist {number}", patience=Patience(30.0))
    name = f"note-{number}-{at}"
    memory.add(name, type="project", description=f"About {name}", body="Fresh.")
    memory.edit(name, body="Edited.")
    seen = memory.note("shared")
    text = seen.note.text.replace(f"{number} has written {at} ", f"{number} has written {at + 1} ")
    memory.replace_text(seen.file, text, replaces=seen.digest, seen=seen.note.text)
"""


def test_many_writers_are_all_served_and_no_edit_is_lost(
    repository: Path, git: Callable[..., str]
) -> None:
    memory = Memory.init(repository)[0]
    body = [f"Process {number} has written 0 times." for number in range(PROCESSES)]
    memory.add(SHARED, type="project", description="What all write to", body="\n".join(body))
    words = [sys.executable, "-P", "-c", DUELIST, str(repository)]
    started = [subprocess.Popen([*words, str(number), str(ROUNDS)]) for number in range(PROCESSES)]
    assert [process.wait(HUNG) for process in started] == [0] * PROCESSES
    notes = {note.note.head.name: note.note.body.strip() for note in memory.notes()}
    lines = notes.pop(SHARED).splitlines()
    assert lines == [line.replace("written 0", f"written {ROUNDS}") for line in body]
    assert set(notes.values()) == {"Edited."}
    assert len(notes) == PROCESSES * ROUNDS
    assert git(repository, "status", "--porcelain") == ""
    assert git(repository, "fsck", "--strict") == ""
    assert int(git(repository, "rev-list", "--count", "HEAD")) >= 3 * PROCESSES * ROUNDS
