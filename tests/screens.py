"""A command on a terminal of its own, for tests: what it shows, frame by frame, and keys for it."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pace import HUNG

_STYLE = re.compile(r"\x1b\[\d*m")


class Screen:
    """`mdmemory` with these words, in a terminal of some columns and lines."""

    def __init__(
        self, folder: Path, words: Sequence[str], columns: int = 80, lines: int = 24, **more: str
    ) -> None:
        self.master, slave = pty.openpty()
        self.resize(columns, lines)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "mdmemory", *words], cwd=folder, stdin=slave, stdout=slave,
            stderr=slave, start_new_session=True, env={**os.environ, "TERM": "xterm", **more},
            preexec_fn=_own_terminal,
        )  # fmt: skip
        self.seen = ""

    def resize(self, columns: int, lines: int) -> None:
        """Give the terminal another size, of which the command hears."""
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def press(self, keys: str) -> None:
        """Type these keys, all at once."""
        os.write(self.master, keys.encode())

    def frame(self) -> str:
        """What is on the screen now, without styles."""
        last = self.seen.rpartition("\x1b[H")[2].partition("\x1b[J")[0]
        return _STYLE.sub("", last.replace("\x1b[K", "")).replace("\r\n", "\n")

    def shows(self, *texts: str) -> str:
        """Wait until a whole frame holds these texts, and give it."""
        return self._until(
            lambda: "\x1b[J" in self.seen.rpartition("\x1b[H")[2]
            and all(text in self.frame() for text in texts),
            f"{texts!r}",
        )  # fmt: skip

    def says(self, text: str) -> None:
        """Wait until the text was printed, wherever."""
        self._until(lambda: text in self.seen, repr(text))

    def end(self) -> int:
        """Wait until the command is over, and give its exit code."""
        deadline = time.monotonic() + HUNG
        while self.process.poll() is None and time.monotonic() < deadline:
            self._read(0.05)
        while self._read(0.05):
            pass
        return self.process.wait(1)

    def is_as_before(self) -> bool:
        """Whether the terminal has its former modes, and its own screen."""
        modes = termios.tcgetattr(self.slave) == self.before
        entered, left = self.seen.count("\x1b[?1049h"), self.seen.count("\x1b[?1049l")
        return modes and entered == left

    def close(self) -> None:
        """End whatever still runs."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(HUNG)
        os.close(self.master)
        os.close(self.slave)

    def _until(self, is_true: Callable[[], bool], what: str) -> str:
        deadline = time.monotonic() + HUNG
        while not is_true():
            gone = self.process.poll() is not None and not self._read(0.2)
            assert not gone, f"it ended before {what}:\n{self.seen}"
            assert time.monotonic() < deadline, f"no {what}:\n{self.frame()}"
            self._read(0.2)
        return self.frame()

    def _read(self, patience: float) -> bool:
        ready, _, _ = select.select([self.master], [], [], patience)
        if not ready:
            return False
        try:
            data = os.read(self.master, 65_536)
        except OSError:
            return False
        self.seen += data.decode("utf-8", "replace")
        return bool(data)


def _own_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
