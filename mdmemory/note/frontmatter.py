"""The frontmatter of a note: the lines between two fences. It is not trusted.

Law: strict about danger (size, anchors, tags, depth, duplicate keys), lenient about form: a scalar
stays the string that was written, and a head that YAML refuses is read line by line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from mdmemory.expressions import lazy
from mdmemory.note.head_lines import (
    NOT_PRINTABLE,
    PLAIN,
    PLAIN_ITEM,
    Field,
    children_of,
    comment_of,
    lines_of,
    scan,
    strip,
)
from mdmemory.note.limits import ALIASES, CITES, LINE_KEYS
from mdmemory.records import dataclass

MAX_HEAD = 16 * 1024  # bytes; far over any head a person writes, small enough for any YAML parser

_QUOTED_RUN = rf'[^{NOT_PRINTABLE}"\\]*+'
_QUOTED = rf'"{_QUOTED_RUN}(?:\\["\\]{_QUOTED_RUN})*"'
_KEY = r"[A-Za-z_][A-Za-z0-9_-]{0,63}"

_LISTED = rf"(?:{PLAIN_ITEM}|{_QUOTED})"
_LIST = rf"\[({_LISTED}(?:, {_LISTED})*+)\]"
_PAIR = lazy(rf"^(  )?({_KEY}):(?: ({PLAIN})| ({_QUOTED})| {_LIST})?\n", re.MULTILINE)
_ITEMS = lazy(_LISTED)
_ESCAPED = lazy(r"\\([\"\\])")


@dataclass(frozen=True, slots=True)
class Reading:
    """The keys as read (strings, or nested YAML); `problem` is why YAML could not read them."""

    fields: Mapping[str, object]
    problem: str = ""


def read(head: str) -> Reading:
    """Read the text between the fences; never raises."""
    if len(head) * 4 > MAX_HEAD and len(head.encode("utf-8", "surrogatepass")) > MAX_HEAD:
        return Reading(_by_line(head[:MAX_HEAD]), "The head is larger than 16 KiB.")
    plain = fast(head)
    if plain is not None:
        return Reading(plain)
    reading = _strict(head)
    if reading.problem:
        return Reading(_by_line(head), reading.problem)
    return Reading(_as_written(head, {**reading.fields}))


def _strict(head: str) -> Reading:
    """A head as YAML reads it; without keys where it is refused."""
    # Loaded here: most notes never need a YAML parser, and loading it costs start-up time.
    from mdmemory.note.yaml_head import HeadHandler, RefusedHeadError

    try:
        return Reading(HeadHandler().load(head))
    except RefusedHeadError as refused:
        return Reading({}, str(refused))


def fast(head: str) -> dict[str, object] | None:
    """A flat, machine-written head without a YAML parser (which costs 30 times as much).

    Takes only what YAML's base loader provably reads the same; None for anything else.
    """
    if "\r" in head:
        head = head.replace("\r\n", "\n")
    pairs = _PAIR.findall(head)
    if len(pairs) != head.count("\n") or not pairs or head[-1] != "\n":
        return None
    top: dict[str, object] = {}
    block: dict[str, object] | None = None
    for indent, key, plain, quoted, listed in pairs:
        into = block if indent else top
        if into is None or key in into:
            return None
        if plain or quoted:
            into[key] = plain or _unquoted(quoted)
            if not indent:
                block = None
        elif listed and key == (CITES if indent else ALIASES):
            into[key] = [_bare(item) for item in _ITEMS.findall(listed)]
            if not indent:
                block = None
        elif indent or key not in ("metadata", ALIASES):
            return None
        elif key == "metadata" and not listed:
            block = top[key] = {}
        else:
            return None
    # YAML reads an empty block as an empty string.
    return None if top.get("metadata") == {} else top


def _bare(item: str) -> str:
    return _unquoted(item) if item.startswith('"') else item


def _unquoted(quoted: str) -> str:
    inner = quoted[1:-1]
    return _ESCAPED.sub(r"\1", inner) if "\\" in inner else inner


def _by_line(head: str) -> dict[str, object]:
    """A lenient reading of a head that YAML refuses: key by key, since most are fine. The first of
    two equal keys counts."""
    lines = lines_of(head)
    return {field.key: _value(lines, field) for field in reversed(scan(lines))}


def _value(lines: list[str], field: Field) -> object:
    """The value of one key, its text on one line; as it is written where YAML refuses it, too."""
    if field.key == "metadata" and field.is_empty:
        children = reversed(children_of(lines, field)[1])
        if block := {child.key: _value(lines, child) for child in children}:
            return block
    own = "".join(lines[field.start : field.end]).lstrip(" \t")
    reading = _strict(own)
    value = _as_written(own, {**reading.fields}).get(field.key, "")
    if not reading.problem:
        return " ".join(value.split()) if isinstance(value, str) else value
    text = strip(field.value)
    text = strip(text[: len(text) - len(comment_of(field))])
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    return " ".join(text.split())


def _as_written(head: str, fields: dict[str, object]) -> dict[str, object]:
    """Restore the whole line of prose keys where YAML saw a comment (`C# is #1`) or a list."""
    if not any(key in fields for key in LINE_KEYS):
        return fields
    for field in scan(lines_of(head)):
        value, line = fields.get(field.key), field.first
        if field.key not in LINE_KEYS or field.end > field.start + 1:
            continue
        if isinstance(value, str):
            is_cut = line[:1] not in ('"', "'", "|", ">") and line.startswith(value)
            if is_cut and line[len(value) :].lstrip(" \t").startswith("#"):
                fields[field.key] = line
        elif line[:1] in ("[", "{"):
            fields[field.key] = line
    return fields


def flat(fields: Mapping[str, object]) -> dict[str, object]:
    """Keys under `metadata` by their dotted place, such as `metadata.type`."""
    found = {key: value for key, value in fields.items() if key != "metadata"}
    block = fields.get("metadata", "")
    if isinstance(block, dict):
        found.update({f"metadata.{key}": value for key, value in block.items()})
    elif block != "":
        found["metadata"] = block
    return found
