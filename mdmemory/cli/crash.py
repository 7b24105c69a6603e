"""The log of what should never have happened: for a person to look at or to send."""

from __future__ import annotations

import os
import platform
import traceback
from collections.abc import Sequence
from pathlib import Path

from mdmemory.version import VERSION


def record(problem: Exception, words: Sequence[str]) -> Path:
    """Write the traceback to a file of the person's own; where it is. Holds no note's text."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    path = Path(base) / "mdmemory" / "error.log"
    lines = [
        f"mdmemory {VERSION}, Python {platform.python_version()}, {platform.system()}",
        f"command: {words[0] if words else ''}",
        *traceback.format_exception(problem),
    ]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines), encoding="utf-8")
    except OSError:
        return Path(os.devnull)
    return path
