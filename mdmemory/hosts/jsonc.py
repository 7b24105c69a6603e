"""JSON with comments: one key or list item is set or removed, and every other byte stays.

Accepts what OpenCode accepts: comments, trailing commas, a byte order mark. Our own, because the
published editors need Node beside them or have not been touched for years.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from mdmemory.expressions import lazy
from mdmemory.records import dataclass

BOM = "\ufeff"
_BLANK = lazy(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*(?s:.*?)\*/)*")
_TO_LINE_END = lazy(r"(?:[ \t]+|/\*[^\r\n]*?\*/)*(?://[^\r\n]*)?")
_INDENT = lazy(r"[ \t]*\Z")
_LINE_END = lazy(r"\r\n|\n|\r")
_LINE_IS_OVER = lazy(r"[ \t]*(?:\r|\n|//)")
_DEEPEST = 100  # levels; a configuration has five


class JsoncError(ValueError):
    """Text that is not JSON with comments: what is wrong, at which line and column from 1."""

    def __init__(self, problem: str, text: str, at: int) -> None:
        lines = _LINE_END.split(text[:at].removeprefix(BOM))
        self.line, self.column = len(lines), len(lines[-1]) + 1
        super().__init__(f"{problem} at line {self.line}, column {self.column}")


@dataclass(frozen=True, slots=True)
class Value:
    """A value and its place in the document: `text[start:end]`.

    `parts` are the values inside a list or an object, `keys` an object's keys with their starts,
    `comma` the offset of a trailing comma, or -1.
    """

    data: object
    start: int
    end: int
    parts: tuple[Value, ...] = ()
    keys: tuple[tuple[str, int], ...] = ()
    comma: int = -1

    def index(self, key: str | int) -> int:
        """The position of `key` in an object, or -1; of several the last, which is valid. In a
        list a number is a position."""
        if isinstance(key, int):
            return key if key < len(self.parts) and not self.keys else -1
        return max((at for at, (name, _) in enumerate(self.keys) if name == key), default=-1)

    def member(self, *path: str | int) -> Value | None:
        """The value under `path`, key by key, or None."""
        value: Value | None = self
        for key in path:
            at = value.index(key) if value else -1
            value = value.parts[at] if value and at >= 0 else None
        return value


# --- editing -------------------------------------------------------------------------------------


def put(text: str, path: Sequence[str], value: object) -> str:
    """`text` with `value` under `path`, a key for each level; missing objects are made.

    Raises JsoncError where the text is not valid, or a value on the way is no object.
    """
    root = box = parse(text)
    for depth, key in enumerate(path):
        if not isinstance(box.data, dict):
            raise JsoncError("An object was expected", text, box.start)
        inner = box.member(key)
        if inner is None:
            for outer in reversed(path[depth + 1 :]):
                value = {outer: value}
            return _insert(text, root, box, value, f"{_quoted(key)}: ")
        box = inner
    written = _written(text, root, value, _line_indent(text, box.start), _is_inline(text, box))
    return text[: box.start] + written + text[box.end :]


def append(text: str, path: Sequence[str], item: object) -> str:
    """`text` with `item` at the end of the list under `path`; a missing list is made.

    Raises JsoncError as `put` does, and where the value is no list.
    """
    root = parse(text)
    box = root.member(*path)
    if box is None:
        return put(text, path, [item])
    if not isinstance(box.data, list):
        raise JsoncError(f'A list was expected for "{path[-1]}"', text, box.start)
    return _insert(text, root, box, item)


def drop(text: str, path: Sequence[str | int]) -> str:
    """`text` without the key `path` ends in; comments stay. Raises JsoncError."""
    box = parse(text).member(*path[:-1])
    at = box.index(path[-1]) if box else -1
    return _cut(text, box, at) if box and at >= 0 else text


def drop_item(text: str, path: Sequence[str | int], item: object) -> str:
    """`text` without the first `item` of the list under `path`; comments stay.

    Raises JsoncError.
    """
    box = parse(text).member(*path)
    items = [part.data for part in box.parts] if box and not box.keys else []
    return _cut(text, box, items.index(item)) if box and item in items else text


def _cut(text: str, box: Value, at: int) -> str:
    """`text` without a part of a list or an object, its comma, and the white space before it."""
    start, end, close = _starts(box)[at], box.parts[at].end, box.end - 1
    begin = box.parts[at - 1].end if at else box.start + 1
    comma, gap, rest = skip(text, end), text[begin:start], text[end:]
    if text.startswith(",", comma):
        rest = text[end:comma] + text[comma + 1 :]
        if at:
            begin = skip(text, begin) + 1  # the comma before it stays
            gap = text[begin:start]
    elif at:
        before = skip(text, begin)
        gap = text[begin:before] + text[before + 1 : start]
    bare = re.sub(r"(?:\r\n|\n|\r)\Z", "", gap.rstrip(" \t"))
    if len(box.parts) == 1 and not (bare + rest[: len(rest) - len(text) + close]).strip():
        return text[:begin] + text[close:]
    if not at and not _LINE_END.match(rest.lstrip(" \t")) and box.parts[1:]:
        return text[:begin] + gap + rest.lstrip(" \t")
    # A line comment takes in whatever follows on its line.
    is_open = _BLANK.fullmatch(bare + "x") and not _LINE_IS_OVER.match(rest)
    return text[:begin] + (gap if is_open else bare) + rest


def _insert(text: str, root: Value, box: Value, value: object, key: str = "") -> str:
    """`text` with a new last part of the list or object `box`, laid out as its neighbours are."""
    line_end = (_LINE_END.search(text) or ["\n"])[0]
    if not box.parts:
        outer = _line_indent(text, box.start)
        indent = outer + _unit(text, root)
        source = line_end + indent + key + _written(text, root, value, indent)
        inside = text[box.start + 1 : box.end - 1]
        closing = "" if _LINE_END.search(inside) else line_end + outer
        return text[: box.start + 1] + source + inside + closing + text[box.end - 1 :]
    last, trailing = box.parts[-1].end, box.comma >= 0
    # The comma goes behind the last part, and the new line behind that part's own comment.
    head = text[: box.comma + 1] if trailing else text[:last] + ","
    rest = text[box.comma + 1 :] if trailing else text[last:]
    if _is_inline(text, box):
        source = " " + key + _written(text, root, value, is_inline=True)
    else:
        comment = _TO_LINE_END.match(rest)
        own = comment.group() if comment else ""
        own = own if "//" in own or "/*" in own else ""
        head, rest = head + own, rest[len(own) :]
        indent = _indent(text, _starts(box)[-1]) or ""
        source = line_end + indent + key + _written(text, root, value, indent)
    return head + source + ("," if trailing else "") + rest


def _written(
    text: str, root: Value, value: object, indent: str = "", is_inline: bool = False
) -> str:
    """The source of a value; over several lines unless `is_inline`, `indent` before each."""
    if is_inline:
        return json.dumps(value, ensure_ascii=False)
    source = json.dumps(value, ensure_ascii=False, indent=_unit(text, root))
    line_end = (_LINE_END.search(text) or ["\n"])[0]
    return source.replace("\n", line_end + indent)


def _quoted(item: str) -> str:
    return json.dumps(item, ensure_ascii=False)


def _indent(text: str, at: int) -> str | None:
    """The white space before `at` when nothing else stands before it on its line, else None."""
    line = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    return text[line:at] if _INDENT.match(text[line:at]) else None


def _line_indent(text: str, at: int) -> str:
    line = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    return text[line : line + len(text[line:at]) - len(text[line:at].lstrip(" \t"))]


def _unit(text: str, root: Value) -> str:
    """One step of indentation as the document makes it."""
    return (_indent(text, root.keys[0][1]) if root.keys else None) or "  "


def _is_inline(text: str, box: Value) -> bool:
    """Whether new parts go on the line of the last one."""
    return bool(box.parts) and _indent(text, _starts(box)[-1]) is None


def _starts(box: Value) -> list[int]:
    return [at for _, at in box.keys] or [part.start for part in box.parts]


# --- reading -------------------------------------------------------------------------------------


def parse(text: str) -> Value:
    """The one value of `text`. Raises JsoncError."""
    value = _value(text, skip(text, len(BOM) if text.startswith(BOM) else 0), 0)
    rest = skip(text, value.end)
    if rest < len(text):
        raise JsoncError("Something follows the end of the document", text, rest)
    return value


def skip(text: str, at: int) -> int:
    """The offset after the white space and the comments from `at` on."""
    blank = _BLANK.match(text, at)
    end = blank.end() if blank else at
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
    """The offset of the token that follows a part, and of the comma before it or -1."""
    at = skip(text, at)
    return (skip(text, at + 1), at) if text.startswith(",", at) else (at, -1)
