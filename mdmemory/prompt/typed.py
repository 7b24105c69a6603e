"""What a person typed of a message, as far as it tells what the message is about: without pasted
code, logs and quotations. Pure, and linear in the length of the text.
"""

from __future__ import annotations

from mdmemory.bounds import QUERY_OF_MESSAGE, RECALLED_FOR, ends_of
from mdmemory.capture.notice import typed_text

_MARKS = frozenset("{}()[];=<>|$\\*_,.:")
_DENSE = 10  # a line with one of these marks in so many characters is code


def read_typed(message: str) -> str:
    """The typed part of a message, one line, of a bounded length; "" where all was pasted."""
    lines = typed_text(ends_of(message, RECALLED_FOR)).splitlines()
    prose = (line for line in lines if not _is_code(line))
    return " ".join(" ".join(prose).split())[:QUERY_OF_MESSAGE]


def _is_code(line: str) -> bool:
    return sum(map(_MARKS.__contains__, line)) * _DENSE > len(line.strip())
