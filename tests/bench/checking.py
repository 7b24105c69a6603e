"""What `mdmemory check` costs: `python tests/bench/checking.py [NOTES]` (default 10,000).

Notes with three citations each, in a project of a third as many files, of which a tenth changed
after the notes were written and some were renamed. Seconds of CPU of the command (user and system,
git's included), Python's start among them. Exits 1 where a warm check takes more than one.
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from hashlib import sha1
from pathlib import Path

from mdmemory import Memory
from mdmemory.citing.citation import Citation
from mdmemory.citing.lines import lines_hash

CITES = 3
TARGET = 1.0  # seconds
SETTLE = 2.2  # seconds until a file's time stamp can be trusted


def main() -> int:
    """Build, measure, print."""
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory(prefix="mdmemory-bench-") as name:
        os.environ["HOME"] = name
        project = Path(name) / "project"
        files = _project(project, max(30, size // 3))
        memory, _ = Memory.init(project, home=True)
        _notes(memory.project.store, files, size)
        _changed(project, sorted(files))
        time.sleep(SETTLE)
        _seconds(project, "index")
        rows = [("first", _seconds(project, "check")), ("warm", _seconds(project, "check"))]
        time.sleep(SETTLE)
        rows.append(("warm", min(_seconds(project, "check") for _ in range(3))))
        _git(project, "commit", "-q", "--allow-empty", "-m", "nothing")
        rows.append(("after a commit", _seconds(project, "check")))
        searches = [_seconds(project, "search", "number 17") for _ in range(3)]
        rows.append(("search, warm", min(searches)))
        states = json.loads(_run(project, "check", "--json"))["citations"]
    warm = rows[2][1]
    counts = {s: sum(each["state"] == s for each in states) for s in ("fresh", "moved", "drifted")}
    print(f"{size} notes, {len(states)} citations: {counts}")
    for what, seconds in rows:
        print(f"  {what:<16}{seconds:6.2f} s")
    print(f"  target: a warm check in {TARGET:.0f} s of CPU: {'ok' if warm <= TARGET else 'OVER'}")
    return 0 if warm <= TARGET else 1


def _project(folder: Path, count: int) -> dict[str, list[str]]:
    chance = random.Random(7)
    files = {}
    for number in range(count):
        path = f"src/part{number % 60}/module{number}.py"
        lines = [f"value_{number}_{line} = {chance.randrange(10**6)}" for line in range(80)]
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("\n".join(lines) + "\n")
        files[path] = lines
    _git(folder, "init", "-q")
    _git(folder, "config", "user.email", "bench@example.org")
    _git(folder, "config", "user.name", "Bench")
    _git(folder, "add", "-A")
    _git(folder, "commit", "-q", "-m", "all")
    return files


def _notes(store: Path, files: dict[str, list[str]], size: int) -> None:
    chance, paths = random.Random(8), sorted(files)
    for number in range(size):
        cites = []
        for _ in range(CITES):
            path = chance.choice(paths)
            data = ("\n".join(files[path]) + "\n").encode()
            first = chance.randint(1, 70)
            last = first + chance.randint(0, 5)
            blob = sha1(b"blob %d\0" % len(data) + data).hexdigest()[:12]
            lines = "\n".join(files[path][first - 1 : last]).encode()
            cites.append(str(Citation(path, (first, last), blob, lines_hash(lines))))
        quoted = ", ".join(f'"{cite}"' for cite in cites)
        (store / f"project-fact-{number}.md").write_text(
            f"---\nname: fact-{number}\ndescription: Fact number {number} about the project\n"
            f"metadata:\n  type: project\n  created: 2026-03-01\n  cites: [{quoted}]\n---\n\n"
            f"The value of number {number} matters.\n"
        )


def _changed(folder: Path, paths: list[str]) -> None:
    chance = random.Random(9)
    some = chance.sample(paths, len(paths) // 10)
    for path in some:
        lines = (folder / path).read_text().split("\n")
        lines[chance.randrange(80)] = "changed = True"
        lines.insert(0, "first = 1")
        (folder / path).write_text("\n".join(lines))
    for path in some[: len(some) // 10]:
        _git(folder, "mv", path, path.replace("module", "renamed"))
    _git(folder, "commit", "-q", "-am", "change")


def _seconds(folder: Path, *words: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _run(folder, *words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _run(folder: Path, *words: str) -> bytes:
    command = [sys.executable, "-P", "-m", "mdmemory", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).stdout


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


if __name__ == "__main__":
    sys.exit(main())
