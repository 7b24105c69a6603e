"""What a change did to size, traced paths and speed: `make compare BASE=COMMIT`.

    python tests/compare.py COMMIT [--no-speed]

The commit is checked out into a folder of its own, with packages of its own. Printed is what
differs: each figure of `make size`, the files and functions of each traced path, and each row of
`make bench` (a store of 1,000 notes) whose CPU changed by more than a tenth.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import size

CHANGED = 0.1  # of the CPU of a row
SLIGHT = 0.002  # seconds of CPU, below which a row says nothing
BENCH = ("--sizes", "1000", "--no-lives", "--rounds", "5")

Costs = dict[str, float]  # seconds of CPU by row


def main() -> int:
    """Compare, and print; 2 where there is no such commit."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("base", metavar="COMMIT")
    options.add_argument("--no-speed", action="store_true", help="size and paths alone")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="mdmemory-compare-") as name:
        base = Path(name) / "base"
        words = ("git", "worktree", "add", "--quiet", "--detach", str(base), chosen.base)
        if subprocess.run(words, cwd=size.ROOT).returncode:
            print(f"{chosen.base} is no commit: name one of `git log`.", file=sys.stderr)
            return 2
        try:
            for line in compare_sizes(base):
                print(line)
            if not chosen.no_speed:
                subprocess.run(("make", "--silent", ".venv/bin/mdmemory"), cwd=base, check=True)
                for line in compare_speed(measure_speed(base), measure_speed(size.ROOT)):
                    print(line)
        finally:
            remove = ("git", "worktree", "remove", "--force", str(base))
            subprocess.run(remove, cwd=size.ROOT, check=True)
    return 0


def compare_sizes(base: Path) -> Iterator[str]:
    """A line for each figure that differs; traced paths by their marks, which are what there is."""
    before, now = (
        {name: mark for name, mark in marks.items() if name.startswith("paths.")}
        | size.measure(root)
        for root in (base, size.ROOT)
        for marks in (size.read_marks((root / size.MARKS).read_text("utf-8")),)
    )
    for name in dict.fromkeys([*before, *now]):
        was, is_now = before.get(name, 0), now.get(name, 0)
        if was != is_now:
            yield f"{name:28}{was:>12,}{is_now:>12,}{is_now - was:>+10,}"


def measure_speed(root: Path) -> Costs:
    """The CPU of each row of the bench of the tree at `root`, by its own program."""
    with tempfile.TemporaryDirectory(prefix="mdmemory-compare-") as name:
        out = Path(name) / "rows.json"
        words = (".venv/bin/python", "tests/bench/run.py", *BENCH, "--json", str(out))
        # it exits with 1 where a target is missed, which is no failure here
        subprocess.run(words, cwd=root, stdout=subprocess.DEVNULL)
        rows = json.loads(out.read_text("utf-8"))["rows"]
    return {f"{row['what']} ({row['size']})": row["cpu"] for row in rows}


def compare_speed(before: Costs, now: Costs) -> Iterator[str]:
    """A line for each row that both have and that costs more or less than before."""
    for what in before.keys() & now.keys():
        was, is_now = before[what], now[what]
        if max(was, is_now) > SLIGHT and abs(is_now - was) > CHANGED * was:
            yield f"{what:60}{was * 1000:>9.1f} ms{is_now * 1000:>9.1f} ms{is_now / was:>7.2f}x"


if __name__ == "__main__":
    sys.exit(main())
