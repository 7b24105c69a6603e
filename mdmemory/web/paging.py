"""A long list, cut into pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ListPage(Generic[T]):
    """One page of a list: its `rows`, its `number` from 1, the `last` one's, and how many rows
    there are in all."""

    rows: Sequence[T]
    number: int
    last: int
    total: int


def cut(rows: Sequence[T], asked: str, size: int) -> ListPage[T]:
    """The page that an address asks for, the nearest that there is."""
    last = max(1, -(-len(rows) // size))
    number = min(max(1, whole(asked)), last)
    return ListPage(rows[(number - 1) * size : number * size], number, last, len(rows))


def whole(asked: str) -> int:
    """The number in an address, 0 where there is none."""
    return int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < 9 else 0
