"""Entries of ours in a person's JSON or TOML file: the text with them, and without.

Text in, text out. What was changed is kept as splices, so that an untouched file gets back the very
bytes that it had; in a file that others changed since, only what is ours goes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from mdmemory.config.writing import TomlError, find_value, read_toml, set_value
from mdmemory.files import digest
from mdmemory.hosts import launcher

_MARK = "/mdmemory/launch"  # in each command that is ours
_EMPTY = "{}\n"

Splice = tuple[int, str, str]  # an offset, the text that was put there, the text that it replaced


class ConfigEntry(NamedTuple):
    """A value of ours under `path`, a key for each level; with `in_list` an item of the list there.

    An object's layout in TOML is fixed: a table of its own.
    """

    path: tuple[str, ...]
    value: Any
    in_list: bool = False

    @property
    def name(self) -> str:
        """Its name in messages and records."""
        return ".".join(self.path)


class ConfigEdit(NamedTuple):
    """What was done to a file: the digest of the text, the splices in their order, our values by
    the names of their entries, and the objects and lists that were made for them."""

    digest: str = ""
    splices: Sequence[Splice] = ()
    values: Mapping[str, Any] = MappingProxyType({})
    made: Sequence[Sequence[str]] = ()


def hook_entry(host: str, event: str, **more: Any) -> ConfigEntry:
    """The hook by which a client tells us of an event. Claude Code, Codex and Gemini CLI take it in
    one shape; `more` are further keys of the hook."""
    command = {"type": "command", **more, "command": launcher.any_shell_line(f"hook {host}")}
    return ConfigEntry(("hooks", event), {"hooks": [command]}, in_list=True)


def server_entry(**more: Any) -> dict[str, Any]:
    """An MCP server of ours, whose instructions leave the index to the hooks."""
    return {"command": "sh", "args": ["-c", launcher.shell_command("mcp --no-index")], **more}


def is_ours(value: object) -> bool:
    """Whether a value starts our launcher."""
    return _MARK in json.dumps(value, default=str)


def find(text: str, entry: ConfigEntry, *, is_toml: bool = False) -> object:
    """What stands in the place of an entry, or None. Raises JsoncError and TomlError."""
    if is_toml:
        return find_value(text, entry.path)
    member = _parse_text(text).member(*entry.path)
    if member is None or not entry.in_list:
        return member.data if member else None
    if not isinstance(member.data, list):
        raise JsoncError(f'A list was expected for "{entry.path[-1]}"', text, member.start)
    if entry.value in member.data:
        return entry.value
    return next((item for item in member.data if is_ours(item)), None)


def add(
    text: str,
    entries: Sequence[ConfigEntry],
    *,
    is_toml: bool = False,
    known: ConfigEdit | None = None,
) -> tuple[str, ConfigEdit]:
    """The text with all entries that have nothing in their place, and what was done.

    `known` is what an earlier call did to this text, and is gone on with. Raises JsoncError and
    TomlError.
    """
    known = known or ConfigEdit()
    splices, values, made = [*known.splices], {**known.values}, [*known.made]
    for entry in entries:
        if find(text, entry, is_toml=is_toml) is not None:
            continue
        if is_toml:
            after = set_value(text, entry.path, entry.value)
        else:
            root = _parse_text(text)
            made += [box for box in _entry_boxes(entry) if root.member(*box) is None]
            change = append_item if entry.in_list else put_value
            after = change(_source_text(text), entry.path, entry.value)
        splices.append(_find_splice(text, after))
        values[entry.name] = entry.value
        text = after
    return text, ConfigEdit(digest(text.encode()), splices, values, made)


def drop_entries(
    text: str, entries: Sequence[ConfigEntry], known: ConfigEdit | None, *, is_toml: bool = False
) -> str:
    """The text without our entries; `known` is what `add` did, None where that was lost.

    What a person had before `add` stays. Raises JsoncError and TomlError.
    """
    if known and digest(text.encode()) == known.digest:
        for at, put, old in reversed(known.splices):
            text = text[:at] + old + text[at + len(put) :]
        return text
    plain, gone = text, []
    for entry in entries:
        after = _without_entry(plain, entry, known, is_toml=is_toml)
        gone += [entry] if after != plain else []
        plain = after
    if not gone:
        return text
    if not is_toml:  # without the empty objects and lists that were made for our entries
        made = known.made if known else [box for entry in gone for box in _entry_boxes(entry)]
        for box in sorted({tuple(each) for each in made}, key=len, reverse=True):
            member = _parse_text(plain).member(*box)
            if member and member.data in ({}, []):
                plain = drop_value(plain, box)
    back: str | None = text if known else None
    for _, put, old in reversed(known.splices if known else ()):
        back = back.replace(put, old) if back is not None and back.count(put) == 1 else None
    is_right = back is not None and _read_data(back, is_toml) == _read_data(plain, is_toml)
    return back if back is not None and is_right else plain


def says_nothing(text: str) -> bool:
    """Whether JSON text holds nothing but an empty object, and no comment."""
    return text.removeprefix(BOM).strip().replace(" ", "") in ("", "{}")


def _without_entry(
    text: str, entry: ConfigEntry, known: ConfigEdit | None, *, is_toml: bool
) -> str:
    value = find(text, entry, is_toml=is_toml)
    mine = value == entry.value and (known is None or entry.name in known.values)
    if not mine and not is_ours(value):
        return text
    if is_toml:
        return set_value(text, entry.path, None)
    if not entry.in_list:
        return drop_value(text, entry.path)
    while (value := find(text, entry)) is not None and (is_ours(value) or value == entry.value):
        items: Any = JsoncText(text).member(*entry.path)
        path = [*entry.path, items.data.index(value)]
        hooks = value.get("hooks") if isinstance(value, dict) else None
        if isinstance(hooks, list) and not all(map(is_ours, hooks)):
            # of a group of hooks with others in it only ours goes
            path += ["hooks", [*map(is_ours, hooks)].index(True)]
        text = drop_value(text, path)
    return text


def _entry_boxes(entry: ConfigEntry) -> Iterator[tuple[str, ...]]:
    """Whatever holds an entry: all objects below the root, and its list."""
    for depth in range(1, len(entry.path) + entry.in_list):
        yield entry.path[:depth]


def _find_splice(before: str, after: str) -> Splice:
    """The one place in which two texts differ."""
    most = min(len(before), len(after))
    start = next((at for at in range(most) if before[at] != after[at]), most)
    tail = most - start
    end = next((at for at in range(tail) if before[-1 - at] != after[-1 - at]), tail)
    return start, after[start : len(after) - end], before[start : len(before) - end]


def _read_data(text: str, is_toml: bool) -> object:
    """The data of a text, None where it is not valid."""
    try:
        return read_toml(text) if is_toml else _parse_text(text).data
    except (JsoncError, TomlError):
        return None


def _parse_text(text: str) -> JsoncText:
    return JsoncText(_source_text(text))


def _source_text(text: str) -> str:
    """JSON text; a blank one as the clients take it, for an empty object."""
    return text if text.removeprefix(BOM).strip() else text + _EMPTY


# --- JSON with comments: one key or list item is set or removed, and every other byte stays.

# It takes what OpenCode takes: comments, trailing commas, a byte order mark. With these blanked out
# it is JSON whose every character stands where it stood, so that Python's own reader reads it.
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


class Value(NamedTuple):
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
    parts = document.parts(box)
    at = parts.index(part)
    start, end = box.start + 1, box.end - 1
    if at:  # with the comma before it
        start, end = parts[at - 1].end, part.end
    elif parts[1:]:
        start, end = part.first, parts[1].first
    if document.plain[start:end] == text[start:end]:
        return text[:start] + text[end:]
    comma = document.comma(part.end)
    if comma < 0 and at:
        comma = document.comma(parts[at - 1].end)
    hole = part.first - (0 <= comma < part.first)
    for start, end in sorted([(part.first, part.end), (comma, comma + 1)], reverse=True):
        text = text[:start] + text[end:] if start >= 0 else text
    line, line_end = _line_start(text, hole), _LINE_END.search(text, hole)
    if line_end and not text[line : line_end.start()].strip():
        return text[:line] + text[line_end.end() :]
    return text


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
