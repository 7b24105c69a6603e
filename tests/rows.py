"""Tables of cases in one test: each row is tried, and those that fail are named together.

And records with other values.
"""

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any


def each(rows: Iterable[object], check: Callable[..., None]) -> None:
    """`check(row)` for every row, or `check(*row)` for tuples; AssertionError names the failures.

    A table without a row fails, too: it checks nothing.
    """
    tried, failed = 0, []
    for row in rows:
        tried += 1
        try:
            check(*row) if isinstance(row, tuple) else check(row)
        except Exception as problem:  # noqa: BLE001 - whatever it is, the other rows count, too
            failed.append(f"{row!r}: {type(problem).__name__} {problem}")
    assert tried, "the table is empty"
    assert not failed, f"{len(failed)} of {tried} rows:\n" + "\n".join(failed)


def replace(record: Any, /, **values: Any) -> Any:
    """The same record with other values, be it a NamedTuple or a dataclass."""
    make = getattr(record, "_replace", None)
    return make(**values) if make else dataclasses.replace(record, **values)
