"""JSON with comments, read with positions, so that it can be edited and no other byte changes.

Accepts what OpenCode accepts: comments, trailing commas, a byte order mark, an empty file. Our own,
because the published editors need Node beside them or have not been touched for years.
"""

from __future__ import (
    annotations,
)

import json
import re
from collections.abc import (
    Sequence,
)
from dataclasses import (
    dataclass,
)

_TO_LINE_END = re.compile(r"(?:[ \t]+|/\*[^\r\n]*?\*/)*(?://[^\r\n]*)?")
_INDENT = re.compile(r"[ \t]*\Z")


def grow(text: str, key: str, items: Sequence[str]) -> str:
    """`text` with `items` added to the end of the list `key` of its root object; nothing removed.

    Raises JsoncError when the text is no object, or `key` is there and is not a list.
    """
    if text.startswith(BOM):
        return BOM + grow(text[1:], key, items)
    root = parse(text)
    if not isinstance(root.data, dict):
        raise JsoncError("An object was expected", text, root.start)
    listed = root.member(key)
    if listed is None:
        unit, quoted = _unit(text, root), [_quoted(item) for item in items]
        return _insert(text, root, [_member(text, root, key, "[]", quoted, unit)], unit)
    if not isinstance(listed.data, list):
        raise JsoncError(f'A list was expected for "{key}"', text, listed.start)
    return _insert(text, listed, [_quoted(item) for item in items], _unit(text, root))


def put(text: str, key: str, name: str, value: object) -> str:
    """`text` with the member `name` in the object `key` of its root object; both made if need be.

    Raises JsoncError when the text is no object, or `key` is there and is not one.
    """
    if text.startswith(BOM):
        return BOM + put(text[1:], key, name, value)
    root = parse(text)
    if not isinstance(root.data, dict):
        raise JsoncError("An object was expected", text, root.start)
    source = f"{_quoted(name)}: {json.dumps(value, ensure_ascii=False)}"
    box, unit = root.member(key), _unit(text, root)
    if box is None:
        return _insert(text, root, [_member(text, root, key, "{}", [source], unit)], unit)
    if not isinstance(box.data, dict):
        raise JsoncError(f'An object was expected for "{key}"', text, box.start)
    return _insert(text, box, [source], unit)


def shrink(text: str, key: str, items: Sequence[str]) -> str:
    """`text` without `items` in the list `key` of its root object: what takes back a `grow`.

    Comments stay. Raises JsoncError for text that is no JSON with comments.
    """
    if text.startswith(BOM):
        return BOM + shrink(text[1:], key, items)
    listed = parse(text).member(key)
    for at, part in enumerate(listed.parts if listed else ()):
        if listed and part.data in items:
            return shrink(_cut(text, listed, at), key, items)
    return text


def drop(text: str, key: str, name: str) -> str:
    """`text` without the member `name` of the object `key` of its root: takes back a `put`."""
    if text.startswith(BOM):
        return BOM + drop(text[1:], key, name)
    return _without(text, parse(text).member(key), name)


def drop_member(text: str, key: str) -> str:
    """`text` without the member `key` of its root object."""
    if text.startswith(BOM):
        return BOM + drop_member(text[1:], key)
    return _without(text, parse(text), key)


def _without(text: str, box: Value | None, name: str) -> str:
    for at, (key, _) in enumerate(box.keys if box else ()):
        if box and key == name:
            return _cut(text, box, at)
    return text


def _cut(text: str, box: Value, at: int) -> str:
    """`text` without a part of a list or an object, its comma, and the white space before it."""
    part = box.parts[at]
    head, rest = text[: _starts(box)[at]], text[part.end :]
    following = skip(text, part.end)
    if text.startswith(",", following):
        # the comma before it stays: a comment may stand between that and here
        rest = text[part.end : following] + text[following + 1 :]
    elif at:
        comma = text.index(",", skip(text, box.parts[at - 1].end))
        head = head[:comma] + head[comma + 1 :]
    head = re.sub(r"(?:\r\n|\n|\r)?[ \t]*\Z", "", head)
    if head.endswith(("[", "{")):
        rest = rest.lstrip(" \t")
        inside, bracket, _ = rest.partition("]" if head.endswith("[") else "}")
        rest = rest if inside.strip() or not bracket else rest[len(inside) :]
    return head + rest


def _quoted(item: str) -> str:
    return json.dumps(item, ensure_ascii=False)


def _line_end(text: str) -> str:
    found = re.search(r"\r\n|\n|\r", text)
    return found.group() if found else "\n"


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


def _member(
    text: str, root: Value, key: str, brackets: str, sources: Sequence[str], unit: str
) -> str:
    """The source of a new member of the root object, laid out as its neighbours are."""
    opening, closing = brackets[0], brackets[1]
    if _is_inline(text, root):
        return f'"{key}": {opening}{", ".join(sources)}{closing}'
    outer = _line_indent(text, root.keys[-1][1] if root.keys else root.start)
    begin = _line_end(text) + (outer if root.keys else outer + unit)
    inside = ",".join(f"{begin}{unit}{source}" for source in sources)
    return f'"{key}": {opening}{inside}{begin}{closing}'


def _insert(text: str, box: Value, sources: Sequence[str], unit: str) -> str:
    """`text` with `sources` as the last parts of the list or object `box`."""
    if not box.parts:
        return _fill(text, box, sources, unit)
    last = box.parts[-1].end
    trailing = box.comma >= 0
    # The comma goes behind the last part, and the new line behind that part's own comment.
    head = text[: box.comma + 1] if trailing else text[:last] + ","
    rest = text[box.comma + 1 :] if trailing else text[last:]
    if _is_inline(text, box):
        added = " " + ", ".join(sources)
    else:
        comment = _TO_LINE_END.match(rest)
        own = comment.group() if comment else ""
        own = own if "//" in own or "/*" in own else ""
        head, rest = head + own, rest[len(own) :]
        begin = _line_end(text) + (_indent(text, _starts(box)[-1]) or "")
        added = ",".join(begin + source for source in sources)
    return head + added + ("," if trailing else "") + rest


def _fill(text: str, box: Value, sources: Sequence[str], unit: str) -> str:
    """`text` with `sources` as the first parts of the empty list or object `box`."""
    end, outer = _line_end(text), _line_indent(text, box.start)
    added = ",".join(f"{end}{outer}{unit}{source}" for source in sources)
    inside = text[box.start + 1 : box.end - 1]
    closing = "" if "\n" in inside or "\r" in inside else end + outer
    return text[: box.start + 1] + added + inside + closing + text[box.end - 1 :]


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
