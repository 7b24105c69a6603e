"""What mdmemory costs, every row beside its floor in the same run: `make bench`.

`python tests/bench/run.py [--sizes 1000,10000,100000] [--only PART,PART] [--json FILE]`. A row is a
command, a call of the bridge, a hook or a tool: CPU and time of the whole tree of processes, the
memory of the largest, the ratio to its floor, and what it may be (speed/targets.toml). Exits 1
where a row failed, or missed its target by more than 25 %, which is what a shared machine may add.
"""

import argparse
import json
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.speed import commands, inside_rows, long_lives, serving
from bench.speed.measure import Starter
from bench.speed.rows import HEADING, ROUNDS, SLIGHT, STEEPEST, Table
from bench.speed.world import World, clean_environment

from mdmemory.version import VERSION


def main() -> int:
    """Measure and print; the exit code."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sizes", default="1000,10000", help="numbers of notes, by commas")
    options.add_argument("--only", default="", help="parts of names of rows, by commas")
    options.add_argument("--json", type=Path, metavar="FILE", help="write the results there, too")
    options.add_argument("--no-lives", action="store_true", help="without the long histories")
    options.add_argument("--rounds", type=int, default=ROUNDS, help="runs of a row at most")
    chosen = options.parse_args()
    table = Table(filter(None, chosen.only.split(",")), chosen.rounds)
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="mdmemory-bench-", ignore_cleanup_errors=True) as name,
        clean_environment(Path(name) / "home") as env,
        Starter(Path(name), env) as starter,
    ):
        print(HEADING)
        few = World(Path(name) / "few", 20, starter)
        few.commit()
        commands.start(table, few)
        for size in map(int, chosen.sizes.split(",")):
            with table.area("all rows", size):
                measure(table, Path(name) / str(size), size, starter, env, chosen.json)
            shutil.rmtree(Path(name) / str(size), ignore_errors=True)
        if not chosen.no_lives:
            for area in long_lives.AREAS:
                with table.area(area.__name__, 0):
                    area(table, Path(name) / area.__name__, starter)
                keep(table, chosen.json)
        with table.area("offline plans", inside_rows.PLANNED):
            inside_rows.planning(table)
    steep = tell_growth(table)
    keep(table, chosen.json)
    return summed_up(table, steep, time.monotonic() - began)


def measure(
    table: Table, folder: Path, size: int, starter: Starter, env: dict[str, str],
    json_file: Path | None,
) -> None:  # fmt: skip
    """All rows of a store of so many notes."""
    world = World(folder, size, starter)
    first = world.commit()
    table.row("index: the first, nothing committed", size, lambda: first, rounds=1)
    areas: dict[str, Callable[[], None]] = {
        "index": lambda: commands.indexing(table, world),
        "reading": lambda: commands.reading(table, world),
        "secrets": lambda: inside_rows.judging(table, world),
        "bridge": lambda: serving.bridge(table, world, env),
        "mcp": lambda: serving.mcp(table, world, env),
        "hooks": lambda: serving.hooks(table, world, env),
        "writing": lambda: commands.writing(table, world),
    }
    for name, area in areas.items():
        with table.area(name, size):
            area()
        keep(table, json_file)


def keep(table: Table, file: Path | None) -> None:
    """Write what was measured so far."""
    if file:
        file.write_text(json.dumps(told(table), indent=1) + "\n", encoding="utf-8")


def tell_growth(table: Table) -> int:
    """Print the rows that grow faster than the notes; how many those are."""
    steep = 0
    for what, small, large, exponent in table.exponents():
        cost = next(row.cpu for row in table.rows if (row.what, row.size) == (what, large))
        if exponent > STEEPEST and cost > SLIGHT:
            steep += 1
            print(f"{what}: grows by the power of {exponent:.2f} from {small} to {large} notes")
    return steep


def told(table: Table) -> dict[str, object]:
    """The results for a program."""
    growth = [
        {"what": what, "from": small, "to": large, "exponent": exponent}
        for what, small, large, exponent in table.exponents()
    ]
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return {
        "version": VERSION, "date": date.today().isoformat(), "machine": machine,
        "rows": table.as_json(), "growth": growth,
    }  # fmt: skip


def summed_up(table: Table, steep: int, seconds: float) -> int:
    """The last lines, and the exit code."""
    failed = [row for row in table.rows if row.failed]
    over = [row for row in table.rows if row.verdict.startswith("OVER")]
    held = [row for row in table.rows if row.over]
    for name in table.unmet():
        print(f"no row was measured for the target {name!r}")
    print(
        f"{len(table.rows)} rows in {seconds:.0f} s: {len(failed)} failed, {len(over)} of"
        f" {len(held)} targets missed by more than 25 %, {steep} grow too fast."
    )
    return 1 if failed or over or steep else 0


if __name__ == "__main__":
    sys.exit(main())
