"""What happened around something: around an observation, a day, or (neither) up to now."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from mdmemory.errors import NotFound, UsageError
from mdmemory.observe import observation, shelf
from mdmemory.observe.observation import Observation
from mdmemory.store.state import State

_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class Timeline:
    """Observations in their order; `anchor` is the number of the one that was asked about, or 0;
    `total` counts all that there are."""

    observations: tuple[Observation, ...]
    anchor: int
    total: int


def timeline(
    state: State, around: str = "", *, before: int = 5, after: int = 5, session: str = ""
) -> Timeline:
    """The observations around a number (`12`, `#12`) or a day (`YYYY-MM-DD`); without either, the
    newest. Raises NotFound for a number, UsageError for anything else."""
    total = shelf.count(state, session)
    if not around.strip():
        newest = shelf.newest(state, before + after + 1, session)
        return Timeline(tuple(newest[::-1]), 0, total)
    if _DAY.fullmatch(around.strip()):
        at = _day(around.strip())
        earlier = shelf.before(state, at, 0, before, session)
        later = shelf.after(state, at, 0, after + 1, session)
        return Timeline((*earlier, *later), 0, total)
    anchor = _one(state, around)
    earlier = shelf.before(state, anchor.at, anchor.id, before, session)
    later = shelf.after(state, anchor.at, anchor.id, after, session)
    return Timeline((*earlier, anchor, *later), anchor.id, total)


def recall(state: State, ids: str) -> list[Observation]:
    """The observations with these numbers, such as `12, #14`. Raises UsageError, and NotFound
    where none of them is there."""
    wanted = observation.ids(ids)
    if not wanted:
        raise UsageError(f"{ids[:40]!r} names no observations.", "Write their numbers: 12, 14.")
    found = shelf.get(state, wanted[:50])
    if not found:
        raise NotFound(f"There is no observation {ids[:40]}.", "`mdmemory observe list` shows all.")
    return found


def _one(state: State, around: str) -> Observation:
    wanted = observation.ids(around)
    if len(wanted) != 1:
        raise UsageError(
            f"{around[:40]!r} is neither a number nor a day.", "Write it as 12, or 2026-06-01."
        )
    return recall(state, around)[0]


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError as problem:
        raise UsageError(f"There is no day {text}.", "Write it as 2026-06-01.") from problem
