"""Progress of a long command, on standard error at a terminal.

It appears after a second and disappears when the command ends.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from mdmemory.memory import Memory

if TYPE_CHECKING:  # loaded by the pass that takes long
    from rich.console import RenderableType
    from rich.live import Live

PATIENCE = 1.0  # seconds


class Progress:
    """`with Progress(memory, json=asked.json) as progress:`, and `report=progress.step` in it."""

    def __init__(self, memory: Memory | None, *, json: bool = False) -> None:
        self._shown = not json and sys.stderr.isatty()
        self._spent = _account(memory) if memory and self._shown else int
        self._step = (0, 0, "")
        self._tokens = 0
        self._begun = time.monotonic()
        self._live: Live | None = None
        self._over = False
        self._showing = threading.Lock()  # between the timer's thread and the end
        self._timer = threading.Timer(PATIENCE, self._show)
        self._timer.daemon = True

    def step(self, done: int, total: int, words: str) -> None:
        """Show that `done` of `total` steps are complete, and the step under way."""
        if self._shown:
            self._tokens = self._spent()
            self._step = done, total, words

    def __enter__(self) -> Progress:
        if self._shown:
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._timer.cancel()
        with self._showing:
            self._over = True
            if self._live is not None:
                self._live.stop()

    def _show(self) -> None:
        from rich.console import Console
        from rich.live import Live

        with self._showing:
            if not self._over:
                # standard output may be a file: it must not get this
                self._live = Live(
                    console=Console(stderr=True), get_renderable=self._line,
                    refresh_per_second=4, transient=True, redirect_stdout=False,
                )  # fmt: skip
                self._live.start()

    def _line(self) -> RenderableType:
        from rich.text import Text

        done, total, words = self._step
        cost = f"{self._tokens:,} tokens" if self._tokens else ""
        told = [words, f"{done} of {total} done" if total else "", cost, f"{self._seconds} s"]
        line = " · ".join(each for each in told if each)
        return Text(line, no_wrap=True, overflow="ellipsis")

    @property
    def _seconds(self) -> int:
        return int(time.monotonic() - self._begun)


def _account(memory: Memory) -> Callable[[], int]:
    """A function that returns the tokens used since now. Call it from one thread."""
    from mdmemory.config import person
    from mdmemory.store.state import State

    path, day = memory.project.state_file, person.now().date().isoformat()

    def account() -> int:
        with State(path) as state:
            used = state.usage(day)
        return used.input + used.output

    before = account()
    return lambda: account() - before
