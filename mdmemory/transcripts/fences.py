"""Where code begins and ends in markdown, line by line."""

from __future__ import annotations

import re

_FENCE = re.compile(r"(`{3,}|~{3,})([^`]*)")


def fence_of(line: str) -> tuple[str, str] | None:
    """The marks of a line that is a fence, and the word behind them; quoted lines count."""
    mark = _FENCE.match(line.lstrip(" \t>"))
    return (mark[1], mark[2].strip()) if mark else None


def fence_after(line: str, fence: str) -> str:
    """The fence that is open after a line, given the one before it ("": none)."""
    mark = fence_of(line)
    if not mark:
        return fence
    if not fence:
        return mark[0]
    return "" if mark[0].startswith(fence) and not mark[1] else fence
