"""A terminal that is drawn as a whole and read key by key, and is afterwards as it was before."""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

RESIZED, ENDED = "resized", "ended"
UP, DOWN, PAGE_UP, PAGE_DOWN, ESCAPE = "up", "down", "page up", "page down", "escape"
_SEQUENCES = {
    b"\x1b[A": UP, b"\x1b[B": DOWN, b"\x1bOA": UP, b"\x1bOB": DOWN, b"\x1b[5~": PAGE_UP,
    b"\x1b[6~": PAGE_DOWN, b"\x1b": ESCAPE,
}  # fmt: skip
_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_SMALLEST = (20, 8)  # columns and lines that anything can be drawn in


class Terminal:
    """Standard input and output as a screen. Use it as a context: whatever happens in it, a signal
    that ends the process among it, the terminal gets its former state back.

    A `plain` one has no cursor that could be moved: each drawing is written below the last.
    """

    def __init__(self) -> None:
        self.input, self.output = sys.stdin.fileno(), sys.stdout.fileno()
        self.is_plain = os.environ.get("TERM", "dumb") in ("dumb", "")
        self.has_colour = not (self.is_plain or os.environ.get("NO_COLOR"))
        self._before: list[Any] = []
        self._handlers: dict[int, Any] = {}
        self._wake = (-1, -1)
        self._former_wake = -1

    def __enter__(self) -> Terminal:
        self._before = termios.tcgetattr(self.input)
        self._wake = os.pipe()
        for end in self._wake:
            os.set_blocking(end, False)
        self._former_wake = signal.set_wakeup_fd(self._wake[1], warn_on_full_buffer=False)
        for number, handler in (
            (signal.SIGWINCH, _do_nothing), (signal.SIGCONT, self._continue_screen),
            (signal.SIGTERM, _end_process), (signal.SIGHUP, _end_process),
        ):  # fmt: skip
            self._handlers[number] = signal.signal(number, handler)
        self._begin_screen()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._stop()
        finally:
            for number, handler in self._handlers.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(self._former_wake)
            for end in self._wake:
                os.close(end)

    @contextmanager
    def given_back(self) -> Iterator[None]:
        """The terminal as another program, such as an editor, expects it."""
        self._stop()
        try:
            yield
        finally:
            self._begin_screen()

    def size(self) -> tuple[int, int]:
        """Columns and lines, at least a few."""
        try:
            columns, lines = os.get_terminal_size(self.output)
        except OSError:
            columns, lines = 80, 24
        return max(columns, _SMALLEST[0]), max(lines, _SMALLEST[1])

    def draw(self, lines: Sequence[str]) -> None:
        """Show these lines, and nothing else. What was typed before they were seen is no answer."""
        text = "\n".join(lines).encode("utf-8", "replace").decode("utf-8")
        if self.is_plain:
            self._write(f"{text}\n")
        else:
            body = text.replace("\n", "\x1b[K\n")
            self._write(f"\x1b[H{body}\x1b[K\x1b[J")

    def forget_typed(self) -> None:
        """Forget the keys that were pressed and not read yet."""
        termios.tcflush(self.input, termios.TCIFLUSH)

    def key(self) -> str:
        """The next key: a character, or one of the names above; RESIZED where the screen has to be
        drawn again, ENDED where nobody is there any more."""
        while True:
            ready, _, _ = select.select([self.input, self._wake[0]], [], [])
            if self._wake[0] in ready:
                os.read(self._wake[0], 512)
                return RESIZED
            try:
                data = os.read(self.input, 64)
            except OSError:
                return ENDED
            if not data or data[:1] == b"\x04":
                return ENDED
            if key_read := _first_key(data):
                return key_read

    def _begin_screen(self) -> None:
        tty.setcbreak(self.input, termios.TCSADRAIN)
        modes = termios.tcgetattr(self.input)
        modes[6][termios.VSUSP] = b"\0"  # Ctrl-Z would leave the screen half drawn
        termios.tcsetattr(self.input, termios.TCSADRAIN, modes)
        if not self.is_plain:
            self._write(_ENTER)

    def _stop(self) -> None:
        if not self.is_plain:
            self._write(_LEAVE)
        termios.tcsetattr(self.input, termios.TCSADRAIN, self._before)

    def _continue_screen(self, _number: int, _frame: FrameType | None) -> None:
        self._begin_screen()

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def _first_key(data: bytes) -> str:
    """The first key of what was read; "" for one that means nothing. Several at once are pasted,
    or were typed before the screen showed what they would answer: one of them counts."""
    if data[:1] == b"\x1b":
        return _SEQUENCES.get(data, "")
    first = data.decode("utf-8", "ignore")[:1]
    return first if first.isprintable() else ""


def _do_nothing(_number: int, _frame: FrameType | None) -> None:
    """The wake-up file has heard of it."""


def _end_process(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
