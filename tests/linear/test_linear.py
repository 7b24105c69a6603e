"""Whatever is said, shown, answered or imported: reading four times as much takes four times as
long. The one test of this project that looks at a clock: at the processor time of this process.
"""

import ast
import importlib
import inspect
import re
import signal
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, ModuleType

import pytest
from linear import units
from linear.table import EVERY, SPARED, Row, forget, quietly
from pace import FULL

import mdmemory

LONG, SHORT = 200_000, 10_000  # characters of the longer text, in a full run and in a sampled one
LOUD = 0.05  # seconds of processor time; what takes less says nothing
MOST = 6.0  # times as long for four times as much
END = 60  # seconds of processor time for one text
# Each of these was once a text that took minutes.
PLAIN = [
    ".", "`", "~", "-", "w", " ", "\n", "a\n", "'", '"', "[", "+", "<", "@", "/", "|", ",", "a ",
    "一", "不", "‘", "「", "]", "=", ":", "1", "# ", "- a\n", "```\n", "/*", "\\",
]  # fmt: skip
DERIVED = 1_000 if FULL else 4  # units of its own expressions that a function is tried with


def expressions(module: str) -> Iterator[str | bytes]:
    """The compiled expressions of a module, and the texts in it that are one."""
    found = importlib.import_module(f"mdmemory.{module}")
    held = {name: value for name, value in vars(found).items() if not name.startswith("__")}
    yield from (value.pattern for value in held.values() if isinstance(value, re.Pattern))
    tree = ast.parse(inspect.getsource(found))
    words = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    for text in (*held.values(), *words):
        if isinstance(text, str) and re.search(r"[\\\[(|*+?]", text) and is_expression(text):
            yield text


def is_expression(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            re.compile(text)
        except (re.error, RecursionError, OverflowError):
            return False
    return True


def derived(row: Row) -> list[str]:
    """Units of the row's own expressions, spread over all that there are."""
    found: dict[str, None] = {}
    for module in (row.module, *row.more):
        for expression in expressions(module):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found |= dict.fromkeys(units.of(expression))
    others = [unit for unit in sorted(found, key=len) if unit not in PLAIN]
    step = max(1, len(others) // DERIVED)
    return others[::step][:DERIVED]


def seconds(row: Row, text: str, times: int) -> float:
    """The least processor time of so many calls."""
    call, least = quietly(row.call), float("inf")
    for _ in range(times):
        forget()
        start = time.process_time()
        call(text)
        least = min(least, time.process_time() - start)
    return least


def grows(row: Row, unit: str, most: int) -> str:
    """What is wrong with how the time grows with a text of this unit, or ""."""
    length = min(most, row.most)
    text, quarter = unit * (length // len(unit)), unit * (length // len(unit) // 4)
    # once is mostly enough to see that nothing is wrong; a machine that is short of memory makes a
    # single reading several times too long
    for times in (1, 3, 6, 12):
        whole = seconds(row, text, times)
        if whole <= LOUD or whole <= MOST * (part := seconds(row, quarter, times)):
            return ""
    return f"{unit!r}: {part:.3f} s, then {whole:.3f} s for {len(text)} characters"


@pytest.fixture(autouse=True)
def _ended() -> Iterator[None]:
    """A text that takes minutes is a failure, and no end of the run."""

    def end(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"{END} s of processor time were not enough")

    before = signal.signal(signal.SIGVTALRM, end)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


@pytest.mark.slow
@pytest.mark.parametrize("row", EVERY, ids=[row.name for row in EVERY])
def test_reading_takes_time_in_proportion_to_the_length(row: Row) -> None:
    tried = [(unit, LONG if FULL else SHORT) for unit in PLAIN]
    tried += [(unit, SHORT) for unit in derived(row)]
    found = []
    for unit, most in tried:
        signal.setitimer(signal.ITIMER_VIRTUAL, END)
        found.append(grows(row, unit, most))
    assert list(filter(None, found)) == []


def uses_expressions(tree: ast.Module) -> bool:
    return any(
        alias.name == "re" for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names
    )  # fmt: skip


def test_no_module_uses_expressions_that_are_not_tried() -> None:
    assert isinstance(mdmemory, ModuleType)
    package = Path(mdmemory.__file__).parent
    using = {
        ".".join(path.relative_to(package).with_suffix("").parts)
        for path in package.rglob("*.py")
        if uses_expressions(ast.parse(path.read_bytes()))
    }
    tried = {module for row in EVERY for module in (row.module, *row.more)}
    assert using - tried - SPARED.keys() == set(), "give these a row in tests/linear/table.py"
    assert SPARED.keys() - using == set()
    assert tried & SPARED.keys() == set()
