"""Small wrong changes to the code, one at a time: which of them do the tests not see?

`python tests/mutants/run.py --sample 100 --seed 1` chooses that many places in git/, compact/,
capture/ and note/ and changes one at a time in a copy of the package. It runs the quick tests that
import the module and, where these pass, all quick tests of the room (unless --near). What passes
all the same is listed: a gap in the tests, or a change that means nothing. A person looks at each.

mutmut takes no sample, and cosmic-ray changes the files of the checkout in place.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("git", "compact", "capture", "note")
LIMIT = 300  # seconds for the tests of one mutant; one that never ends is caught

SWAPPED: dict[type[ast.AST], str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
    ast.Add: "-", ast.Sub: "+", ast.And: "or", ast.Or: "and",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mutant:
    """The bytes from `start` to `end` of a file become `text`."""

    path: Path
    line: int
    start: int
    end: int
    text: str

    def source(self) -> bytes:
        data = self.path.read_bytes()
        return data[: self.start] + self.text.encode() + data[self.end :]

    def __str__(self) -> str:
        before = self.path.read_bytes()[self.start : self.end].decode()
        place = f"{self.path.relative_to(ROOT)}:{self.line}"
        return f"{place}: {_short(before)}  ->  {_short(self.text)}"


def _short(code: str) -> str:
    return re.sub(r"\s+", " ", code)[:70]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sample", type=int, default=100)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--skip", type=int, default=0, help="leave out the first of the sample")
    options.add_argument("--until", type=int, help="and those after this one")
    options.add_argument("--near", action="store_true", help="only tests that import the module")
    chosen = options.parse_args()
    modules = [path for room in ROOMS for path in (ROOT / "mdmemory" / room).rglob("*.py")]
    every = [mutant for path in sorted(modules) for mutant in mutants(path)]
    sample = random.Random(chosen.seed).sample(every, min(chosen.sample, len(every)))
    tried: list[bool] = []
    with tempfile.TemporaryDirectory(prefix="mdmemory-mutants-") as name:
        copy = Path(name)
        for top in ("mdmemory", "protocol", "templates"):
            shutil.copytree(ROOT / top, copy / top, ignore=shutil.ignore_patterns("__pycache__"))
        for mutant in sample[chosen.skip : chosen.until]:
            survived = survives(mutant, copy, not chosen.near)
            print(f"{'SURVIVED' if survived else 'caught  '}  {mutant}", flush=True)
            tried.append(survived)
    print(f"{sum(tried)} of {len(tried)} mutants survived ({len(every)} are possible).")
    return 0


def mutants(path: Path) -> Iterator[Mutant]:
    """Every small change of one file that the table above and these rules know."""
    data = path.read_bytes()
    lines = [0]
    for line in data.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    tree = ast.parse(data)
    parts = {id(part) for node in ast.walk(tree) for part in _spared(node)}
    for node in ast.walk(tree):
        text = None if id(node) in parts else changed(node)
        if text is not None and isinstance(node, ast.expr | ast.stmt):
            assert node.end_lineno
            assert node.end_col_offset
            start = lines[node.lineno - 1] + node.col_offset
            end = lines[node.end_lineno - 1] + node.end_col_offset
            yield Mutant(path, node.lineno, start, end, text)


def _spared(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that nobody runs, or that only form what a person reads."""
    for name in ("annotation", "returns", "decorator_list"):
        part = getattr(node, name, None)
        for each in part if isinstance(part, list) else [part] if part else []:
            yield from ast.walk(each)
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        yield from ast.walk(node)
    if isinstance(node, ast.FormattedValue | ast.Assert):
        yield from ast.walk(node)


def changed(node: ast.AST) -> str | None:
    """The code that stands for a node in its mutant; None: it has none."""
    match node:
        case ast.Compare(left, [op], [right]) if type(op) in SWAPPED:
            return f"({ast.unparse(left)} {SWAPPED[type(op)]} {ast.unparse(right)})"
        case ast.BinOp(left, op, right) if type(op) in SWAPPED:
            return f"({ast.unparse(left)} {SWAPPED[type(op)]} {ast.unparse(right)})"
        case ast.BoolOp(op, values):
            return f"({f' {SWAPPED[type(op)]} '.join(f'({ast.unparse(each)})' for each in values)})"
        case ast.UnaryOp(ast.Not(), operand):
            return f"bool({ast.unparse(operand)})"
        case ast.IfExp(test, body, orelse):
            return f"({ast.unparse(orelse)} if {ast.unparse(test)} else {ast.unparse(body)})"
        case ast.Constant(bool(value)):
            return str(not value)
        case ast.Constant(int(value)):
            return str(value + 1)
        case ast.Break():
            return "continue"
        case ast.Continue():
            return "break"
        case ast.Expr(ast.Call()):
            return "pass"
        case ast.Return(value) if value and not isinstance(value, ast.Constant):
            return "return None"
    return None


def survives(mutant: Mutant, copy: Path, whole_room: bool) -> bool:
    """Whether all tests that are run for it pass in a copy of the package that has the mutant."""
    place = copy / mutant.path.relative_to(ROOT)
    former = place.read_bytes()
    place.write_bytes(mutant.source())
    room = ROOT / "tests" / mutant.path.relative_to(ROOT / "mdmemory").parts[0]
    more = [room, ROOT / "tests/store"] if room.name == "git" else [room]
    try:
        return passes(copy, nearest(mutant.path)) and not (whole_room and not passes(copy, more))
    finally:
        place.write_bytes(former)


def nearest(path: Path) -> list[Path]:
    """The tests that import the module, or where none does, those of its users."""
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    users = {
        ".".join(each.relative_to(ROOT).with_suffix("").parts)
        for each in (ROOT / "mdmemory").rglob("*.py")
        if module in _imports(each)
    }
    for modules in ({module}, users):
        found = [test for test in tests if modules & _imports(test)]
        if found:
            return found
    return [test for test in tests if test.parent.name == path.parent.name]


@cache
def _imports(path: Path) -> frozenset[str]:
    """The modules that a file imports, and the names that it imports from packages."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return frozenset(found)


def passes(copy: Path, tests: list[Path]) -> bool:
    """Whether the quick ones of these tests pass against the package in `copy`."""
    words = (sys.executable, "-P", "-m", "pytest", "-x", "-q", "-m", "not slow", *map(str, tests))
    env = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode in (0, 5)  # 5: no test was chosen


if __name__ == "__main__":
    sys.exit(main())
