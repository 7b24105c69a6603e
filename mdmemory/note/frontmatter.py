"""The frontmatter of a note: the lines between two fences. It is not trusted.

Law: strict about danger (size, anchors, tags, depth, duplicate keys), lenient about form: a scalar
stays the string that was written, and a head that YAML refuses is read line by line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from mdmemory.note.limits import ALIASES, CITES, LINE_KEYS, TOP_KEYS

_compiled: Callable[[str], re.Pattern[str]] = cache(re.compile)
# What YAML calls not printable, and line ends; everything else may stand in a value unescaped.
NOT_PRINTABLE = r"\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff"
# A character that can open a plain scalar without a meaning of its own in YAML. Named by what it
# is not: to compile a set takes as long as it has members, and this one has few.
_FIRST = rf"""[^{NOT_PRINTABLE}\xa0 !"#%&')*,\-:;<=>?@\[\\\]^`{{|}}]"""
_PLAIN_RUN = rf"[^{NOT_PRINTABLE}:#]*+"
# `)*` and not `)*+`: Python before 3.11.4 fails on a possessive group that matches nothing
PLAIN = rf"{_FIRST}{_PLAIN_RUN}(?:(?::(?![ \n]|\Z)|(?<! )#){_PLAIN_RUN})*(?<! )"
_MUST_ESCAPE = rf'[{NOT_PRINTABLE}"\\]'
# What YAML 1.1 readers take for a boolean, a null, a number or a date.
_NOT_TEXT = r"(?i)~|y|n|yes|no|on|off|true|false|null|0x[\da-f_]+|[+-]?[.\d][\d_.:eotz +-]*"
LINES = re.compile(r"[^\r\n]*(?:\r\n|[\r\n])|[^\r\n]+")
_FIELD = re.compile(
    r"""(?P<indent>[ \t]*)(?P<key>"[^"\r\n]*"[ \t]*|'[^'\r\n]*'[ \t]*"""
    r"""|[^\s"'#\-\[\]{},&*!|>%@`?:][^:#\r\n]*):(?=[ \t\r\n]|\Z)[ \t]*"""
)
BLOCK_SCALAR = re.compile(r"[|>][-+0-9]{0,2}(?=[ \t]*(?:[\r\n]|\Z)|[ \t]+#)")
_AFTER_QUOTES = re.compile(
    r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[|>][-+0-9]{0,2})([ \t]+#[^\r\n]*)""", re.DOTALL
)
_AFTER_PLAIN = re.compile(r"(?:\A|(?<![ \t])[ \t]+)#[^\r\n]*")


class Field(NamedTuple):
    """One key as lines: `lead` is the text before the value, `value` the rest of its lines."""

    key: str
    start: int
    end: int  # without the blank and comment lines that follow
    stop: int  # where the next key begins
    lead: str
    value: str

    @property
    def first(self) -> str:
        """The first line of the value."""
        return strip(re.split(r"[\r\n]", self.value, maxsplit=1)[0])

    @property
    def is_empty(self) -> bool:
        """Whether the key's own line has no value (a comment at most)."""
        return self.first[:1] in ("", "#")


def strip(text: str) -> str:
    """Without the blanks and line ends around it."""
    return text.strip(" \t\r\n")


def scan(lines: list[str], indent: str = "", first: int = 0, stop: int = -1) -> list[Field]:
    """The keys at exactly this indent; deeper lines belong to the key above them."""
    stop = len(lines) if stop < 0 else stop
    starts = [
        (number, match)
        for number in range(first, stop)
        if (match := _FIELD.match(lines[number])) and match["indent"] == indent
    ]
    ends = iter([*(number for number, _ in starts[1:]), stop])
    return [_make_field(lines, number, next(ends), match) for number, match in starts]


def _make_field(lines: list[str], start: int, stop: int, match: re.Match[str]) -> Field:
    first = lines[start][match.end() :]
    depth = len(match["indent"])
    end, is_empty = start + 1, strip(first)[:1] in ("", "#")
    while end < stop:
        text = lines[end].lstrip(" \t")
        deep = len(lines[end]) - len(text)
        # a list may have its key's indent
        is_item = is_empty and deep == depth and text.startswith("-")
        if not (deep > depth or is_item or _is_gap(lines[end], -1)):
            break
        end += 1
    is_block = bool(BLOCK_SCALAR.match(first))
    while end > start + 1 and _is_gap(lines[end - 1], depth if is_block else -1):
        end -= 1
    value = "".join([first, *lines[start + 1 : end]]).rstrip("\r\n")
    return Field(match["key"].strip(" \t\"'"), start, end, stop, lines[start][: match.end()], value)


def _is_gap(line: str, block_indent: int) -> bool:
    """A blank or comment line; inside a block scalar a deeper `#` line is text."""
    text = line.lstrip(" \t")
    if not strip(text):
        return True
    return text.startswith("#") and (block_indent < 0 or len(line) - len(text) <= block_indent)


def children_of(lines: list[str], block: Field) -> tuple[str, list[Field]]:
    """The indent and the keys of a block mapping; two spaces and none when it is empty."""
    for number in range(block.start + 1, block.stop):
        if not _is_gap(lines[number], -1):
            indent = lines[number][: len(lines[number]) - len(lines[number].lstrip(" \t"))]
            if indent:
                return indent, scan(lines, indent, block.start + 1, block.stop)
            break
    return "  ", []


def comment_of(field: Field) -> str:
    """The comment after a value, with the blanks before it; "" if it may be text."""
    if field.value[:1] in ('"', "'", "|", ">"):
        match = _AFTER_QUOTES.match(field.value)
        return match[1] if match else ""
    match = _AFTER_PLAIN.search(field.value)
    if not match or match.end() < len(field.value) or field.value[:1] in ("[", "{"):
        return ""
    return "" if field.key in LINE_KEYS else match[0]


def to_yaml(key: str, value: str, *, quoted: bool = False) -> str:
    """A value as YAML that reads back the same: plain if that is safe, else double-quoted."""
    is_plain = not quoted and _compiled(PLAIN).fullmatch(value)
    if is_plain and not (key in TOP_KEYS and _compiled(_NOT_TEXT).fullmatch(value)):
        return value
    return f'"{_compiled(_MUST_ESCAPE).sub(_escape, value)}"'


_PLAIN_ITEM = r"[0-9A-Za-z_][0-9A-Za-z_./+-]*+"


def render_value(key: str, value: Any) -> str:
    """What stands behind a key in its line."""
    return to_yaml(key, value) if isinstance(value, str) else to_flow(value)


def join_items(values: Iterable[object]) -> str:
    """Values as they stand between the brackets of a list on one line."""
    return ", ".join(map(to_flow, values))


def to_flow(value: Any) -> str:
    """A text, a list or a block, as it stands within brackets."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{to_flow(key)}: {to_flow(each)}' for key, each in value.items())}}}"
    if not isinstance(value, str):
        return f"[{join_items(value)}]"
    is_plain = re.fullmatch(_PLAIN_ITEM, value) and not _compiled(_NOT_TEXT).fullmatch(value)
    return value if is_plain else to_yaml("", value, quoted=True)


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    return f"\\{char}" if char in '"\\' else f"\\u{ord(char):04X}"


MAX_HEAD = 16 * 1024  # bytes; far over any head a person writes, small enough for any YAML parser

_QUOTED_RUN = rf'[^{NOT_PRINTABLE}"\\]*+'
_QUOTED = rf'"{_QUOTED_RUN}(?:\\["\\]{_QUOTED_RUN})*"'
_KEY = r"[A-Za-z_][A-Za-z0-9_-]{0,63}"

_LISTED = rf"(?:{_PLAIN_ITEM}|{_QUOTED})"
_LIST = rf"\[({_LISTED}(?:, {_LISTED})*+)\]"
_PAIR = rf"(?m)^(  )?({_KEY}):(?: ({PLAIN})| ({_QUOTED})| {_LIST})?\n"
_ESCAPED = re.compile(r"\\([\"\\])")


class Reading(NamedTuple):
    """The keys as read (strings, or nested YAML); `problem` is why YAML could not read them."""

    fields: Mapping[str, object]
    problem: str = ""


def read(head: str) -> Reading:
    """Read the text between the fences; never raises."""
    if len(head) * 4 > MAX_HEAD and len(head.encode("utf-8", "surrogatepass")) > MAX_HEAD:
        return Reading(_by_line(head[:MAX_HEAD]), "The head is larger than 16 KiB.")
    plain = parse_flat(head)
    if plain is not None:
        return Reading(plain)
    reading = _parse_yaml(head)
    if reading.problem:
        return Reading(_by_line(head), f"{reading.problem} Mend it: each line is read alone.")
    return Reading(_as_written(head, {**reading.fields}))


def _parse_yaml(head: str) -> Reading:
    """A head as YAML reads it; without keys where it is refused."""
    # Loaded here: most notes never need a YAML parser, and loading it costs start-up time.
    from mdmemory.note.yaml_head import HeadHandler, RefusedHeadError

    try:
        return Reading(HeadHandler().load(head))
    except RefusedHeadError as refused:
        return Reading({}, str(refused))


def parse_flat(head: str) -> dict[str, object] | None:
    """A flat, machine-written head without a YAML parser (which costs 30 times as much).

    Takes only what YAML's base loader provably reads the same; None for anything else.
    """
    if "\r" in head:
        head = head.replace("\r\n", "\n")
    pairs = _compiled(_PAIR).findall(head)
    if len(pairs) != head.count("\n") or not pairs or head[-1] != "\n":
        return None
    top: dict[str, object] = {}
    block: dict[str, object] | None = None
    for indent, key, plain, quoted, listed in pairs:
        into = block if indent else top
        if into is None or key in into:
            return None
        if plain or quoted:
            into[key] = plain or _unquote(quoted)
            if not indent:
                block = None
        elif listed and key == (CITES if indent else ALIASES):
            items = _compiled(_LISTED).findall(listed)
            into[key] = [_unquote(item) if item[0] == '"' else item for item in items]
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


def _unquote(quoted: str) -> str:
    inner = quoted[1:-1]
    return _ESCAPED.sub(r"\1", inner) if "\\" in inner else inner


def _by_line(head: str) -> dict[str, object]:
    """A lenient reading of a head that YAML refuses: key by key, since most are fine. The first of
    two equal keys counts."""
    lines = LINES.findall(head)
    return {field.key: _read_value(lines, field) for field in reversed(scan(lines))}


def _read_value(lines: list[str], field: Field) -> object:
    """The value of one key, its text on one line; as it is written where YAML refuses it, too."""
    if field.key == "metadata" and field.is_empty:
        children = reversed(children_of(lines, field)[1])
        if block := {child.key: _read_value(lines, child) for child in children}:
            return block
    own = "".join(lines[field.start : field.end]).lstrip(" \t")
    reading = _parse_yaml(own)
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
    for field in scan(LINES.findall(head)):
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


def flatten(fields: Mapping[str, object]) -> dict[str, object]:
    """Keys under `metadata` by their dotted place, such as `metadata.type`."""
    values = {key: value for key, value in fields.items() if key != "metadata"}
    block = fields.get("metadata", "")
    if isinstance(block, dict):
        values.update({f"metadata.{key}": value for key, value in block.items()})
    elif block != "":
        values["metadata"] = block
    return values
