"""Texts that are hard for a regular expression, made of the expression's own characters.

What makes a search slow is a run of what one of its parts takes, with nothing behind it that the
next part takes. So each part gives a unit; a text is one unit many times over.
"""

import re
import re._constants as op
import re._parser as parser
from collections.abc import Iterable, Iterator
from typing import Any

# One character for each category, and what a negated set is tried with.
_CATEGORY = {
    op.CATEGORY_DIGIT: "7", op.CATEGORY_NOT_DIGIT: "x",
    op.CATEGORY_SPACE: " ", op.CATEGORY_NOT_SPACE: "x",
    op.CATEGORY_WORD: "w", op.CATEGORY_NOT_WORD: "-",
}  # fmt: skip
_TRIED = "xX7 -_.,'\"`(/\n\t中é"
_MANY = 60  # characters that one unit may have
_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)


def of(expression: str | bytes, flags: int = 0) -> list[str]:
    """The units of one expression, the shortest first, none twice."""
    text = expression.decode("latin-1") if isinstance(expression, bytes) else expression
    found = dict.fromkeys(_units(parser.parse(text, flags)))
    return sorted((unit for unit in found if unit and len(unit) <= _MANY), key=len)


def _units(tree: Any, before: str = "") -> Iterator[str]:
    """Each part alone, and with what leads to it."""
    for kind, value in tree:
        if kind in _REPEATS:
            body = value[2]
            yield from _units(body, before)
            each = _example(body)
            yield from (each, before + each, each + before)
        elif kind is op.SUBPATTERN:
            yield from _units(value[3], before)
        elif kind is op.ATOMIC_GROUP:
            yield from _units(value, before)
        elif kind is op.BRANCH:
            for way in value[1]:
                yield from _units(way, before)
                yield _example(way)
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            yield from _units(value[1], before)
        elif kind is op.IN:
            yield from _set(value)
        before += _example([(kind, value)])
        yield before
        yield from before[-1:]


def _example(tree: Any) -> str:
    """A short text that the parts take, each repeat once."""
    return "".join(_one(kind, value) for kind, value in tree)


def _one(kind: Any, value: Any) -> str:
    if kind is op.LITERAL:
        return chr(value)
    if kind is op.NOT_LITERAL:
        return next(char for char in _TRIED if ord(char) != value)
    if kind is op.IN:
        return next(iter(_set(value)), "")
    if kind is op.ANY:
        return "x"
    if kind in _REPEATS:
        return _example(value[2]) * max(1, min(value[0], 8))
    if kind is op.SUBPATTERN:
        return _example(value[3])
    if kind is op.ATOMIC_GROUP:
        return _example(value)
    if kind is op.BRANCH:
        return _example(value[1][0])
    return ""


def _set(parts: Iterable[tuple[Any, Any]]) -> list[str]:
    """Characters of a set: the first of each of its parts, or some that it leaves."""
    parts = list(parts)
    if parts[0][0] is op.NEGATE:
        taken = re.compile("[" + "".join(_written(*part) for part in parts[1:]) + "]")
        return [char for char in _TRIED if not taken.match(char)][:3]
    return list(dict.fromkeys(_first(*part) for part in parts))


def _first(kind: Any, value: Any) -> str:
    if kind is op.LITERAL:
        return chr(value)
    return chr(value[0]) if kind is op.RANGE else _CATEGORY[value]


def _written(kind: Any, value: Any) -> str:
    if kind is op.LITERAL:
        return re.escape(chr(value))
    if kind is op.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    names = {"DIGIT": "d", "SPACE": "s", "WORD": "w"}
    name = str(value).removeprefix("CATEGORY_")
    letter = names[name.removeprefix("NOT_")]
    return "\\" + (letter.upper() if name.startswith("NOT_") else letter)
