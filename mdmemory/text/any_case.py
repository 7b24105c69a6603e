"""Expressions that ignore case, for texts of which most hold nothing that matches. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property


class AnyCase:
    """An expression that ignores case. Ignoring it takes two to five times as long, and most texts
    hold nothing that matches: that is told first, by the same expression in small letters."""

    def __init__(self, pattern: str, first: str = "") -> None:
        """`pattern` has its letters in small, but for those behind a backslash. Where it has
        others, `first` matches wherever it does, in small letters."""
        self.pattern, self._first = pattern, first or pattern

    @cached_property
    def _small(self) -> re.Pattern[str]:
        return re.compile(self._first)

    @cached_property
    def _any(self) -> re.Pattern[str]:
        return re.compile(self.pattern, re.IGNORECASE)

    def search(self, text: str) -> re.Match[str] | None:
        """What `re.search` gives."""
        return self._any.search(text) if self._may_match(text) else None

    def sub(self, by: str | Callable[[re.Match[str]], str], text: str) -> str:
        """What `re.sub` gives."""
        return self._any.sub(by, text) if self._may_match(text) else text

    def finditer(self, text: str) -> Iterable[re.Match[str]]:
        """What `re.finditer` gives."""
        return self._any.finditer(text) if self._may_match(text) else ()

    def _may_match(self, text: str) -> bool:
        small = in_small_letters(text)
        return small is None or self._small.search(small) is not None


def in_small_letters(text: str) -> str | None:
    """The text in small letters, each in its place; None where ignoring case does not see what
    small letters show: it takes a dotless i for an i, and a long s for an s."""
    small = text.lower()
    if not text.isascii() and (len(small) != len(text) or "\u0131" in small or "\u017f" in small):
        return None
    return small


def folded(text: str) -> str:
    """Small letters, one for all that ignoring case takes for the same."""
    small = text.casefold()
    return small if small.isascii() else small.replace("i\u0307", "i").replace("\u0131", "i")
