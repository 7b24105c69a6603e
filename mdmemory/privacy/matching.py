"""Expressions that are cheap to look for, and what they find: most texts hold no secret."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from mdmemory.text import words

Span = tuple[int, int, str]  # where a secret begins and ends, and its kind
CJK = words.CJK


def any_of(literals: Iterable[str]) -> str:
    """An expression for any of the literals, the longest first; it rejects a place quickly."""
    by_letter: dict[str, list[str]] = {}
    for literal in sorted(set(literals), reverse=True):
        by_letter.setdefault(literal[0], []).append(re.escape(literal[1:]))
    return "|".join(
        f"{re.escape(letter)}(?:{'|'.join(rest)})" for letter, rest in sorted(by_letter.items())
    )


@cache
def compile_shape(written: str, flags: int = 0) -> re.Pattern[str]:
    """The compiled expression; most texts need few of ours, so each is compiled on first use."""
    return re.compile(written, flags)


def is_cjk(char: str) -> bool:
    """Whether it is one Chinese, Japanese or Korean character."""
    in_blocks = "\u3040" <= char <= "\u30ff" or "\u3400" <= char <= "\u9fff"
    return in_blocks or "\uac00" <= char <= "\ud7a3"


def stands_at(piece: str, text: str, at: int) -> int:
    """Where that piece of the text stands between two blanks; `at` is not behind it."""
    while True:
        at = text.index(piece, at)
        end = at + len(piece)
        if (not at or text[at - 1].isspace()) and (end == len(text) or text[end].isspace()):
            return at
        at += 1
