"""Whatever is said, shown, answered or imported: reading four times as much takes four times as
long. The one test of this project that looks at a clock: at the processor time of this process.
"""

import ast
import importlib
import inspect
import re
import re._constants as op
import re._parser as parser
import signal
import time
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pytest
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
    "一", "不", "‘", "「", "]", "=", ":", "1", "# ", "- a\n", "```\n", "/*", "\\", "00.",
    "\ue000a\ue001", "\r\n", "{", "<%", "#+BEGIN_QUERY", "7.7.7.7:7",
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
                found |= dict.fromkeys(units_of(expression))
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


@pytest.mark.slow
def test_no_module_uses_expressions_that_are_not_tried() -> None:
    assert isinstance(mdmemory, ModuleType)
    package = Path(mdmemory.__file__).parent
    using = {
        ".".join(path.relative_to(package).with_suffix("").parts).removesuffix(".__init__")
        for path in package.rglob("*.py")
        if uses_expressions(ast.parse(path.read_bytes()))
    }
    tried = {module for row in EVERY for module in (row.module, *row.more)}
    assert using - tried - SPARED.keys() == set(), "give these a row in tests/linear/table.py"
    assert SPARED.keys() - using == set()
    assert tried & SPARED.keys() == set()


# Texts that are hard for a regular expression, made of the expression's own characters: what makes
# a search slow is a run of what one of its parts takes, with nothing behind it that the next part
# takes. So each part gives a unit; a text is one unit many times over.

# One character for each category, and what a negated set is tried with.
_CATEGORY = {
    op.CATEGORY_DIGIT: "7", op.CATEGORY_NOT_DIGIT: "x",
    op.CATEGORY_SPACE: " ", op.CATEGORY_NOT_SPACE: "x",
    op.CATEGORY_WORD: "w", op.CATEGORY_NOT_WORD: "-",
}  # fmt: skip
_TRIED = "xX7 -_.,'\"`(/\n\t中é"
_MANY = 60  # characters that one unit may have
_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)


def units_of(expression: str | bytes, flags: int = 0) -> list[str]:
    """The units of one expression, the shortest first, none twice."""
    text = expression.decode("latin-1") if isinstance(expression, bytes) else expression
    found = dict.fromkeys(_units(parser.parse(text, flags)))
    return sorted((unit for unit in found if unit and len(unit) <= _MANY), key=len)


def _units(tree: Any, before: str = "") -> Iterator[str]:
    """Each part alone, and with what leads to it."""
    for kind, value in tree:
        if kind in _REPEATS:
            body = value[2]
            yield from _units(body, before)
            each = _example(body)
            yield from (each, before + each, each + before)
        elif kind is op.SUBPATTERN:
            yield from _units(value[3], before)
        elif kind is op.ATOMIC_GROUP:
            yield from _units(value, before)
        elif kind is op.BRANCH:
            for way in value[1]:
                yield from _units(way, before)
                yield _example(way)
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            yield from _units(value[1], before)
        elif kind is op.IN:
            yield from _set(value)
        before += _example([(kind, value)])
        yield before
        yield from before[-1:]


def _example(tree: Any) -> str:
    """A short text that the parts take, each repeat once."""
    return "".join(_one(kind, value) for kind, value in tree)


def _one(kind: Any, value: Any) -> str:
    if kind is op.LITERAL:
        return chr(value)
    if kind is op.NOT_LITERAL:
        return next(char for char in _TRIED if ord(char) != value)
    if kind is op.IN:
        return next(iter(_set(value)), "")
    if kind is op.ANY:
        return "x"
    if kind in _REPEATS:
        return _example(value[2]) * max(1, min(value[0], 8))
    if kind is op.SUBPATTERN:
        return _example(value[3])
    if kind is op.ATOMIC_GROUP:
        return _example(value)
    if kind is op.BRANCH:
        return _example(value[1][0])
    return ""


def _set(parts: Iterable[tuple[Any, Any]]) -> list[str]:
    """Characters of a set: the first of each of its parts, or some that it leaves."""
    parts = list(parts)
    if parts[0][0] is op.NEGATE:
        taken = re.compile("[" + "".join(_written(*part) for part in parts[1:]) + "]")
        return [char for char in _TRIED if not taken.match(char)][:3]
    return list(dict.fromkeys(_first(*part) for part in parts))


def _first(kind: Any, value: Any) -> str:
    if kind is op.LITERAL:
        return chr(value)
    return chr(value[0]) if kind is op.RANGE else _CATEGORY[value]


def _written(kind: Any, value: Any) -> str:
    if kind is op.LITERAL:
        return re.escape(chr(value))
    if kind is op.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    names = {"DIGIT": "d", "SPACE": "s", "WORD": "w"}
    name = str(value).removeprefix("CATEGORY_")
    letter = names[name.removeprefix("NOT_")]
    return "\\" + (letter.upper() if name.startswith("NOT_") else letter)
