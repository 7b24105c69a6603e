"""One table of ours in a person's TOML file: put at its end, and taken out again.

A table can stand anywhere, so no writer of TOML is needed; Python's own reader proves each time
that the file says what it said, apart from our table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mdmemory.expressions import lazy

_BOM = "\ufeff"
_LINE = lazy(r"[^\n]*\n|[^\n]+")
# A line that begins a table: [a.b], [[a]], ["a".b]. Its keys are read one by one.
_OPENING = lazy(r"[ \t]*\[\[?")
_KEY = lazy(r"""[ \t]*(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|([A-Za-z0-9_-]+))[ \t]*""")
_CLOSING = lazy(r"\]\]?[ \t]*(?:#[^\r\n]*)?\r?\n?\Z")


class TomlError(ValueError):
    """Text that is not TOML, at which line and column, or that has no place for our table."""


def find(text: str, path: Sequence[str]) -> object:
    """The value under `path`, or None. Raises TomlError."""
    value: object = read(text)
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def add(text: str, path: Sequence[str], values: Mapping[str, Any]) -> str:
    """The text with a table at its end: a blank line, the header, a line for each value.

    Strings and lists of strings are known. Raises TomlError, also where the file holds `path` in a
    form that cannot be added to.
    """
    before = read(text)
    line_end = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{'.'.join(path)}]", *(f"{key} = {_value(each)}" for key, each in values.items())]
    gap = "" if not text.strip(_BOM + " \t\r\n") else line_end
    if text and not text.endswith(("\n", _BOM)):
        gap = line_end + gap
    after = text + gap + "".join(line + line_end for line in lines)
    box = before
    for key in path[:-1]:
        box = box.setdefault(key, {})
        if not isinstance(box, dict):
            raise TomlError(f"{key} is not a table")
    box[path[-1]] = dict(values)
    if _read_or_none(after) != before:
        raise TomlError(f"[{path[0]}] is written in a form to which no table can be added")
    return after


def drop(text: str, path: Sequence[str]) -> str:
    """The text without the table under `path`, the tables inside it, and the blank line before it.

    Raises TomlError where it is not written as a table of its own.
    """
    wanted = read(text)
    box: Any = wanted
    for key in path[:-1]:
        box = box.get(key, {})
    if path[-1] not in box:
        return text
    del box[path[-1]]
    kept: list[str] = []
    held: list[str] = []  # of our table: what may be a person's comment on the next one
    is_inside = False
    for line in _LINE.findall(text):
        if keys := _header(line):
            was_inside, is_inside = is_inside, keys[: len(path)] == [*path]
            kept += held
            held = []
            if is_inside and not was_inside and kept and not kept[-1].strip():
                kept.pop()
        if not is_inside:
            kept.append(line)
        elif not line.strip() or line.lstrip().startswith("#"):
            held.append(line)
        else:
            held = []
    kept += held
    after = "".join(kept)
    found = _read_or_none(after)
    # a table that stood there only for ours goes with it
    if found != wanted and _pruned(found, path) != _pruned(wanted, path):
        raise TomlError(f"[{'.'.join(path)}] is not written as a table of its own")
    return after


def read(text: str) -> dict[str, Any]:
    """The data of TOML text. Raises TomlError."""
    import tomllib  # only where such a file is read

    try:
        # a number as its text: `nan` is no other `nan`, and the text is compared
        return tomllib.loads(text.removeprefix(_BOM), parse_float=lambda number: ("float", number))
    except tomllib.TOMLDecodeError as problem:
        raise TomlError(str(problem)) from problem
    except RecursionError:
        raise TomlError("it is nested too deep") from None


def _read_or_none(text: str) -> dict[str, Any] | None:
    try:
        return read(text)
    except TomlError:
        return None


def _pruned(data: dict[str, Any] | None, path: Sequence[str]) -> dict[str, Any] | None:
    """The data without the empty tables on the way to `path`."""
    for depth in range(len(path) - 1, 0, -1):
        box: Any = data
        for key in path[: depth - 1]:
            box = box.get(key, {}) if isinstance(box, dict) else {}
        if isinstance(box, dict) and box.get(path[depth - 1]) == {}:
            del box[path[depth - 1]]
    return data


def _header(line: str) -> list[str]:
    """The keys of a line that begins a table, as they are written; [] of any other line."""
    keys: list[str] = []
    opening = _OPENING.match(line)
    at = opening.end() if opening else len(line)
    while key := _KEY.match(line, at):
        keys.append(next(each for each in key.groups() if each is not None))
        at = key.end()
        if not line.startswith(".", at):
            break
        at += 1
    return keys if _CLOSING.match(line, at) else []


def _value(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    text = str(value)
    # as Codex itself writes it: without escapes where that can be
    return f"'{text}'" if '"' in text and "'" not in text else json.dumps(text, ensure_ascii=False)
