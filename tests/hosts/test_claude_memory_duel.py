"""Claude Code's Write tool, OpenCode's bridge, a person's editor and a compaction on the same notes
at once: every text that was written is in the tree or in git, and nobody's last word is undone."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from pace import HUNG

from mdmemory import Layers, Memory

Git = Callable[..., str]
ROUNDS, NOTES = 12, 3
WRITES = """
import os, sys, time
from pathlib import Path
store, who, rounds, notes = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
for number in range(rounds):
    path = store / f"project_shelf-{number % notes}.md"
    text = ("---\\nname: shelf-%d\\ndescription: Shelf %d of %s holds lot %d\\nmetadata:\\n"
            "  type: project\\n  originSessionId: s\\n---\\n\\nLot %d of %s.\\n")
    fresh = path.with_name(f".{path.name}.{who}")
    fresh.write_text(text % (number % notes, number % notes, who, number, number, who))
    os.replace(fresh, path.with_name(f"project_{who}-{number}.md"))
    path.write_text(text % (number % notes, number % notes, who, number, number, who))
    time.sleep(0.03)
"""
ADOPTS = """
import sys, time
from pathlib import Path
from mdmemory import Memory
from mdmemory.errors import MdmemoryError
for _ in range(int(sys.argv[2])):
    for work in (lambda m: m.adopt(), lambda m: m.compact(offline=True)):
        try:
            work(Memory.open(Path(sys.argv[1])))
        except MdmemoryError as problem:
            print(problem.code)
    time.sleep(0.02)
"""
TELLS = """
import sys
from pathlib import Path
from mdmemory.hosts.background import Starter
from mdmemory.hosts.background import Log
from mdmemory.hosts.opencode.hooks import Hooks
from mdmemory.layers import Layers
project = Path(sys.argv[1])
start = Starter(lambda: ["true"], project)
hooks = Hooks(lambda: Layers.open(project, automatic=True), start, Log())
for number in range(int(sys.argv[2])):
    said = f"Remember that locker {number} belongs to the team {chr(65 + number) * 3}."
    part = {"type": "text", "text": said}
    hooks.message({"session": "ses_1", "message": f"msg_{number}", "parts": [part]})
"""


def test_claude_opencode_an_editor_and_a_compaction_at_once_lose_nothing(
    repository: Path, git: Git
) -> None:
    store = Memory.init(repository, home=True)[0].project.store
    words = [
        *([WRITES, str(store), who, str(ROUNDS), str(NOTES)] for who in ("claude", "editor")),
        *([ADOPTS, str(repository), "4"] for _ in range(2)),
        [TELLS, str(repository), str(ROUNDS)],
    ]
    running = [
        subprocess.Popen([sys.executable, "-P", "-c", *each], stderr=subprocess.PIPE, text=True)
        for each in words
    ]
    for process in running:
        _, errors = process.communicate(timeout=HUNG)
        assert process.returncode == 0, errors
    Memory.open(repository).adopt()
    Layers.open(repository).settle_wishes("ses_1")  # what was said last
    kept = git(store, "log", "--all", "-p", "--format=%H", "--", "*.md")
    kept += "".join(path.read_text("utf-8") for path in store.glob("*.md"))
    for who in ("claude", "editor"):
        for number in range(ROUNDS):
            assert f"Lot {number} of {who}." in kept
    facts = [note.note.head.description for note in Memory.open(repository).notes()]
    for number in range(ROUNDS):
        assert f"Locker {number} belongs to the team {chr(65 + number) * 3}" in facts
    for shelf in range(NOTES):  # the last that either of the two wrote there
        text = (store / f"project_shelf-{shelf}.md").read_text("utf-8")
        assert re.search(rf"Lot {ROUNDS - NOTES + shelf} of (?:claude|editor)\.", text)
    assert git(store, "fsck", "--strict") == ""
