"""Reads the JSON in a text as far as it is whole, whatever stands around it. Pure.

Form is forgiven: comments, trailing commas, single and typographic quotes, bare keys, words of
Python, line ends in strings, what was cut off. Words never are: a string is taken exactly as it
stands between its quotes or not at all, and what was not closed by the text itself is `Damaged`.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

MAX_DEPTH = 24  # a plan needs 4, wrapped in a string or two a few more
MAX_STEPS = 100_000  # values, and every 200 characters of a string; a large answer has a tenth


class Damaged(NamedTuple):
    """A list or an object that is not whole, and what could be read of it. `is_closed`: its end
    was found, but a key stands in it twice, or in something it holds."""

    part: list[Any] | dict[str, Any]
    is_closed: bool = False


class PlacedValue(NamedTuple):
    """A value of the text, and where it begins and ends. A number is its digits, as a string."""

    value: Any
    start: int
    end: int


_NOTHING = object()  # no value begins here

# What reasoning stands in. A closing one without an opening one ends reasoning, too.
_THOUGHT = r"(?:\w{1,12}:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratchpad)"
_OPEN = rf"<{_THOUGHT}>|◁{_THOUGHT}▷|\[THINK\]|<\|channel\|>(?:analysis|commentary)"
_CLOSE = rf"</{_THOUGHT}>|◁/{_THOUGHT}▷|\[/THINK\]|<\|channel\|>final"
_MARK = re.compile(rf"(?P<close>{_CLOSE})|(?P<open>{_OPEN})|[{{\[]", re.IGNORECASE)
_CLOSING = re.compile(_CLOSE, re.IGNORECASE)

_SPACE = re.compile(r"[\s\ufeff\u200b]++|(?://|#)[^\n]*+")
_NEXT = re.compile(r"\}\s*+(?:,\s*+)?(?=\{)")  # from one object of a list to the next
_KEY = re.compile(r"[^\W\d][\w$-]*+")
_NUMBER = re.compile(r"[-+]?\d[\w.:+-]*+")
_WORD = re.compile(r"[A-Za-z]++")
_WORDS: dict[str, Any] = {
    "true": True, "True": True, "false": False, "False": False, "null": None, "None": None,
    "undefined": None, "NaN": float("nan"), "Infinity": float("inf"),
}  # fmt: skip
_STRINGS = {
    first: re.compile(rf"[{first}]((?:[^\\{last}]++|\\.)*+)[{last}]", re.DOTALL)
    for first, last in {
        '"': '"', "'": "'", "“": "“”„", "”": "“”„", "„": "“”„", "‘": "‘’‚", "’": "‘’‚", "‚": "‘’‚",
    }.items()
}  # fmt: skip
_TO_PLAIN = re.compile(r"\\(.)|\"", re.DOTALL)


def strict(text: str) -> Any:
    """The one value that the whole text is. Raises ValueError where it is not exactly JSON, where
    a key stands twice, or where it is nested too deep. A number is its digits, as a string."""
    try:
        return json.loads(
            text, object_pairs_hook=_once, parse_int=str, parse_float=str, parse_constant=_no_number
        )
    except RecursionError:
        raise ValueError("nested too deep") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a key stands twice")
    return fields


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no number")


def values(text: str) -> list[PlacedValue]:
    """The lists and objects of a text outside of reasoning, in their order; one that holds others
    stands for them. What can be read of a `Damaged` one is looked at first, then what is in it.
    """
    reader, at = _Reader(text), 0
    placed: list[PlacedValue] = []
    while (mark := _MARK.search(text, at)) and reader.steps < MAX_STEPS:
        if mark["close"]:
            placed, at = [], mark.end()
        elif mark["open"]:
            closing = _CLOSING.search(text, mark.end())
            at = closing.end() if closing else len(text)
        else:
            each = reader.read(mark.start())
            if _says_something(each.value):
                placed.append(each)
                at = each.end
            else:
                at = mark.start() + 1
    return placed


def string(text: str) -> str | None:
    """The string that the whole text is, as where JSON was put into JSON; else None."""
    if text[:1] not in _STRINGS:
        return None
    each = _Reader(text).read(0)
    return each.value if each.end == len(text) and isinstance(each.value, str) else None


def _says_something(value: Any) -> bool:
    """Whether it holds an object that is whole, or is whole itself; not the "[" of some prose."""
    if isinstance(value, Damaged):
        inner = value.part
        return any(_holds(each) for each in (inner.values() if isinstance(inner, dict) else inner))
    return True


def _holds(value: Any) -> bool:
    return isinstance(value, dict | list) or (isinstance(value, Damaged) and _says_something(value))


class _Reader:
    """Reads values of one text. `steps` is the work done so far."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.steps = 0
        self._at = 0
        self._no_next = len(text) + 1  # from here on no further object of a list begins

    def read(self, start: int) -> PlacedValue:
        self._at = start
        value = self._value(0)
        return PlacedValue(value, start, max(self._at, start + 1))

    def _value(self, depth: int) -> Any:
        self.steps += 1
        first = self.text[self._at : self._at + 1]
        if depth > MAX_DEPTH or self.steps > MAX_STEPS:
            return _NOTHING
        if first == "{":
            return self._object(depth)
        if first == "[":
            return self._list(depth)
        if first in _STRINGS:
            return self._string(first)
        if number := _NUMBER.match(self.text, self._at):
            self._at = number.end()
            return number[0]
        word = _WORD.match(self.text, self._at)
        if word is None or word[0] not in _WORDS:
            return _NOTHING
        self._at = word.end()
        return _WORDS[word[0]]

    def _object(self, depth: int) -> Any:
        fields: dict[str, Any] = {}
        is_whole = True
        self._at += 1
        while True:
            sign = self._next()
            if sign == "}":
                self._at += 1
                return fields if is_whole else Damaged(fields, is_closed=True)
            if sign == ",":
                self._at += 1
                continue
            key = self._key(sign)
            if key is None or self._next() != ":":
                return Damaged(fields)
            self._at += 1
            self._next()
            value = self._value(depth + 1)
            if value is _NOTHING:
                return Damaged(fields)
            is_whole = is_whole and key not in fields and not isinstance(value, Damaged)
            fields[key] = value if key not in fields else Damaged({}, is_closed=True)
            if _is_open(value) or self._next() not in ("}", ","):
                return Damaged(fields)

    def _key(self, sign: str) -> str | None:
        if sign in _STRINGS:
            value = self._string(sign)
            return value if isinstance(value, str) else None
        bare = _KEY.match(self.text, self._at)
        if bare is None:
            return None
        self._at = bare.end()
        return bare[0]

    def _list(self, depth: int) -> Any:
        items: list[Any] = []
        self._at += 1
        while True:
            sign = self._next()
            if sign == "]":
                self._at += 1
                is_whole = not any(isinstance(each, Damaged) for each in items)
                return items if is_whole else Damaged(items, is_closed=True)
            if sign == ",":
                self._at += 1
                continue
            value = self._value(depth + 1) if sign not in ("", "}") else _NOTHING
            if value is not _NOTHING:
                items.append(value)
            # after an object a comma may be missing, after a string that could be a quote within
            ends = ("]", ",", "{") if isinstance(value, dict) else ("]", ",")
            is_lost = value is _NOTHING or _is_open(value) or self._next() not in ends
            if is_lost and not (items and _is_object(items[-1]) and self._go_on()):
                return Damaged(items)

    def _go_on(self) -> bool:
        """Go to the next object of a list of which one could not be read."""
        may_be = self._at < self._no_next and self.steps <= MAX_STEPS
        following = _NEXT.search(self.text, self._at) if may_be else None
        if following is None:
            self._no_next = min(self._no_next, self._at)
            return False
        self._at = following.end()
        return True

    def _string(self, first: str) -> Any:
        match = _STRINGS[first].match(self.text, self._at)
        self.steps += ((match.end() if match else len(self.text)) - self._at) // 200
        if match is None:
            return _NOTHING
        inner = match[1]
        try:
            plain = inner if first == '"' else _TO_PLAIN.sub(_as_json, inner)
            value = json.loads(f'"{plain}"', strict=False) if "\\" in plain else plain
        except ValueError:
            return _NOTHING
        self._at = match.end()
        return value

    def _next(self) -> str:
        """The sign that follows, behind blanks and comments."""
        before = self._at
        while True:
            if space := _SPACE.match(self.text, self._at):
                self._at = space.end()
            elif self.text.startswith("/*", self._at):
                end = self.text.find("*/", self._at + 2)
                self._at = end + 2 if end >= 0 else len(self.text)
            else:
                self.steps += (self._at - before) // 200
                return self.text[self._at : self._at + 1]


def _as_json(piece: re.Match[str]) -> str:
    """A piece of a string in other quotes as it stands in double ones."""
    if piece[1] is None:
        return '\\"'
    return piece[1] if piece[1] in "'‘’‚“”„" else piece[0]


def _is_open(value: Any) -> bool:
    return isinstance(value, Damaged) and not value.is_closed


def _is_object(value: Any) -> bool:
    return isinstance(value.part if isinstance(value, Damaged) else value, dict)
