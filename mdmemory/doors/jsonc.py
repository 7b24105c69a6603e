"""JSON with comments, read with positions, so that it can be edited and no other byte changes.

Accepts what OpenCode accepts: comments, trailing commas, a byte order mark, an empty file. Our own,
because the published editors need Node beside them or have not been touched for years.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*(?s:.*?)\*/)*")
_DEEPEST = 100  # levels; a configuration has five
BOM = "\ufeff"


class JsoncError(ValueError):
    """Text that is not JSON with comments: what is wrong, at which line and column from 1."""

    def __init__(self, problem: str, text: str, at: int) -> None:
        lines = re.split(r"\r\n|\r|\n", text[:at])
        self.problem, self.line, self.column = problem, len(lines), len(lines[-1]) + 1
        super().__init__(f"{problem} at line {self.line}, column {self.column}")


@dataclass(frozen=True, slots=True)
class Value:
    """A value and where it stands: `text[start:end]`.

    `parts` are the values inside a list or an object, `keys` an object's keys with their starts,
    `comma` the offset of a trailing comma, or -1.
    """

    data: object
    start: int
    end: int
    parts: tuple[Value, ...] = ()
    keys: tuple[tuple[str, int], ...] = ()
    comma: int = -1

    def member(self, key: str) -> Value | None:
        """The value of `key` in an object; of several the last, which is the one that counts."""
        found = [part for (name, _), part in zip(self.keys, self.parts, strict=True) if name == key]
        return found[-1] if found else None


def parse(text: str) -> Value:
    """The one value of `text` (without its byte order mark). Raises JsoncError."""
    at = skip(text, 0)
    value = _value(text, at, 0)
    rest = skip(text, value.end)
    if rest < len(text):
        raise JsoncError("Something follows the end of the document", text, rest)
    return value


def skip(text: str, at: int) -> int:
    """Where the white space and the comments from `at` on end."""
    found = _BLANK.match(text, at)
    end = found.end() if found else at
    if text.startswith("/*", end):
        raise JsoncError("A comment is not closed", text, end)
    return end


def _value(text: str, at: int, depth: int) -> Value:
    if depth > _DEEPEST:
        raise JsoncError(f"More than {_DEEPEST} levels", text, at)
    if text.startswith("{", at):
        return _object(text, at, depth)
    if text.startswith("[", at):
        return _list(text, at, depth)
    return _plain(text, at)


def _refuse_constant(word: str) -> object:
    raise ValueError(word)  # NaN and Infinity: Python's json takes them, OpenCode does not


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _plain(text: str, at: int) -> Value:
    """A string, number, true, false or null."""
    try:
        data, end = _DECODER.raw_decode(text, at)
    except ValueError as problem:
        where = problem.pos if isinstance(problem, json.JSONDecodeError) else at
        raise JsoncError("A value was expected", text, where) from problem
    return Value(data, at, end)


def _list(text: str, start: int, depth: int) -> Value:
    parts: list[Value] = []
    at, comma = skip(text, start + 1), -1
    while not text.startswith("]", at):
        if parts and comma < 0:
            raise JsoncError("A comma or ] was expected", text, at)
        parts.append(_value(text, at, depth + 1))
        at, comma = _after(text, parts[-1].end)
    return Value([part.data for part in parts], start, at + 1, tuple(parts), (), comma)


def _object(text: str, start: int, depth: int) -> Value:
    parts: list[Value] = []
    keys: list[tuple[str, int]] = []
    at, comma = skip(text, start + 1), -1
    while not text.startswith("}", at):
        if parts and comma < 0:
            raise JsoncError("A comma or } was expected", text, at)
        keys.append((_key(text, at), at))
        at = skip(text, _plain(text, at).end)
        if not text.startswith(":", at):
            raise JsoncError("A colon was expected", text, at)
        parts.append(_value(text, skip(text, at + 1), depth + 1))
        at, comma = _after(text, parts[-1].end)
    data = {key: part.data for (key, _), part in zip(keys, parts, strict=True)}
    return Value(data, start, at + 1, tuple(parts), tuple(keys), comma)


def _key(text: str, at: int) -> str:
    if not text.startswith('"', at):
        raise JsoncError("A name in double quotes was expected", text, at)
    return str(_plain(text, at).data)


def _after(text: str, at: int) -> tuple[int, int]:
    """What follows a part: where the next token stands, and the comma before it or -1."""
    at = skip(text, at)
    return (skip(text, at + 1), at) if text.startswith(",", at) else (at, -1)
