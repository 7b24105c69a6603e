"""Turns that a model was asked about and gave no answer that could be read: how often, and until
when they wait. After three rounds they are passed over, and counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from mdmemory.errors import MdmemoryError
from mdmemory.store.state import State

ROUNDS = 3  # of two questions each


class Waits(MdmemoryError):
    """These turns are not asked about yet; what the user asked for is stored all the same."""

    code = "waits"

    def __init__(self, until: datetime) -> None:
        super().__init__(
            f"The model's last answers about these turns could not be read, so they wait until "
            f"{until:%Y-%m-%d %H:%M} UTC.",
            "Another model (extract.model in your settings) is asked at once.",
        )


@dataclass(frozen=True, slots=True)
class Unanswered:
    """The turns of a session behind `turn` (its watermark, "" for none) had no answer of `model`
    that could be read, in so many `rounds`, the last of them `at` (ISO 8601, UTC)."""

    turn: str = ""
    model: str = ""
    rounds: int = 0
    at: str = ""

    def until(self, turn: str, model: str, now: datetime, interval: timedelta) -> datetime | None:
        """When the turns behind `turn` may be asked about again; None for at once."""
        if not self.rounds or (self.turn, self.model) != (turn, model):
            return None
        end = datetime.fromisoformat(self.at) + interval
        return end if now < end else None


def of_session(state: State, session: str) -> Unanswered:
    """What is known of a session."""
    query = "SELECT turn, model, rounds, at FROM unanswered WHERE session = ?"
    return next((Unanswered(*row) for row in state.rows(query, (session,))), Unanswered())


def count_failed(state: State, session: str, turn: str, model: str, now: datetime) -> bool:
    """Count one more round; whether the turns are to be passed over now."""
    before = of_session(state, session)
    rounds = before.rounds + 1 if (before.turn, before.model) == (turn, model) else 1
    is_over = rounds >= ROUNDS
    row = (session, turn, model, 0 if is_over else rounds, now.isoformat(timespec="seconds"))
    state.change((
        "INSERT INTO unanswered (session, turn, model, rounds, at, passed)"
        " VALUES (?, ?, ?, ?, ?, 0) ON CONFLICT (session) DO UPDATE SET"
        " turn = excluded.turn, model = excluded.model,"
        " rounds = excluded.rounds, at = excluded.at",
        row,
    ))  # fmt: skip
    return is_over


def pass_over(state: State, session: str, turns: int) -> None:
    """Count turns that no model reads any more."""
    values = (turns, session)
    state.change(("UPDATE unanswered SET passed = passed + ? WHERE session = ?", values))


def passed_over(state: State) -> int:
    """The number of turns, of all sessions, that were passed over."""
    return int(state.rows("SELECT coalesce(sum(passed), 0) FROM unanswered")[0][0])
