"""Changing one setting in a settings file, line by line: comments, order and all other bytes stay.

Every change is read back and compared before it is returned. A file that is beyond these edits is
refused with the line to write into it by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mdmemory.config.settings import flat
from mdmemory.errors import BadSetting
from mdmemory.expressions import lazy

_HEADER = lazy(r"[ \t]*+\[([\w.\"' \t-]+)\][ \t]*+(?:#.*)?")
_ENTRY = lazy(r"([\w.\"' \t-]+)=[ \t]*")
_MOST_LINES = 500  # of one value


def changed(text: str, name: str, value: Any, file: Path) -> str:
    """The text of the settings `file` with the setting `name` at `value`; None takes it out.

    Raises BadSetting if the text is not TOML, or if no edit changes this setting alone.
    """
    before = _parsed(text, file)
    wanted = {key: each for key, each in before.items() if key != name}
    if value is not None:
        wanted[name] = value
    if wanted == before:
        return text
    literal = "" if value is None else toml(value)
    for candidate in _candidates(text, name, literal):
        try:
            if _loaded(candidate) == wanted:
                return candidate
        except ValueError:
            continue
    line = f"`{name} = {literal}`" if literal else f"no line for {name}"
    raise BadSetting(
        f"{file} could not be changed without changing other settings.",
        f"Edit it by hand, so that it has {line}.",
    )


def toml(value: Any) -> str:
    """A value as TOML: a whole number, a fraction, true or false, a text, or a list of texts."""
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    # a basic string of TOML is one of JSON, but for this character
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _loaded(text: str) -> dict[str, object]:
    """The settings of a TOML text. Raises ValueError."""
    import tomllib  # most commands read no TOML

    return flat(tomllib.loads(text))


def _parsed(text: str, file: Path) -> Mapping[str, object]:
    try:
        return _loaded(text)
    except ValueError as problem:
        raise BadSetting(f"{file} is not valid: {problem}.", "Correct it first.") from problem


def _candidates(text: str, name: str, literal: str) -> Iterator[str]:
    """Texts that may be right, the most likely first; `literal` "" takes the setting out."""
    end = "\r\n" if "\r\n" in text else "\n"
    lines = text.split(end)
    if lines[-1] == "":
        lines.pop()
    for edited in _edits(lines, name, literal):
        yield end.join([*edited, ""]) if edited else ""


def _edits(lines: list[str], name: str, literal: str) -> Iterator[list[str]]:
    tables = _tables(lines)
    for at, line in enumerate(lines):
        entry = _ENTRY.match(line)
        if entry and _plain(f"{tables[at]}.{entry[1]}") == name:
            yield _replaced(lines, at, entry.end(), literal)
    if not literal:
        return
    table, _, key = name.rpartition(".")
    if table in tables:
        last = max(at for at, each in enumerate(tables) if each == table)
        yield _inserted(lines, _above_comments(lines, last + 1), [f"{key} = {literal}"])
    top = next((at for at, each in enumerate(tables) if each), len(lines))
    if table:
        yield [*lines, *([""] if lines else []), f"[{table}]", f"{key} = {literal}"]
    yield _inserted(lines, _above_comments(lines, top), [f"{name} = {literal}"])


def _tables(lines: list[str]) -> list[str]:
    """The table that each line stands in, "" at the top; its header belongs to it."""
    tables, table = [], ""
    for line in lines:
        if header := _HEADER.fullmatch(line):
            table = _plain(header[1])
        tables.append(table)
    return tables


def _plain(name: str) -> str:
    """A dotted name without quotes and blanks."""
    return ".".join(part.strip(" \t\"'") for part in name.split(".") if part)


def _above_comments(lines: list[str], at: int) -> int:
    """The line to insert at, when `at` is where the next table begins: what stands directly above
    a header is about that table."""
    while 0 < at < len(lines) and lines[at - 1].lstrip().startswith("#"):
        at -= 1
    while at and not lines[at - 1].strip():
        at -= 1
    return at


def _inserted(lines: list[str], at: int, fresh: list[str]) -> list[str]:
    return [*lines[:at], *fresh, *lines[at:]]


def _replaced(lines: list[str], at: int, start: int, literal: str) -> list[str]:
    """The lines with another value for the entry in line `at`, whose value begins at `start`."""
    last, comment = _value_end(lines, at, start)
    if literal:
        line = f"{lines[at][:start]}{literal}{'  ' + comment if comment else ''}"
        return [*lines[:at], line, *lines[last + 1 :]]
    return _without_empty_table([*lines[:at], *lines[last + 1 :]], at)


def _value_end(lines: list[str], at: int, start: int) -> tuple[int, str]:
    """The last line of a value, and the comment behind it."""
    for last in range(at, min(at + _MOST_LINES, len(lines))):
        written = "\n".join(lines[at : last + 1])[start:]
        if not _is_value(written):
            continue
        for found in re.finditer("#", written):
            if _is_value(written[: found.start()]):
                return last, written[found.start() :]
        return last, ""
    return at, ""


def _is_value(text: str) -> bool:
    try:
        return [*_loaded(f"x = {text}")] == ["x"]
    except ValueError:
        return False


def _without_empty_table(lines: list[str], at: int) -> list[str]:
    """The lines without the header above `at`, if nothing is left in its table, and no comment
    stands above it."""
    header = at - 1
    while header >= 0 and not lines[header].strip():
        header -= 1
    rest = at
    while rest < len(lines) and not lines[rest].strip():
        rest += 1
    is_empty = header >= 0 and _HEADER.fullmatch(lines[header])
    if not is_empty or (rest < len(lines) and not _HEADER.fullmatch(lines[rest])):
        return lines
    if header and lines[header - 1].lstrip().startswith("#"):
        return lines
    if header and not lines[header - 1].strip():
        header -= 1
    return [*lines[:header], *lines[at:]]
