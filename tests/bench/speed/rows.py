"""The table: a row for each thing that is measured, beside its floor, held to its target."""

import math
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from bench.speed.measure import NOTHING, Cost, FailedError, Step

TARGETS = Path(__file__).with_name("targets.toml")
MARGIN = 1.25  # what a shared machine may add before a row counts as missed
STEEPEST = 1.05  # the exponent between two sizes that a row may have
SLIGHT = 0.3  # seconds: below, it is the start that counts, and an exponent says nothing
ROUNDS, ENOUGH = 7, 2.5  # runs of a row at most, and seconds of CPU after which they are enough
LONG, FEW = 12.0, 5  # seconds that many runs take at most, and runs that they are at least
TIMES = ("cpu", "wall")
HEADING = (
    f"{'notes':>7}  {'':42}{'CPU ms':>9}{'wall ms':>9}{'p95 ms':>8}{'MB':>6}{'floor ms':>9}"
    f"{'ratio':>8}{'most':>7}  verdict"
)


@dataclass(frozen=True)
class Target:
    """What a row may cost: `most` times the floor of that name, above what the row named `above`
    costs; `ms` (the 95th percentile) and `mb` for themselves. A number by size, or for all."""

    floor: str = ""
    most: float | Mapping[str, float] = 0.0
    above: str = ""
    ms: float | Mapping[str, float] = 0.0
    mb: float | Mapping[str, float] = 0.0


@dataclass(frozen=True)
class Row:
    """One line of the table; seconds and MB. `p95` is 0 where one run says nothing about others."""

    what: str
    size: int
    cpu: float
    wall: float
    peak: float
    p95: float = 0.0
    floor_name: str = ""
    floor: float = 0.0
    above: float = 0.0
    most: float = 0.0
    ms: float = 0.0
    mb: float = 0.0
    failed: str = ""

    @property
    def ratio(self) -> float:
        return max(0.0, self.cpu - self.above) / self.floor if self.floor else 0.0

    @property
    def over(self) -> float:
        """How far above its target it is, as a factor; 0 for a row without one."""
        pairs = ((self.ratio, self.most), (self.p95 * 1000, self.ms), (self.peak, self.mb))
        return max((found / most for found, most in pairs if most), default=0.0)

    @property
    def verdict(self) -> str:
        if self.failed:
            return "FAILED"
        if not self.over:
            return ""
        if self.over <= 1:
            return "ok"
        return "over, within 25 %" if self.over <= MARGIN else f"OVER {self.over:.1f} x"

    def text(self) -> str:
        """The line of a terminal."""
        if self.failed:
            return f"{self.size:7}  {self.what:42} FAILED: {self.failed}"
        p95 = f"{self.p95 * 1000:8.1f}" if self.p95 else f"{'':8}"
        peak = f"{self.peak:6.0f}" if self.peak else f"{'':6}"
        floor = f"{self.floor * 1000:9.1f}{self.ratio:8.2f}" if self.floor else f"{'':17}"
        limits = [f"{self.most:g}"] if self.most else []
        limits += [f"{self.ms:g}ms"] if self.ms else []
        limits += [f"{self.mb:g}MB"] if self.mb else []
        return (
            f"{self.size:7}  {self.what:42}{self.cpu * 1000:9.1f}{self.wall * 1000:9.1f}{p95}"
            f"{peak}{floor}{','.join(limits):>7}  {self.verdict}"
        )


