"""How much of each promise a run tries, and how long a test waits for another process.

`make test` tries a sample, `make quick` half of its examples, `make test-full` everything.
"""

import os
from collections.abc import Iterable, Sequence
from typing import TypeVar

import pytest
from hypothesis import settings

_T = TypeVar("_T")

FULL = os.environ.get("MDMEMORY_TEST_FULL") == "1"
USUAL = 100  # hypothesis' own number of examples
# Seconds after which a process counts as hung. A busy machine takes ten times as long as an idle
# one, so this only ends a test that would never end; no test expects to come near it.
HUNG = 300.0


def scaled(examples: int) -> int:
    """`examples` as the profile that `conftest.py` loaded scales them."""
    return max(1, examples * settings.default.max_examples // USUAL)


def seldom(rows: Iterable[object], every: int) -> list[object]:
    """Cases of `pytest.mark.parametrize`, of which `make quick` tries each `every`th."""
    slow = pytest.mark.slow
    return [
        row if number % every == 0 else
        pytest.param(*row, marks=slow) if isinstance(row, tuple) else pytest.param(row, marks=slow)
        for number, row in enumerate(rows)
    ]  # fmt: skip


def sample(rows: Sequence[_T], every: int) -> list[_T]:
    """Each `every`th of the rows and the last one; all of them in a full run."""
    if FULL:
        return list(rows)
    return [row for number, row in enumerate(rows) if number % every == 0 or row is rows[-1]]
