"""Progress of a long command, in one line on standard error at a terminal.

It appears after a second and disappears when the command ends.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable

from mdmemory.memory import Memory

PATIENCE = 1.0  # seconds
_EVERY = 0.25  # seconds between two lines
_CLEAR = "\r\x1b[K"  # the line of the cursor


class Progress:
    """`with Progress(memory, json=asked.json) as progress:`, and `report=progress.step` in it."""

    def __init__(self, memory: Memory | None, *, json: bool = False) -> None:
        self._shown = not json and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._spent = _account_tokens(memory) if memory and self._shown else int
        self._step = ""
        self._begun = time.monotonic()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._show_progress, daemon=True)

    def step(self, done: int, total: int, words: str) -> None:
        """Show that `done` of `total` steps are complete, and the step under way."""
        if self._shown:
            tokens = self._spent()
            cost = f"{tokens:,} tokens" if tokens else ""
            parts = [words, f"{done} of {total} done" if total else "", cost]
            self._step = " · ".join(filter(None, parts))

    def __enter__(self) -> Progress:
        if self._shown:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        if self._shown:
            self._thread.join()

    def _show_progress(self) -> None:
        if self._is_over.wait(PATIENCE):
            return
        while not self._is_over.wait(_EVERY):
            seconds = f"{int(time.monotonic() - self._begun)} s"
            line = " · ".join(filter(None, (self._step, seconds)))
            width = os.get_terminal_size(sys.stderr.fileno()).columns or 80
            # the cursor goes back, so that a warning takes the place of the line
            print(f"{_CLEAR}{line[: width - 1]}\r", end="", file=sys.stderr, flush=True)
        print(_CLEAR, end="", file=sys.stderr, flush=True)


def _account_tokens(memory: Memory) -> Callable[[], int]:
    """A function that returns the tokens used since now. Call it from one thread."""
    from mdmemory.config import person
    from mdmemory.store.state import State

    path, day = memory.project.state_file, person.now().date().isoformat()

    def used_now() -> int:
        with State(path) as state:
            used = state.usage(day)
        return used.input + used.output

    before = used_now()
    return lambda: used_now() - before
