"""One of many processes that write into one store: `python duelist.py ROOT NUMBER ROUNDS SECONDS`.

In each round it adds a note, edits that note, and edits its own line of the note that all share.
Ends after so many rounds or seconds (0: no such limit), and prints what it did as JSON.
"""

from __future__ import annotations

import json
import sys
import time

from mdmemory import Memory
from mdmemory.errors import MdmemoryError
from mdmemory.git.lock import Patience

SHARED = "shared"


def line(number: int, count: int) -> str:
    """The line of a process in the shared note."""
    return f"Process {number} has written {count} times."


def main(root: str, number: int, rounds: int, seconds: float) -> dict[str, object]:
    """Write; what was done, and each refusal in its words."""
    done: dict[str, int] = {"adds": 0, "edits": 0, "shared": 0}
    refused: list[str] = []
    longest, begun, at = 0.0, time.monotonic(), 0
    while (not rounds or at < rounds) and (not seconds or time.monotonic() - begun < seconds):
        at += 1
        memory = Memory.open(root, holder=f"duelist {number}", patience=Patience(30.0))
        name = f"note-{number}-{at}"
        for kind in done:
            before = time.monotonic()
            try:
                if kind == "adds":
                    memory.add(name, type="project", description=f"About {name}", body="Fresh.")
                elif kind == "edits":
                    memory.edit(name, body="Edited.")
                else:
                    _shared(memory, number, done["shared"])
                done[kind] += 1
            except MdmemoryError as problem:
                refused.append(f"{problem.code}: {problem.message}")
            longest = max(longest, time.monotonic() - before)
    return {**done, "rounds": at, "refused": refused, "longest": longest}


def _shared(memory: Memory, number: int, count: int) -> None:
    seen = memory.note(SHARED)
    text = seen.note.text.replace(line(number, count), line(number, count + 1))
    memory.replace_text(seen.file, text, replaces=seen.digest, seen=seen.note.text)


if __name__ == "__main__":
    words = sys.argv[1:]
    print(json.dumps(main(words[0], int(words[1]), int(words[2]), float(words[3]))))
