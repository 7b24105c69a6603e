"""Whether two facts have the same words but for one literal: a flag for a person, and nothing more.
Pure."""

from __future__ import annotations

import re

from mdmemory.text.words import CJK, key

_LONGEST = 600  # characters of a fact
_TOKEN = re.compile(rf"[{CJK}]|[^\s{CJK}]*[^\W{CJK}][^\s{CJK}]*")
_AROUND = "\"'“”‘’«»„.,;:!?()[]…`*"
LEAST = 3  # words that both share


def other_literal(one: str, other: str) -> tuple[str, str] | None:
    """The one literal in which two facts differ, as each has it; None where they differ in nothing,
    or in more. A literal has a digit, a sign within it, or a capital; a day or a month counts."""
    mine, theirs = _tokens(one), _tokens(other)
    if len(mine) != len(theirs) or len(mine) <= LEAST:
        return None
    odd = [pair for pair in zip(mine, theirs, strict=True) if _same(pair[0]) != _same(pair[1])]
    if len(odd) != 1:
        return None
    first, second = odd[0]
    if mine[0] == first and theirs[0] == second:  # what they are about, with a sentence's capital
        return None
    return (first, second) if _is_literal(first) and _is_literal(second) else None


def why(pair: tuple[str, str]) -> str:
    """Half a sentence on two facts that differ in one literal."""
    return f"the same words but for {pair[0]} and {pair[1]}"


def _tokens(text: str) -> list[str]:
    found = (token.strip(_AROUND) for token in _TOKEN.findall(text[:_LONGEST]))
    return [token for token in found if token]


def _same(token: str) -> str:
    return key(token.casefold())


def _is_literal(token: str) -> bool:
    has_sign = re.search(r"[^\W_][^\w\s'’-]+[^\W_]|_", token) is not None
    return any(map(str.isdigit, token)) or has_sign or token != token.lower()
