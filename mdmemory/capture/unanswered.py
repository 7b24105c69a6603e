"""Turns that a model was asked about and gave no answer that could be read: how often, and until
when they wait. After three rounds they are passed over, and counted.
"""

from __future__ import annotations

from datetime import datetime

from mdmemory.errors import MdmemoryError
from mdmemory.store.state import State

ROUNDS = 3  # of two questions each
_LAST = "SELECT rounds, at FROM unanswered WHERE session = ? AND turn = ? AND model = ?"


class Waits(MdmemoryError):
    """These turns are not asked about yet; what the user asked for is stored all the same."""

    code = "waits"

    def __init__(self, until: datetime) -> None:
        super().__init__(
            f"The model's last answers about these turns could not be read, so they wait until "
            f"{until:%Y-%m-%d %H:%M} UTC.",
            "Another model (extract.model in your settings) is asked at once.",
        )


def failed_since(
    state: State, session: str, turn: str, model: str, since: datetime
) -> datetime | None:
    """When a model last gave no answer about the turns behind `turn` (its watermark, "" for none),
    where that was after `since` (UTC); else None."""
    rows = state.rows(_LAST, (session, turn, model))
    moments = [datetime.fromisoformat(at) for rounds, at in rows if rounds]
    return next((at for at in moments if at > since), None)


def count_failed(state: State, session: str, turn: str, model: str, now: datetime) -> bool:
    """Count one more round; whether the turns are to be passed over now."""
    rounds: int = sum(each for each, _ in state.rows(_LAST, (session, turn, model))) + 1
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
