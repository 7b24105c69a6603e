"""A state database of the test's own, and observations to put into it."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mdmemory.observe import observation
from mdmemory.observe.observation import make_draft
from mdmemory.store.state import State

Put = Callable[..., list[int]]


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    with State(tmp_path / "state.db") as opened:
        yield opened


@pytest.fixture
def put(state: State) -> Put:
    """`put(title, ...)` keeps observations a day apart, from 2026-06-01 on; gives their numbers."""

    def run(
        *titles: str, session: str = "ses_1", type: str = "discovery", **more: Any
    ) -> list[int]:  # fmt: skip
        for title in titles:
            day = 1 + observation.count(state)
            at = datetime(2026, 6, day, 12, tzinfo=UTC).isoformat(timespec="seconds")
            draft = make_draft(type, title, **more)
            state.change(observation.insert_statement(session, at, "bash", "", draft))
        return sorted(each.id for each in observation.newest(state, len(titles)))

    return run
