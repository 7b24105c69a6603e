"""The head of a note: the YAML lines between its two `---` fences, read without trusting it.

Law: strict about danger (size, anchors, tags, depth, duplicate keys), lenient about form: a scalar
stays the string that was written, and a head that YAML refuses is read line by line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mdmemory.head_lines import (
    BLOCK_SCALAR,
    NOT_PRINTABLE,
    PLAIN,
    Field,
    children_of,
    comment_of,
    lines_of,
    scan,
    strip,
)
from mdmemory.limits import LINE_KEYS

MAX_HEAD = 16 * 1024  # bytes; far over any head a person writes, small enough for any YAML parser
MAX_DEPTH = 4

_QUOTED_RUN = rf'[^{NOT_PRINTABLE}"\\]*+'
_QUOTED = rf'"{_QUOTED_RUN}(?:\\["\\]{_QUOTED_RUN})*"'
_KEY = r"[A-Za-z_][A-Za-z0-9_-]{0,63}"

_PAIR = re.compile(rf"^(  )?({_KEY}):(?: ({PLAIN})| ({_QUOTED}))?\n", re.MULTILINE)
_ESCAPED = re.compile(r"\\([\"\\])")


@dataclass(frozen=True, slots=True)
class Reading:
    """Keys as read (strings, or what YAML nests); `problem` says why YAML did not read them."""

    fields: Mapping[str, object]
    problem: str = ""


class _RefusedError(Exception):
    """The head must not, or cannot, be read as YAML; the text is a sentence for the reader."""


def read(head: str) -> Reading:
    """Read the text between the fences; never raises."""
    if len(head) * 4 > MAX_HEAD and len(head.encode("utf-8", "surrogatepass")) > MAX_HEAD:
        return Reading(_by_line(head[:MAX_HEAD]), "The head is larger than 16 KiB.")
    fields = fast(head)
    if fields is not None:
        return Reading(fields)
    try:
        return Reading(_as_written(head, strict(head)))
    except _RefusedError as refused:
        return Reading(_by_line(head), str(refused))


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
    for indent, key, plain, quoted in pairs:
        into = block if indent else top
        if into is None or key in into:
            return None
        if plain or quoted:
            into[key] = plain or _unquoted(quoted)
            if not indent:
                block = None
        elif key == "metadata" and not indent:
            block = top[key] = {}
        else:
            return None
    # YAML reads an empty block as an empty string.
    return None if top.get("metadata") == {} else top


def _unquoted(quoted: str) -> str:
    inner = quoted[1:-1]
    return _ESCAPED.sub(r"\1", inner) if "\\" in inner else inner


def strict(head: str) -> dict[str, object]:
    """A head as YAML reads it, every scalar a string; raises _RefusedError."""
    # Loaded here: most notes never need a YAML parser, and loading it costs start-up time.
    import yaml
    from frontmatter.default_handlers import YAMLHandler

    ours = loader()
    try:
        _refuse_danger(yaml.parse(head, Loader=ours))
        fields = YAMLHandler().load(head, Loader=ours)
    except yaml.MarkedYAMLError as error:
        raise _RefusedError(_sentence(error)) from error
    except (yaml.YAMLError, UnicodeError) as error:
        raise _RefusedError("The head holds characters that YAML does not allow.") from error
    if fields is None:
        return {}
    if not isinstance(fields, dict):
        raise _RefusedError("The head is not made of `key: value` lines.")
    return fields


def loader() -> Any:
    """YAML's base loader, in C where there is one: every scalar stays a string."""
    import yaml

    return getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def _sentence(error: Any) -> str:
    mark = error.problem_mark or error.context_mark
    # Marks count from 0, and the opening fence is the first line of the file.
    where = f", line {mark.line + 2} of the file" if mark else ""
    return f"The head is not valid YAML ({error.problem or error.context}{where})."


def _refuse_danger(events: Iterator[Any]) -> None:
    """Stop at anchors, aliases, tags, deep nesting and duplicate keys, before anything is built."""
    import yaml

    open_keys: list[set[str] | None] = []  # one per open collection; None for a sequence
    at_key: list[bool] = []
    for event in events:
        if isinstance(event, yaml.CollectionEndEvent):
            open_keys.pop()
            at_key.pop()
        elif isinstance(event, yaml.NodeEvent):
            _refuse_node(event)
            if open_keys and (keys := open_keys[-1]) is not None:
                if at_key[-1] and isinstance(event, yaml.ScalarEvent):
                    if event.value in keys:
                        twice = event.value[:40]
                        raise _RefusedError(f"The key `{twice}` stands twice in the head.")
                    keys.add(event.value)
                at_key[-1] = not at_key[-1]
            if isinstance(event, yaml.CollectionStartEvent):
                open_keys.append(set() if isinstance(event, yaml.MappingStartEvent) else None)
                at_key.append(True)
        if len(open_keys) > MAX_DEPTH:
            raise _RefusedError(f"The head is nested deeper than {MAX_DEPTH} levels.")


def _refuse_node(event: Any) -> None:
    if event.anchor is not None:
        raise _RefusedError("The head uses YAML anchors or aliases.")
    if event.tag is not None:
        raise _RefusedError("The head uses YAML tags.")


def _by_line(head: str) -> dict[str, object]:
    """What a person meant by a head that YAML refuses; the first of two equal keys counts."""
    lines = lines_of(head)
    fields: dict[str, object] = {}
    for field in scan(lines):
        if field.key == "metadata" and field.is_empty:
            children = children_of(lines, field)[1]
            meta = {child.key: _loose(child) for child in reversed(children)}
            fields.setdefault("metadata", meta or _loose(field))
        elif field.key == "metadata" and field.first.startswith("{"):
            fields.setdefault("metadata", _loose_flow(field.value))
        else:
            fields.setdefault(field.key, _loose(field))
    return fields


def _loose_flow(flow: str) -> object:
    try:
        return strict(flow)
    except _RefusedError:
        return flow


def _loose(field: Field) -> str:
    """A value read without YAML: quotes taken off, lines folded into one, comment cut."""
    text = strip(field.value)
    if block := BLOCK_SCALAR.match(text):
        text = re.split(r"[\r\n]", text[block.end() :], maxsplit=1)[-1] if "\n" in text else ""
        return " ".join(text.split())
    if comment := comment_of(field):
        text = strip(text[: len(text) - len(comment)])
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            inner = str(json.loads(text, strict=False))
            inner.encode()  # half a surrogate pair could never be written anywhere
            return inner
        except ValueError:
            return text[1:-1]
    return " ".join(re.split(r"[ \t]*[\r\n]+[ \t]*", text))


def _as_written(head: str, fields: dict[str, object]) -> dict[str, object]:
    """Give prose keys their whole line back where YAML saw a comment (`C# is #1`) or a list."""
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
