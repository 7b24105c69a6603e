"""What the commands print: JSON for programs, lines for people."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from typing import Any

from mdmemory.git.lock import Patience
from mdmemory.memory import Memory

PATIENCE = 30.0  # seconds that a command which a person gave waits for others who write

_WRITING = ("add", "edit", "remove", "confirm", "extract", "compact", "import", "sync")


def opened(asked: Namespace, *, automatic: bool = False) -> Memory:
    """The store that the command is about; `automatic`: no person typed it.

    A person waits longer for others who write, and hears of it at a terminal. A command that writes
    takes along what was asked for earlier and could not be written.
    """
    # git started us (a hook, an editor that it waits for): no branch may move in the middle of it
    automatic = automatic or "GIT_PREFIX" in os.environ or "GIT_INDEX_FILE" in os.environ
    waiting = warn if sys.stderr.isatty() else _silent
    memory = Memory.open(
        ".", store=asked.store, holder=f"`mdmemory {asked.holder}`", tell=warn,
        automatic=automatic, patience=None if automatic else Patience(PATIENCE, waiting),
    )  # fmt: skip
    writes = asked.holder in _WRITING and not getattr(asked, "dry_run", False)
    if writes and (done := memory.write_wishes()):
        from mdmemory.prompt.receipts import written

        warn(written(done))
    return memory


def _silent(_: str) -> None:
    pass


def emit(value: Any) -> None:
    """One JSON value on standard output."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


def warn(sentence: str) -> None:
    """One sentence on standard error, beside an answer that stands."""
    print(f"mdmemory: {sentence}", file=sys.stderr)


def is_terminal() -> bool:
    """Whether a person sits at both ends."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def plural(count: int, noun: str) -> str:
    """`1 note`, `2 notes`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
