"""Changing one key of a head: its own lines are written anew, and no other line is touched.

The caller reads the result back and compares; nothing here is believed to be right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mdmemory.errors import BadNote
from mdmemory.note.frontmatter import (
    Field,
    children_of,
    comment_of,
    join_items,
    lines_of,
    read,
    render_value,
    scan,
    to_yaml,
)
from mdmemory.note.limits import LINE_KEYS

_ITEM = re.compile(r"([ \t]*-[ \t]+)([^\r\n]*)")
_COMMENT = re.compile(r"[ \t]+#[^\r\n]*\Z")
_AFTER_FLOW = re.compile(r"[\]}]([ \t]+#[^\r\n]*)\s*\Z")
OWN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


def put(head: str, place: str, value: str | Sequence[str] | None, eol: str) -> str:
    """Set (None: remove) one key, such as `name` or `metadata.type`. A list stays in the form in
    which it is written; `metadata` on one line becomes a block.

    Raises BadNote for what is written in no form that can be changed.
    """
    lines, field, indent, at = _locate(head, place, eol)
    key = place.removeprefix("metadata.")
    if field is None and value is None:
        return head
    if field is None:
        lines[at:at] = [f"{indent}{key}: {render_value(key, value)}{eol}"]
    elif value is None:
        del lines[field.start : field.end]
    elif isinstance(value, str):
        comment = _find_comment(field)
        # After a plain description a comment would be read as a part of it.
        text = to_yaml(key, value, quoted=bool(comment) and key in LINE_KEYS)
        end = lines[field.start][len(lines[field.start].rstrip("\r\n")) :]
        lines[field.start : field.end] = [f"{_read_lead(field)}{text}{comment}{end}"]
    else:
        own = lines[field.start : field.end]
        lines[field.start : field.end] = _list_lines(own, field, value, eol)
    return "".join(lines)


def copy_key(head: str, place: str, source: str, eol: str) -> str:
    """`head` with the key as it stands in the `source` head; an empty one is replaced.

    Raises BadNote where it cannot be copied.
    """
    its_lines, field, from_indent, _ = _locate(source, place, eol)
    if field is None:
        raise _too_odd(place)
    lines, old, indent, at = _locate(head, place, eol)
    copied = [
        indent + line.removeprefix(from_indent).rstrip("\r\n") + eol
        for line in its_lines[field.start : field.end]
    ]
    lines[old.start if old else at : old.end if old else at] = copied
    return "".join(lines)


def _locate(head: str, place: str, eol: str) -> tuple[list[str], Field | None, str, int]:
    """All lines of a head, a key of it, and the indent and the line that a new one would have."""
    lines = lines_of(head)
    fields, key = scan(lines), place.removeprefix("metadata.")
    block = next((field for field in fields if field.key == "metadata"), None)
    if key == place:
        # New top-level keys go before the block, where a person looks for them.
        before = [field.end for field in fields if block and field.start < block.start]
        at = before[-1] if before else 0 if block else len(lines)
        return lines, next((field for field in fields if field.key == key), None), "", at
    if block is None:
        return [*lines, f"metadata:{eol}"], None, "  ", len(lines) + 1
    if block.first.startswith("{"):
        lines[block.start : block.end] = _block_lines(block, eol)
        return _locate("".join(lines), place, eol)
    if not block.is_empty:
        raise BadNote(
            "The note's `metadata` is not a list of keys.",
            f"Write it as a `metadata:` line and an indented `{key}:` line, then try again.",
        )
    indent, children = children_of(lines, block)
    at = children[-1].end if children else block.start + 1
    return lines, next((field for field in children if field.key == key), None), indent, at


def _block_lines(block: Field, eol: str) -> list[str]:
    """`metadata: {type: user}` as a block of keys."""
    comment = _find_comment(block)
    flow = block.value[: len(block.value) - len(comment)]
    values = read(f"metadata: {flow}\n").fields.get("metadata")
    if not isinstance(values, dict):
        raise BadNote(
            "The note's `metadata` is not valid YAML.", "Correct it by hand, then try again."
        )
    if re.search(r"[ \t\n]#", flow) or not all(map(OWN_KEY.fullmatch, values)):
        raise _too_odd("metadata")
    rows = [f"  {key}: {render_value(key, value)}{eol}" for key, value in values.items()]
    return [f"metadata:{comment}{eol}", *rows]


def _list_lines(own: list[str], field: Field, values: Sequence[str], eol: str) -> list[str]:
    """The lines of a list with other values: one for each, or all between brackets."""
    if field.is_empty and any(map(_ITEM.match, own[1:])):
        return [own[0], *_item_lines(own[1:], values, eol)]
    comment = _find_comment(field)
    inside = field.value[: len(field.value) - len(comment)].rstrip(" \t\r\n")
    if len(own) > 1 and re.search(r"[ \t]#", inside):
        raise _too_odd(field.key)
    row, former = join_items(values), _parse_value(inside)
    if isinstance(former, list) and former and former == [*values[: len(former)]]:
        # what is there stays as it is written
        row = inside[1:-1].rstrip(" \t\r\n,")
        row = ", ".join(filter(None, (row, join_items(values[len(former) :]))))
    return [f"{_read_lead(field)}[{row}]{comment}{eol}"]


def _item_lines(lines: Sequence[str], values: Sequence[str], eol: str) -> Iterator[str]:
    """The lines of a list that has one for each item. Comments stay, and what takes the place of
    a value has its line."""
    matches = [_ITEM.match(line) for line in lines]
    former = [_parse_value(match[2]) if match else None for match in matches]
    number, lead = 0, "  - "
    for line, match, old in zip(lines, matches, former, strict=True):
        if match is None or not isinstance(old, str):
            yield line
            continue
        lead, new = match[1], values[number] if number < len(values) else None
        if new is None or (new != old and (new in former or old in values[number:])):
            continue
        number += 1
        comment = _COMMENT.search(match[2])
        written = f"{lead}{join_items([new])}{comment[0] if comment else ''}{line[match.end() :]}"
        yield line if new == old else written
    yield from (f"{lead}{join_items([value])}{eol}" for value in values[number:])


def _parse_value(written: str) -> object:
    """What a value means as it is written, without the comment behind it; None: nothing."""
    reading = read(f"x: {written}\n")
    return None if reading.problem else reading.fields.get("x")


def _find_comment(field: Field) -> str:
    """The comment behind a value, with a blank before it; "" where there is none."""
    comment = comment_of(field)
    if comment.startswith("#"):
        return f" {comment}"
    match = (
        None if comment or field.value[:1] not in ("[", "{") else _AFTER_FLOW.search(field.value)
    )
    return match[1] if match else comment


def _read_lead(field: Field) -> str:
    return field.lead if field.lead[-1] in " \t" else f"{field.lead} "


def _too_odd(key: str) -> BadNote:
    return BadNote(
        f"`{key.removeprefix('metadata.')[:40]}` is written in a way that cannot be changed.",
        "Write it as `key: value` or as `key: [one, two]` on a line of its own, by hand.",
    )
