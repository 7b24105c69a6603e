"""A program in a terminal of its own, driven by keys and read as a screen of text: tmux."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from pace import HUNG

MISSING = "tmux is missing: the terminal is not tried"
HAS_TMUX = shutil.which("tmux") is not None


class Terminal:
    """`with Terminal(folder, words, environment) as terminal:` - the program runs until the end
    of the block, with all that it started. `socket` is a new file's path, short enough for a
    socket; screens have `columns` and `rows`."""

    def __init__(
        self, folder: Path, words: list[str | Path], known: Mapping[str, str], socket: Path,
        columns: int = 110, rows: int = 45,
    ) -> None:  # fmt: skip
        self._folder, self._words, self._socket = folder, [str(each) for each in words], socket
        self._known = {**known, "TERM": "xterm-256color", "SHELL": "/bin/sh"}
        self._size = ["-x", str(columns), "-y", str(rows)]

    def __enter__(self) -> Terminal:
        self.tmux("-f", os.devnull, "new-session", "-d", *self._size, *self._words)
        self.tmux("set-option", "-g", "remain-on-exit", "on")
        return self

    def __exit__(self, *raised: object) -> None:
        self.tmux("kill-server")

    def tmux(self, *words: str) -> str:
        """What a command of tmux prints."""
        done = subprocess.run(
            ["tmux", "-S", str(self._socket), *words], env=self._known, cwd=self._folder,
            capture_output=True, text=True, timeout=HUNG, check=False,
        )  # fmt: skip
        return done.stdout

    def screen(self) -> str:
        """What a person sees now."""
        return self.tmux("capture-pane", "-p")

    def text(self, text: str) -> None:
        """Type a text, without Enter."""
        self.tmux("send-keys", "-l", text)

    def paste(self, text: str) -> None:
        """Paste a text, as a terminal does: in brackets."""
        self.tmux("set-buffer", "-b", "pasted", text)
        self.tmux("paste-buffer", "-p", "-b", "pasted")

    def keys(self, *names: str) -> None:
        """Press keys by tmux' names for them: Enter, C-c, Escape, Down, or a letter."""
        for name in names:
            self.tmux("send-keys", name)

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the window."""
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def until(self, seen: str | Callable[[str], object], seconds: float = HUNG) -> str:
        """The first screen that has a text (an expression), or for which `seen(screen)` is true."""
        is_there = seen if callable(seen) else re.compile(seen).search
        end = time.monotonic() + seconds
        while not is_there(screen := self.screen()):
            assert time.monotonic() < end, f"never seen: {seen!r}, but:\n{screen}"
            time.sleep(0.1)
        return screen
