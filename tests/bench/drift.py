"""Citations, measured: notes written at a commit, checked up to 200 commits later.

`python tests/bench/drift.py [made|own|all] [--repo PATH] [--seed N] [--half first|second]
[--notes N] [--wrong]`.
A false alarm is a citation that is called drifted or gone and that stands; a miss is one that is
called fresh or moved and was changed. `made` is a history that is made up, with a truth of its own;
`own` is this repository's, or the one at PATH, judged by `git blame` and streams of tokens.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import drift_history, drift_oracle

from mdmemory import Memory
from mdmemory.citing.citation import parse
from mdmemory.citing.lines import lines_hash
from mdmemory.errors import BadNote

SPAN = 200  # commits between writing and the last check
_NAME = re.compile(r"(?:def|class|function|func|const|let|export|type)\s+(\w{4,60})")
_NUMBER = re.compile(r"(\w{4,60})\s*[:=]+\s*(\d{2,9})")
KINDS = ("lines", "claims", "mentions")
Changed = Callable[[str, tuple[int, int] | None], bool]


@dataclass
class Tally:
    """What was found: how many citations, by their state and by the truth."""

    states: Counter[tuple[str, bool]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    astray: int = 0  # called fresh or moved, and other lines stand at the place that is named

    @property
    def alarms(self) -> int:
        return sum(n for (state, _), n in self.states.items() if state in ("drifted", "gone"))

    @property
    def false(self) -> int:
        return self.states["drifted", False] + self.states["gone", False]

    @property
    def missed(self) -> int:
        return self.states["fresh", True] + self.states["moved", True]

    def __str__(self) -> str:
        total = sum(self.states.values())
        unknown = self.states["unknown", False] + self.states["unknown", True]
        share = 100 * self.false / self.alarms if self.alarms else 0.0
        return (
            f"{total:5} citations  {self.alarms:4} alarms  {self.false:3} false ({share:.1f} %)  "
            f"{self.missed:2} missed of {sum(n for (_, t), n in self.states.items() if t)}  "
            f"{self.states['moved', False]:3} moved  {unknown} unknown  {self.astray} astray"
        )


def main() -> int:
    """Measure, print, and return 1 where a target is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="?", default="all", choices=["made", "own", "all"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--half", default="first", choices=["first", "second"])
    parser.add_argument("--repo", type=Path, default=Path(__file__).parents[2])
    parser.add_argument("--notes", type=int, default=200)
    parser.add_argument("--wrong", action="store_true", help="print what was judged wrongly")
    asked = parser.parse_args()
    tallies = {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = folder  # the memory folder
        if asked.what in ("made", "all"):
            tallies["made up"] = _made(Path(folder), asked.seed, asked.notes)
        if asked.what in ("own", "all"):
            tallies["own"] = _own(Path(folder), asked.repo, asked.seed, asked.half, asked.notes)
    missed = False
    for name, by_kind in tallies.items():
        for kind, tally in by_kind.items():
            print(f"{name:8} {kind:10} {tally}")
            missed = missed or tally.missed > 0 or tally.false > 0.1 * max(1, tally.alarms)
            for line in tally.wrong if asked.wrong else ():
                print(f"    {line}")
    return 1 if missed else 0


def _made(folder: Path, seed: int, notes: int) -> dict[str, Tally]:
    history = drift_history.MadeUp(folder / "made", seed, SPAN + 20)
    chance, found = random.Random(seed), {kind: Tally() for kind in KINDS}
    bases = sorted(chance.sample(range(20), 10))
    for base in bases:
        commit, tree = history.states[base]
        memory = _at(history.folder, commit)
        written = _written(memory, chance, history.folder, notes // len(bases), tree)
        for at in [*sorted(chance.sample(range(base + 1, base + SPAN), 3)), base + SPAN - 1]:
            after = history.states[at][1]

            def changed(
                path: str, lines: tuple[int, int] | None,
                tree: drift_history.Tree = tree, after: drift_history.Tree = after,
            ) -> bool:  # fmt: skip
                return drift_history.is_changed(tree, after, path, lines)

            _check(history.folder, history.states[at][0], written, changed, found, f"{base}+{at}")
    return found


def _own(folder: Path, source: Path, seed: int, half: str, notes: int) -> dict[str, Tally]:
    clone = folder / "own"
    _git(folder, "clone", "-q", str(source), str(clone))
    commits = _git(clone, "rev-list", "--first-parent", "--reverse", "HEAD").split()
    middle = len(commits) // 2
    period = commits[:middle] if half == "first" else commits[middle:]
    chance, found = random.Random(seed), {kind: Tally() for kind in KINDS}
    span = min(SPAN, 2 * len(period) // 3)
    starts = range(len(period) - span)
    for base in sorted(chance.sample(starts, min(10, len(starts)))):
        memory = _at(clone, period[base])
        written = _written(memory, chance, clone, notes // min(10, len(starts)), None)
        for at in (base + chance.randint(5, span // 2), base + span - 1):
            oracle = drift_oracle.Oracle(clone, period[base], period[at])
            about = f"{period[base][:8]}..{period[at][:8]}"
            _check(clone, period[at], written, oracle.is_changed, found, about)
    return found


def _at(folder: Path, commit: str) -> Memory:
    """The project at a commit, with an empty memory of its own."""
    _git(folder, "checkout", "-q", "-f", commit)
    store = Path(os.environ["HOME"]) / "mdmemory"
    subprocess.run(["rm", "-rf", str(store)], check=True)
    memory, _ = Memory.init(folder, home=True)
    return memory


def _written(
    memory: Memory, chance: random.Random, folder: Path, count: int, tree: drift_history.Tree | None
) -> dict[str, str]:
    """Write notes of each kind; the kind of each, by its file."""
    there = [path for path in _git(folder, "ls-files").split("\n") if (folder / path).is_file()]
    small = [path for path in there if (folder / path).stat().st_size < 200_000]
    paths = [path for path in small if b"\0" not in (folder / path).read_bytes()]
    kinds = {}
    for number in range(count):
        kind = KINDS[number % 3]
        for text, cite in _facts(chance, folder, paths, kind, tree):
            with suppress(BadNote):  # what looks like a secret is no note
                done = memory.add(
                    f"note-{number}", type="project", description=text, body=f"Note {number}.",
                    cite=cite,
                )  # fmt: skip
                kinds[done.file] = kind
                break
    return kinds


def _facts(
    chance: random.Random, folder: Path, paths: list[str], kind: str,
    tree: drift_history.Tree | None,
) -> Iterator[tuple[str, list[str]]]:  # fmt: skip
    """What a note of a kind may say, and the place that it names by itself."""
    while True:
        path = chance.choice(paths)
        text = (folder / path).read_text("utf-8", "replace")
        rows = text.split("\n")
        if kind == "lines":
            if tree is not None:
                source = tree[path]
                places, rows_of = source.text()[1], source.rows()
                at = chance.randrange(len(rows_of))
                some = rows_of[at : at + chance.choice((1, 1, 2, 3, 6))]
                first, last = places[some[0].id][0], places[some[-1].id][1]
            else:
                first = chance.randint(1, max(1, len(rows) - 1))
                last = min(len(rows), first + chance.choice((0, 0, 1, 3, 8)))
            if any(row.strip() for row in rows[first - 1 : last]):
                yield f"How it works is seen in {path}", [f"{path}#L{first}-L{last}"]
        elif kind == "claims":
            known = _NAME.findall(text)
            numbers = _NUMBER.findall(text)
            if known and (not numbers or chance.random() < 0.5):
                yield f"`{chance.choice(known)}` is the place to begin, in {path}", []
            elif numbers:
                name, number = chance.choice(numbers)
                yield f"{name} is {number}, as {path} says", []
        else:
            yield f"The reasons are explained in {path}, which the team wrote together", []


def _check(
    folder: Path,
    commit: str,
    written: dict[str, str],
    changed: Changed,
    found: dict[str, Tally],
    about: str,
) -> None:
    _git(folder, "checkout", "-q", "-f", commit)
    for each in Memory.open(folder).citations():
        cite = parse(each.cite)
        assert cite is not None
        truth = changed(cite.path, cite.lines)
        tally = found[written[each.file]]
        tally.states[each.state, truth] += 1
        is_alarm = each.state in ("drifted", "gone")
        if each.state != "unknown" and is_alarm != truth:
            called = "false" if is_alarm else "MISSED"
            rows = "".join(f"\n        {row}" for row in each.diff.split("\n") if row)
            tally.wrong.append(f"{called} {about} {each.cite} {each.now}{rows}")
        if not is_alarm and cite.lines and cite.lines_hash:
            now = parse(each.now or each.place)
            assert now is not None
            assert now.lines
            text = (folder / now.path).read_bytes().split(b"\n")
            if lines_hash(b"\n".join(text[now.lines[0] - 1 : now.lines[1]])) != cite.lines_hash:
                tally.astray += 1
                tally.wrong.append(f"astray {about} {each.cite} {each.state} {each.now}")


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    begun = time.monotonic()
    code = main()
    print(f"{time.monotonic() - begun:.0f} s")
    sys.exit(code)