class Table:
    """Measures rows, and prints each at once. `only` are parts of names, none of them: all rows;
    `rounds` are the runs of a row at most."""

    def __init__(self, only: Iterable[str] = (), rounds: int = ROUNDS) -> None:
        self.rows: list[Row] = []
        self._rounds = rounds
        self._only = [each.lower() for each in only]
        with TARGETS.open("rb") as file:
            self._targets = {name: Target(**row) for name, row in tomllib.load(file).items()}
        self._met: set[str] = set()

    def wants(self, *names: str) -> bool:
        """Whether any of these rows is asked for."""
        return not self._only or any(part in name.lower() for part in self._only for name in names)

    def row(
        self, what: str, size: int, step: Step, *,
        floors: Mapping[str, Step] | None = None, before: Callable[[], object] = lambda: None,
        rounds: int = ROUNDS, always: bool = False,
    ) -> Cost | None:  # fmt: skip
        """The best of some runs, the floor of the row's target in turn with it. What goes
        `before` each run is not counted."""
        if not always and not self.wants(what):
            return None
        target = self._target(what)
        best, floor, spent = [], [], 0.0
        try:
            while len(best) < min(rounds, self._rounds) and (spent < ENOUGH or not best):
                if target.floor:
                    floor.append((floors or {})[target.floor]())
                before()
                best.append(step())
                spent += best[-1].cpu + (floor[-1].cpu if floor else 0.0)
        except FailedError as problem:
            self._put(Row(what, size, 0.0, 0.0, 0.0, failed=str(problem)))
            return None
        cost = best_of(best)
        self._put(self._row(what, size, target, cost, best_of(floor)))
        return cost

    def often(
        self, what: str, size: int, step: Step, rounds: int, *,
        floors: Mapping[str, Step] | None = None, unseen: int = 2, is_first_thread: bool = False,
    ) -> None:  # fmt: skip
        """Median and 95th percentile of many runs of a step; the first `unseen` load what is
        needed. `is_first_thread`: the percentile is that of the thread which answers."""
        if not self.wants(what):
            return
        target = self._target(what)
        try:
            costs = _many(step, rounds + unseen)[unseen:]
            floor = (floors or {})[target.floor]() if target.floor else NOTHING
        except FailedError as problem:
            self._put(Row(what, size, 0.0, 0.0, 0.0, failed=str(problem)))
            return
        # what is done behind the answer is waited for by nobody
        every = [cost.waited if is_first_thread else cost.cpu for cost in costs]
        p95 = quantiles(every, n=20, method="inclusive")[-1] if len(every) > 1 else every[0]
        self._put(self._row(what, size, target, middle_of(costs), floor, p95))

    @contextmanager
    def area(self, name: str, size: int) -> Iterator[None]:
        """The rows of a block. What goes wrong in it is a row that failed; the next ones come."""
        try:
            yield
        except Exception as problem:  # noqa: BLE001 - hours of other rows must not be lost by it
            self._put(Row(name, size, 0.0, 0.0, 0.0, failed=f"{type(problem).__name__}: {problem}"))

    def _target(self, what: str) -> Target:
        self._met.add(what)
        return self._targets.get(what, Target())

    def _row(
        self, what: str, size: int, target: Target, cost: Cost, floor: Cost, p95: float = 0.0
    ) -> Row:
        above = next((row.cpu for row in self.rows if row.what == target.above), 0.0)
        return Row(
            what, size, cost.cpu, cost.wall, cost.peak, p95, target.floor, floor.cpu, above,
            most=_of(target.most, size), ms=_of(target.ms, size), mb=_of(target.mb, size),
        )  # fmt: skip

    def _put(self, row: Row) -> None:
        self.rows.append(row)
        print(row.text())
        sys.stdout.flush()

    def unmet(self) -> list[str]:
        """Targets that no row was measured for, where all were asked for."""
        return [] if self._only else sorted(self._targets.keys() - self._met)

    def exponents(self) -> Iterator[tuple[str, int, int, float]]:
        """How each row grows from one size to the next: name, both sizes, exponent."""
        by_name: dict[str, list[Row]] = {}
        for row in self.rows:
            if not row.failed:
                by_name.setdefault(row.what, []).append(row)
        for what, rows in by_name.items():
            rows = sorted(rows, key=lambda row: row.size)
            for small, large in pairwise(rows):
                if small.size < large.size and small.cpu > 0 < large.cpu:
                    steps = math.log(large.size / small.size)
                    yield what, small.size, large.size, math.log(large.cpu / small.cpu) / steps

    def as_json(self) -> list[dict[str, Any]]:
        """All rows with what follows from them."""
        return [
            {**asdict(row), "ratio": row.ratio, "over": row.over, "verdict": row.verdict}
            for row in self.rows
        ]


def best_of(costs: list[Cost]) -> Cost:
    """The least CPU and time of several runs, and the most memory."""
    cpu, wall = (min((getattr(each, what) for each in costs), default=0.0) for what in TIMES)
    return Cost(cpu, wall, max((cost.peak for cost in costs), default=0.0))


def middle_of(costs: list[Cost]) -> Cost:
    """The medians of many runs, and the most memory."""
    cpu, wall = (median(getattr(each, what) for each in costs) for what in TIMES)
    return Cost(cpu, wall, max(cost.peak for cost in costs))


def _many(step: Step, rounds: int) -> list[Cost]:
    """So many runs, or as many as `LONG` allows, but a few in any case."""
    costs: list[Cost] = []
    until = time.monotonic() + LONG
    while len(costs) < rounds and (len(costs) < FEW or time.monotonic() < until):
        costs.append(step())
    return costs


def _of(value: float | Mapping[str, float], size: int) -> float:
    return value.get(str(size), 0.0) if isinstance(value, Mapping) else value
