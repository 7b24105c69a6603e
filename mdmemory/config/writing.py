"""TOML that a person may have written: one value is set or taken out, and all else stays.

tomlkit makes the change. Python's own reader proves each time that nothing else is said now.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from mdmemory.errors import BadSetting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_BOM = "\ufeff"


class TomlError(ValueError):
    """Text that is not TOML, at which line and column, or that has no place for a value."""


def read_toml(text: str) -> dict[str, Any]:
    """The data of TOML text. A fraction is the text of it: `nan` equals no other `nan`.

    Raises TomlError.
    """
    import tomllib  # only where such a file is read

    try:
        return tomllib.loads(text.removeprefix(_BOM), parse_float=lambda number: f"{number} float")
    except tomllib.TOMLDecodeError as problem:
        raise TomlError(str(problem)) from problem
    except RecursionError:
        raise TomlError("it is nested too deep") from None


def find_value(text: str, path: Sequence[str]) -> object:
    """The value under `path`, or None. Raises TomlError."""
    value: object = read_toml(text)
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def write_value(value: Any) -> str:
    """A whole number, a fraction, true or false, a text, or a list of texts, as TOML."""
    if isinstance(value, list):
        return f"[{', '.join(map(write_value, value))}]"
    # a basic string of TOML is one of JSON, but for this character
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def set_value(text: str, path: Sequence[str], value: Any) -> str:
    """The text with `value` under `path`; a mapping is a new table at the end; None: no value.

    A comment stays with what it is about. Raises TomlError, also where no edit does this alone.
    """
    *way, key = path
    wanted = box = read_toml(text)
    for each in way:
        box = box.setdefault(each, {})
        if not isinstance(box, dict):
            raise TomlError(f"{each} is not a table")
    box.pop(key, None)
    if isinstance(value, Mapping):
        box[key] = {**value}
    elif value is not None:
        box[key] = read_toml(f"x = {write_value(value)}")["x"]
    if _without_empty(read_toml(text)) == _without_empty(wanted):
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    mark = _BOM if text.startswith(_BOM) else ""
    try:
        after = mark + _edit_text(text.removeprefix(_BOM), way, key, value, end)
        is_right = _without_empty(read_toml(after)) == _without_empty(wanted)
    except (ValueError, LookupError, TypeError, AttributeError):  # tomlkit's own, and its limits
        is_right = False
    if not is_right:
        raise TomlError(f"{'.'.join(path)} is written in a form that cannot be changed alone")
    return after


def _edit_text(text: str, way: Sequence[str], key: str, value: Any, end: str) -> str:
    import tomlkit  # only where a file is changed
    from tomlkit.items import AoT, Table

    if text and not text.endswith("\n"):
        text += end
    box: Any = find_value(text, way)
    if value is None:
        document = tomlkit.parse(text)
        _cut_value(document, [*way, key])
        if way and box.keys() == {key}:
            _cut_value(document, way)
        after = document.as_string()
        # the blank line above a table that stood last
        return after if text.endswith(end * 2) else after.rstrip("\r\n") + (end if after else "")
    if isinstance(value, Mapping) or box is None:
        table, rows = ([*way, key], value) if isinstance(value, Mapping) else (way, {key: value})
        lines = [
            f"[{'.'.join(table)}]",
            *(f"{n} = {write_value(each)}" for n, each in rows.items()),
        ]
        return text + (end if text.strip() else "") + "".join(line + end for line in lines)
    document = tomlkit.parse(text)
    inner: Any = document
    for each in way:
        inner = inner[each]
    item = tomlkit.item(value)
    item.trivia.trail = end
    body = inner.value.body if isinstance(inner, Table) else document.body
    if key in box or (way and not isinstance(inner, Table)):
        inner[key] = item
        return document.as_string()
    at = next((n for n, (_, each) in enumerate(body) if isinstance(each, Table | AoT)), len(body))
    above = _end_of_values(body[:at])
    if above or at < len(body):  # what stands between is about the next table
        at = above
    body.insert(at, (tomlkit.key(key), item))
    return document.as_string()


def _cut_value(container: Any, path: Sequence[str]) -> None:
    """Take a value out, wherever its table is gone on with; what stands under it as a comment may
    be about the next table, and stays."""
    from tomlkit import ws
    from tomlkit.items import InlineTable

    for at, (key, item) in enumerate(container.body):
        if key is None or key.key != path[0]:
            continue
        if isinstance(item, InlineTable) and path[1:]:
            del item[path[1]]
        elif path[1:]:
            _cut_value(item.value, path[1:])
        else:
            container.body[at] = (
                None,
                ws(_tail_comments(item).removeprefix("\n").removeprefix("\r\n")),
            )


def _tail_comments(item: Any) -> str:
    """The comments and blank lines at the end of a table, of the last one inside it."""
    from tomlkit.items import Table

    body = item.value.body if isinstance(item, Table) else []
    if body and body[-1][0] is not None:
        return _tail_comments(body[-1][1])
    return "".join(each.as_string() for _, each in body[_end_of_values(body) :])


def _end_of_values(body: Sequence[Any]) -> int:
    """How many of these there are without the comments and blank lines at the end."""
    return max((n + 1 for n, (key, _) in enumerate(body) if key is not None), default=0)


def _without_empty(data: Any) -> Any:
    """The data without empty tables: what is asked is what it says."""
    if not isinstance(data, dict):
        return data
    return {key: inner for key, each in data.items() if (inner := _without_empty(each)) != {}}


def change_setting(text: str, name: str, value: Any, file: Path) -> str:
    """The text of the settings `file` with the setting `name` at `value`; None takes it out.

    Raises BadSetting if the text is not TOML, or if no edit changes this setting alone.
    """
    try:
        read_toml(text)
    except TomlError as problem:
        raise BadSetting(f"{file} is not valid: {problem}.", "Correct it first.") from problem
    try:
        return set_value(text, name.split("."), value)
    except TomlError as problem:
        line = f"no line for {name}" if value is None else f"`{name} = {write_value(value)}`"
        raise BadSetting(
            f"{file} could not be changed without changing other settings.",
            f"Edit it by hand, so that it has {line}.",
        ) from problem
