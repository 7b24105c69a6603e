"""What git pays for one folder of all notes and for 256: `python tests/bench/tree_layout.py`.

For each number of notes one note is changed in each of some commits: CPU milliseconds of `git add`
and `git commit` together, and the bytes by which a repository grows with each commit before it is
packed and after. Names are 48 characters long, as those of notes are at most in the middle.
"""

import argparse
import hashlib
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

NAME = 48  # characters of a file's name
COMMITS = 11
Layout = Callable[[str], str]


def flat(name: str) -> str:
    return name


def sharded(name: str) -> str:
    """Into one of 256 folders, by a hash of the name."""
    return f"{hashlib.sha256(name.encode()).hexdigest()[:2]}/{name}"


LAYOUTS: dict[str, Layout] = {"flat": flat, "sharded": sharded}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sizes", default="1000,10000,100000", help="numbers of notes, by commas")
    print(f"{'notes':>9}  {'layout':8} {'CPU ms':>7} {'loose bytes':>12} {'packed bytes':>13}")
    for size in map(int, options.parse_args().sizes.split(",")):
        for name, layout in LAYOUTS.items():
            with tempfile.TemporaryDirectory() as folder:
                cost, loose, packed = measured(Path(folder), size, layout)
            print(f"{size:>9,}  {name:8} {cost:>7.1f} {loose:>12,} {packed:>13,}", flush=True)
    return 0


def measured(folder: Path, size: int, layout: Layout) -> tuple[float, int, int]:
    """The median milliseconds of a commit, and the bytes of each, loose and packed."""
    names = [layout(f"project-{number:07}-".ljust(NAME - 3, "x") + ".md") for number in range(size)]
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{name}\n", encoding="utf-8")
    git(folder, "init", "--quiet", "--template=")
    git(folder, "config", "gc.auto", "0")
    add_and_commit(folder, ".")
    git(folder, "repack", "--quiet", "-a", "-d")
    first, costs = stored(folder), []
    for number in range(COMMITS):
        changed = names[number * size // COMMITS]
        (folder / changed).write_text(f"{changed} {number}\n", encoding="utf-8")
        before = seconds()
        add_and_commit(folder, changed)
        costs.append(1000 * (seconds() - before))
    loose = stored(folder)
    git(folder, "repack", "--quiet", "-a", "-d")
    each = [(bytes_ - first) // COMMITS for bytes_ in (loose, stored(folder))]
    return statistics.median(costs), each[0], each[1]


def add_and_commit(folder: Path, what: str) -> None:
    git(folder, "add", "--", what)
    git(folder, "-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-qm", "one")


def stored(folder: Path) -> int:
    """The bytes of all objects."""
    return sum(
        file.stat().st_size for file in (folder / ".git/objects").rglob("*") if file.is_file()
    )


def seconds() -> float:
    """The processor time of the programs that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def git(folder: Path, *words: str) -> None:
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", *words], cwd=folder, check=True, env=os.environ | alone)


if __name__ == "__main__":
    sys.exit(main())
