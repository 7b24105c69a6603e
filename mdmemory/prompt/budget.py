"""Entries within a budget of tokens: whole ones, the best first, and how many of how many. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from mdmemory.search.chunks import tokens


def fitting(entries: Sequence[str], budget: int) -> list[str]:
    """The entries that fit into so many tokens with the blank lines between them.

    One that is too long is passed over, so that a shorter one behind it has its chance.
    """
    kept: list[str] = []
    for each in entries:
        cost = tokens(each) + 1
        if cost <= budget:
            kept.append(each)
            budget -= cost
    return kept


def counted(shown: int, total: int, what: str) -> str:
    """How many are shown of those that there are, as a sentence."""
    return f"{shown} of {total} {what}."
