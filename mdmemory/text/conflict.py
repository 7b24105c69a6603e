"""Whether two facts have the same words but for one literal: a flag for a person, and nothing more.
Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from mdmemory.text.words import CJK, word_key

_LONGEST = 600  # characters of a fact
_TOKEN = re.compile(rf"[{CJK}]|[^\s{CJK}]*[^\W{CJK}][^\s{CJK}]*")
_AROUND = "\"'“”‘’«»„.,;:!?()[]…`*"
LEAST = 3  # words that both share
FEW = 10  # others with the same words that a fact is set against


def other_literal(one: str, other: str) -> tuple[str, str] | None:
    """The one literal in which two facts differ, as each has it; None where they differ in nothing,
    or in more. A literal has a digit, a sign within it, or a capital; a day or a month counts."""
    mine, theirs = _literal_tokens(one), _literal_tokens(other)
    if len(mine) != len(theirs) or len(mine) <= LEAST:
        return None
    odd = [
        pair for pair in zip(mine, theirs, strict=True) if _same_key(pair[0]) != _same_key(pair[1])
    ]
    if len(odd) != 1:
        return None
    first, second = odd[0]
    if mine[0] == first and theirs[0] == second:  # what they are about, with a sentence's capital
        return None
    return (first, second) if _is_literal(first) and _is_literal(second) else None


def find_pairs(
    facts: Sequence[str], kinds: Sequence[str], wanted: Collection[int] | None = None
) -> list[tuple[int, int]]:
    """The places, sorted, of facts of one kind that have the same words but perhaps for one
    literal: no look at each two is taken. With `wanted`, one of the two is among these."""
    tokens = [_literal_tokens(fact) for fact in facts]
    mine = frozenset(range(len(facts)) if wanted is None else wanted)
    lengths = {len(tokens[at]) for at in mine}
    alike: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for at, each in enumerate(tokens):
        if len(each) > LEAST and len(each) in lengths:  # the others are not brought to their stems
            for rest in _without_a_literal(each):
                alike[kinds[at], *rest].append(at)
    pairs = {
        (at, other) for group in alike.values() for place, at in enumerate(group)
        for other in group[place + 1 : place + 1 + FEW]
    }  # fmt: skip
    return sorted(pair for pair in pairs if not mine.isdisjoint(pair))


def _without_a_literal(tokens: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The words of a fact without one literal, for each but the first word, with its place."""
    same = [*map(_same_key, tokens)]
    for place, token in enumerate(tokens):
        if place and _is_literal(token):
            yield str(place), *same[:place], *same[place + 1 :]


def why_contrary(pair: tuple[str, str]) -> str:
    """Half a sentence on two facts that differ in one literal."""
    return f"the same words but for {pair[0]} and {pair[1]}"


def _literal_tokens(text: str) -> list[str]:
    tokens_found = (token.strip(_AROUND) for token in _TOKEN.findall(text[:_LONGEST]))
    return [token for token in tokens_found if token]


def _same_key(token: str) -> str:
    return word_key(token.casefold())


def _is_literal(token: str) -> bool:
    has_sign = re.search(r"[^\W_][^\w\s'’-]+[^\W_]|_", token) is not None
    return any(map(str.isdigit, token)) or has_sign or token != token.lower()
