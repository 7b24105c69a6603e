"""JSON with comments: one key or list item is set or removed, and every other byte stays.

Accepts what OpenCode accepts: comments, trailing commas, a byte order mark. With these blanked out
it is JSON whose every character stands where it stood, so that Python's own reader reads it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

BOM = "\ufeff"
_STRING = r'"(?:[^"\\\r\n]|\\.)*"?'
_COMMENT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*(?s:.*?\*/|.*)")
_COMMA = re.compile(rf"{_STRING}|[\[{{,]\s*,|,(?=\s*[\]}}])")
_SPACE = re.compile(r"[ \t\r\n]*")
_LINE_END = re.compile(r"\r\n|\n|\r")


class JsoncError(ValueError):
    """Text that is not JSON with comments: what is wrong, at which line and column from 1."""

    def __init__(self, problem: str, text: str, at: int) -> None:
        lines = _LINE_END.split(text[:at].removeprefix(BOM))
        self.line, self.column = len(lines), len(lines[-1]) + 1
        super().__init__(f"{problem} at line {self.line}, column {self.column}")


@dataclass(frozen=True, slots=True)
class Value:
    """A value at `text[start:end]`, and the key or the position that it has where it stands, which
    begins at `first`."""

    data: object
    start: int
    end: int
    key: str | int = ""
    first: int = 0


class JsoncText:
    """The text of a file, and the one value in it. Raises JsoncError."""

    def __init__(self, text: str) -> None:
        self.text = text
        # without comments; then also without trailing commas
        self.plain = _COMMENT.sub(_blank_comment, text.replace(BOM, " ", text.startswith(BOM)))
        self._strict = _COMMA.sub(lambda match: match[0] if match[0] != "," else " ", self.plain)
        try:
            self.data = json.loads(self._strict, parse_constant=_refuse_constant)
        except json.JSONDecodeError as problem:
            raise JsoncError(problem.msg, text, problem.pos) from problem
        except ValueError as problem:
            raise JsoncError("A value was expected", text, text.find(str(problem))) from problem
        except RecursionError:
            raise JsoncError("It is nested too deep", text, 0) from None
        self.root = Value(self.data, self.skip(0), len(self.plain.rstrip(" \t\r\n")))

    def skip(self, at: int) -> int:
        """The offset after the white space and the comments from `at` on."""
        space = _SPACE.match(self.plain, at)
        return space.end() if space else at

    def parts(self, box: Value) -> list[Value]:
        """The values in a list or an object, in their order."""
        parts: list[Value] = []
        at = self.skip(box.start + 1)
        while isinstance(box.data, dict | list) and self.plain[at] not in "]}":
            first, key = at, len(parts)
            if isinstance(box.data, dict):
                key, at = json.JSONDecoder().raw_decode(self._strict, at)
                at = self.skip(self.skip(at) + 1)
            data, end = json.JSONDecoder().raw_decode(self._strict, at)
            parts.append(Value(data, at, end, key, first))
            comma = self.comma(end)
            at = self.skip(comma + 1) if comma >= 0 else self.skip(end)
        return parts

    def comma(self, at: int) -> int:
        """The offset of the comma that comes next after `at`, or -1."""
        at = self.skip(at)
        return at if self.plain.startswith(",", at) else -1

    def member(self, *path: str | int) -> Value | None:
        """The value under `path`, key by key, or None; of a key given twice the last counts."""
        value: Value | None = self.root
        for key in path:
            parts = self.parts(value) if value else []
            value = next((part for part in reversed(parts) if part.key == key), None)
        return value


def parse(text: str) -> JsoncText:
    """The document in a text. Raises JsoncError."""
    return JsoncText(text)


def put_value(text: str, path: Sequence[str], value: object) -> str:
    """`text` with `value` under `path`, a key for each level, where nothing is yet; missing objects
    are made.

    Raises JsoncError where the text is not valid, or a value on the way is no object.
    """
    document = JsoncText(text)
    box = document.root
    for depth, key in enumerate(path):
        inner = document.member(*path[: depth + 1])
        if not isinstance(box.data, dict):
            raise JsoncError("An object was expected", text, box.start)
        if inner is None:
            for outer in reversed(path[depth + 1 :]):
                value = {outer: value}
            return _insert_part(document, box, value, f"{json.dumps(key, ensure_ascii=False)}: ")
        box = inner
    return text


def append_item(text: str, path: Sequence[str], item: object) -> str:
    """`text` with `item` at the end of the list under `path`; a missing list is made.

    Raises JsoncError as `put_value` does, and where the value is no list.
    """
    document = JsoncText(text)
    box = document.member(*path)
    if box is None:
        return put_value(text, path, [item])
    if not isinstance(box.data, list):
        raise JsoncError(f'A list was expected for "{path[-1]}"', text, box.start)
    return _insert_part(document, box, item)


def drop_value(text: str, path: Sequence[str | int]) -> str:
    """`text` without the value under `path`; comments stay. Raises JsoncError."""
    document = JsoncText(text)
    box, part = document.member(*path[:-1]), document.member(*path)
    if not box or not part:
        return text
    comma = document.comma(part.end)
    before = [each.end for each in document.parts(box) if each.end < part.first]
    if comma < 0 and before:
        comma = document.comma(before[-1])
    cuts = [(part.first, part.end), *([(comma, comma + 1)] if comma >= 0 else [])]
    close, hole = box.end - 1, part.first - (0 <= comma < part.first)
    for start, end in sorted(cuts, reverse=True):
        text, close = text[:start] + text[end:], close - (end - start)
    if not text[box.start + 1 : close].strip():
        return text[: box.start + 1] + text[close:]
    line = _line_start(text, hole)
    line_end = _LINE_END.search(text, hole)
    if line_end and not text[line : line_end.start()].strip():
        return text[:line] + text[line_end.end() :]
    if before and text[line:hole].strip():
        return text[:hole].rstrip(" \t") + text[hole:]
    return text[:hole] + text[hole:].lstrip(" \t")


def _insert_part(document: JsoncText, box: Value, value: object, key: str = "") -> str:
    """The text with a new last part of the list or object `box`, laid out as its neighbours are."""
    text, parts = document.text, document.parts(box)
    line_end = (_LINE_END.search(text) or ["\n"])[0]
    if not parts:
        outer = _line_indent(text, box.start)
        indent = outer + _indent_unit(document)
        source = line_end + indent + key + _value_source(document, value, indent)
        inside = text[box.start + 1 : box.end - 1]
        closing = "" if _LINE_END.search(inside) else line_end + outer
        return text[: box.start + 1] + source + inside + closing + text[box.end - 1 :]
    last, comma = parts[-1].end, document.comma(parts[-1].end)
    place = comma + 1 if comma >= 0 else last
    if _is_inline(document, box):
        source = f" {key}{json.dumps(value, ensure_ascii=False)}"
    else:
        # behind that part's own comment
        end = _LINE_END.search(document.plain, place)
        if end and not document.plain[place : end.start()].strip():
            place = end.start()
        indent = _line_indent(text, parts[-1].first)
        source = line_end + indent + key + _value_source(document, value, indent)
    if comma >= 0:
        return text[:place] + source + "," + text[place:]
    return text[:last] + "," + text[last:place] + source + text[place:]


def _blank_comment(match: re.Match[str]) -> str:
    """A comment as blanks; a string, and a comment that is not closed, as they are."""
    token = match[0]
    is_closed = token.startswith("//") or (len(token) > 3 and token.endswith("*/"))
    return " " * len(token) if token[0] == "/" and is_closed else token


def _refuse_constant(word: str) -> object:
    raise ValueError(word)  # NaN and Infinity: Python's json takes them, OpenCode does not


def _value_source(document: JsoncText, value: object, indent: str) -> str:
    """The source of a value, over several lines, `indent` before each."""
    source = json.dumps(value, ensure_ascii=False, indent=_indent_unit(document))
    line_end = (_LINE_END.search(document.text) or ["\n"])[0]
    return source.replace("\n", line_end + indent)


def _line_start(text: str, at: int) -> int:
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1


def _line_indent(text: str, at: int) -> str:
    """The white space at the beginning of the line."""
    start = text[_line_start(text, at) : at]
    return start[: len(start) - len(start.lstrip(" \t"))]


def _indent_unit(document: JsoncText) -> str:
    """One step of indentation as the document makes it."""
    parts = document.parts(document.root)
    is_lined = parts and not _is_inline(document, document.root)
    return (is_lined and _line_indent(document.text, parts[0].first)) or "  "


def _is_inline(document: JsoncText, box: Value) -> bool:
    """Whether new parts go on the line of the last one."""
    parts, text = document.parts(box), document.text
    return bool(parts) and bool(text[_line_start(text, parts[-1].first) : parts[-1].first].strip())
