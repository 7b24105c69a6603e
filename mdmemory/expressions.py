"""Regular expressions that are compiled when they are first used.

A module may hold dozens, and a command uses a few of them: to compile all took a third of its time.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, AnyStr

_METHODS = (
    *("search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn", "scanner"),
    *("flags", "groups", "groupindex"),
)


class Lazy:
    """Stands for an expression; at the first question it is compiled, and answers itself."""

    def __init__(self, pattern: str | bytes, flags: int = 0) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        made = re.compile(self.pattern, self._flags)
        # found without this method from now on
        self.__dict__.update((each, getattr(made, each)) for each in _METHODS)
        return getattr(made, name)


if TYPE_CHECKING:

    def lazy(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
        """What `re.compile` gives, but for the functions of `re`, which do not take it as a
        pattern. A mistake in the expression is found at its first use."""
        ...

else:
    lazy = Lazy
