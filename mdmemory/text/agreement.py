"""Whether two facts that differ in no value say as much as each other, so that one may go. Pure.

It errs on the side of keeping both: words may stand in another order only where their small words
say what each is to the rest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mdmemory.text import literals, polarity
from mdmemory.text.facts import PARTS, ReadFact, ReadWord
from mdmemory.text.meanings import DENIED, KIND, NAMED, NEVER, UNIT, small_words, soft
from mdmemory.text.statements import pieces
from mdmemory.text.wordlists import LATIN
from mdmemory.text.words import is_cjk

_COPULAS = frozenset("is are ist sind est sont es son é são è sono".split())
# One of these may stand for another: what a thing does where it is, or by what it does it.
_EXCHANGED = frozenset(("=lies", "=runs", "=uses", "=works", "=connects", "=happens", "=speaks"))
_ALLOWED = "=allowed"
_BESIDE = ("=front", "=behind", "=lacks", "=limit", "=minimum")  # speak of the word beside them
_SHAPE = re.compile(r"[-/_@\\+#=.]")
_SIGNS = re.compile(r"[<>≤≥±≠?？]|(?<!\w)[-−]\d")


def says_as_much(
    one: ReadFact, other: ReadFact, left: Sequence[ReadWord], right: Sequence[ReadWord]
) -> bool:
    """Whether two facts say the same: `left` and `right` are the words that the other lacks."""
    if (_ALLOWED in one.names) != (_ALLOWED in other.names):
        return False  # who may need not
    return (
        _is_form(one, other, left, right)
        and len(one.keys & other.keys) > 1
        and _same_signs(one, other)
        and _same_values(one, other)
        and _same_clauses(one, other)
        and _same_states(one, other)
        and all(_beside(one, key) == _beside(other, key) for key in _BESIDE)
        and not _turns_round(one, other)
        and not (one.ends("from") & other.ends("to") or one.ends("to") & other.ends("from"))
    )


def _is_form(
    one: ReadFact, other: ReadFact, left: Sequence[ReadWord], right: Sequence[ReadWord]
) -> bool:
    """Whether the words that differ are form: a verb that goes without saying, or of what kind a
    name is, on one side alone; and whether the others are the same words, and no mere kin."""
    clock = any(key.startswith("@") and ":" in key for key in one.keys & other.keys)
    loose = {*soft(), *(PARTS | {"=daily"} if clock else ())}
    differ = {item.key for item in (*left, *right)}
    if any(key not in loose and not key.startswith(KIND) for key in differ):
        return False
    if left and right and not differ <= _EXCHANGED:
        return False
    gone = set(map(id, (*left, *right)))
    return all(
        item.key in theirs
        or is_cjk(item.word.text[0])
        or any(_is_kin(item.key, key) for key in theirs)
        for mine, theirs in ((one, other.keys), (other, one.keys))
        for item in mine.items
        if id(item) not in gone
    )


def _is_kin(one: str, other: str) -> bool:
    """Whether two stems are of one word: they differ in the last letters alone."""
    pairs = enumerate(zip(one, other, strict=False))
    same = next((at for at, (mine, theirs) in pairs if mine != theirs), min(len(one), len(other)))
    return same >= 5 and max(len(one), len(other)) - same <= 3


def _same_signs(one: ReadFact, other: ReadFact) -> bool:
    """Whether both have the same comparisons and questions, and paths written alike."""
    if sorted(_SIGNS.findall(one.text)) != sorted(_SIGNS.findall(other.text)):
        return False
    return _exact(one.text) == _exact(other.text)


def _exact(text: str) -> set[str]:
    """The literals of which every sign and the case count: paths, flags, identifiers."""
    return {
        token for token in literals.tokens(text) if _SHAPE.search(token) and not token[0].isdigit()
    }


def _same_values(one: ReadFact, other: ReadFact) -> bool:
    """Whether several values of one sort stand in one order with all other words, and are denied
    alike."""
    both = one.keys & other.keys
    orders = [[item.key for item in each.items if item.key in both] for each in (one, other)]
    items = (*one.items, *other.items)
    for group in ("time", "number", "name"):
        keys = {
            item.key
            for item in items
            if item.group == group and not item.key.startswith((UNIT, KIND))
        }
        if len(keys) > 1 and (orders[0] != orders[1] or _denied(one) != _denied(other)):
            return False
    return True


def _denied(fact: ReadFact) -> frozenset[str]:
    """The words right behind a negation."""
    return polarity.negated(pieces(fact.text))


def _same_clauses(one: ReadFact, other: ReadFact) -> bool:
    """Whether the words of facts that both have several clauses are parted alike."""
    both = (one.keys & other.keys) - soft()
    parts = []
    for each in (one, other):
        clauses: dict[int, set[str]] = {}
        for item in each.items:
            if item.key in both:
                clauses.setdefault(item.word.clause, set()).add(item.key)
        parts.append(sorted(sorted(keys) for keys in clauses.values()))
    return min(map(len, parts)) < 2 or parts[0] == parts[1]


def _same_states(one: ReadFact, other: ReadFact) -> bool:
    """Whether both deny the same words, and say the same."""
    for key in one.keys & other.keys:
        mine, theirs = (
            {state if state != NEVER else DENIED for state in each.of(key, lacking=False)}
            for each in (one, other)
        )
        if mine != theirs:
            return False
    return True


def _beside(fact: ReadFact, key: str) -> str:
    """The word that a word like "before" speaks of."""
    keys = [item.key for item in fact.items]
    if key not in keys:
        return ""
    at = keys.index(key) + (1 if fact.language in LATIN else -1)
    return keys[at] if 0 <= at < len(keys) else ""


def _turns_round(one: ReadFact, other: ReadFact) -> bool:
    """Whether each begins with what the other ends with, and nothing says which of them does it:
    "the parser calls the loader" and "the loader calls the parser"."""
    first, second = one.items[0].key, other.items[0].key
    if first == second or {first, second} - (one.keys & other.keys):
        return False
    if any(key.startswith((NAMED, "@")) for key in (first, second)):
        return False
    if one.language == "zh":
        by = [any(word in each.text for word in small_words("by", "zh")) for each in (one, other)]
        return by[0] == by[1]
    if one.language == "ja":
        return _objects(one) != _objects(other)
    return bool((one.links(second) & other.links(first)) - _COPULAS)


def _objects(fact: ReadFact) -> frozenset[str]:
    """The first characters of what something is done to, in Japanese."""
    return frozenset(re.findall(r"(\w)を", fact.text))
