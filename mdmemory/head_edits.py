"""Changing one key of a head: its own lines are replaced, and no other.

The caller reads the result back and compares; nothing here is believed to be right.
"""

from __future__ import annotations

import re
from typing import Any

from mdmemory.errors import BadNote
from mdmemory.head_lines import Field, children_of, comment_of, lines_of, scalar, scan
from mdmemory.heads import loader
from mdmemory.limits import LINE_KEYS

_FLOW_PLAIN = re.compile(r"[0-9A-Za-z_][0-9A-Za-z_./+-]*")


def put(head: str, place: str, value: str | None, eol: str) -> str:
    """Set (None: remove) one key, such as `name` or `metadata.type`, and touch no other line.

    The caller reads the result back; raises BadNote where metadata is not a mapping.
    """
    lines = lines_of(head)
    fields = scan(lines)
    key = place.removeprefix("metadata.")
    number = next((n for n, field in enumerate(fields) if field.key == "metadata"), None)
    if key == place:
        # New top-level keys go before the block, where a person looks for them.
        at = len(lines) if number is None else fields[number - 1].end if number else 0
        return _put_line(lines, fields, "", at, key, value, eol)
    if number is None:
        return head if value is None else f"{head}metadata:{eol}  {key}: {scalar(key, value)}{eol}"
    block = fields[number]
    if block.first.startswith("{"):
        return _put_flow(lines, block, key, value)
    if not block.is_empty:
        raise BadNote(
            "The note's `metadata` is not a list of keys.",
            f"Write it as a `metadata:` line and an indented `{key}:` line, then try again.",
        )
    indent, children = children_of(lines, block)
    at = children[-1].end if children else block.start + 1
    return _put_line(lines, children, indent, at, key, value, eol)


def _put_line(
    lines: list[str],
    fields: list[Field],
    indent: str,
    at: int,
    key: str,
    value: str | None,
    eol: str,
) -> str:
    field = next((field for field in fields if field.key == key), None)
    if field is None:
        lines[at:at] = [] if value is None else [f"{indent}{key}: {scalar(key, value)}{eol}"]
    elif value is None:
        del lines[field.start : field.end]
    else:
        comment = comment_of(field)
        if comment.startswith("#"):
            comment = f" {comment}"
        lead = field.lead if field.lead[-1] in " \t" else f"{field.lead} "
        # After a plain description a comment would be read as a part of it.
        text = scalar(key, value, quoted=bool(comment) and key in LINE_KEYS)
        lines[field.start : field.end] = [f"{lead}{text}{comment}{_eol(lines[field.start])}"]
    return "".join(lines)


def _eol(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _put_flow(lines: list[str], block: Field, key: str, value: str | None) -> str:
    """The same inside `metadata: {type: user}`, by the places YAML gives for each key and value."""
    import yaml

    flow = block.value
    try:
        node: Any = yaml.compose(flow, Loader=loader())
    except yaml.YAMLError as error:
        raise BadNote(
            "The note's `metadata` is not valid YAML.", "Correct it by hand, then try again."
        ) from error
    spans = [
        (k.value, k.start_mark.index, v.start_mark.index, v.end_mark.index) for k, v in node.value
    ]
    number = next((n for n, span in enumerate(spans) if span[0] == key), None)
    text = value
    if value is not None and not _FLOW_PLAIN.fullmatch(value):
        text = scalar(key, value, quoted=True)
    if number is None:
        start = stop = spans[-1][3] if spans else flow.index("{") + 1
        text = text and f"{', ' if spans else ''}{key}: {text}"
    else:
        _, start, value_start, stop = spans[number]
        if text is not None:
            start = value_start
        elif number + 1 < len(spans):
            stop = spans[number + 1][1]
        elif number:
            start = spans[number - 1][3]
    lines[block.start : block.end] = [
        f"{block.lead}{flow[:start]}{text or ''}{flow[stop:]}{_eol(lines[block.end - 1])}"
    ]
    return "".join(lines)
