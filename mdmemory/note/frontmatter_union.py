"""Taking a key over from another head: its lines are copied, a list gets more items, and no other
line is touched.

The caller reads the result back and compares; nothing here is believed to be right.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mdmemory.errors import BadNote
from mdmemory.expressions import lazy
from mdmemory.note import frontmatter
from mdmemory.note.editing import put
from mdmemory.note.frontmatter import Field, children_of, comment_of, lines_of, scan

_ITEM = lazy(r"([ \t]*)-(?=[ \t\r\n]|\Z)")


def carry(head: str, place: str, value: object, source: str, eol: str) -> str:
    """`head` with the key as it stands in the `source` head, where it has this value.

    An empty key of that name is replaced. Raises BadNote where it cannot be copied.
    """
    key = place.removeprefix("metadata.")
    field, from_indent, its_lines = _found(source, place)
    if field is None:
        # inside `metadata: {...}` no lines are its own
        if isinstance(value, str):
            return put(head, place, value, eol)
        raise _too_odd(key)
    if place != key and not any(each.key == "metadata" for each in scan(lines_of(head))):
        head = f"{head}metadata:{eol}"
    old, indent, lines = _found(head, place)
    copied = [
        _with_eol(indent + line.removeprefix(from_indent), eol)
        for line in its_lines[field.start : field.end]
    ]
    at = old.start if old else _end(lines, place)
    lines[at : old.end if old else at] = copied
    return "".join(lines)


def extend(head: str, place: str, items: Sequence[str], eol: str) -> str:
    """`head` with more items at the end of a list that it has. Raises BadNote."""
    field, _, lines = _found(head, place)
    if field is None:
        raise _too_odd(place.removeprefix("metadata."))
    if field.is_empty:
        first = next(filter(None, map(_ITEM.match, lines[field.start + 1 : field.end])), None)
        if first is None:
            raise _too_odd(field.key)
        new = [f"{first[1]}- {frontmatter.items([item])}{eol}" for item in items]
        lines[field.end - 1] = _with_eol(lines[field.end - 1], eol)
        lines[field.end : field.end] = new
        return "".join(lines)
    comment = comment_of(field) or comment_after_flow(field.value)
    flow = field.value[: len(field.value) - len(comment)].rstrip(" \t\r\n")
    if not flow.startswith("[") or not flow.endswith("]"):
        raise _too_odd(field.key)
    inside = flow[1:-1].rstrip(" \t\r\n,")
    joined = ", ".join([*([inside] if inside.strip() else []), frontmatter.items(items)])
    lines[field.start : field.end] = [_with_eol(f"{field.lead}[{joined}]{comment}", eol)]
    return "".join(lines)


def as_list(head: str, place: str, items: Sequence[str], eol: str) -> str:
    """`head` with these items in place of the one value that the key has. Raises BadNote."""
    field, _, lines = _found(head, place)
    if field is None or field.end > field.start + 1:
        raise _too_odd(place.removeprefix("metadata."))
    text = f"{field.lead}[{frontmatter.items(items)}]{comment_of(field)}"
    lines[field.start : field.end] = [_with_eol(text, eol)]
    return "".join(lines)


def _found(head: str, place: str) -> tuple[Field | None, str, list[str]]:
    """The key as lines, its indent, and all lines of the head."""
    lines = lines_of(head)
    fields, indent = scan(lines), ""
    key = place.removeprefix("metadata.")
    if key != place:
        block = next((each for each in fields if each.key == "metadata"), None)
        indent, fields = children_of(lines, block) if block else ("  ", [])
    return next((each for each in fields if each.key == key), None), indent, lines


def _end(lines: list[str], place: str) -> int:
    """Where a new key goes: behind those of its block, and one at the top before the block."""
    fields = scan(lines)
    block = next((each for each in fields if each.key == "metadata"), None)
    if block is None:
        return len(lines)
    if place.startswith("metadata."):
        if not block.is_empty:
            raise _too_odd("metadata")
        children = children_of(lines, block)[1]
        return children[-1].end if children else block.start + 1
    before = [each.end for each in fields if each.start < block.start]
    return before[-1] if before else 0


def comment_after_flow(value: str) -> str:
    """The comment behind the last `]` of a list; "" where there is none."""
    found = re.search(r"\]([ \t]+#[^\r\n]*)\s*\Z", value)
    return found[1] if found else ""


def _with_eol(line: str, eol: str) -> str:
    return line.rstrip("\r\n") + eol


def _too_odd(key: str) -> BadNote:
    return BadNote(
        f"`{key[:40]}` is written in a way that cannot be taken over.",
        "Write it as `key: value` or as a list, by hand.",
    )
